//! CUBIC of 2007: Ha, Rhee, Xu, "CUBIC: a new TCP-friendly high-speed TCP variant" (2008) as in Linux
//! 2.6.24 (net/ipv4/tcp_cubic.c, module version 2.1). Against today's: 0.8 of the window is left
//! after a loss; beyond the origin growth is limited to `max_increment` segments per 100 ms; no
//! HyStart; counts of acknowledgements, corrected by the packets each acknowledges; one segment
//! for 50 before the first loss; the round trip is that of timestamps, in jiffies.
//! Departure: the cube root is exact (`cubic.rs`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cubic::{Curve, RenoBeside};
use super::{AckSample, CongestionControl, Growth, View, Window};
use crate::clock::{Jiffies, jiffies_of_us};
use crate::connection::CaState;
use crate::stack::Stack;

/// Scale of `beta` (BICTCP_BETA_SCALE).
const BETA_SCALE: u32 = 1024;
/// Scale of `delayed_ack`, as a shift (ACK_RATIO_SHIFT).
const ACK_RATIO_SHIFT: u32 = 4;
/// Acknowledgements per segment of growth before the first loss.
const COUNT_BEFORE_LOSS: u32 = 50;

/// Parameters of CUBIC 2.1, by their names in Linux 2.6.24 net/ipv4/tcp_cubic.c.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cubic21Parameters {
    /// Remember a lower maximum when losses come at falling windows.
    pub fast_convergence: bool,
    /// Most that the window grows beyond the last maximum, segments per 100 ms.
    #[schemars(range(min = 1, max = 65535))]
    pub max_increment: u32,
    /// Window left after a loss, in 1024ths.
    #[schemars(range(min = 1, max = 1023))]
    pub beta: u32,
    /// ssthresh of a new connection, segments; 0 for none.
    pub initial_ssthresh: u32,
    /// C in 1024ths of 0.1 per second cubed and round trip of 100 ms: 41 is 0.4.
    #[schemars(range(min = 1, max = 1024))]
    pub bic_scale: u32,
    /// Never slower than Reno.
    pub tcp_friendliness: bool,
}

impl Default for Cubic21Parameters {
    fn default() -> Cubic21Parameters {
        Cubic21Parameters {
            fast_convergence: true,
            max_increment: 16,
            beta: 819,
            initial_ssthresh: 0,
            bic_scale: 41,
            tcp_friendliness: true,
        }
    }
}

/// CUBIC 2.1's state.
#[derive(Clone, Debug)]
pub(crate) struct Cubic21 {
    parameters: Cubic21Parameters,
    hz: u32,
    /// Acknowledgements per segment of growth.
    count: u32,
    last_max_cwnd: u32,
    /// Window at the last loss; zero before any.
    loss_cwnd: u32,
    last_cwnd: u32,
    last_time: Jiffies,
    epoch_start: Option<Jiffies>,
    curve: Curve,
    reno: RenoBeside,
    /// Least round trip, eighths of a jiffy; zero before the first.
    delay_min8: u32,
    /// Packets per acknowledgement, times 16.
    delayed_ack: u32,
}

impl Cubic21 {
    /// bictcp_reset.
    fn reset(&mut self) {
        self.count = 0;
        self.last_max_cwnd = 0;
        self.loss_cwnd = 0;
        self.last_cwnd = 0;
        self.last_time = 0;
        self.epoch_start = None;
        self.reno = RenoBeside { cwnd: 0, acked: 0 };
        self.delay_min8 = 0;
        self.delayed_ack = 2 << ACK_RATIO_SHIFT;
    }

    /// bictcp_update.
    fn update(&mut self, cwnd: u32, now: Jiffies) {
        self.reno.acked += 1;
        let since = now.wrapping_sub(self.last_time) as i32;
        if self.last_cwnd == cwnd && since <= (self.hz / 32) as i32 {
            return;
        }
        self.last_cwnd = cwnd;
        self.last_time = now;
        let Cubic21Parameters {
            max_increment,
            beta,
            bic_scale,
            tcp_friendliness,
            ..
        } = self.parameters;
        let start = *self.epoch_start.get_or_insert_with(|| {
            self.curve = Curve::new(cwnd, self.last_max_cwnd, bic_scale);
            self.reno = RenoBeside { cwnd, acked: 1 };
            now
        });
        let elapsed = u64::from(now.wrapping_sub(start)) + u64::from(self.delay_min8 >> 3);
        let t = elapsed * 1024 / u64::from(self.hz);
        let (mut count, beyond) = self.curve.count_at(t, cwnd, bic_scale);
        if self.delay_min8 > 0 && beyond {
            let least = u64::from(cwnd) * u64::from(self.hz) * 8
                / (10 * u64::from(max_increment) * u64::from(self.delay_min8));
            count = count.max(least as u32);
        }
        if self.loss_cwnd == 0 {
            count = COUNT_BEFORE_LOSS;
        }
        if tcp_friendliness {
            count = self.reno.bound(count, cwnd, beta);
        }
        let scaled = (u64::from(count) << ACK_RATIO_SHIFT) / u64::from(self.delayed_ack.max(1));
        self.count = (scaled as u32).max(1);
    }
}

impl CongestionControl for Cubic21 {
    fn new(stack: &Stack, _seed: u64) -> Cubic21 {
        Cubic21 {
            parameters: stack.cubic_2_1.clone(),
            hz: stack.hz,
            count: 0,
            last_max_cwnd: 0,
            loss_cwnd: 0,
            last_cwnd: 0,
            last_time: 0,
            epoch_start: None,
            curve: Curve::new(0, 0, 1),
            reno: RenoBeside { cwnd: 0, acked: 0 },
            delay_min8: 0,
            delayed_ack: 2 << ACK_RATIO_SHIFT,
        }
    }

    fn init(&mut self, window: &mut Window, _view: &View) {
        self.reset();
        if self.parameters.initial_ssthresh > 0 {
            window.ssthresh = self.parameters.initial_ssthresh;
        }
    }

    #[inline]
    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        if !growth.cwnd_limited {
            return;
        }
        let left = window.slow_start_first(growth.acked);
        if left > 0 {
            self.update(window.cwnd, view.now);
            window.additive_increase(self.count, left);
        }
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        let Cubic21Parameters {
            beta,
            fast_convergence,
            ..
        } = self.parameters;
        let part =
            |of: u32, per: u32| (u64::from(window.cwnd) * u64::from(of) / u64::from(per)) as u32;
        self.epoch_start = None;
        self.last_max_cwnd = if window.cwnd < self.last_max_cwnd && fast_convergence {
            part(BETA_SCALE + beta, 2 * BETA_SCALE)
        } else {
            window.cwnd
        };
        self.loss_cwnd = window.cwnd;
        part(beta, BETA_SCALE).max(2)
    }

    fn undo_cwnd(&mut self, window: &Window, _view: &View) -> u32 {
        window.cwnd.max(self.last_max_cwnd)
    }

    fn set_state(&mut self, _window: &mut Window, _view: &View, state: CaState) {
        if state == CaState::Loss {
            self.reset();
        }
    }

    #[inline]
    fn pkts_acked(&mut self, _window: &mut Window, view: &View, sample: AckSample) {
        if view.state == CaState::Open && sample.packets > 0 {
            self.delayed_ack =
                self.delayed_ack + sample.packets - (self.delayed_ack >> ACK_RATIO_SHIFT);
        }
        let Some(rtt_us) = sample.rtt_us else { return };
        // What comes in the first second of an epoch tells of the recovery before it.
        let fresh = |start: Jiffies| (view.now.wrapping_sub(start) as i32) < self.hz as i32;
        if self.epoch_start.is_some_and(fresh) {
            return;
        }
        let delay8 = (jiffies_of_us(rtt_us, self.hz) << 3).max(1);
        if self.delay_min8 == 0 || delay8 < self.delay_min8 {
            self.delay_min8 = delay8;
        }
    }
}
