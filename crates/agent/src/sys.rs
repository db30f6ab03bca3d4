//! System calls without a safe wrapper: the crate's only unsafe code.
//!
//! Layouts of `ifreq`, `arpreq` and `ethtool_value` are the kernel's (include/uapi/linux/if.h,
//! if_arp.h, ethtool.h of Linux 7.2).
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::mem;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// `struct ethtool_value`.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

fn checked(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn text(text: &str) -> io::Result<CString> {
    CString::new(text).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a NUL in a text"))
}

/// mount(2), with no flags.
pub(crate) fn mount(source: &str, target: &str, kind: &str, data: &str) -> io::Result<()> {
    let (source, target) = (text(source)?, text(target)?);
    let (kind, data) = (text(kind)?, text(data)?);
    // SAFETY: four texts that end in NUL and outlive the call.
    checked(unsafe {
        libc::mount(
            source.as_ptr(),
            target.as_ptr(),
            kind.as_ptr(),
            0,
            data.as_ptr().cast(),
        )
    })
}

/// Closes a socket for good, whoever else holds it: its descriptor becomes one of /dev/null.
pub(crate) fn close_for_all(socket: &impl AsRawFd) -> io::Result<()> {
    let nothing = std::fs::File::open("/dev/null")?;
    // SAFETY: both descriptors are open and ours; no memory is touched.
    checked(unsafe { libc::dup2(nothing.as_raw_fd(), socket.as_raw_fd()) })
}

/// flock(2): for this process alone, as long as the file is open; an error if another has it.
pub(crate) fn lock(file: &impl AsRawFd) -> io::Result<()> {
    // SAFETY: the descriptor is open; no memory is touched.
    checked(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) })
}

/// Ends all processes of a group.
pub(crate) fn kill_group(leader: u32) {
    // SAFETY: takes numbers, touches no memory of ours. A group that is gone is no failure.
    unsafe { libc::kill(-(leader as libc::pid_t), libc::SIGKILL) };
}

/// Ends all processes of this one's group, itself among them, if it leads one.
pub(crate) fn kill_own_group() {
    // SAFETY: takes numbers, touches no memory of ours.
    unsafe {
        if libc::getpgrp() == libc::getpid() {
            libc::kill(0, libc::SIGKILL);
        }
    }
}

/// Whether somebody has told this process to end, since [`note_if_told_to_end`].
static TOLD_TO_END: AtomicBool = AtomicBool::new(false);

extern "C" fn told_to_end(_signal: libc::c_int) {
    TOLD_TO_END.store(true, Ordering::Relaxed);
}

/// From now on this process does not end by SIGTERM, SIGHUP or SIGINT, but knows of it. Programs that it
/// starts do.
pub(crate) fn note_if_told_to_end() {
    let handler = told_to_end as extern "C" fn(libc::c_int);
    for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT] {
        // SAFETY: the handler stores to an atomic, which a handler may (signal-safety(7)).
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
}

/// Whether somebody has told this process to end.
pub(crate) fn is_told_to_end() -> bool {
    TOLD_TO_END.load(Ordering::Relaxed)
}

/// Switches the machine off; returns only if the kernel refuses.
pub(crate) fn power_off() -> io::Error {
    // SAFETY: takes a number, touches no memory of ours.
    unsafe {
        libc::sync();
        libc::reboot(libc::RB_POWER_OFF);
    }
    io::Error::last_os_error()
}

/// Has as many files open as the system lets it: so many of its own where `all`, which is root's to ask for, else
/// up to its hard limit (setrlimit(2), RLIMIT_NOFILE). What is not granted is not missed before it is needed.
pub(crate) fn most_open_files(all: Option<u64>) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointers are to a struct that lives through the calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_max = all.unwrap_or(limit.rlim_max);
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Timers of this thread and of those it starts fire as exactly as the clock allows; the
/// default slack of 50 us is meant to save power.
pub(crate) fn least_timer_slack() {
    // SAFETY: takes numbers, touches no memory of ours.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
}

/// poll(2) without a timeout: which of `sockets` can be read, or have ended.
pub(crate) fn wait_readable(sockets: &[BorrowedFd<'_>], ready: &mut Vec<bool>) -> io::Result<()> {
    let mut entries: Vec<libc::pollfd> = sockets
        .iter()
        .map(|socket| libc::pollfd {
            fd: socket.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    // SAFETY: the entries outlive the call, and their number is theirs.
    checked(unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, -1) })?;
    ready.clear();
    ready.extend(entries.iter().map(|entry| entry.revents != 0));
    Ok(())
}

/// Has the kernel say with each read of a TCP socket when the last segment of it came.
pub(crate) fn stamp_arrivals(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    set_option(
        socket,
        libc::SOL_SOCKET,
        libc::SO_TIMESTAMPNS,
        &on.to_ne_bytes(),
    )
}

/// setsockopt(2) with a number or a name.
pub(crate) fn set_option(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &[u8],
) -> io::Result<()> {
    // SAFETY: the kernel reads as many bytes as it is told, and they outlive the call.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            value.as_ptr().cast(),
            value.len() as libc::socklen_t,
        )
    })
}

/// Room for the control message with a time, aligned as the kernel wants it.
#[repr(C, align(8))]
struct ControlSpace([u8; 64]);

/// Takes up to `most` bytes off a TCP socket unseen (MSG_TRUNC, tcp(7)). Gives how many, and the wall
/// clock (ns since 1970) when the last segment of them came, if [`stamp_arrivals`] was called before it
/// did.
pub(crate) fn skip(socket: BorrowedFd<'_>, most: usize) -> io::Result<(usize, Option<u64>)> {
    // The kernel writes nothing, but wants the length of what it drops.
    let mut part = libc::iovec {
        iov_base: std::ptr::null_mut(),
        iov_len: most,
    };
    let mut control = ControlSpace([0; 64]);
    // SAFETY: integers and pointers: all zero bytes is a value.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control).cast();
    message.msg_controllen = size_of::<ControlSpace>() as _;
    // SAFETY: with MSG_TRUNC a TCP socket writes no bytes; the control space outlives the call and has
    // the length given.
    let read = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_TRUNC) };
    let Ok(read) = usize::try_from(read) else {
        return Err(io::Error::last_os_error());
    };
    let mut at = None;
    // SAFETY: the kernel has filled the control space and its length; the macros stay within it, and
    // a message of this kind holds a timespec, at any alignment.
    unsafe {
        let mut head = libc::CMSG_FIRSTHDR(&raw const message);
        while let Some(found) = head.as_ref() {
            if (found.cmsg_level, found.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
                let time = libc::CMSG_DATA(head)
                    .cast::<libc::timespec>()
                    .read_unaligned();
                at = Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
            }
            head = libc::CMSG_NXTHDR(&raw const message, head);
        }
    }
    Ok((read, at))
}

/// Up to `into.len()` bytes of TCP_INFO; gives how many the kernel wrote.
pub(crate) fn tcp_info(socket: BorrowedFd<'_>, into: &mut [u8]) -> io::Result<usize> {
    let mut length = into.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into a buffer of that length.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            into.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    Ok(length as usize)
}

/// The words of SO_MEMINFO, by SK_MEMINFO_*.
pub(crate) fn mem_info(socket: BorrowedFd<'_>) -> io::Result<[u32; 9]> {
    let mut words = [0_u32; 9];
    let mut length = mem::size_of_val(&words) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into an array of that length.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            words.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    Ok(words)
}

/// `struct ifreq` for this interface, the rest zero.
fn request(interface: &str) -> io::Result<libc::ifreq> {
    // SAFETY: integers, arrays and unions of them: all zero bytes is a value.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    if interface.len() >= request.ifr_name.len() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the interface's name is too long",
        ));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

fn address_of(address: Ipv4Addr) -> libc::sockaddr {
    let inet = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: 0,
        sin_addr: libc::in_addr {
            s_addr: u32::from(address).to_be(),
        },
        sin_zero: [0; 8],
    };
    // SAFETY: both are 16 bytes of integers, a family first.
    unsafe { mem::transmute::<libc::sockaddr_in, libc::sockaddr>(inet) }
}

/// ioctl(2) on any socket with a pointer to `argument`.
fn ioctl<T>(socket: BorrowedFd<'_>, number: libc::c_ulong, argument: &mut T) -> io::Result<()> {
    // SAFETY: private; each caller pairs the number with the structure that the kernel expects.
    checked(unsafe {
        libc::ioctl(
            socket.as_raw_fd(),
            number as _,
            std::ptr::from_mut(argument),
        )
    })
}

/// The interface's IPv4 address.
pub(crate) fn set_address(
    socket: BorrowedFd<'_>,
    interface: &str,
    address: Ipv4Addr,
    mask: Ipv4Addr,
) -> io::Result<()> {
    let mut asked = request(interface)?;
    asked.ifr_ifru.ifru_addr = address_of(address);
    ioctl(socket, libc::SIOCSIFADDR as _, &mut asked)?;
    asked.ifr_ifru.ifru_netmask = address_of(mask);
    ioctl(socket, libc::SIOCSIFNETMASK as _, &mut asked)
}

/// The interface's MTU, bytes.
pub(crate) fn set_mtu(socket: BorrowedFd<'_>, interface: &str, mtu: u32) -> io::Result<()> {
    let mut asked = request(interface)?;
    asked.ifr_ifru.ifru_mtu = mtu as libc::c_int;
    ioctl(socket, libc::SIOCSIFMTU as _, &mut asked)
}

/// The interface up.
pub(crate) fn set_up(socket: BorrowedFd<'_>, interface: &str) -> io::Result<()> {
    let mut asked = request(interface)?;
    ioctl(socket, libc::SIOCGIFFLAGS as _, &mut asked)?;
    // SAFETY: the kernel has just written the flags.
    let flags = unsafe { asked.ifr_ifru.ifru_flags };
    asked.ifr_ifru.ifru_flags = flags | libc::IFF_UP as libc::c_short;
    ioctl(socket, libc::SIOCSIFFLAGS as _, &mut asked)
}

/// A permanent neighbour entry.
pub(crate) fn set_neighbour(
    socket: BorrowedFd<'_>,
    interface: &str,
    address: Ipv4Addr,
    mac: [u8; 6],
) -> io::Result<()> {
    // SAFETY: integers and arrays of them.
    let mut entry: libc::arpreq = unsafe { mem::zeroed() };
    entry.arp_pa = address_of(address);
    entry.arp_ha.sa_family = libc::ARPHRD_ETHER;
    for (to, from) in entry.arp_ha.sa_data.iter_mut().zip(mac) {
        *to = from as libc::c_char;
    }
    entry.arp_flags = libc::ATF_PERM | libc::ATF_COM;
    for (to, from) in entry.arp_dev.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    ioctl(socket, libc::SIOCSARP as _, &mut entry)
}

/// One of ethtool's commands that take a number, such as `ETHTOOL_STSO`.
pub(crate) fn ethtool(
    socket: BorrowedFd<'_>,
    interface: &str,
    command: u32,
    data: u32,
) -> io::Result<()> {
    let mut value = EthtoolValue { command, data };
    let mut asked = request(interface)?;
    asked.ifr_ifru.ifru_data = (&raw mut value).cast();
    ioctl(socket, libc::SIOCETHTOOL as _, &mut asked)
}
