//! A socket opened, connected, shut and closed.

use std::ffi::c_int;

use libc::{sockaddr, socklen_t};

use crate::host::Shutdown;

use super::address::{address, put_address};
use super::{User, answer, close_descriptor, new_descriptor, set_errno, shared, status};

pub(super) extern "C" fn free(_: User) {}

pub(super) extern "C" fn socket(_: User, domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    let stream = kind & !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) == libc::SOCK_STREAM;
    let known = matches!(domain, libc::AF_INET | libc::AF_INET6);
    if !stream || !known || !matches!(protocol, 0 | libc::IPPROTO_TCP) {
        set_errno(libc::EPROTONOSUPPORT);
        return -1;
    }
    let fd = new_descriptor();
    if fd >= 0 {
        let nonblocking = kind & libc::SOCK_NONBLOCK != 0;
        shared().call(|host| host.socket(fd, domain == libc::AF_INET6, nonblocking));
    }
    fd
}

pub(super) unsafe extern "C" fn bind(
    _: User,
    fd: c_int,
    at: *const sockaddr,
    length: socklen_t,
) -> c_int {
    // SAFETY: as packetdrill promises.
    let address = unsafe { address(at, length) };
    status(address.and_then(|address| shared().call(|host| host.bind(fd, address))))
}

pub(super) extern "C" fn listen(_: User, fd: c_int, backlog: c_int) -> c_int {
    let backlog = usize::try_from(backlog).unwrap_or(0);
    status(shared().call(|host| host.listen(fd, backlog)))
}

pub(super) unsafe extern "C" fn accept(
    _: User,
    fd: c_int,
    at: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    let as_fd = new_descriptor();
    if as_fd < 0 {
        return -1;
    }
    match shared().blocking(|host| host.accept(fd, as_fd, false)) {
        Ok(peer) => {
            let ipv6 = shared().call(|host| host.is_ipv6(as_fd));
            // SAFETY: as packetdrill promises.
            unsafe { put_address(peer, ipv6, at, length) };
            as_fd
        }
        Err(errno) => {
            close_descriptor(as_fd);
            set_errno(errno);
            -1
        }
    }
}

pub(super) unsafe extern "C" fn connect(
    _: User,
    fd: c_int,
    at: *const sockaddr,
    length: socklen_t,
) -> c_int {
    // SAFETY: as packetdrill promises.
    let address = match unsafe { address(at, length) } {
        Ok(address) => address,
        Err(errno) => return status(Err(errno)),
    };
    let mut started = false;
    status(shared().blocking(|host| {
        if started {
            return host.connecting(fd);
        }
        started = true;
        host.connect(fd, address)
    }))
}

// C declares the third argument of these two as variable; on the ABIs of Linux an integer or a
// pointer among variable arguments is passed as a named one is.
pub(super) extern "C" fn fcntl(_: User, fd: c_int, command: c_int, argument: usize) -> c_int {
    let result = match command {
        libc::F_GETFL => shared()
            .call(|host| host.is_nonblocking(fd))
            .map(|on| libc::O_RDWR | if on { libc::O_NONBLOCK } else { 0 }),
        libc::F_SETFL => {
            let on = argument as c_int & libc::O_NONBLOCK != 0;
            shared()
                .call(|host| host.set_nonblocking(fd, on))
                .map(|()| 0)
        }
        _ => Err(libc::EINVAL),
    };
    answer(result.map(|value| value as usize)) as c_int
}

pub(super) unsafe extern "C" fn ioctl(
    _: User,
    fd: c_int,
    request: libc::c_ulong,
    value: *mut c_int,
) -> c_int {
    let result = shared().call(|host| host.readable(fd));
    match (request, result) {
        (libc::FIONREAD, Ok(bytes)) if !value.is_null() => {
            // SAFETY: FIONREAD's argument points to an int.
            unsafe { *value = bytes as c_int };
            0
        }
        (_, Err(errno)) => status(Err(errno)),
        _ => status(Err(libc::EINVAL)),
    }
}

pub(super) extern "C" fn close(_: User, fd: c_int) -> c_int {
    let result = shared().call(|host| host.close(fd));
    if result.is_ok() {
        close_descriptor(fd);
    }
    status(result)
}

pub(super) extern "C" fn shutdown(_: User, fd: c_int, how: c_int) -> c_int {
    let how = Shutdown {
        read: how != libc::SHUT_WR,
        write: how != libc::SHUT_RD,
    };
    status(shared().call(|host| host.shutdown(fd, how)))
}
