//! Veno: Fu, Liew, "TCP Veno: TCP enhancement for transmission over wireless access networks"
//! (JSAC 21(2), 2003) as in Linux net/ipv4/tcp_veno.c (7.2). Vegas's count of queued segments
//! tells congestion from random loss: below three of them Reno's growth and a cut to four fifths,
//! from three on one segment every second round trip and a cut to half. The least round trip is that
//! since the last acknowledgement that grew the window, as there.
//! Left out: nothing.

use super::{AckSample, CongestionControl, CwndEvent, Growth, View, Window};
use crate::connection::CaState;
use crate::stack::Stack;

/// Queued segments from which the network is congested, in halves.
const BETA_HALVES: u32 = 3 << 1;
/// No round trip yet.
const NONE: u32 = 0x7fff_ffff;

/// Veno's state.
#[derive(Clone, Debug)]
pub(crate) struct Veno {
    /// Measuring: the state is Open.
    active: bool,
    /// Round trips measured.
    samples: u32,
    /// Microseconds: the least since the window last grew, and the least of all.
    rtt_us: u32,
    base_us: u32,
    /// The next full count of a congested window lets it grow.
    turn: bool,
    /// Queued segments, in halves.
    queued: u32,
}

impl Veno {
    fn enable(&mut self) {
        self.active = true;
        self.rtt_us = NONE;
    }

    fn restart(&mut self) {
        self.base_us = NONE;
        self.turn = true;
        self.enable();
    }

    /// Congestion avoidance while the network is congested: every second window.
    fn creep(&mut self, window: &mut Window, acked: u32) {
        if window.cwnd_count < window.cwnd {
            window.cwnd_count += acked;
            return;
        }
        if self.turn && window.cwnd < window.cwnd_clamp {
            window.cwnd += 1;
            self.turn = false;
        } else {
            self.turn = true;
        }
        window.cwnd_count = 0;
    }
}

impl CongestionControl for Veno {
    fn new(_stack: &Stack, _seed: u64) -> Veno {
        Veno {
            active: true,
            samples: 0,
            rtt_us: NONE,
            base_us: NONE,
            turn: true,
            queued: 0,
        }
    }

    fn init(&mut self, _window: &mut Window, _view: &View) {
        self.restart();
    }

    fn grow(&mut self, window: &mut Window, _view: &View, growth: Growth) {
        if !growth.cwnd_limited {
            return;
        }
        if !self.active {
            return window.reno_growth(growth.acked);
        }
        if self.samples <= 2 {
            window.reno_growth(growth.acked);
        } else {
            let cwnd = u64::from(window.cwnd) << 1;
            let target = cwnd * u64::from(self.base_us) / u64::from(self.rtt_us);
            self.queued = cwnd.saturating_sub(target) as u32;
            let left = window.slow_start_first(growth.acked);
            if left > 0 {
                if self.queued < BETA_HALVES {
                    window.additive_increase(window.cwnd, left);
                } else {
                    self.creep(window, left);
                }
            }
            window.cwnd = window.cwnd.max(2).min(window.cwnd_clamp);
        }
        self.rtt_us = NONE;
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        if self.queued < BETA_HALVES {
            (window.cwnd * 4 / 5).max(2)
        } else {
            window.reno_ssthresh()
        }
    }

    fn set_state(&mut self, _window: &mut Window, _view: &View, state: CaState) {
        if state == CaState::Open {
            self.enable();
        } else {
            self.active = false;
        }
    }

    fn cwnd_event(&mut self, _window: &mut Window, _view: &View, event: CwndEvent) {
        if matches!(event, CwndEvent::TxStart | CwndEvent::CwndRestart) {
            self.restart();
        }
    }

    fn pkts_acked(&mut self, _window: &mut Window, _view: &View, sample: AckSample) {
        if let Some(us) = sample.rtt_us {
            let us = us.saturating_add(1);
            self.base_us = self.base_us.min(us);
            self.rtt_us = self.rtt_us.min(us);
            self.samples = self.samples.saturating_add(1);
        }
    }
}
