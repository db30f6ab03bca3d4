//! A least time between two interrupts.
//!
//! Models a card that interrupts for what it has received and for what it has sent alike, and no sooner than
//! a time after the last interrupt (ethtool's rx-usecs on a vector that serves both ways, as ixgbe and i40e
//! have them by default, and as kernels in virtual time have it here). What was sent is known by the
//! end of its time on the line.
//! Left out: limits by frames (rx-frames), adaptive rates, a vector for each way.

use std::collections::VecDeque;

use tailback_units::{Duration, Time};

/// So many packets that nobody was interrupted for are looked through when another is sent.
const MANY: usize = 64;

/// Interrupts at a distance.
#[derive(Clone, Debug)]
pub(super) struct Gap {
    gap: Duration,
    /// No interrupt before this.
    quiet_until: Time,
    last: Option<Time>,
    /// When packets that were sent and not interrupted for leave, the first first.
    sent: VecDeque<Time>,
}

impl Gap {
    /// None if interrupts may follow each other at once.
    pub(super) fn new(gap: Duration) -> Option<Gap> {
        (!gap.is_zero()).then_some(Gap {
            gap,
            quiet_until: Time::ZERO,
            last: None,
            sent: VecDeque::new(),
        })
    }

    /// A packet's time on the line ends at `at`, no earlier than those before: with segmentation offload,
    /// that of its last frame.
    // What it interrupts for meanwhile is seen to when a frame comes, or when many have been sent.
    pub(super) fn sent(&mut self, now: Time, at: Time) {
        if self.sent.len() >= MANY {
            self.settle(now);
        }
        self.sent.push_back(at);
    }

    /// A frame arrives at `at`, and the CPU has nothing to do: when the interrupt for it comes. One that comes
    /// at the instant of an interrupt is told of by it.
    pub(super) fn interrupt(&mut self, at: Time) -> Time {
        self.settle(at);
        if self.last == Some(at) {
            return at;
        }
        let interrupt = at.max(self.quiet_until);
        self.interrupted(interrupt);
        interrupt
    }

    /// Interrupts for what was sent that come no later than `until`.
    fn settle(&mut self, until: Time) {
        while let Some(first) = self.sent.front() {
            let interrupt = self.quiet_until.max(*first);
            if interrupt > until {
                return;
            }
            self.interrupted(interrupt);
        }
    }

    fn interrupted(&mut self, at: Time) {
        self.quiet_until = at + self.gap;
        self.last = Some(at);
        while self.sent.front().is_some_and(|first| *first <= at) {
            self.sent.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn gap() -> Gap {
        Gap::new(Duration::from_us(16)).expect("a gap")
    }

    #[test]
    fn what_was_sent_interrupts_too() {
        let mut gap = gap();
        assert_eq!(gap.interrupt(us(100)), us(100));
        assert_eq!(gap.interrupt(us(130)), us(130));
        // Answered at once: the card tells of it when it may, at 146, and of the next frame 16 us later.
        gap.sent(us(130), us(131));
        assert_eq!(gap.interrupt(us(150)), us(162));
    }

    #[test]
    fn a_stream_that_is_sent_interrupts_all_along() {
        let mut gap = gap();
        for at in 0..50 {
            gap.sent(us(at), us(at));
        }
        // At 0, 16, 32 and 48; the last at 64, unless a frame comes.
        assert_eq!(gap.interrupt(us(50)), us(64));
        assert_eq!(gap.interrupt(us(90)), us(90));
    }

    #[test]
    fn an_interrupt_for_a_frame_tells_of_what_was_sent() {
        let mut gap = gap();
        assert_eq!(gap.interrupt(us(10)), us(10));
        gap.sent(us(10), us(12));
        assert_eq!(gap.interrupt(us(20)), us(26), "and the packet sent");
        assert_eq!(gap.interrupt(us(60)), us(60));
    }

    #[test]
    fn a_frame_at_the_instant_of_an_interrupt_is_told_of_by_it() {
        // A peer whose own interrupts are as far apart answers at just that distance.
        let mut gap = gap();
        assert_eq!(gap.interrupt(us(10)), us(10));
        gap.sent(us(10), us(17));
        assert_eq!(gap.interrupt(us(26)), us(26), "as of the packet sent");
        assert_eq!(gap.interrupt(us(26)), us(26), "and another");
        gap.sent(us(26), us(33));
        assert_eq!(gap.interrupt(us(43)), us(58), "of the packet at 42");
    }

    #[test]
    fn a_burst_interrupts_when_all_of_it_has_left() {
        let mut gap = gap();
        // Two bursts of 50 us: told of at 50 and 100, so that a frame between them is told of at once.
        gap.sent(us(0), us(50));
        gap.sent(us(0), us(100));
        assert_eq!(gap.interrupt(us(30)), us(30));
        assert_eq!(gap.interrupt(us(60)), us(66));
        assert_eq!(gap.interrupt(us(90)), us(90));
        assert_eq!(gap.interrupt(us(101)), us(106));
    }

    #[test]
    fn who_only_sends_is_not_remembered_for_ever() {
        let mut gap = gap();
        for at in 0..10_000 {
            gap.sent(us(at), us(at + 20));
        }
        assert!(gap.sent.len() <= MANY + 1, "{}", gap.sent.len());
    }
}
