//! TCP under packetdrill: the shared object that `packetdrill --so_filename` loads.
//!
//! It stands in for a kernel: sockets, an IP layer and a clock around [`tailback_tcp::Connection`].
//! Time is virtual: it moves when packetdrill waits, and stands still while it does anything else,
//! so a script takes milliseconds and a slow machine changes nothing.
//!
//! - [`host`] is the stand-in itself, safe and without a clock: calls, packets and time go in.
//! - [`view`] reads the sysctls that a script has set, from a folder that is the script's own.
//! - `ffi` has packetdrill's table of functions (so_testing in its sources), and what blocks.
//! - `interpose` has the two libc functions that packetdrill calls beside that table; they take
//!   effect when the object is preloaded too.
//!
//! Left out: everything that is not TCP, and of sockets what `docs/models/packetdrill.md` lists.

#[allow(unsafe_code)]
mod ffi;
pub mod host;
mod info;
#[allow(unsafe_code)]
mod interpose;
mod shared;
pub mod view;
