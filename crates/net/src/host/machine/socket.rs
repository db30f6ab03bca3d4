//! A TCP socket between softirqs and the thread that uses it: its lock, its backlog, its prequeue.
//!
//! Models Linux 2.6.24: tcp_v4_rcv (net/ipv4/tcp_ipv4.c), tcp_prequeue (include/net/tcp.h),
//! sk_add_backlog (include/net/sock.h), __release_sock (net/core/sock.c). While a thread is inside send or
//! recv it owns the socket, and what a softirq brings waits in the backlog until
//! the thread lets the socket go and handles it. The backlog has no limit there; with `backlog_limit` it has that of
//! 5.1 (tcp_add_backlog, net/ipv4/tcp_ipv4.c; sk_rcvqueues_full): what it is charged, which only a backlog that has been
//! worked off gives back (__release_sock), so that what TCP has queued meanwhile counts twice. While a thread waits in recv, packets wait for it in
//! the prequeue (not with tcp_low_latency): the first wakes it; when they are charged more than the
//! receive buffer holds, the softirq handles them all. Left out: packets that join the last of the
//! backlog (since 4.21; they take no less memory), the timer that sees to a prequeue after 150 ms, spinning for the lock's own lock.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Duration;

use crate::pool::Flight;

/// How sockets keep softirqs and threads apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketLock {
    /// Of what receiving a packet costs, TCP's part: it falls to whoever has TCP handle the packet.
    pub protocol: Duration,
    /// Of what a call costs without its copy, the part before it takes the socket's lock; what a program
    /// does between its calls is in it.
    pub unlocked: Duration,
    /// A thread that waits in recv is not left to handle packets itself; true in kernels since 4.14,
    /// which have no prequeue.
    #[serde(default)]
    pub tcp_low_latency: bool,
    /// A packet is dropped that would wait in a backlog while it and the receive queue hold more than both buffers
    /// and 64 KiB (TCPBacklogDrop); since 2.6.34.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub backlog_limit: bool,
}

/// What a backlog may hold beyond both buffers (tcp_add_backlog).
const HEADROOM_BYTES: u64 = 64 * 1024;

/// Memory of a socket as a packet comes, bytes.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Receive buffer (sk_rcvbuf).
    pub rcvbuf: u64,
    /// Send buffer (sk_sndbuf).
    pub sndbuf: u64,
    /// What is in the receive queue (sk_rmem_alloc); absent: backlogs have no limit.
    pub queued: Option<u64>,
}

/// What a softirq brings a socket.
#[derive(Clone, Debug)]
pub enum Packet {
    /// A frame.
    Frame(Flight),
    /// Frames of a flow that are one packet, in their order.
    Joined(Vec<Flight>),
}

impl Packet {
    /// Its frames.
    #[inline]
    #[must_use]
    pub fn frames(&self) -> &[Flight] {
        match self {
            Packet::Frame(frame) => std::slice::from_ref(frame),
            Packet::Joined(frames) => frames,
        }
    }

    /// Its payload.
    #[inline]
    #[must_use]
    pub fn payload_bytes(&self) -> u64 {
        match self {
            Packet::Frame(frame) => u64::from(frame.payload_bytes),
            Packet::Joined(frames) => {
                let frames = frames.iter();
                frames.map(|frame| u64::from(frame.payload_bytes)).sum()
            }
        }
    }
}

/// What the thread of a socket does as a packet comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// It is inside a call and owns the socket.
    Owns,
    /// It waits in recv, or has been woken there and has not got the core yet.
    Reads,
    /// Neither.
    Away,
}

/// What becomes of a packet.
#[derive(Debug)]
pub enum Admission {
    /// TCP handles it at once, in the softirq.
    Now(Packet),
    /// It waits.
    Kept,
    /// The backlog holds too much: it is dropped.
    Full(Packet),
    /// It waits and is the first that does: the reader is woken.
    Wakes,
    /// The prequeue is charged too much: the softirq is to handle all that [`Socket::next_prequeued`]
    /// gives.
    Overrun,
}

/// What waits at a socket.
#[derive(Debug, Default)]
pub struct Socket {
    backlog: VecDeque<Packet>,
    prequeue: VecDeque<Packet>,
    /// What the prequeue is charged, bytes.
    memory_bytes: u64,
    /// What the backlog has been charged since it was last worked off (sk_backlog.len), bytes.
    backlog_bytes: u64,
}

impl Socket {
    /// A softirq brings a packet that is charged `memory_bytes`.
    #[inline]
    pub fn arrive(
        &mut self,
        packet: Packet,
        user: User,
        memory_bytes: u64,
        memory: Memory,
    ) -> Admission {
        match user {
            User::Away => Admission::Now(packet),
            User::Owns => {
                let limit = memory.rcvbuf + memory.sndbuf + HEADROOM_BYTES;
                if let Some(queued) = memory.queued
                    && self.backlog_bytes + queued > limit
                {
                    return Admission::Full(packet);
                }
                self.backlog_bytes += memory_bytes;
                self.backlog.push_back(packet);
                Admission::Kept
            }
            User::Reads => {
                self.prequeue.push_back(packet);
                self.memory_bytes += memory_bytes;
                if self.memory_bytes > memory.rcvbuf {
                    Admission::Overrun
                } else if self.prequeue.len() == 1 {
                    Admission::Wakes
                } else {
                    Admission::Kept
                }
            }
        }
    }

    /// The first packet of the backlog.
    #[inline]
    #[must_use]
    pub fn backlogged(&self) -> Option<&Packet> {
        self.backlog.front()
    }

    /// The first packet of the prequeue.
    #[inline]
    #[must_use]
    pub fn prequeued(&self) -> Option<&Packet> {
        self.prequeue.front()
    }

    /// Takes the first packet of the backlog.
    #[inline]
    pub fn next_backlogged(&mut self) -> Option<Packet> {
        self.backlog.pop_front()
    }

    /// Takes the first packet of the prequeue.
    #[inline]
    pub fn next_prequeued(&mut self) -> Option<Packet> {
        let packet = self.prequeue.pop_front();
        if self.prequeue.is_empty() {
            self.memory_bytes = 0;
        }
        packet
    }

    /// Its owner has handled all of the backlog.
    #[inline]
    pub fn worked_off(&mut self) {
        self.backlog_bytes = 0;
    }

    /// How many packets wait.
    #[inline]
    #[must_use]
    pub fn waiting_packets(&self) -> u64 {
        (self.prequeue.len() + self.backlog.len()) as u64
    }

    /// Frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Flight> {
        let packets = self.prequeue.iter().chain(&self.backlog);
        packets.flat_map(Packet::frames)
    }
}

#[cfg(test)]
#[path = "socket_tests.rs"]
mod tests;
