//! Socket options by their Linux names (socket(7), tcp(7)).

use std::io;
use std::os::fd::BorrowedFd;

use crate::config::{GuestConfig, OptionValue};
use crate::sys;

use socket2::SockRef;

use super::socket::said;

/// Level and number of each option; include/uapi/linux/tcp.h has the ones that libc has not.
const KNOWN: [(&str, libc::c_int, libc::c_int); 17] = [
    ("TCP_NODELAY", libc::IPPROTO_TCP, libc::TCP_NODELAY),
    ("TCP_CORK", libc::IPPROTO_TCP, libc::TCP_CORK),
    ("TCP_MAXSEG", libc::IPPROTO_TCP, libc::TCP_MAXSEG),
    ("TCP_NOTSENT_LOWAT", libc::IPPROTO_TCP, 25),
    (
        "TCP_USER_TIMEOUT",
        libc::IPPROTO_TCP,
        libc::TCP_USER_TIMEOUT,
    ),
    ("SO_SNDBUF", libc::SOL_SOCKET, libc::SO_SNDBUF),
    ("SO_RCVBUF", libc::SOL_SOCKET, libc::SO_RCVBUF),
    (
        "SO_MAX_PACING_RATE",
        libc::SOL_SOCKET,
        libc::SO_MAX_PACING_RATE,
    ),
    ("TCP_CONGESTION", libc::IPPROTO_TCP, libc::TCP_CONGESTION),
    (
        "TCP_WINDOW_CLAMP",
        libc::IPPROTO_TCP,
        libc::TCP_WINDOW_CLAMP,
    ),
    ("SO_RCVLOWAT", libc::SOL_SOCKET, libc::SO_RCVLOWAT),
    ("TCP_LINGER2", libc::IPPROTO_TCP, libc::TCP_LINGER2),
    ("TCP_SYNCNT", libc::IPPROTO_TCP, libc::TCP_SYNCNT),
    ("SO_KEEPALIVE", libc::SOL_SOCKET, libc::SO_KEEPALIVE),
    ("TCP_KEEPIDLE", libc::IPPROTO_TCP, libc::TCP_KEEPIDLE),
    ("TCP_KEEPINTVL", libc::IPPROTO_TCP, libc::TCP_KEEPINTVL),
    ("TCP_KEEPCNT", libc::IPPROTO_TCP, libc::TCP_KEEPCNT),
];

/// One of a socket's two buffers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Buffer {
    Send,
    Receive,
}

impl Buffer {
    /// As [`KNOWN`] has its option.
    fn named(option: &str) -> Option<Buffer> {
        match option {
            "SO_SNDBUF" => Some(Buffer::Send),
            "SO_RCVBUF" => Some(Buffer::Receive),
            _ => None,
        }
    }
}

/// Asks for a buffer of so many bytes, or of the most that the scenario's own sysctl lets a program have. A kernel
/// gives as much as its sysctl says without a word, and that may be the machine's and not the scenario's: of
/// it a privileged program need not take notice (socket(7), SO_RCVBUFFORCE).
///
/// # Errors
/// The kernel gives less.
pub(super) fn set_buffer(
    socket: BorrowedFd<'_>,
    buffer: Buffer,
    bytes: u32,
    config: &GuestConfig,
) -> io::Result<()> {
    let (force, plain, sysctl, what) = match buffer {
        Buffer::Send => (
            libc::SO_SNDBUFFORCE,
            libc::SO_SNDBUF,
            "net.core.wmem_max",
            "send",
        ),
        Buffer::Receive => (
            libc::SO_RCVBUFFORCE,
            libc::SO_RCVBUF,
            "net.core.rmem_max",
            "receive",
        ),
    };
    let (own, profile) = (&config.sysctls, &config.profile_sysctls);
    let most = own.get(sysctl).or_else(|| profile.get(sysctl));
    let most = most.and_then(|value| value.trim().parse().ok());
    let bytes = bytes.min(most.unwrap_or(u32::MAX)).min(i32::MAX as u32);
    let set = |option| sys::set_option(socket, libc::SOL_SOCKET, option, &bytes.to_ne_bytes());
    match set(force) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {}
        other => return other,
    }
    set(plain)?;
    let reference = SockRef::from(&socket);
    let given = match buffer {
        Buffer::Send => reference.send_buffer_size(),
        Buffer::Receive => reference.recv_buffer_size(),
    }?;
    // The kernel doubles what it is asked for.
    if (given as u64) < 2 * u64::from(bytes) {
        return Err(io::Error::other(format!(
            "a {what} buffer of {bytes} bytes: this machine gives {} ({sysctl}); a privileged program gets it \
             (sudo = true in the inventory)",
            given / 2
        )));
    }
    Ok(())
}

/// Sets all of them.
pub(super) fn set(socket: BorrowedFd<'_>, config: &GuestConfig) -> io::Result<()> {
    for (name, value) in &config.socket_options {
        if let (Some(buffer), OptionValue::Number(bytes)) = (Buffer::named(name), value) {
            set_buffer(socket, buffer, (*bytes).max(0) as u32, config)?;
            continue;
        }
        let known = KNOWN.iter().find(|(known, ..)| known == name);
        let (_, level, number) =
            *known.ok_or_else(|| io::Error::other(format!("there is no socket option {name}")))?;
        let done = match value {
            OptionValue::Number(n) => sys::set_option(socket, level, number, &n.to_ne_bytes()),
            OptionValue::Long(n) => sys::set_option(socket, level, number, &n.to_ne_bytes()),
            OptionValue::Text(text) => sys::set_option(socket, level, number, text.as_bytes()),
        };
        done.map_err(|e| said(&format!("socket option {name} = {value:?}"), &e))?;
    }
    Ok(())
}
