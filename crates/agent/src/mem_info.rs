//! SO_MEMINFO: a socket's memory, as the kernel's books have it.
//!
//! Names and places are those of SK_MEMINFO_* in Linux's include/uapi/linux/sock_diag.h, in lower case, with
//! the unit. Kernels before 4.12 do not know the option.

use std::io;
use std::os::fd::AsFd;

use crate::sys;

/// Name and place.
const FIELDS: [(&str, usize); 4] = [
    ("rmem_alloc_bytes", 0),
    ("rcvbuf_bytes", 1),
    ("sndbuf_bytes", 3),
    ("wmem_queued_bytes", 5),
];

/// What the kernel says of a socket's memory.
///
/// # Errors
/// The kernel does not know the option.
pub fn read(socket: &impl AsFd) -> io::Result<impl Iterator<Item = (String, u64)>> {
    let words = sys::mem_info(socket.as_fd())?;
    let told = FIELDS.map(|(name, place)| (name.to_owned(), u64::from(words[place])));
    Ok(told.into_iter())
}

#[cfg(test)]
#[path = "mem_info_tests.rs"]
mod tests;
