//! packetdrill's table of functions (gtests/net/packetdrill/packetdrill.h of google/packetdrill).
//!
//! Only translation: pointers to values, answers to return values and errno. One host a process,
//! as packetdrill has one; a descriptor is a real one (of /dev/null), since packetdrill closes it
//! with libc's close at the end.

use std::ffi::{CStr, c_char, c_int, c_longlong, c_void};
use std::net::{IpAddr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::path::PathBuf;
use std::sync::OnceLock;

use libc::{iovec, msghdr, pollfd, size_t, sockaddr, socklen_t, ssize_t, timeval};
use tailback_units::{Duration, Time};

use crate::host::{Errno, Fd, Host, OptionValue, Outcome, ReadFlags, Setup, Shutdown, WriteFlags};
use crate::shared::Shared;
use crate::view::View;

/// The folder with the script's own sysctls.
const VIEW_VARIABLE: &str = "TAILBACK_SYSCTLS";
/// The stack profile that scripts run against unless `--so_flags` names another.
const PROFILE: &str = "linux-7.2";

/// Control message with the bytes that can still be read (include/uapi/linux/tcp.h).
const TCP_CM_INQ: c_int = 36;

static RUNNING: OnceLock<Shared> = OnceLock::new();

/// The host, once packetdrill has asked for it.
pub(crate) fn running() -> Option<&'static Shared> {
    RUNNING.get()
}

type User = *mut c_void;

/// `struct packetdrill_interface`.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Interface {
    pub userdata: User,
    pub free: extern "C" fn(User),
    pub socket: extern "C" fn(User, c_int, c_int, c_int) -> c_int,
    pub bind: unsafe extern "C" fn(User, c_int, *const sockaddr, socklen_t) -> c_int,
    pub listen: extern "C" fn(User, c_int, c_int) -> c_int,
    pub accept: unsafe extern "C" fn(User, c_int, *mut sockaddr, *mut socklen_t) -> c_int,
    pub connect: unsafe extern "C" fn(User, c_int, *const sockaddr, socklen_t) -> c_int,
    pub read: unsafe extern "C" fn(User, c_int, *mut c_void, size_t) -> ssize_t,
    pub readv: unsafe extern "C" fn(User, c_int, *const iovec, c_int) -> ssize_t,
    pub recv: unsafe extern "C" fn(User, c_int, *mut c_void, size_t, c_int) -> ssize_t,
    pub recvfrom: unsafe extern "C" fn(
        User,
        c_int,
        *mut c_void,
        size_t,
        c_int,
        *mut sockaddr,
        *mut socklen_t,
    ) -> ssize_t,
    pub recvmsg: unsafe extern "C" fn(User, c_int, *mut msghdr, c_int) -> ssize_t,
    pub write: unsafe extern "C" fn(User, c_int, *const c_void, size_t) -> ssize_t,
    pub writev: unsafe extern "C" fn(User, c_int, *const iovec, c_int) -> ssize_t,
    pub send: unsafe extern "C" fn(User, c_int, *const c_void, size_t, c_int) -> ssize_t,
    pub sendto: unsafe extern "C" fn(
        User,
        c_int,
        *const c_void,
        size_t,
        c_int,
        *const sockaddr,
        socklen_t,
    ) -> ssize_t,
    pub sendmsg: unsafe extern "C" fn(User, c_int, *const msghdr, c_int) -> ssize_t,
    pub fcntl: extern "C" fn(User, c_int, c_int, usize) -> c_int,
    pub ioctl: unsafe extern "C" fn(User, c_int, libc::c_ulong, *mut c_int) -> c_int,
    pub close: extern "C" fn(User, c_int) -> c_int,
    pub shutdown: extern "C" fn(User, c_int, c_int) -> c_int,
    pub getsockopt:
        unsafe extern "C" fn(User, c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int,
    pub setsockopt:
        unsafe extern "C" fn(User, c_int, c_int, c_int, *const c_void, socklen_t) -> c_int,
    pub poll: unsafe extern "C" fn(User, *mut pollfd, libc::nfds_t, c_int) -> c_int,
    pub netdev_send: unsafe extern "C" fn(User, *const c_void, size_t) -> c_int,
    pub netdev_receive:
        unsafe extern "C" fn(User, *mut c_void, *mut size_t, *mut c_longlong) -> c_int,
    pub usleep: extern "C" fn(User, libc::useconds_t) -> c_int,
    pub gettimeofday: unsafe extern "C" fn(User, *mut timeval, *mut c_void) -> c_int,
    pub epoll_create: extern "C" fn(User, c_int) -> c_int,
    pub epoll_ctl: extern "C" fn(User, c_int, c_int, c_int, *mut c_void) -> c_int,
    pub epoll_wait: extern "C" fn(User, c_int, *mut c_void, c_int, c_int) -> c_int,
    pub pipe: extern "C" fn(User, *mut c_int) -> c_int,
    pub splice:
        extern "C" fn(User, c_int, *mut c_void, c_int, *mut c_void, size_t, libc::c_uint) -> c_int,
}

/// Fills packetdrill's table. `flags` is what `--so_flags` says: `profile=NAME,mtu=BYTES`.
///
/// # Safety
///
/// `flags` is null or a C string, `interface` points to a table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packetdrill_interface_init(
    flags: *const c_char,
    interface: *mut Interface,
) {
    let flags = if flags.is_null() {
        ""
    } else {
        // SAFETY: a C string, as the caller promises.
        unsafe { CStr::from_ptr(flags) }.to_str().unwrap_or("")
    };
    let host = set_up(flags).unwrap_or_else(|error| {
        eprintln!("tailback: {error}");
        std::process::exit(1)
    });
    RUNNING.get_or_init(|| Shared::new(host));
    let table = Interface {
        userdata: std::ptr::null_mut(),
        free,
        socket,
        bind,
        listen,
        accept,
        connect,
        read,
        readv,
        recv,
        recvfrom,
        recvmsg,
        write,
        writev,
        send,
        sendto,
        sendmsg,
        fcntl,
        ioctl,
        close,
        shutdown,
        getsockopt,
        setsockopt,
        poll,
        netdev_send,
        netdev_receive,
        usleep,
        gettimeofday,
        epoll_create,
        epoll_ctl,
        epoll_wait,
        pipe,
        splice,
    };
    // SAFETY: it points to a table, as the caller promises.
    unsafe { interface.write(table) };
}

fn set_up(flags: &str) -> Result<Host, String> {
    let mut setup = Setup::default();
    let mut profile = PROFILE;
    for flag in flags.split(',').filter(|flag| !flag.is_empty()) {
        match flag.split_once('=') {
            Some(("profile", name)) => profile = name,
            Some(("mtu", bytes)) => {
                setup.mtu = bytes
                    .parse()
                    .ok()
                    .filter(|mtu| (100..=65_535).contains(mtu))
                    .ok_or_else(|| format!("--so_flags: {flag:?}: an MTU is 100 to 65535"))?;
            }
            Some(("mss", bytes)) => {
                setup.mss = bytes
                    .parse()
                    .map_err(|_| format!("--so_flags: {flag:?}: a segment size is a number"))?;
            }
            _ => {
                return Err(format!(
                    "--so_flags: {flag:?}: known are profile=NAME, mtu=BYTES and mss=BYTES"
                ));
            }
        }
    }
    let folder = std::env::var_os(VIEW_VARIABLE).map(PathBuf::from);
    let view = View::new(profile, folder).map_err(|error| error.to_string())?;
    Ok(Host::new(setup, view))
}

fn shared() -> &'static Shared {
    RUNNING.get().unwrap_or_else(|| {
        // The table exists only after the host does.
        eprintln!("tailback: called before packetdrill_interface_init");
        std::process::exit(1)
    })
}

fn set_errno(errno: Errno) {
    // SAFETY: the address of this thread's errno.
    unsafe { *libc::__errno_location() = errno };
}

fn answer(result: Result<usize, Errno>) -> ssize_t {
    match result {
        Ok(value) => value as ssize_t,
        Err(errno) => {
            set_errno(errno);
            -1
        }
    }
}

fn status(result: Result<(), Errno>) -> c_int {
    answer(result.map(|()| 0)) as c_int
}

/// A descriptor that is this process's own and stands for nothing.
fn new_descriptor() -> Fd {
    // SAFETY: a constant C string.
    unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) }
}

fn close_descriptor(fd: Fd) {
    // SAFETY: closing a number is always sound.
    unsafe { libc::close(fd) };
}

unsafe fn address(at: *const sockaddr, length: socklen_t) -> Result<SocketAddr, Errno> {
    if at.is_null() {
        return Err(libc::EFAULT);
    }
    let length = length as usize;
    // SAFETY: `length` bytes are there, as the caller promises.
    unsafe {
        let family = if length >= 2 {
            c_int::from((*at).sa_family)
        } else {
            0
        };
        match family {
            libc::AF_INET if length >= size_of::<libc::sockaddr_in>() => {
                let v4 = at.cast::<libc::sockaddr_in>().read_unaligned();
                let ip = u32::from_be(v4.sin_addr.s_addr).into();
                Ok(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
            }
            libc::AF_INET6 if length >= size_of::<libc::sockaddr_in6>() => {
                let v6 = at.cast::<libc::sockaddr_in6>().read_unaligned();
                let ip = v6.sin6_addr.s6_addr.into();
                Ok(SocketAddrV6::new(ip, u16::from_be(v6.sin6_port), 0, 0).into())
            }
            libc::AF_INET | libc::AF_INET6 => Err(libc::EINVAL),
            _ => Err(libc::EAFNOSUPPORT),
        }
    }
}

unsafe fn put_address(value: SocketAddr, ipv6: bool, at: *mut sockaddr, length: *mut socklen_t) {
    if at.is_null() || length.is_null() {
        return;
    }
    let mut bytes = [0u8; size_of::<libc::sockaddr_in6>()];
    let port = value.port().to_be_bytes();
    bytes[2..4].copy_from_slice(&port);
    let size = match value.ip() {
        IpAddr::V4(ip) if !ipv6 => {
            bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
            bytes[4..8].copy_from_slice(&ip.octets());
            size_of::<libc::sockaddr_in>()
        }
        ip => {
            let ip = match ip {
                IpAddr::V4(v4) => v4.to_ipv6_mapped(),
                IpAddr::V6(v6) => v6,
            };
            bytes[..2].copy_from_slice(&(libc::AF_INET6 as u16).to_ne_bytes());
            bytes[8..24].copy_from_slice(&ip.octets());
            bytes.len()
        }
    };
    // SAFETY: `*length` bytes may be written, as the caller promises.
    unsafe {
        let room = (*length as usize).min(size);
        at.cast::<u8>()
            .copy_from_nonoverlapping(bytes.as_ptr(), room);
        *length = size as socklen_t;
    }
}

extern "C" fn free(_: User) {}

extern "C" fn socket(_: User, domain: c_int, kind: c_int, protocol: c_int) -> c_int {
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

unsafe extern "C" fn bind(_: User, fd: c_int, at: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: as packetdrill promises.
    let address = unsafe { address(at, length) };
    status(address.and_then(|address| shared().call(|host| host.bind(fd, address))))
}

extern "C" fn listen(_: User, fd: c_int, backlog: c_int) -> c_int {
    let backlog = usize::try_from(backlog).unwrap_or(0);
    status(shared().call(|host| host.listen(fd, backlog)))
}

unsafe extern "C" fn accept(
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

unsafe extern "C" fn connect(_: User, fd: c_int, at: *const sockaddr, length: socklen_t) -> c_int {
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

fn read_flags(flags: c_int) -> ReadFlags {
    ReadFlags {
        peek: flags & libc::MSG_PEEK != 0,
        dont_wait: flags & libc::MSG_DONTWAIT != 0,
        wait_all: flags & libc::MSG_WAITALL != 0,
    }
}

fn faulty(buffers: &[iovec]) -> bool {
    buffers
        .iter()
        .any(|buffer| buffer.iov_base.is_null() && buffer.iov_len > 0)
}

/// Reads into buffers; what is read is zeros.
unsafe fn read_into(fd: c_int, buffers: &[iovec], flags: c_int) -> ssize_t {
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

fn write_from(fd: c_int, buffers: &[iovec], flags: c_int) -> ssize_t {
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

unsafe fn vectors<'a>(at: *const iovec, count: usize) -> &'a [iovec] {
    if at.is_null() || count == 0 {
        &[]
    } else {
        // SAFETY: `count` vectors are there, as the caller promises.
        unsafe { std::slice::from_raw_parts(at, count) }
    }
}

fn vector(base: *const c_void, length: usize) -> [iovec; 1] {
    [iovec {
        iov_base: base.cast_mut(),
        iov_len: length,
    }]
}

unsafe extern "C" fn read(_: User, fd: c_int, buffer: *mut c_void, count: size_t) -> ssize_t {
    // SAFETY: as packetdrill promises.
    unsafe { read_into(fd, &vector(buffer, count), 0) }
}

unsafe extern "C" fn readv(_: User, fd: c_int, at: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: as packetdrill promises.
    unsafe { read_into(fd, vectors(at, usize::try_from(count).unwrap_or(0)), 0) }
}

unsafe extern "C" fn recv(
    _: User,
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    flags: c_int,
) -> ssize_t {
    // SAFETY: as packetdrill promises.
    unsafe { read_into(fd, &vector(buffer, length), flags) }
}

unsafe extern "C" fn recvfrom(
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

unsafe extern "C" fn recvmsg(_: User, fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
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
unsafe fn put_control(message: &mut msghdr, kind: c_int, value: c_int) {
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

unsafe extern "C" fn write(_: User, fd: c_int, buffer: *const c_void, count: size_t) -> ssize_t {
    write_from(fd, &vector(buffer, count), 0)
}

unsafe extern "C" fn writev(_: User, fd: c_int, at: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: as packetdrill promises.
    write_from(
        fd,
        unsafe { vectors(at, usize::try_from(count).unwrap_or(0)) },
        0,
    )
}

unsafe extern "C" fn send(
    _: User,
    fd: c_int,
    buffer: *const c_void,
    length: size_t,
    flags: c_int,
) -> ssize_t {
    write_from(fd, &vector(buffer, length), flags)
}

unsafe extern "C" fn sendto(
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

unsafe extern "C" fn sendmsg(_: User, fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    if message.is_null() {
        return answer(Err(libc::EFAULT));
    }
    // SAFETY: as packetdrill promises.
    let buffers = unsafe { vectors((*message).msg_iov, (*message).msg_iovlen) };
    write_from(fd, buffers, flags)
}

// C declares the third argument of these two as variable; on the ABIs of Linux an integer or a
// pointer among variable arguments is passed as a named one is.
extern "C" fn fcntl(_: User, fd: c_int, command: c_int, argument: usize) -> c_int {
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

unsafe extern "C" fn ioctl(_: User, fd: c_int, request: libc::c_ulong, value: *mut c_int) -> c_int {
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

extern "C" fn close(_: User, fd: c_int) -> c_int {
    let result = shared().call(|host| host.close(fd));
    if result.is_ok() {
        close_descriptor(fd);
    }
    status(result)
}

extern "C" fn shutdown(_: User, fd: c_int, how: c_int) -> c_int {
    let how = Shutdown {
        read: how != libc::SHUT_WR,
        write: how != libc::SHUT_RD,
    };
    status(shared().call(|host| host.shutdown(fd, how)))
}

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

unsafe extern "C" fn getsockopt(
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

unsafe extern "C" fn setsockopt(
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

unsafe extern "C" fn poll(_: User, at: *mut pollfd, count: libc::nfds_t, timeout: c_int) -> c_int {
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

unsafe extern "C" fn netdev_send(_: User, packet: *const c_void, count: size_t) -> c_int {
    // SAFETY: `count` bytes are there, as packetdrill promises.
    let bytes = unsafe { std::slice::from_raw_parts(packet.cast::<u8>(), count) };
    shared().call(|host| host.receive(bytes));
    0
}

unsafe extern "C" fn netdev_receive(
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

fn microseconds(time: Time) -> u64 {
    time.as_ps() / 1_000_000
}

extern "C" fn usleep(_: User, us: libc::useconds_t) -> c_int {
    shared().sleep(Duration::from_us(u64::from(us)));
    0
}

unsafe extern "C" fn gettimeofday(_: User, at: *mut timeval, _: *mut c_void) -> c_int {
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

extern "C" fn epoll_create(_: User, _: c_int) -> c_int {
    status(Err(libc::ENOSYS))
}

extern "C" fn epoll_ctl(_: User, _: c_int, _: c_int, _: c_int, _: *mut c_void) -> c_int {
    status(Err(libc::ENOSYS))
}

extern "C" fn epoll_wait(_: User, _: c_int, _: *mut c_void, _: c_int, _: c_int) -> c_int {
    status(Err(libc::ENOSYS))
}

extern "C" fn pipe(_: User, _: *mut c_int) -> c_int {
    status(Err(libc::ENOSYS))
}

extern "C" fn splice(
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
