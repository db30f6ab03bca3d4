//! Options of a socket, and those that libc is asked for.

use std::ffi::{c_int, c_void};

use libc::socklen_t;

use crate::host::OptionValue;

use super::{User, running, shared, status};

/// getsockopt for a socket of the host; `None` if the descriptor is another's.
///
/// # Safety
///
/// `length` points to the size of what `value` points to, or either is null.
pub(crate) unsafe fn own_getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> Option<c_int> {
    let shared = running()?;
    let option = shared.call(|host| host.has(fd).then(|| host.option(fd, level, name)))?;
    let bytes = match option {
        Ok(OptionValue::Int(number)) => number.to_ne_bytes().to_vec(),
        Ok(OptionValue::Bytes(bytes)) => bytes,
        Err(errno) => return Some(status(Err(errno))),
    };
    if value.is_null() || length.is_null() {
        return Some(status(Err(libc::EFAULT)));
    }
    // SAFETY: `*length` bytes may be written, as the caller promises.
    unsafe {
        let room = (*length as usize).min(bytes.len());
        value
            .cast::<u8>()
            .copy_from_nonoverlapping(bytes.as_ptr(), room);
        *length = room as socklen_t;
    }
    Some(0)
}

pub(super) unsafe extern "C" fn getsockopt(
    _: User,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: as packetdrill promises.
    let own = unsafe { own_getsockopt(fd, level, name, value, length) };
    own.unwrap_or_else(|| status(Err(libc::EBADF)))
}

pub(super) unsafe extern "C" fn setsockopt(
    _: User,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    if value.is_null() {
        return status(Err(libc::EFAULT));
    }
    // SAFETY: `length` bytes are there, as packetdrill promises.
    let bytes = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), length as usize) };
    let value = match <[u8; 4]>::try_from(bytes) {
        Ok(number) => OptionValue::Int(c_int::from_ne_bytes(number)),
        Err(_) => OptionValue::Bytes(bytes.to_vec()),
    };
    status(shared().call(|host| host.set_option(fd, level, name, value)))
}
