//! CAIA delay gradient: Hayes, Armitage, "Revisiting TCP congestion control using delay gradients"
//! (Networking 2011) as in Linux net/ipv4/tcp_cdg.c (7.2). Once a round trip the trend of the
//! round's least, or else greatest, round trip over eight rounds gives the probability of a back-off to
//! 0.7071 of the window, 1 - exp(-trend / G); five back-offs in a row without effect are the last.
//! A shadow window remembers what Reno would have, for losses. HyStart in its own variant.
//! Departure: the exponential is computed by a series where the kernel has a table of products;
//! they agree to four digits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckSample, CongestionControl, CwndEvent, Growth, View, Window};
use crate::connection::scramble;
use crate::seq::Seq;
use crate::stack::Stack;

/// Gradients kept at most.
const WINDOW_MAX: usize = 256;
/// A fall of the trend by this shows that a back-off had effect, microseconds.
const EFFECT_US: i32 = -32;
/// Least thresholds of HyStart, microseconds; acknowledgements of a train are closer than 3 ms.
const HYSTART_LEAST_US: u32 = 125;
const TRAIN_GAP_US: u32 = 3000;
/// Samples before HyStart judges the delay.
const HYSTART_SAMPLES: u32 = 8;
/// Delayed acknowledgements remembered at most.
const DELAYED_ACKS_MAX: u32 = 5;

/// Parameters of CDG, by their names in Linux net/ipv4/tcp_cdg.c.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CdgParameters {
    /// Gradients that the trend is taken over, a power of two.
    #[schemars(range(min = 1, max = 256))]
    pub window: u32,
    /// Window left after a back-off, in 1024ths.
    #[schemars(range(min = 1, max = 1024))]
    pub backoff_beta: u32,
    /// Exponent per microsecond of trend, in millionths: 1000 / (G window).
    #[schemars(range(min = 0, max = 100_000))]
    pub backoff_factor: u32,
    /// What ends slow start: 0 nothing, 1 trains of acknowledgements, 2 delay, 3 either.
    #[schemars(range(min = 0, max = 3))]
    pub hystart_detect: u32,
    /// Back-offs in a row without effect; 0 for no limit.
    #[schemars(range(min = 0, max = 65535))]
    pub use_ineff: u32,
    /// Keep a shadow window.
    pub use_shadow: bool,
    /// Take losses with an empty queue for random ones.
    pub use_tolerance: bool,
}

impl Default for CdgParameters {
    fn default() -> CdgParameters {
        CdgParameters {
            window: 8,
            backoff_beta: 724,
            backoff_factor: 42,
            hystart_detect: 3,
            use_ineff: 5,
            use_shadow: true,
            use_tolerance: false,
        }
    }
}

/// Least and greatest of something, microseconds; zero for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MinMax {
    min: i32,
    max: i32,
}

/// What the queue is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueueState {
    Unknown,
    NonFull,
    Full,
    /// A back-off is under way.
    BackOff,
}

/// CDG's state.
#[derive(Clone, Debug)]
pub(crate) struct Cdg(Box<State>);

#[derive(Clone, Debug)]
struct State {
    parameters: CdgParameters,
    random: u64,
    /// This round's round trips, and the last round's.
    rtt: MinMax,
    rtt_before: MinMax,
    /// The last gradients, the oldest at `tail`, and their sums.
    gradients: Vec<MinMax>,
    tail: usize,
    filled: bool,
    sum: MinMax,
    queue: QueueState,
    delayed_acks: u32,
    round_end: Seq,
    shadow: u32,
    /// Back-offs in a row.
    back_offs: u32,
    samples: u32,
    delay_min_us: i32,
    last_ack_us: u32,
    round_start_us: u32,
}

/// exp(-x / 10^6), deterministic on every machine: a series for a small part of x, squared up.
fn negative_exponential(x_millionths: u64) -> f64 {
    const SQUARINGS: i32 = 10;
    let x = (x_millionths as f64 / 1e6).min(40.0) / f64::from(1 << SQUARINGS);
    let mut value = 1.0 - x * (1.0 - x / 2.0 * (1.0 - x / 3.0 * (1.0 - x / 4.0)));
    for _ in 0..SQUARINGS {
        value *= value;
    }
    value
}

impl State {
    /// Nothing measured.
    fn blank(parameters: CdgParameters, random: u64) -> State {
        let length = (parameters.window as usize).next_power_of_two();
        State {
            parameters,
            random,
            rtt: MinMax::default(),
            rtt_before: MinMax::default(),
            gradients: vec![MinMax::default(); length.min(WINDOW_MAX)],
            tail: 0,
            filled: false,
            sum: MinMax::default(),
            queue: QueueState::Unknown,
            delayed_acks: 0,
            round_end: Seq(0),
            shadow: 0,
            back_offs: 0,
            samples: 0,
            delay_min_us: 0,
            last_ack_us: 0,
            round_start_us: 0,
        }
    }

    /// The trend of the round trip, microseconds over the window of gradients.
    fn trend(&mut self) -> i32 {
        let mut low = self.rtt.min - self.rtt_before.min;
        let mut high = self.rtt.max - self.rtt_before.max;
        if self.gradients.len() > 1 {
            let oldest = std::mem::replace(
                &mut self.gradients[self.tail],
                MinMax {
                    min: low,
                    max: high,
                },
            );
            self.sum.min += low - oldest.min;
            self.sum.max += high - oldest.max;
            self.tail = (self.tail + 1) % self.gradients.len();
            low = self.sum.min;
            high = self.sum.max;
        }
        let mut trend = if low > 0 { low } else { high };
        if !self.filled {
            // The gradients missing are taken for like those there are.
            if self.tail == 0 {
                self.filled = true;
            } else {
                trend = (i64::from(trend) * self.gradients.len() as i64 / self.tail as i64) as i32;
            }
        }
        if low <= EFFECT_US || high <= EFFECT_US {
            self.back_offs = 0;
        }
        if self.parameters.use_tolerance {
            let rounded = |us: i32| (us + 32 * us.signum()) / 64;
            match (rounded(low), rounded(high)) {
                (l, h) if l > 0 && h <= 0 => self.queue = QueueState::Full,
                (l, h) if (l > 0 && h > 0) || h < 0 => self.queue = QueueState::NonFull,
                _ => {}
            }
        }
        trend
    }

    /// Whether to back off for this trend (tcp_cdg_backoff).
    fn backs_off(&mut self, trend: u32, cwnd: u32) -> bool {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let random = (scramble(self.random) >> 32) as f64 / f64::from(u32::MAX);
        let exponent = u64::from(trend) * u64::from(self.parameters.backoff_factor);
        if random <= negative_exponential(exponent) {
            return false;
        }
        if self.parameters.use_ineff > 0 {
            self.back_offs += 1;
            if self.back_offs > self.parameters.use_ineff {
                return false;
            }
        }
        self.shadow = self.shadow.max(cwnd);
        self.queue = QueueState::BackOff;
        true
    }

    /// Slow start may end (tcp_cdg_hystart_update).
    fn watch_slow_start(&mut self, window: &mut Window, view: &View, limited: bool) {
        if self.rtt.min > 0 && (self.delay_min_us == 0 || self.rtt.min < self.delay_min_us) {
            self.delay_min_us = self.rtt.min;
        }
        if self.delay_min_us == 0 {
            return;
        }
        let (least, now) = (self.delay_min_us as u32, view.now_us as u32);
        if self.parameters.hystart_detect & 1 != 0 {
            if self.last_ack_us == 0 || !limited {
                self.last_ack_us = now;
                self.round_start_us = now;
            } else if now.wrapping_sub(self.last_ack_us) < TRAIN_GAP_US {
                self.last_ack_us = now;
                let train = now.wrapping_sub(self.round_start_us);
                if train > (least / 2).max(HYSTART_LEAST_US) {
                    window.ssthresh = window.cwnd;
                    return;
                }
            }
        }
        if self.parameters.hystart_detect & 2 != 0 {
            if self.samples < HYSTART_SAMPLES {
                self.samples += 1;
            } else if self.rtt.min as u32 > (least + least / 8).max(HYSTART_LEAST_US) {
                window.ssthresh = window.cwnd;
            }
        }
    }

    /// Another round of measurements.
    fn next_round(&mut self, view: &View) {
        self.round_end = view.snd_nxt;
        self.rtt_before = std::mem::take(&mut self.rtt);
    }
}

impl CongestionControl for Cdg {
    fn new(stack: &Stack, seed: u64) -> Cdg {
        Cdg(Box::new(State::blank(stack.cdg.clone(), seed)))
    }

    // The kernel's init leaves what the SYN told: the first round's least is that of a small frame, so
    // that the trend of the least is above zero in slow start and the greatest is not looked at.
    fn syn_acked(&mut self, rtt_us: u32) {
        let rtt = rtt_us.min(i32::MAX as u32) as i32;
        self.0.rtt = MinMax { min: rtt, max: rtt };
    }

    fn init(&mut self, window: &mut Window, view: &View) {
        self.0.round_end = view.snd_nxt;
        self.0.shadow = window.cwnd;
    }

    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        let own = &mut *self.0;
        if window.in_slow_start() && own.parameters.hystart_detect > 0 {
            own.watch_slow_start(window, view, growth.cwnd_limited);
        }
        if view.snd_una.after(own.round_end) && own.rtt != MinMax::default() {
            let trend = if own.rtt_before == MinMax::default() {
                0
            } else {
                own.trend()
            };
            own.next_round(view);
            own.last_ack_us = 0;
            own.samples = 0;
            if trend > 0 && own.backs_off(trend as u32, window.cwnd) {
                window.enter_cwr = true;
                return;
            }
        }
        if !growth.cwnd_limited {
            own.shadow = own.shadow.min(window.cwnd);
            return;
        }
        let before = window.cwnd;
        window.reno_growth(growth.acked);
        own.shadow = own.shadow.saturating_add(window.cwnd - before);
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        let own = &mut *self.0;
        if own.queue == QueueState::BackOff {
            let left = u64::from(window.cwnd) * u64::from(own.parameters.backoff_beta.min(1024));
            return ((left >> 10) as u32).max(2);
        }
        if own.queue == QueueState::NonFull && own.parameters.use_tolerance {
            return window.cwnd;
        }
        own.shadow = (own.shadow >> 1).min(window.cwnd);
        if own.parameters.use_shadow {
            own.shadow.max(window.reno_ssthresh())
        } else {
            window.reno_ssthresh()
        }
    }

    fn cwnd_event(&mut self, window: &mut Window, view: &View, event: CwndEvent) {
        let own = &mut *self.0;
        match event {
            CwndEvent::CwndRestart => {
                *own = State::blank(own.parameters.clone(), own.random);
                own.round_end = view.snd_nxt;
                own.shadow = window.cwnd;
            }
            CwndEvent::CompleteCwr => {
                own.queue = QueueState::Unknown;
                own.next_round(view);
            }
            CwndEvent::TxStart | CwndEvent::Loss => {}
        }
    }

    fn pkts_acked(&mut self, _window: &mut Window, view: &View, sample: AckSample) {
        let own = &mut *self.0;
        let Some(rtt) = sample.rtt_us.filter(|&us| us > 0) else {
            return;
        };
        let rtt = rtt.min(i32::MAX as u32) as i32;
        if !view.sacked {
            // A lone segment after acknowledgements of several was likely held back: it counts only
            // where it lowers the least.
            if sample.packets == 1 && own.delayed_acks > 0 {
                own.rtt.min = own.rtt.min.min(rtt);
                own.delayed_acks -= 1;
                return;
            }
            if sample.packets > 1 && own.delayed_acks < DELAYED_ACKS_MAX {
                own.delayed_acks += 1;
            }
        }
        own.rtt.min = if own.rtt.min == 0 {
            rtt
        } else {
            own.rtt.min.min(rtt)
        };
        own.rtt.max = own.rtt.max.max(rtt);
    }
}
