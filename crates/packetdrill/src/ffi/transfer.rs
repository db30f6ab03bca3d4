//! Reading and writing; payload is zeros.

use std::ffi::{c_int, c_void};

use libc::{iovec, msghdr, size_t, sockaddr, socklen_t, ssize_t};

use crate::host::{ReadFlags, WriteFlags};

use super::{TCP_CM_INQ, User, answer, shared};

pub(super) fn read_flags(flags: c_int) -> ReadFlags {
    ReadFlags {
        peek: flags & libc::MSG_PEEK != 0,
        dont_wait: flags & libc::MSG_DONTWAIT != 0,
        wait_all: flags & libc::MSG_WAITALL != 0,
    }
}

pub(super) fn faulty(buffers: &[iovec]) -> bool {
    buffers
        .iter()
        .any(|buffer| buffer.iov_base.is_null() && buffer.iov_len > 0)
}

/// Reads into buffers; what is read is zeros.
pub(super) unsafe fn read_into(fd: c_int, buffers: &[iovec], flags: c_int) -> ssize_t {
    if faulty(buffers) {
        return answer(Err(libc::EFAULT));
    }
    let most = buffers.iter().map(|buffer| buffer.iov_len).sum();
    let result = shared().blocking(|host| host.read(fd, most, read_flags(flags)));
    if let Ok(bytes) = result {
        let mut left = bytes;
        for buffer in buffers {
            let part = left.min(buffer.iov_len);
            if part > 0 {
                // SAFETY: `iov_len` bytes may be written there, as the caller promises.
                unsafe { buffer.iov_base.write_bytes(0, part) };
            }
            left -= part;
        }
    }
    answer(result)
}

pub(super) fn write_from(fd: c_int, buffers: &[iovec], flags: c_int) -> ssize_t {
    let bytes: usize = buffers.iter().map(|buffer| buffer.iov_len).sum();
    if faulty(buffers) {
        return answer(Err(libc::EFAULT));
    }
    let flags = WriteFlags {
        dont_wait: flags & libc::MSG_DONTWAIT != 0,
        more: flags & libc::MSG_MORE != 0,
        end_of_record: flags & libc::MSG_EOR != 0,
    };
    let mut written = 0;
    answer(shared().blocking(|host| host.write(fd, bytes, &mut written, flags)))
}

pub(super) unsafe fn vectors<'a>(at: *const iovec, count: usize) -> &'a [iovec] {
    if at.is_null() || count == 0 {
        &[]
    } else {
        // SAFETY: `count` vectors are there, as the caller promises.
        unsafe { std::slice::from_raw_parts(at, count) }
    }
}

pub(super) fn vector(base: *const c_void, length: usize) -> [iovec; 1] {
    [iovec {
        iov_base: base.cast_mut(),
        iov_len: length,
    }]
}

pub(super) unsafe extern "C" fn read(
    _: User,
    fd: c_int,
    buffer: *mut c_void,
    count: size_t,
) -> ssize_t {
    // SAFETY: as packetdrill promises.
    unsafe { read_into(fd, &vector(buffer, count), 0) }
}

pub(super) unsafe extern "C" fn readv(
    _: User,
    fd: c_int,
    at: *const iovec,
    count: c_int,
) -> ssize_t {
    // SAFETY: as packetdrill promises.
    unsafe { read_into(fd, vectors(at, usize::try_from(count).unwrap_or(0)), 0) }
}

pub(super) unsafe extern "C" fn recv(
    _: User,
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    flags: c_int,
) -> ssize_t {
    // SAFETY: as packetdrill promises.
    unsafe { read_into(fd, &vector(buffer, length), flags) }
}

pub(super) unsafe extern "C" fn recvfrom(
    _: User,
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    flags: c_int,
    _: *mut sockaddr,
    _: *mut socklen_t,
) -> ssize_t {
    // SAFETY: as packetdrill promises.
    unsafe { read_into(fd, &vector(buffer, length), flags) }
}

pub(super) unsafe extern "C" fn recvmsg(
    _: User,
    fd: c_int,
    message: *mut msghdr,
    flags: c_int,
) -> ssize_t {
    if message.is_null() {
        return answer(Err(libc::EFAULT));
    }
    // SAFETY: as packetdrill promises.
    unsafe {
        let message = &mut *message;
        let buffers = vectors(message.msg_iov, message.msg_iovlen);
        let bytes = read_into(fd, buffers, flags);
        message.msg_flags = 0;
        match shared().call(|host| host.inq(fd)) {
            Some(left) if bytes >= 0 => put_control(message, TCP_CM_INQ, left),
            _ => message.msg_controllen = 0,
        }
        bytes
    }
}

/// The control message of an int, at the level of TCP.
pub(super) unsafe fn put_control(message: &mut msghdr, kind: c_int, value: c_int) {
    // SAFETY: the macros look at the message's own buffer, which is as long as it says.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(message);
        let size = libc::CMSG_SPACE(size_of::<c_int>() as u32) as usize;
        if header.is_null() || message.msg_controllen < size {
            message.msg_controllen = 0;
            message.msg_flags |= libc::MSG_CTRUNC;
            return;
        }
        (*header).cmsg_level = libc::SOL_TCP;
        (*header).cmsg_type = kind;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as u32) as usize;
        libc::CMSG_DATA(header)
            .cast::<c_int>()
            .write_unaligned(value);
        message.msg_controllen = size;
    }
}

pub(super) unsafe extern "C" fn write(
    _: User,
    fd: c_int,
    buffer: *const c_void,
    count: size_t,
) -> ssize_t {
    write_from(fd, &vector(buffer, count), 0)
}

pub(super) unsafe extern "C" fn writev(
    _: User,
    fd: c_int,
    at: *const iovec,
    count: c_int,
) -> ssize_t {
    // SAFETY: as packetdrill promises.
    write_from(
        fd,
        unsafe { vectors(at, usize::try_from(count).unwrap_or(0)) },
        0,
    )
}

pub(super) unsafe extern "C" fn send(
    _: User,
    fd: c_int,
    buffer: *const c_void,
    length: size_t,
    flags: c_int,
) -> ssize_t {
    write_from(fd, &vector(buffer, length), flags)
}

pub(super) unsafe extern "C" fn sendto(
    _: User,
    fd: c_int,
    buffer: *const c_void,
    length: size_t,
    flags: c_int,
    _: *const sockaddr,
    _: socklen_t,
) -> ssize_t {
    write_from(fd, &vector(buffer, length), flags)
}

pub(super) unsafe extern "C" fn sendmsg(
    _: User,
    fd: c_int,
    message: *const msghdr,
    flags: c_int,
) -> ssize_t {
    if message.is_null() {
        return answer(Err(libc::EFAULT));
    }
    // SAFETY: as packetdrill promises.
    let buffers = unsafe { vectors((*message).msg_iov, (*message).msg_iovlen) };
    write_from(fd, buffers, flags)
}
