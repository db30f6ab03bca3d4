//! The retransmission queue: packets as they were handed down, with their tags.
//!
//! Models Linux 2.6.18's write queue up to the send head, tcp_skb_cb and tcp_fragment: a packet
//! may stand for several segments (segmentation offload) until a selective acknowledgement or a
//! retransmission divides it. Tags: S selectively acknowledged, R retransmitted and outstanding,
//! L lost, and whether it was ever retransmitted.
//! Left out: collapsing small packets on retransmission (tcp_retrans_try_collapse).

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

use crate::clock::Jiffies;
use crate::places::Places;
use crate::segment::SackBlock;
use crate::seq::Seq;

/// Selectively acknowledged (TCPCB_SACKED_ACKED).
pub(crate) const SACKED: u8 = 1;
/// Retransmitted, and the retransmission is outstanding (TCPCB_SACKED_RETRANS).
pub(crate) const RETRANS: u8 = 2;
/// Lost (TCPCB_LOST).
pub(crate) const LOST: u8 = 4;
/// Retransmitted at some time (TCPCB_EVER_RETRANS).
pub(crate) const EVER_RETRANS: u8 = 0x80;
/// Any tag that says where the packet is (TCPCB_TAGBITS).
pub(crate) const TAGS: u8 = SACKED | RETRANS | LOST;

/// One packet of the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) seq: Seq,
    pub(crate) end_seq: Seq,
    /// When it was last sent.
    pub(crate) when: Jiffies,
    /// What was next to send when it was retransmitted: a selective acknowledgement beyond it
    /// says that the retransmission is lost too.
    pub(crate) sent_before: Seq,
    /// Segments it stands for.
    pub(crate) segments: u16,
    /// Payload of each segment but the last, bytes (gso_size).
    pub(crate) mss: u16,
    /// If it is selectively acknowledged: so many from it on are, at least.
    pub(crate) run: u32,
    /// And so many are that were never sent again.
    pub(crate) once: u32,
    pub(crate) tags: u8,
    /// It stands for several segments, or did.
    pub(crate) many: bool,
    pub(crate) psh: bool,
    pub(crate) fin: bool,
}

impl Packet {
    /// Bytes of payload.
    pub(crate) fn payload_bytes(&self) -> u32 {
        self.end_seq - self.seq - u32::from(self.fin)
    }

    /// Whether any of `tags` is set.
    #[inline]
    pub(crate) fn has(&self, tags: u8) -> bool {
        self.tags & tags != 0
    }

    /// Whether it was ever retransmitted (TCPCB_RETRANS).
    #[inline]
    pub(crate) fn retransmitted(&self) -> bool {
        self.has(RETRANS | EVER_RETRANS)
    }
}

/// Where a walk over the queue left off: the packet, and the count of segments up to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hint {
    pub(crate) index: usize,
    pub(crate) count: u32,
}

/// Packets sent and not acknowledged, and where walks over them left off.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    packets: VecDeque<Packet>,
    /// The blocks that came last (recv_sack_cache).
    pub(crate) sack_cache: [SackBlock; 4],
    /// Selective acknowledgements (fastpath_skb_hint).
    pub(crate) sack_hint: Option<Hint>,
    /// Marking what is lost (lost_skb_hint).
    pub(crate) lost_hint: Option<Hint>,
    /// Retransmitting what is lost (retransmit_skb_hint).
    pub(crate) retransmit_hint: Option<Hint>,
    /// Retransmitting what may be (forward_skb_hint).
    pub(crate) forward_hint: Option<Hint>,
    /// Marking what has timed out (scoreboard_skb_hint).
    pub(crate) timed_out_hint: Option<usize>,
    /// What walks pass over.
    pub(crate) places: Places,
}

/// The queue of a connection that may never have one: nothing is held for it until it is written to, since
/// today's sender has a queue of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct LazyQueue(Option<Box<Queue>>);

/// What a queue that was never written to looks like.
static EMPTY: Queue = Queue {
    packets: VecDeque::new(),
    sack_cache: [SackBlock {
        start: Seq(0),
        end: Seq(0),
    }; 4],
    sack_hint: None,
    lost_hint: None,
    retransmit_hint: None,
    forward_hint: None,
    timed_out_hint: None,
    places: Places::NEW,
};

impl Deref for LazyQueue {
    type Target = Queue;
    #[inline]
    fn deref(&self) -> &Queue {
        self.0.as_deref().unwrap_or(&EMPTY)
    }
}

impl DerefMut for LazyQueue {
    #[inline]
    fn deref_mut(&mut self) -> &mut Queue {
        self.0.get_or_insert_default()
    }
}

impl Queue {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&Packet> {
        self.packets.get(index)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut Packet> {
        self.packets.get_mut(index)
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&Packet> {
        self.packets.front()
    }

    #[inline]
    pub(crate) fn front_mut(&mut self) -> Option<&mut Packet> {
        self.packets.front_mut()
    }

    #[inline]
    pub(crate) fn push(&mut self, packet: Packet) {
        self.places.added(&packet);
        self.packets.push_back(packet);
    }

    /// Takes the first packet off: it is acknowledged as a whole. All hints end.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        self.clear_hints();
        let packet = self.packets.pop_front();
        if let Some(packet) = &packet {
            self.places.taken(packet);
        }
        packet
    }

    /// Takes the last packet off: it was never sent, and has no tags. All hints end.
    pub(crate) fn pop_last(&mut self) -> Option<Packet> {
        self.clear_hints();
        let packet = self.packets.pop_back();
        if let Some(packet) = &packet {
            self.places.taken_back(packet);
        }
        packet
    }

    /// Of packets of which the first ones are so: how many are.
    pub(crate) fn first_where(&self, is_so: impl Fn(&Packet) -> bool) -> usize {
        self.packets.partition_point(is_so)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Packet> {
        self.packets.iter_mut()
    }

    /// Forgets where walks left off (clear_all_retrans_hints).
    #[inline]
    pub(crate) fn clear_hints(&mut self) {
        self.sack_hint = None;
        self.lost_hint = None;
        self.retransmit_hint = None;
        self.forward_hint = None;
        self.timed_out_hint = None;
    }

    /// The retransmission walk starts over if it is beyond the packet at `seq`.
    pub(crate) fn retransmit_from(&mut self, seq: Seq) {
        let beyond = |hint: Hint| {
            self.packets
                .get(hint.index)
                .is_some_and(|p| seq.before(p.seq))
        };
        if self.retransmit_hint.is_some_and(beyond) {
            self.retransmit_hint = None;
        }
    }

    /// Divides a packet after its first `bytes` bytes (tcp_fragment). All hints end. Answers how
    /// many segments fewer the two stand for than the one did.
    pub(crate) fn split(&mut self, index: usize, bytes: u32, mss: u32) -> i32 {
        self.clear_hints();
        let Some(packet) = self.packets.get_mut(index) else {
            return 0;
        };
        let before = i32::from(packet.segments);
        let mut rest = *packet;
        packet.end_seq = packet.seq + bytes;
        packet.psh = false;
        packet.fin = false;
        packet.segments = segments(bytes, mss);
        packet.mss = mss as u16;
        rest.seq = packet.end_seq;
        rest.segments = segments(rest.payload_bytes(), mss);
        rest.mss = mss as u16;
        let was_many = packet.many;
        packet.many |= packet.segments > 1;
        rest.many |= rest.segments > 1;
        let (many, end) = (packet.many, packet.end_seq);
        let after = i32::from(packet.segments) + i32::from(rest.segments);
        self.places
            .split(&rest, end, usize::from(many) - usize::from(was_many));
        self.places.added(&rest);
        self.packets.insert(index + 1, rest);
        before - after
    }
}

/// Adds one at the end of a queue. Its first ring has room for that one only: most queues never hold two.
#[inline(always)]
pub(crate) fn push_last<T>(queue: &mut VecDeque<T>, item: T) {
    if queue.len() == queue.capacity() {
        make_room(queue);
    }
    queue.push_back(item);
}

#[cold]
#[inline(never)]
fn make_room<T>(queue: &mut VecDeque<T>) {
    if queue.capacity() == 0 {
        queue.reserve_exact(1);
    } else {
        queue.reserve(1);
    }
}

/// Takes the first of a queue off. One that is empty then begins again at its first place, which is in
/// the processor's cache, as others may not be.
#[inline(always)]
pub(crate) fn take_front<T>(queue: &mut VecDeque<T>) -> Option<T> {
    let front = queue.pop_front();
    if queue.is_empty() {
        queue.clear();
    }
    front
}

/// Segments that `bytes` bytes make; an empty packet is one.
#[inline]
pub(crate) fn segments(bytes: u32, mss: u32) -> u16 {
    bytes.div_ceil(mss.max(1)).max(1) as u16
}
