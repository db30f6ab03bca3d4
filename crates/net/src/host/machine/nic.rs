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

/// The receive ring, packets sent, and their interrupts.
#[derive(Debug)]
pub(super) struct Nic {
    ring: Ring<Flight>,
    /// Frames on their way to it, in the order in which they arrive.
    coming: Ring<Flight>,
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
    sent: VecDeque<Time>,
    /// When the card interrupts because of them.
    pub(super) complete_at: Time,
    completions_throttled_until: Time,
}

impl Nic {
    pub(super) fn new(descriptors: u32, throttle: Duration, adaptive: Option<Adaptive>) -> Nic {
        Nic {
            ring: Ring::default(),
            coming: Ring::default(),
            joints: VecDeque::new(),
            descriptors: descriptors as usize,
            throttle: Throttle::new(throttle, adaptive),
            sent_throttle: throttle,
            interrupt_at: Time::NEVER,
            masked: false,
            interrupts: 0,
            arrived: 0,
            dropped: Losses::default(),
            sent: VecDeque::new(),
            complete_at: Time::NEVER,
            completions_throttled_until: Time::ZERO,
        }
    }

    /// A frame is on its way and arrives at its `at`, no earlier than those before it. Says whether it
    /// is a reason for an interrupt: then the ring is empty when it arrives, and has room.
    pub(super) fn arrive(&mut self, frame: Flight, joint: Option<Joint>) -> bool {
        self.coming.push_back(frame);
        if let Some(joint) = joint {
            self.joints.push_back(joint);
        }
        let interrupts = !self.masked && self.interrupt_at == Time::NEVER;
        if interrupts {
            self.interrupt_at = frame.at.max(self.throttle.until());
        }
        interrupts
    }

    /// When the first frame on its way arrives.
    pub(super) fn lands_at(&self) -> Time {
        self.coming.front().map_or(Time::NEVER, |frame| frame.at)
    }

    /// Frames that have arrived by `now` are in the ring, or `lost` if it is full.
    pub(super) fn land(&mut self, now: Time, mut lost: impl FnMut(Flight)) {
        while self.coming.front().is_some_and(|frame| frame.at <= now) {
            self.arrived += 1;
            if self.ring.len() < self.descriptors {
                self.coming.move_front(&mut self.ring);
            } else if let Some(frame) = self.coming.pop_front() {
                self.dropped.count(frame.payload_bytes.into());
                self.joints.remove(self.ring.len());
                lost(frame);
            }
        }
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
        self.ring.front().or_else(|| self.coming.front())
    }

    /// Frames in the ring.
    pub(super) fn filled(&self) -> usize {
        self.ring.len()
    }

    /// A packet leaves at `leaves`, no earlier than those before it.
    pub(super) fn send(&mut self, leaves: Time) {
        if self.sent.is_empty() {
            self.complete_at = leaves.max(self.completions_throttled_until);
        }
        self.sent.push_back(leaves);
    }

    /// The handler of the interrupt of transmission sees which packets have left: so many.
    pub(super) fn complete(&mut self, now: Time) -> u32 {
        self.interrupts += 1;
        let left = self.sent.partition_point(|leaves| *leaves <= now);
        self.sent.drain(..left);
        self.completions_throttled_until = now + self.sent_throttle;
        let next = self.sent.front();
        self.complete_at = next.map_or(Time::NEVER, |leaves| {
            self.completions_throttled_until.max(*leaves)
        });
        left as u32
    }

    /// The driver takes the first frame.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Flight> {
        let frame = self.ring.pop_front()?;
        self.throttle.count(&frame);
        Some(frame)
    }

    /// What decides whether the frame just taken joins others, if that is asked.
    #[inline]
    pub(super) fn pop_joint(&mut self) -> Option<Joint> {
        self.joints.pop_front()
    }

    /// Frames in the ring or on their way to it.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Flight> {
        self.ring.iter().chain(self.coming.iter())
    }
}
