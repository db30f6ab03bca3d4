//! What is the machine's: waiting, the wire, the clock; and what there is none of.

use std::ffi::{c_int, c_longlong, c_void};

use libc::{pollfd, size_t, timeval};
use tailback_units::{Duration, Time};

use crate::host::Outcome;

use super::{User, answer, shared, status};

pub(super) unsafe extern "C" fn poll(
    _: User,
    at: *mut pollfd,
    count: libc::nfds_t,
    timeout: c_int,
) -> c_int {
    // SAFETY: `count` entries are there, as packetdrill promises.
    let entries = unsafe { std::slice::from_raw_parts_mut(at, count as usize) };
    let mut until = None;
    let result = shared().blocking(|host| {
        let now = host.now();
        let until = *until.get_or_insert_with(|| match u64::try_from(timeout) {
            Ok(ms) => now + Duration::from_ms(ms),
            Err(_) => Time::NEVER,
        });
        let mut ready = 0;
        for entry in entries.iter_mut() {
            let events = host.poll(entry.fd).unwrap_or(libc::POLLNVAL);
            let always = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;
            entry.revents = events & (entry.events | always);
            ready += usize::from(entry.revents != 0);
        }
        if ready > 0 || now >= until {
            Outcome::Done(Ok(ready))
        } else {
            Outcome::Blocks(until)
        }
    });
    answer(result) as c_int
}

pub(super) unsafe extern "C" fn netdev_send(
    _: User,
    packet: *const c_void,
    count: size_t,
) -> c_int {
    // SAFETY: `count` bytes are there, as packetdrill promises.
    let bytes = unsafe { std::slice::from_raw_parts(packet.cast::<u8>(), count) };
    shared().call(|host| host.receive(bytes));
    0
}

pub(super) unsafe extern "C" fn netdev_receive(
    _: User,
    buffer: *mut c_void,
    count: *mut size_t,
    time_us: *mut c_longlong,
) -> c_int {
    // SAFETY: `*count` bytes may be written, as packetdrill promises.
    unsafe {
        let Some(sent) = shared().next_packet() else {
            *count = 0;
            return 0;
        };
        let length = sent.packet.len().min(*count);
        buffer
            .cast::<u8>()
            .copy_from_nonoverlapping(sent.packet.as_ptr(), length);
        *count = length;
        *time_us = microseconds(sent.at) as c_longlong;
    }
    0
}

pub(super) fn microseconds(time: Time) -> u64 {
    time.as_ps() / 1_000_000
}

pub(super) extern "C" fn usleep(_: User, us: libc::useconds_t) -> c_int {
    shared().sleep(Duration::from_us(u64::from(us)));
    0
}

pub(super) unsafe extern "C" fn gettimeofday(_: User, at: *mut timeval, _: *mut c_void) -> c_int {
    let us = microseconds(shared().now());
    if !at.is_null() {
        let value = timeval {
            tv_sec: (us / 1_000_000) as libc::time_t,
            tv_usec: (us % 1_000_000) as libc::suseconds_t,
        };
        // SAFETY: it points to a timeval, as packetdrill promises.
        unsafe { at.write(value) };
    }
    0
}

// Not sockets' own: scripts that need them are not applicable.

pub(super) extern "C" fn epoll_create(_: User, _: c_int) -> c_int {
    status(Err(libc::ENOSYS))
}

pub(super) extern "C" fn epoll_ctl(_: User, _: c_int, _: c_int, _: c_int, _: *mut c_void) -> c_int {
    status(Err(libc::ENOSYS))
}

pub(super) extern "C" fn epoll_wait(
    _: User,
    _: c_int,
    _: *mut c_void,
    _: c_int,
    _: c_int,
) -> c_int {
    status(Err(libc::ENOSYS))
}

pub(super) extern "C" fn pipe(_: User, _: *mut c_int) -> c_int {
    status(Err(libc::ENOSYS))
}

pub(super) extern "C" fn splice(
    _: User,
    _: c_int,
    _: *mut c_void,
    _: c_int,
    _: *mut c_void,
    _: size_t,
    _: libc::c_uint,
) -> c_int {
    status(Err(libc::ENOSYS))
}
