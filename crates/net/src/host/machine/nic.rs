//! The card's receive side: a ring of descriptors, and when it interrupts.
//!
//! Models a card with one receive queue whose interrupt is throttled to a least interval (Intel's
//! EITR) and is masked while the driver polls. Left out: several queues, adaptive throttling (a
//! capacity host has that), refilling the ring in batches, the bus.

use std::collections::VecDeque;

use tailback_units::{Duration, Time};

use crate::loss::Losses;
use crate::pool::Flight;

/// The receive ring and its interrupt.
#[derive(Debug)]
pub(super) struct Nic {
    ring: VecDeque<Flight>,
    descriptors: usize,
    throttle: Duration,
    /// No interrupt before then.
    throttled_until: Time,
    /// When the card interrupts; never, if it has no reason to or is masked.
    pub(super) interrupt_at: Time,
    masked: bool,
    pub(super) interrupts: u64,
    pub(super) dropped: Losses,
}

impl Nic {
    pub(super) fn new(descriptors: u32, throttle: Duration) -> Nic {
        Nic {
            ring: VecDeque::new(),
            descriptors: descriptors as usize,
            throttle,
            throttled_until: Time::ZERO,
            interrupt_at: Time::NEVER,
            masked: false,
            interrupts: 0,
            dropped: Losses::default(),
        }
    }

    /// A frame has arrived; false: the ring is full and it is lost.
    pub(super) fn arrive(&mut self, now: Time, frame: Flight) -> bool {
        if self.ring.len() >= self.descriptors {
            self.dropped.count(frame.payload_bytes.into());
            return false;
        }
        self.ring.push_back(frame);
        if !self.masked && self.interrupt_at == Time::NEVER {
            self.interrupt_at = now.max(self.throttled_until);
        }
        true
    }

    /// The interrupt is taken: there is no other until [`Nic::unmask`].
    pub(super) fn take_interrupt(&mut self, now: Time) {
        self.interrupts += 1;
        self.interrupt_at = Time::NEVER;
        self.throttled_until = now + self.throttle;
        self.masked = true;
    }

    /// Interrupts are wanted again; what is in the ring is a reason for one.
    pub(super) fn unmask(&mut self, now: Time) {
        self.masked = false;
        if !self.ring.is_empty() {
            self.interrupt_at = now.max(self.throttled_until);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Flight> {
        self.ring.pop_front()
    }

    pub(super) fn waiting(&self) -> &VecDeque<Flight> {
        &self.ring
    }
}
