//! The card: its ring of receive descriptors, what it has sent, and when it interrupts.
//!
//! Models a card with one queue each way and an interrupt for each (MSI-X, as ixgbe asks for in Linux
//! 2.6.24, drivers/net/ixgbe/ixgbe_main.c), both throttled to a least interval (Intel's EITR). That of
//! reception is masked while the driver polls; that of transmission never is, and its handler
//! itself sees to the packets that have left. A card with several receive queues (RSS) is several of
//! these; packets are sent by the first. Left out: refilling the ring in batches, the bus; an
//! interval of its own for transmission; several transmit queues.
//!
//! A frame is handed over as it is launched towards the card, and lands as the first that looks at the ring
//! has come to its time: until then it changes nothing but when the card interrupts, which is known at once.

use std::collections::VecDeque;

use tailback_units::{Duration, Time};

use super::throttle::{Adaptive, Throttle};
use crate::host::joining::Joint;
use crate::loss::Losses;
use crate::pool::Flight;
use crate::ring::Ring;

/// So far ahead of the frame that arrives next one is fetched: some two lines of the cache.
const FETCHED: usize = 5;

/// The receive ring, packets sent, and their interrupts.
#[derive(Debug)]
pub(super) struct Nic {
    /// Frames in the ring and, behind them, those on their way to it, in the order in which they arrive. One
    /// that found the ring full stays in its place, without any bytes, until those before it are gone.
    frames: Ring<Flight>,
    /// How many of their places have arrived, and how many frames are in the ring.
    landed: usize,
    filled: usize,
    /// What decides whether all those frames join others, if that is asked.
    joints: VecDeque<Joint>,
    descriptors: usize,
    throttle: Throttle,
    sent_throttle: Duration,
    /// When the card interrupts; never, if it has no reason to or is masked.
    pub(super) interrupt_at: Time,
    masked: bool,
    pub(super) interrupts: u64,
    /// Frames that have arrived, and those of them that found the ring full.
    pub(super) arrived: u64,
    pub(super) dropped: Losses,
    /// When each packet that the driver has not seen complete leaves the card, in order.
    sent: Ring<Time>,
    /// Which core sent each, if that is asked.
    senders: VecDeque<u8>,
    /// When the card interrupts because of them.
    pub(super) complete_at: Time,
    completions_throttled_until: Time,
}

impl Nic {
    pub(super) fn new(descriptors: u32, throttle: Duration, adaptive: Option<Adaptive>) -> Nic {
        Nic {
            frames: Ring::default(),
            landed: 0,
            filled: 0,
            joints: VecDeque::new(),
            descriptors: descriptors as usize,
            throttle: Throttle::new(throttle, adaptive),
            sent_throttle: throttle,
            interrupt_at: Time::NEVER,
            masked: false,
            interrupts: 0,
            arrived: 0,
            dropped: Losses::default(),
            sent: Ring::default(),
            senders: VecDeque::new(),
            complete_at: Time::NEVER,
            completions_throttled_until: Time::ZERO,
        }
    }

    /// A frame is on its way and arrives at its `at`, no earlier than those before it. Says whether it
    /// is a reason for an interrupt: then the ring is empty when it arrives, and has room.
    #[inline(always)]
    pub(super) fn arrive(&mut self, frame: Flight, joint: Option<Joint>) -> bool {
        self.frames.push_back(frame);
        if let Some(joint) = joint {
            self.joints.push_back(joint);
        }
        let interrupts = !self.masked && self.interrupt_at == Time::NEVER;
        if interrupts {
            self.interrupt_at = frame.at.max(self.throttle.until());
        }
        interrupts
    }

    /// Frames that have arrived by `now` are in the ring, or `lost` if it is full. Answers when the first
    /// arrives that has not.
    #[inline(always)]
    pub(super) fn land(&mut self, now: Time, mut lost: impl FnMut(Flight)) -> Time {
        while let Some(frame) = self.frames.get(self.landed) {
            if frame.at > now {
                let at = frame.at;
                // Those behind it follow soon, and have crossed a long path since they were written.
                self.frames.prefetch(self.landed + FETCHED);
                return at;
            }
            self.arrived += 1;
            if self.filled < self.descriptors {
                self.filled += 1;
            } else {
                lost(self.lose());
            }
            self.landed += 1;
        }
        Time::NEVER
    }

    /// The frame that arrives next finds the ring full.
    #[cold]
    fn lose(&mut self) -> Flight {
        let frame = self.frames.get_mut(self.landed);
        let lost = *frame;
        frame.frame_bytes = 0;
        self.dropped.count(lost.payload_bytes.into());
        self.joints.remove(self.filled);
        lost
    }

    /// The interrupt is taken: there is no other until [`Nic::unmask`].
    pub(super) fn take_interrupt(&mut self, now: Time) {
        self.interrupts += 1;
        self.interrupt_at = Time::NEVER;
        self.throttle.interrupted(now);
        self.masked = true;
    }

    /// Interrupts are wanted again; what is in the ring, or comes into it, is a reason for one.
    pub(super) fn unmask(&mut self, now: Time) {
        self.masked = false;
        self.throttle.adapt();
        if let Some(first) = self.first() {
            self.interrupt_at = now.max(first.at).max(self.throttle.until());
        }
    }

    /// The first frame in the ring or on its way to it.
    pub(super) fn first(&self) -> Option<&Flight> {
        self.frames.front()
    }

    /// Frames in the ring.
    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    /// A packet leaves at `leaves`, no earlier than those before it.
    #[inline(always)]
    pub(super) fn send(&mut self, leaves: Time) {
        if self.sent.is_empty() {
            self.complete_at = leaves.max(self.completions_throttled_until);
        }
        self.sent.push_back(leaves);
    }

    /// The core that sent the last packet.
    pub(super) fn note_sender(&mut self, core: u8) {
        self.senders.push_back(core);
    }

    /// Of the first so many packets, how many another core than this one sent; they are forgotten.
    pub(super) fn crossed(&mut self, core: u8, packets: u32) -> u32 {
        let packets = (packets as usize).min(self.senders.len());
        let senders = self.senders.drain(..packets);
        senders
            .filter(|s| *s != core && *s != super::NO_CORE)
            .count() as u32
    }

    /// The handler of the interrupt of transmission sees which packets have left: so many.
    pub(super) fn complete(&mut self, now: Time) -> u32 {
        self.interrupts += 1;
        let mut left = 0;
        while self.sent.pop_front_if(|leaves| *leaves <= now).is_some() {
            left += 1;
        }
        self.completions_throttled_until = now + self.sent_throttle;
        let next = self.sent.front();
        self.complete_at = next.map_or(Time::NEVER, |leaves| {
            self.completions_throttled_until.max(*leaves)
        });
        left
    }

    /// The driver takes the first frame.
    pub(super) fn pop(&mut self) -> Option<Flight> {
        let mut frame = None;
        self.pop_into(&mut frame)?;
        frame
    }

    /// The same, into a place of its own; answers whether it carries payload. It is copied there as a whole: who
    /// reads what was just written in pieces waits for it.
    #[inline(always)]
    pub(super) fn pop_into(&mut self, place: &mut Option<Flight>) -> Option<bool> {
        if self.filled == 0 {
            return None;
        }
        self.filled -= 1;
        self.landed -= 1;
        let frame = self.frames.front()?;
        *place = Some(*frame);
        let carries = frame.payload_bytes > 0;
        self.throttle.count(frame);
        let next = self.frames.leave_front();
        if next.is_some_and(|next| next.frame_bytes == 0) {
            self.pass_lost();
        }
        Some(carries)
    }

    /// Frames that are lost already are first in line no longer.
    #[cold]
    fn pass_lost(&mut self) {
        while self.frames.pop_front_if(|f| f.frame_bytes == 0).is_some() {
            self.landed -= 1;
        }
    }

    /// What decides whether the frame just taken joins others, if that is asked.
    #[inline]
    pub(super) fn pop_joint(&mut self) -> Option<Joint> {
        self.joints.pop_front()
    }

    /// Frames in the ring or on their way to it.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Flight> {
        self.frames.iter().filter(|frame| frame.frame_bytes > 0)
    }
}
