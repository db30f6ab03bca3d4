//! The queue discipline of a host's interface, and the card behind it.
//!
//! Models what lies between TCP and the wire of a host whose interface has a discipline of its own (Linux 7.2
//! net/sched/sch_generic.c: __qdisc_run): packets wait whole, as TCP made them for segmentation offload, and the card
//! is handed them as far as its byte queue limit lets it ([`ByteQueueLimit`]). A packet has left when its last bit has. CAKE
//! has packets cut before they wait (`split-gso`). Left out: a ring that is full before the limit is reached; classes;
//! requeued packets; that bytes of a packet still to be cut count headers once (qdisc_pkt_len_init counts them for each frame).

use std::collections::VecDeque;

use tailback_units::Time;

use super::byte_queue_limit::ByteQueueLimit;
use super::port::Next;
use crate::frame::FCS_BYTES;
use crate::loss::Losses;
use crate::pool::{Flight, FramePool};
use crate::queue::{Discipline, Effects, Held, QueueConfig};
use crate::random::Stream;
use crate::switch::DropCause;
use crate::switch::shared::Pool;

/// A host's discipline, and what its card has.
#[derive(Clone, Debug)]
pub struct HostQdisc {
    queue: Discipline,
    splits: bool,
    /// Most packets that a FIFO holds (txqueuelen); others have limits of their own.
    fifo_packets: Option<usize>,
    packets: usize,
    bytes: u64,
    bytes_max: u64,
    limit: ByteQueueLimit,
    /// When each packet that the card has will have left it, and its bytes.
    on_card: VecDeque<(Time, u64)>,
    effects: Effects,
    losses: [Losses; DropCause::ALL.len()],
    marked: u64,
}

impl HostQdisc {
    /// An empty one, for frames of so many bytes at most; a FIFO holds `fifo_packets`.
    #[must_use]
    pub fn new(
        config: &QueueConfig,
        frame_bytes_max: u32,
        fifo_packets: u32,
        stream: Stream,
    ) -> HostQdisc {
        HostQdisc {
            queue: Discipline::new(config, frame_bytes_max, stream),
            splits: matches!(config, QueueConfig::Cake(_)),
            fifo_packets: matches!(config, QueueConfig::Fifo {}).then_some(fifo_packets as usize),
            packets: 0,
            bytes: 0,
            bytes_max: 0,
            limit: ByteQueueLimit::default(),
            on_card: VecDeque::new(),
            effects: Effects::default(),
            losses: [Losses::default(); DropCause::ALL.len()],
            marked: 0,
        }
    }

    /// Whether it wants packets cut into frames before they wait.
    #[must_use]
    pub fn splits(&self) -> bool {
        self.splits
    }

    /// A packet joins those that wait. Whatever is dropped of it or for it, [`HostQdisc::take_dropped`] tells.
    pub fn enqueue(&mut self, now: Time, frame: Flight, frames: &mut FramePool) {
        let held = Held {
            frame,
            in_port: 0,
            pool: Pool::Shared,
            since: now,
            marked: false,
        };
        self.packets += 1;
        self.bytes += u64::from(frame.frame_bytes);
        if self.fifo_packets.is_some_and(|most| self.packets > most) {
            self.effects.dropped_now.push((held, DropCause::QueueLimit));
            return;
        }
        self.queue.enqueue(now, held, frames, &mut self.effects);
        self.bytes_max = self.bytes_max.max(self.bytes);
    }

    /// What has been dropped since this was last asked, and is to be told to [`HostQdisc::lost`].
    pub fn take_dropped(&mut self) -> Option<(Flight, DropCause)> {
        let (held, cause) = self.effects.dropped_now.pop()?;
        self.goes(&held);
        Some((held.frame, cause))
    }

    /// A packet that was dropped would have been cut into frames with `mss` bytes of payload.
    pub fn lost(&mut self, frame: &Flight, cause: DropCause, mss: u16) {
        self.losses[cause as usize].count_cut(frame.payload_bytes.into(), mss);
    }

    fn goes(&mut self, held: &Held) {
        self.packets -= 1;
        self.bytes -= u64::from(held.frame.frame_bytes);
    }

    /// What the card is handed next.
    pub fn next(&mut self, now: Time, frames: &mut FramePool) -> Next {
        while let Some((left, bytes)) = self.on_card.front().copied()
            && left <= now
        {
            self.on_card.pop_front();
            self.limit.completed(left, bytes);
        }
        if self.packets == 0 {
            return Next::Idle;
        }
        if let (Some((left, _)), true) = (self.on_card.front(), self.limit.is_reached()) {
            return Next::Wait(*left);
        }
        let until = self.queue.held_until();
        if until > now {
            return Next::Wait(until);
        }
        let Some(held) = self.queue.dequeue(now, frames, &mut self.effects) else {
            // All that waited was dropped, or what is left is held back.
            let until = self.queue.held_until();
            return match self.packets == self.effects.dropped_now.len() {
                true => Next::Idle,
                false => Next::Wait(until),
            };
        };
        self.goes(&held);
        self.marked += self.effects.marked.drain(..).count() as u64;
        Next::Frame(held.frame)
    }

    /// The card has been handed a packet of so many bytes, from destination address to FCS, and will have sent it
    /// by then.
    pub fn handed(&mut self, leaves: Time, frame_bytes: u16) {
        let bytes = u64::from(frame_bytes).saturating_sub(FCS_BYTES.into());
        self.limit.queued(bytes);
        self.on_card.push_back((leaves, bytes));
    }

    /// Packets that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Flight> {
        self.queue.waiting().map(|held| &held.frame)
    }

    /// What was lost here, by cause.
    pub fn losses(&self) -> impl Iterator<Item = (DropCause, Losses)> + '_ {
        DropCause::ALL
            .into_iter()
            .map(|cause| (cause, self.losses[cause as usize]))
    }

    /// Packets marked.
    #[must_use]
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// The most bytes that have waited at once.
    #[must_use]
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }
}

#[cfg(test)]
#[path = "qdisc_tests.rs"]
mod tests;
