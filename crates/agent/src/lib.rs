//! The agent: traffic endpoints and kernel counters on a real Linux kernel.
//!
//! Two halves that know nothing of each other. [`traffic`] sends and receives, on any Linux host.
//! [`guest`] is the first process of a kernel that runs as a host of the simulated network: it
//! mounts, configures the interface, hands over to `traffic`, and powers off. Only blocking calls,
//! no polling: a guest that polls would advance virtual time by microseconds a round.
//!
//! [`machine`] is for a machine that is somebody's own: what a run sets there is put back.
//!
//! What both ends of the conversation with an engine agree on is in [`config`] (what a host does)
//! and [`record`] (what it tells).

pub mod bursts;
pub mod config;
mod counters;
pub mod delays;
pub mod guest;
pub mod machine;
pub mod mem_info;
pub mod record;
pub mod root;
mod sys;
pub mod tcp_info;
pub mod traffic;

pub use config::GuestConfig;
pub use delays::{Delays, DelaysTold};
pub use record::Record;
