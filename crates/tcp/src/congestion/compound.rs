//! Compound TCP: Tan, Song, Zhang, Sridharan, "A compound TCP approach for high-speed and
//! long-distance networks" (INFOCOM 2006), as Windows has had it since Vista. The window is Reno's
//! plus one of delay: once a round trip that grows, so that both together grow by alpha win^k, while
//! fewer than gamma segments are queued, and shrinks by what is queued beyond. A loss halves both. The
//! delay window is zero in slow start, below 38 segments (draft-sridharan-tcpm-ctcp-02) and after
//! a timeout. The round's least round trip is taken, as Vegas does in Linux.
//! Left out: gamma's own tuning (the draft's TUBE), Windows' loss recovery.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::vegas::Rounds;
use super::{AckSample, CongestionControl, CwndEvent, Growth, View, Window};
use crate::connection::CaState;
use crate::stack::Stack;

/// The growth's exponent is 3/4; its factor's denominator, a power of two so that products are
/// exact.
const FRACTION: f64 = 1024.0;

/// Parameters of Compound TCP, by their names in the paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CompoundParameters {
    /// Growth is alpha win^0.75 segments a round trip.
    #[schemars(range(min = 0.001, max = 10.0))]
    pub alpha: f64,
    /// With this many segments queued the delay window shrinks.
    #[schemars(range(min = 1, max = 65535))]
    pub gamma: u32,
    /// By this many times what is queued.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub zeta: f64,
    /// Window below which it is Reno, segments.
    #[schemars(range(min = 0, max = 65535))]
    pub low_window: u32,
}

impl Default for CompoundParameters {
    fn default() -> CompoundParameters {
        CompoundParameters {
            alpha: 0.125,
            gamma: 30,
            zeta: 1.0,
            low_window: 38,
        }
    }
}

/// Compound TCP's state: cwnd is the sum of Reno's window and the delay window.
#[derive(Clone, Debug)]
pub(crate) struct Compound {
    parameters: CompoundParameters,
    rounds: Rounds,
    /// The delay window, segments, and a fraction of one in 1024ths.
    delay_window: u32,
    fraction: u32,
}

impl Compound {
    /// Once a round trip in congestion avoidance.
    fn adjust(&mut self, window: &mut Window) {
        let (rtt, base) = (
            u64::from(self.rounds.rtt_us),
            u64::from(self.rounds.base_us),
        );
        let cwnd = window.cwnd;
        let queued = (u64::from(cwnd) * (rtt - base) / rtt) as u32;
        let reno = cwnd.saturating_sub(self.delay_window).max(1);
        if queued < self.parameters.gamma {
            // win^(3/4) by square roots, which are exact on every machine; less Reno's one.
            let win = f64::from(cwnd);
            let growth = self.parameters.alpha * (win * win.sqrt()).sqrt() - 1.0;
            self.fraction += (growth.max(0.0) * FRACTION) as u32;
            self.delay_window += self.fraction / FRACTION as u32;
            self.fraction %= FRACTION as u32;
        } else {
            let excess = (self.parameters.zeta * f64::from(queued)) as u32;
            self.delay_window = self.delay_window.saturating_sub(excess);
        }
        window.cwnd = (reno + self.delay_window).min(window.cwnd_clamp);
    }
}

impl CongestionControl for Compound {
    fn new(stack: &Stack, _seed: u64) -> Compound {
        Compound {
            parameters: stack.compound.clone(),
            rounds: Rounds::new(),
            delay_window: 0,
            fraction: 0,
        }
    }

    fn init(&mut self, _window: &mut Window, view: &View) {
        self.rounds.restart(view);
    }

    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        let slow_start = window.in_slow_start();
        if growth.cwnd_limited {
            window.reno_growth(growth.acked);
        }
        if !self.rounds.ended(view) {
            return;
        }
        let measured = self.rounds.active && self.rounds.samples > 2;
        if slow_start || window.cwnd < self.parameters.low_window {
            self.delay_window = 0;
        } else if measured && growth.cwnd_limited {
            self.adjust(window);
        }
        self.rounds.next(view);
    }

    /// Reno's half, and of the delay window what makes the whole a half.
    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        let reno = window.cwnd.saturating_sub(self.delay_window);
        self.delay_window = (window.cwnd / 2).saturating_sub(reno / 2);
        window.reno_ssthresh()
    }

    fn set_state(&mut self, _window: &mut Window, view: &View, state: CaState) {
        self.rounds.set_state(view, state);
        if state == CaState::Loss {
            self.delay_window = 0;
        }
    }

    fn cwnd_event(&mut self, _window: &mut Window, view: &View, event: CwndEvent) {
        self.rounds.cwnd_event(view, event);
    }

    fn pkts_acked(&mut self, _window: &mut Window, _view: &View, sample: AckSample) {
        self.rounds.sample(sample);
    }
}
