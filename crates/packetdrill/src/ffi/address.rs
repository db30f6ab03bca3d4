//! Addresses between C and Rust.

use std::ffi::c_int;
use std::net::{IpAddr, SocketAddr, SocketAddrV4, SocketAddrV6};

use libc::{sockaddr, socklen_t};

use crate::host::Errno;

pub(super) unsafe fn address(at: *const sockaddr, length: socklen_t) -> Result<SocketAddr, Errno> {
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

pub(super) unsafe fn put_address(
    value: SocketAddr,
    ipv6: bool,
    at: *mut sockaddr,
    length: *mut socklen_t,
) {
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
