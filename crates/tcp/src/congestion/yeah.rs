//! YeAH: Baiocchi, Castellani, Vacirca, "YeAH-TCP: yet another highspeed TCP" (PFLDnet 2007) as in
//! Linux net/ipv4/tcp_yeah.c (7.2). Scalable growth while the queue it keeps is below 80 segments
//! and an eighth of the base round trip; else Reno's, with the queue taken out at once. On loss
//! the queue goes, or half the window after 16 rounds of Reno in a row.
//! Left out: nothing.

use super::vegas::Rounds;
use super::{AckSample, CongestionControl, CwndEvent, Growth, View, Window};
use crate::connection::CaState;
use crate::stack::Stack;

/// Queue beyond which the network is congested, segments (TCP_YEAH_ALPHA).
const QUEUE_MAX: u32 = 80;
/// Or beyond this part of the base round trip (TCP_YEAH_PHY).
const DELAY_PART: u32 = 8;
/// A loss cuts at least 2^-3 of the window (TCP_YEAH_DELTA).
const CUT_SHIFT: u32 = 3;
/// The queue is taken out up to half of the window (TCP_YEAH_EPSILON; all of it, TCP_YEAH_GAMMA 1).
const RELIEF_SHIFT: u32 = 1;
/// Rounds of Reno after which competition is assumed (TCP_YEAH_RHO).
const COMPETING_ROUNDS: u32 = 16;
/// Fast rounds after which Reno's share is forgotten (TCP_YEAH_ZETA).
const FAST_ROUNDS: u32 = 50;
/// Segments counted for one of growth in fast rounds (TCP_SCALABLE_AI_CNT).
const SCALABLE: u32 = 100;

/// YeAH's state.
#[derive(Clone, Debug)]
pub(crate) struct Yeah {
    rounds: Rounds,
    /// The queue of the last round, segments.
    queue: u32,
    /// Rounds of Reno in a row.
    slow_rounds: u32,
    fast_rounds: u32,
    /// The window a Reno flow would have beside it.
    reno_share: u32,
}

impl Yeah {
    /// Once a round trip, with enough samples.
    fn judge(&mut self, window: &mut Window) {
        let (rtt, base) = (self.rounds.rtt_us, self.rounds.base_us);
        let delay = rtt - base;
        self.queue = (u64::from(window.cwnd) * u64::from(delay) / u64::from(rtt)) as u32;
        let full = self.queue > QUEUE_MAX;
        if full || delay > base / DELAY_PART {
            if full && window.cwnd > self.reno_share {
                let relief = self.queue.min(window.cwnd >> RELIEF_SHIFT);
                window.cwnd = (window.cwnd - relief).max(self.reno_share);
                window.ssthresh = window.cwnd;
            }
            self.reno_share = if self.reno_share <= 2 {
                (window.cwnd >> 1).max(2)
            } else {
                self.reno_share + 1
            };
            self.slow_rounds = self.slow_rounds.saturating_add(1);
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > FAST_ROUNDS {
                self.reno_share = 2;
                self.fast_rounds = 0;
            }
            self.slow_rounds = 0;
        }
    }
}

impl CongestionControl for Yeah {
    fn new(_stack: &Stack, _seed: u64) -> Yeah {
        Yeah {
            rounds: Rounds::new(),
            queue: 0,
            slow_rounds: 0,
            fast_rounds: 0,
            reno_share: 2,
        }
    }

    fn init(&mut self, window: &mut Window, view: &View) {
        self.rounds.restart(view);
        window.cwnd_clamp = window.cwnd_clamp.min(u32::MAX / 128);
    }

    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        if !growth.cwnd_limited {
            return;
        }
        let left = window.slow_start_first(growth.acked);
        if left > 0 {
            let per = if self.slow_rounds == 0 {
                window.cwnd.min(SCALABLE)
            } else {
                window.cwnd
            };
            window.additive_increase(per, left);
        }
        if self.rounds.ended(view) {
            if self.rounds.samples > 2 {
                self.judge(window);
            }
            self.rounds.next(view);
        }
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        let half = (window.cwnd >> 1).max(2);
        let cut = if self.slow_rounds < COMPETING_ROUNDS {
            self.queue.min(half).max(window.cwnd >> CUT_SHIFT)
        } else {
            half
        };
        self.fast_rounds = 0;
        self.reno_share = (self.reno_share >> 1).max(2);
        window.cwnd.saturating_sub(cut).max(2)
    }

    fn set_state(&mut self, _window: &mut Window, view: &View, state: CaState) {
        self.rounds.set_state(view, state);
    }

    fn cwnd_event(&mut self, _window: &mut Window, view: &View, event: CwndEvent) {
        self.rounds.cwnd_event(view, event);
    }

    fn pkts_acked(&mut self, _window: &mut Window, _view: &View, sample: AckSample) {
        self.rounds.sample(sample);
    }
}
