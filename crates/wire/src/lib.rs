//! The wire: segments as bytes and back, captures.
//!
//! [`ip::write`] turns a [`tailback_tcp::Segment`] into an IPv4 or IPv6 packet with right checksums,
//! [`ip::parse`] reads one; [`ethernet`] has the header around it, [`plan`] the addresses of a
//! run's hosts and endpoints, [`pcapng`] writes captures,
//! [`capture`] reads them. Nothing here panics on any bytes: what
//! cannot be read is a [`ParseError`].

pub mod capture;
mod checksum;
pub mod datagram;
mod error;
pub mod ethernet;
pub mod ip;
mod options;
pub mod pcapng;
pub mod plan;
mod tcp;

pub use checksum::Sum;
pub use error::ParseError;
pub use ip::{IpFields, Packet, Payload};
pub use tailback_tcp::Ecn;
