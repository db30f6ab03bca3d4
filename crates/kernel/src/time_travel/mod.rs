//! The time-travel protocol of User-Mode Linux: who may run, until when.
//!
//! Source: Linux 7.2 include/uapi/linux/um_timetravel.h (BSD-3-Clause; shared memory version 2) and
//! the behaviour of arch/um/kernel/time.c. Left out: broadcasts (answered and forgotten).

mod message;
mod shared;

pub(crate) use message::{Message, Op};
pub(crate) use shared::{SIMULATOR, SharedClock};
