//! What of this connection waits in its own host: TCP small queues.
//!
//! Models Linux 7.2 net/ipv4/tcp_output.c: tcp_small_queue_check, tcp_wfree, tcp_tsq_write,
//! skb_still_in_host_queue, and what __tcp_transmit_skb does when the queue drops a packet; net/ipv4/tcp_offload.c:
//! tcp_gso_segment, and net/core/skbuff.c: skb_segment, whose frames each have headers of their own in memory. The
//! host says when a segment will have left ([`Connection::left_host`]); one that says nothing has no queue. Pure
//! acknowledgements do not count. Left out: what waits whole in a qdisc behind a full ring is cut later.

use std::collections::VecDeque;

use prefetch_index::prefetch_index;
use tailback_units::{Duration, Time};

use super::super::{Connection, Transmit};
use super::tso::PACING_SHIFT;
use super::{Modern, Pacing};
use crate::clock::Jiffies;
use crate::queue::take_front;
use crate::seq::Seq;
use crate::stack::Stack;

/// A packet that has not left.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    leaves: Time,
    memory_bytes: u32,
    seq: Seq,
    end_seq: Seq,
}

/// Packets on their way out of the host.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct HostQueue {
    waiting: VecDeque<Waiting>,
    /// Their memory, and that of packets not yet polled (sk_wmem_alloc).
    memory_bytes: u64,
    /// Sending waits for one to leave (TSQ_THROTTLED).
    throttled: bool,
    /// The host has said when something leaves, so it has a queue.
    known: bool,
    /// The host takes nothing at present.
    refuses: bool,
    /// The kernel itself cuts packets for offload, as they go to the card.
    cuts: bool,
}

/// When the frames of one packet leave the host that the kernel itself cuts into them, for its card cannot
/// ([`Connection::cuts_packets`]); the last leaves when the packet has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// When the first frame has left.
    pub first: Time,
    /// How much later each that follows leaves, but the last.
    pub each: Duration,
    /// Payload of each but the last, bytes.
    pub mss: u16,
}

impl Modern {
    /// Sending waits for something to leave the host: it may have, or there may be no queue.
    #[inline]
    pub(in crate::connection) fn waits_for_host(&self) -> bool {
        self.host.throttled
    }
}

impl HostQueue {
    pub(super) fn new(stack: &Stack) -> HostQueue {
        HostQueue {
            cuts: !stack.tso,
            ..HostQueue::default()
        }
    }

    /// The first will be looked at soon.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        if let Some(first) = self.waiting.front() {
            prefetch_index(std::slice::from_ref(first), 0);
        }
    }

    /// When sending may go on.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        match self.waiting.front() {
            Some(first) if self.throttled => first.leaves,
            _ => Time::NEVER,
        }
    }

    /// Forgets what has left.
    #[inline]
    fn forget(&mut self, now: Time) {
        while let Some(first) = self.waiting.front().filter(|w| w.leaves <= now) {
            self.memory_bytes -= u64::from(first.memory_bytes).min(self.memory_bytes);
            take_front(&mut self.waiting);
        }
    }

    /// Whether sending waited for something to leave, and that has.
    #[inline]
    pub(super) fn settle(&mut self, now: Time) -> bool {
        self.deadline() <= now && {
            self.forget(now);
            std::mem::take(&mut self.throttled)
        }
    }

    /// The host has a queue, known by other means.
    #[inline]
    pub(super) fn expect_queue(&mut self) {
        self.known = true;
    }

    /// Whether a packet sent now would be dropped by the host itself.
    #[inline]
    pub(super) fn refuses(&self) -> bool {
        self.refuses
    }

    #[inline]
    pub(super) fn enters(&mut self, memory_bytes: u32) {
        if !self.known {
            return;
        }
        self.memory_bytes += u64::from(memory_bytes);
    }
}

impl Connection {
    /// The host has a queue and will say of every segment when it leaves
    /// ([`Connection::left_host`]), so that the first write keeps to its limit too.
    pub fn expect_host_queue(&mut self) {
        self.modern.host.expect_queue();
    }

    /// Whether the kernel itself cuts packets for offload into frames, and not the card: then the frames of
    /// each leave its memory one by one ([`Pieces`]). So it is without `tso`, and under accurate ECN, whose
    /// packets no card is offered (SKB_GSO_TCP_ACCECN; no driver of Linux 7.2 has NETIF_F_GSO_ACCECN).
    #[inline(always)]
    #[must_use]
    pub fn cuts_packets(&self) -> bool {
        self.modern.host.cuts
    }

    /// The kernel itself cuts packets from now on.
    pub(in crate::connection) fn cut_packets(&mut self) {
        self.modern.host.cuts = self.is_modern();
    }

    /// A segment just polled will have left this host at `at`, its frames at those times if the kernel cuts
    /// it: until then it counts against `tcp_limit_output_bytes`. [`Time::NEVER`] if that is not known yet. A host
    /// that does not call this has no queue.
    #[inline]
    pub fn left_host(&mut self, now: Time, at: Time, pieces: Option<Pieces>, transmit: &Transmit) {
        let segment = &transmit.segment;
        let bytes = u32::from(segment.payload_bytes);
        if self.is_modern() && bytes > 0 {
            self.waits_until(now, at, pieces, (segment.seq, segment.end_seq()), bytes);
        }
    }

    /// The first packet, or frame of a packet that the kernel cuts, of which it was not known when it leaves
    /// ([`Connection::left_host`] with [`Time::NEVER`]) will have left at `at`, or has been dropped then.
    pub fn leaves_host(&mut self, at: Time) {
        let mut waiting = self.modern.host.waiting.iter_mut();
        if let Some(first) = waiting.find(|packet| packet.leaves == Time::NEVER) {
            first.leaves = at;
        }
    }

    /// The same of so many bytes of payload from one sequence number to another.
    #[inline]
    pub(in crate::connection) fn waits_until(
        &mut self,
        now: Time,
        at: Time,
        pieces: Option<Pieces>,
        (seq, end_seq): (Seq, Seq),
        payload_bytes: u32,
    ) {
        self.modern.host.known = true;
        if at <= now {
            return;
        }
        if let Some(pieces) = pieces {
            return self.pieces_wait_until(now, at, pieces, payload_bytes);
        }
        let memory_bytes = self.packet_memory(payload_bytes);
        self.modern.host.memory_bytes += u64::from(memory_bytes);
        self.modern.host.waiting.push_back(Waiting {
            leaves: at,
            memory_bytes,
            seq,
            end_seq,
        });
    }

    /// The same of a packet cut by the kernel: each frame is charged for by itself. The packet is gone, and so
    /// does not wait in the host any more for those who ask (skb_still_in_host_queue).
    #[inline(never)]
    fn pieces_wait_until(&mut self, now: Time, at: Time, pieces: Pieces, payload_bytes: u32) {
        let mut leaves = pieces.first;
        let mut rest = payload_bytes;
        while rest > 0 {
            let bytes = rest.min(pieces.mss.into());
            rest -= bytes;
            let when = if rest == 0 { at } else { leaves };
            leaves += pieces.each;
            if when <= now {
                continue;
            }
            let memory_bytes = self.packet_memory(bytes);
            self.modern.host.memory_bytes += u64::from(memory_bytes);
            self.modern.host.waiting.push_back(Waiting {
                leaves: when,
                memory_bytes,
                seq: Seq::default(),
                end_seq: Seq::default(),
            });
        }
    }

    /// Whether the host's queue drops what is sent from now on. Data it drops is not in flight:
    /// it is tried again as acknowledgements or timers come (net_xmit_eval, tcp_enter_cwr).
    pub fn set_host_refuses(&mut self, refuses: bool) {
        self.modern.host.refuses = refuses;
    }

    /// A segment with so much payload has been polled: it has left unless [`Connection::left_host`]
    /// says otherwise.
    #[inline]
    pub(in crate::connection) fn polled(&mut self, payload_bytes: u32) {
        if payload_bytes > 0 {
            let memory = u64::from(self.handed_memory(payload_bytes));
            let total = &mut self.modern.host.memory_bytes;
            *total -= memory.min(*total);
        }
    }

    /// All has been polled: if the host has no queue, nothing holds sending back.
    #[inline(never)]
    pub(in crate::connection) fn resume_unqueued(&mut self, now: Time) {
        let host = &mut self.modern.host;
        if host.throttled && host.waiting.is_empty() {
            host.throttled = false;
            let jiffies = self.clock.jiffies(now);
            self.resume(jiffies);
        }
    }

    /// Memory that a packet is charged for (truesize).
    #[inline]
    pub(super) fn packet_memory(&self, payload_bytes: u32) -> u32 {
        payload_bytes + self.stack.tx_skb_overhead.get() as u32
    }

    /// What a packet is charged for from when it is handed to the host: with what its frames take as well
    /// (tcp_gso_segment), unless a qdisc holds it whole until its time has come.
    #[inline(always)]
    pub(super) fn handed_memory(&self, payload_bytes: u32) -> u32 {
        let whole = self.packet_memory(payload_bytes);
        if !self.modern.host.cuts || self.stack.pacing == Pacing::Fq {
            return whole;
        }
        let more = payload_bytes.saturating_sub(1) / self.mss.max(1);
        whole + more * self.stack.tx_skb_overhead.get() as u32
    }

    /// Whether more of this connection waits in the host than two packets or a millisecond's
    /// worth, twice that for retransmissions (tcp_small_queue_check).
    #[inline(always)]
    pub(super) fn small_queue_waits(&mut self, payload_bytes: u32, factor: u32) -> bool {
        self.forget_departed();
        let two = 2 * u64::from(self.packet_memory(payload_bytes));
        let mut limit = two.max(self.window.pacing_rate >> PACING_SHIFT);
        if self.stack.limits_paced_output || !self.is_paced() {
            limit = limit.min(self.stack.tcp_limit_output_bytes.get());
        }
        // The kernel's count begins at one, so that the limit itself is too much.
        if self.modern.host.memory_bytes < limit << factor || self.modern.sent.len() <= 1 {
            return false;
        }
        self.modern.host.throttled = true;
        true
    }

    /// Forgets what has left this host by now.
    #[inline]
    pub(super) fn forget_departed(&mut self) {
        self.modern.host.forget(self.clock.now());
    }

    /// Whether memory of more than the packet at hand waits in the host (for autocorking).
    pub(super) fn host_holds_more_than(&self, payload_bytes: u32) -> bool {
        self.modern.host.memory_bytes > u64::from(self.packet_memory(payload_bytes))
    }

    /// Autocorking waits for a packet to leave.
    pub(super) fn wait_for_host(&mut self) {
        self.modern.host.throttled = true;
    }

    /// Nothing with data waits in the host.
    pub(super) fn host_is_empty(&self) -> bool {
        self.modern.host.memory_bytes == 0
    }

    /// Whether the packet that begins at `seq` waits in the host still: sending it again would be
    /// pointless.
    pub(super) fn still_in_host(&mut self, seq: Seq) -> bool {
        self.forget_departed();
        let waits = self
            .modern
            .host
            .waiting
            .iter()
            .any(|w| !seq.before(w.seq) && seq.before(w.end_seq));
        self.modern.host.throttled |= waits;
        waits
    }

    /// Something held sending back and does no longer (tcp_tsq_write).
    pub(super) fn resume(&mut self, now: Jiffies) {
        if self.lost_out > self.retrans_out && self.window.cwnd > self.in_flight() {
            self.retransmit_lost_packets(now);
        }
        let nagle = self.nagle();
        self.push_today(now, nagle);
    }
}
