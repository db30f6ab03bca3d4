//! Hybla: Caini, Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks" (Int. J.
//! of Satellite Communications and Networking, 2004) as in Linux net/ipv4/tcp_hybla.c (7.2). With
//! rho = RTT / rtt0, at least 1, an acknowledgement adds 2^rho - 1 segments in slow start and
//! rho^2 / cwnd beyond, so that a long path fills as fast as one of rtt0; fixed-point as there.
//! Growth is by acknowledgements, not by segments. Reno in all states but Open. rho follows the
//! smoothed round trip only where that falls below its least so far.
//! Left out: the paper's pacing and SACK extensions, as there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, Growth, View, Window};
use crate::connection::CaState;
use crate::stack::Stack;

/// 2^(n/8) in 128ths: the fraction of 2^rho.
const POWERS: [u32; 8] = [128, 139, 152, 165, 181, 197, 215, 234];
/// The window is never more, segments.
const CWND_MAX: u32 = 65_535;

/// Parameters of Hybla, by their names in Linux net/ipv4/tcp_hybla.c.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HyblaParameters {
    /// Round trip of the reference connection, milliseconds.
    #[schemars(range(min = 1, max = 10_000))]
    pub rtt0: u32,
}

impl Default for HyblaParameters {
    fn default() -> HyblaParameters {
        HyblaParameters { rtt0: 25 }
    }
}

/// Hybla's state.
#[derive(Clone, Debug)]
pub(crate) struct Hybla {
    rtt0_us: u32,
    open: bool,
    /// rho in eighths.
    rho8: u32,
    /// Increments below one segment, in 128ths.
    cents: u32,
    least_srtt_us8: u32,
}

impl Hybla {
    fn measure(&mut self, view: &View) {
        self.rho8 = (view.srtt_us8 / self.rtt0_us).max(8);
        self.least_srtt_us8 = view.srtt_us8;
    }

    /// What an acknowledgement adds, in 128ths of a segment.
    fn increment(&self, window: &Window) -> u32 {
        if window.in_slow_start() {
            let whole = (self.rho8 >> 3).min(16);
            (POWERS[(self.rho8 & 7) as usize] << whole) - 128
        } else {
            let rho_squared_128 = (self.rho8 * self.rho8) << 1;
            rho_squared_128 / window.cwnd
        }
    }
}

impl CongestionControl for Hybla {
    fn new(stack: &Stack, _seed: u64) -> Hybla {
        Hybla {
            rtt0_us: stack.hybla.rtt0.max(1) * 1000,
            open: true,
            rho8: 8,
            cents: 0,
            least_srtt_us8: 0,
        }
    }

    fn init(&mut self, window: &mut Window, view: &View) {
        window.cwnd_clamp = CWND_MAX;
        self.measure(view);
        window.cwnd = self.rho8 >> 3;
    }

    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        if view.srtt_us8 < self.least_srtt_us8 {
            self.measure(view);
        }
        if !growth.cwnd_limited {
            return;
        }
        if !self.open {
            return window.reno_growth(growth.acked);
        }
        let slow_start = window.in_slow_start();
        let increment = self.increment(window);
        if !slow_start && increment < 128 {
            window.cwnd_count += 1;
        }
        window.cwnd += increment >> 7;
        self.cents += increment & 127;
        if self.cents >= 128 {
            self.cents -= 128;
            window.cwnd += 1;
            window.cwnd_count = 0;
        }
        // An increment below a 128th: one a window all the same.
        if increment == 0 && window.cwnd_count >= window.cwnd {
            window.cwnd += 1;
            window.cwnd_count = 0;
        }
        if slow_start {
            window.cwnd = window.cwnd.min(window.ssthresh);
        }
        window.cwnd = window.cwnd.min(window.cwnd_clamp);
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        window.reno_ssthresh()
    }

    fn set_state(&mut self, _window: &mut Window, _view: &View, state: CaState) {
        self.open = state == CaState::Open;
    }
}
