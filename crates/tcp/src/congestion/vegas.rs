//! Vegas: Brakmo, Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet" (JSAC
//! 13(8), 1995) as in Linux net/ipv4/tcp_vegas.c (7.2). Once a round trip the segments that the
//! window keeps queued, cwnd (rtt - base) / base with the round's least rtt, are held between
//! alpha and beta; slow start ends beyond gamma at the window that the round's rate needs.
//! Reno outside Open and with fewer than three samples in a round.
//! Left out: the paper's own retransmission and its slow start every other round, as there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckSample, CongestionControl, CwndEvent, Growth, View, Window};
use crate::connection::CaState;
use crate::seq::Seq;
use crate::stack::Stack;

/// Parameters of Vegas, by their names in Linux net/ipv4/tcp_vegas.c, segments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VegasParameters {
    /// With fewer queued the window grows.
    #[schemars(range(min = 0, max = 65535))]
    pub alpha: u32,
    /// With more queued it shrinks.
    #[schemars(range(min = 0, max = 65535))]
    pub beta: u32,
    /// With more queued slow start ends.
    #[schemars(range(min = 0, max = 65535))]
    pub gamma: u32,
}

impl Default for VegasParameters {
    fn default() -> VegasParameters {
        VegasParameters {
            alpha: 2,
            beta: 4,
            gamma: 1,
        }
    }
}

/// Round trips by rounds, as Vegas and YeAH take them.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// Measuring: the state is Open.
    pub(super) active: bool,
    /// The round ends when this is acknowledged.
    end: Seq,
    /// Samples of this round, and the least of them, microseconds.
    pub(super) samples: u32,
    pub(super) rtt_us: u32,
    /// The least of all.
    pub(super) base_us: u32,
}

impl Rounds {
    /// No round trip yet.
    const NONE: u32 = 0x7fff_ffff;

    pub(super) fn new() -> Rounds {
        Rounds {
            active: true,
            end: Seq(0),
            samples: 0,
            rtt_us: Self::NONE,
            base_us: Self::NONE,
        }
    }

    /// Measures from what is sent next on (vegas_enable).
    fn enable(&mut self, view: &View) {
        self.active = true;
        self.next(view);
    }

    /// From scratch: after idleness the old base may not hold (tcp_vegas_init).
    pub(super) fn restart(&mut self, view: &View) {
        self.base_us = Self::NONE;
        self.enable(view);
    }

    /// Another round.
    pub(super) fn next(&mut self, view: &View) {
        self.end = view.snd_nxt;
        self.samples = 0;
        self.rtt_us = Self::NONE;
    }

    pub(super) fn ended(&self, view: &View) -> bool {
        view.snd_una.after(self.end)
    }

    pub(super) fn sample(&mut self, sample: AckSample) {
        if let Some(us) = sample.rtt_us {
            let us = us.saturating_add(1);
            self.base_us = self.base_us.min(us);
            self.rtt_us = self.rtt_us.min(us);
            self.samples += 1;
        }
    }

    pub(super) fn set_state(&mut self, view: &View, state: CaState) {
        if state == CaState::Open {
            self.enable(view);
        } else {
            self.active = false;
        }
    }

    pub(super) fn cwnd_event(&mut self, view: &View, event: CwndEvent) {
        if matches!(event, CwndEvent::TxStart | CwndEvent::CwndRestart) {
            self.restart(view);
        }
    }
}

/// Vegas's state.
#[derive(Clone, Debug)]
pub(crate) struct Vegas {
    parameters: VegasParameters,
    rounds: Rounds,
}

impl Vegas {
    /// Once a round trip.
    fn adjust(&self, window: &mut Window, view: &View, acked: u32) {
        let (rtt, base) = (
            u64::from(self.rounds.rtt_us),
            u64::from(self.rounds.base_us),
        );
        let cwnd = u64::from(window.cwnd);
        let target = (cwnd * base / rtt) as u32;
        let queued = (cwnd * (rtt - base) / base) as u32;
        let VegasParameters { alpha, beta, gamma } = self.parameters;
        if window.in_slow_start() {
            if queued > gamma {
                window.cwnd = window.cwnd.min(target + 1);
                window.ssthresh = window.ssthresh.min(window.cwnd);
            } else {
                let _ = window.slow_start(acked);
            }
        } else if queued > beta {
            window.cwnd -= 1;
            window.ssthresh = window.ssthresh.min(window.cwnd);
        } else if queued < alpha {
            window.cwnd += 1;
        }
        window.cwnd = window.cwnd.max(2).min(window.cwnd_clamp);
        window.ssthresh = window.current_ssthresh(view.state);
    }
}

impl CongestionControl for Vegas {
    fn new(stack: &Stack, _seed: u64) -> Vegas {
        Vegas {
            parameters: stack.vegas.clone(),
            rounds: Rounds::new(),
        }
    }

    fn init(&mut self, _window: &mut Window, view: &View) {
        self.rounds.restart(view);
    }

    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        let reno = |window: &mut Window| {
            if growth.cwnd_limited {
                window.reno_growth(growth.acked);
            }
        };
        if !self.rounds.active {
            reno(window);
        } else if self.rounds.ended(view) {
            if self.rounds.samples <= 2 {
                reno(window);
            } else {
                self.adjust(window, view, growth.acked);
            }
            self.rounds.next(view);
        } else if window.in_slow_start() {
            let _ = window.slow_start(growth.acked);
        }
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        window.reno_ssthresh()
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
