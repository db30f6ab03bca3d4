//! Real Linux kernels as hosts of a simulated network, in virtual time.
//!
//! Each kernel is a User-Mode Linux process. Its clock is the simulator's (the time-travel protocol)
//! and so is its network card (vhost-user): a kernel runs only when the simulator says so, and a
//! packet leaves and arrives when the simulated link says so. [`Kernels`] boots them, says when the
//! next of them wants to run, and lets it; packets go to a [`Network`] and come from
//! [`Kernels::receive`].
//!
//! Inside: `time_travel` and `vhost_user` are the two protocols, `nic` the card, all without a
//! socket or a clock; `socket` and `process` are the I/O; `host` is one kernel, `kernels` all.

mod error;
mod guest;
mod host;
mod kernels;
mod look_ahead;
mod network;
mod nic;
mod process;
mod socket;
mod time_travel;
mod vhost_user;

pub use error::KernelError;
pub use guest::RunFolder;
pub use kernels::{HostConfig, Kernels, KernelsConfig};
pub use network::Network;
pub use nic::{Checksum, NicConfig, NicCounters, Packet};
