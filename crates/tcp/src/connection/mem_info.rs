//! What getsockopt(SO_MEMINFO) tells: memory as a socket's books have it.
//!
//! Models sk_get_meminfo (net/core/sock.c) of Linux 7.2, by the names of its SK_MEMINFO_*. Left out: what is
//! charged ahead (FWD_ALLOC), what lies in the queue of the host (WMEM_ALLOC), options, backlog and drops.

use super::Connection;

/// Memory of a connection's end, bytes of truesize: with what the kernel needs around the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemInfo {
    /// Of what has been received and not been read, in order or not (sk_rmem_alloc).
    pub rmem_alloc: u32,
    /// The receive buffer (sk_rcvbuf).
    pub rcvbuf: u32,
    /// Of what has been written and not been acknowledged (sk_wmem_queued).
    pub wmem_queued: u32,
    /// The send buffer (sk_sndbuf).
    pub sndbuf: u32,
}

impl Connection {
    /// The connection's memory as Linux tells it.
    #[must_use]
    pub fn mem_info(&self) -> MemInfo {
        let wmem_queued = if self.is_modern() {
            self.queued_memory_today()
        } else {
            self.queued_memory()
        };
        let (sndbuf, rcvbuf) = self.buffers();
        MemInfo {
            rmem_alloc: self.received_memory(),
            rcvbuf,
            wmem_queued: wmem_queued.min(u64::from(u32::MAX)) as u32,
            sndbuf,
        }
    }
}
