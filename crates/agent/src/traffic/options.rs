//! Socket options by their Linux names (socket(7), tcp(7)).

use std::collections::BTreeMap;
use std::io;
use std::os::fd::BorrowedFd;

use crate::config::OptionValue;
use crate::sys;

use super::socket::said;

/// Level and number of each option; include/uapi/linux/tcp.h has the ones that libc has not.
const KNOWN: [(&str, libc::c_int, libc::c_int); 16] = [
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

/// Sets all of them.
pub(super) fn set(
    socket: BorrowedFd<'_>,
    options: &BTreeMap<String, OptionValue>,
) -> io::Result<()> {
    for (name, value) in options {
        let known = KNOWN.iter().find(|(known, ..)| known == name);
        let (_, level, number) =
            *known.ok_or_else(|| io::Error::other(format!("there is no socket option {name}")))?;
        let done = match value {
            OptionValue::Number(n) => sys::set_option(socket, level, number, &n.to_ne_bytes()),
            OptionValue::Text(text) => sys::set_option(socket, level, number, text.as_bytes()),
        };
        done.map_err(|e| said(&format!("socket option {name} = {value:?}"), &e))?;
    }
    Ok(())
}
