//! packetdrill's table of functions (gtests/net/packetdrill/packetdrill.h of google/packetdrill).
//!
//! Only translation: pointers to values, answers to return values and errno. One host a process,
//! as packetdrill has one; a descriptor is a real one (of /dev/null), since packetdrill closes it
//! with libc's close at the end. `sockets`, `transfer`, `options` and `machine` have the functions.

mod address;
mod machine;
mod options;
mod sockets;
mod transfer;

use std::ffi::{CStr, c_char, c_int, c_longlong, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

use libc::{iovec, msghdr, pollfd, size_t, sockaddr, socklen_t, ssize_t, timeval};

use crate::host::{Errno, Fd, Host, Setup};
use crate::shared::Shared;
use crate::view::View;

use self::machine::{
    epoll_create, epoll_ctl, epoll_wait, gettimeofday, netdev_receive, netdev_send, pipe, poll,
    splice, usleep,
};
pub(crate) use self::options::own_getsockopt;
use self::options::{getsockopt, setsockopt};
use self::sockets::{accept, bind, close, connect, fcntl, free, ioctl, listen, shutdown, socket};
use self::transfer::{read, readv, recv, recvfrom, recvmsg, send, sendmsg, sendto, write, writev};

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
