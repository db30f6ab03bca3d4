//! CUBIC: RFC 9438 as in Linux net/ipv4/tcp_cubic.c (7.2, module version 2.3), with its integer
//! arithmetic in jiffies and 1024ths of a second, and HyStart (Ha, Rhee, "Taming the elephants: new
//! TCP slow start", Computer Networks 55, 2011). Departures of that kernel from the RFC are kept:
//! C and beta as fractions of 1024, growth of at most half the acknowledged segments, 5 %
//! a round trip before the first loss, Reno's window estimated by counting with alpha set
//! through beta, the curve shifted by idle times.
//! Departure from it: the cube root is exact where the kernel's table and one Newton step err by
//! up to 0.2 %.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckSample, CongestionControl, CwndEvent, Growth, View, Window};
use crate::clock::{Jiffies, jiffies_of_us};
use crate::connection::CaState;
use crate::seq::Seq;
use crate::stack::Stack;

/// Scale of `beta` (BICTCP_BETA_SCALE).
const BETA_SCALE: u32 = 1024;
/// Segments acknowledged for one of growth at most before the first loss: 5 % a round trip.
const COUNT_BEFORE_LOSS_MAX: u32 = 20;
/// Samples of a round before its least counts (HYSTART_MIN_SAMPLES).
const HYSTART_SAMPLES: u8 = 8;
/// The delay's threshold is an eighth of the least, within these, microseconds
/// (HYSTART_DELAY_MIN, HYSTART_DELAY_MAX).
const HYSTART_DELAY_US: std::ops::RangeInclusive<u32> = 4_000..=16_000;
/// Detections of `hystart_detect` (HYSTART_ACK_TRAIN, HYSTART_DELAY).
const ACK_TRAIN: u32 = 1;
const DELAY: u32 = 2;

/// Parameters of CUBIC, by their names in Linux net/ipv4/tcp_cubic.c.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CubicParameters {
    /// Remember a lower maximum when losses come at falling windows.
    pub fast_convergence: bool,
    /// Window left after a loss, in 1024ths.
    #[schemars(range(min = 1, max = 1023))]
    pub beta: u32,
    /// ssthresh of a new connection without HyStart, segments; 0 for none.
    pub initial_ssthresh: u32,
    /// C in 1024ths of 0.1 per second cubed and round trip of 100 ms: 41 is 0.4.
    #[schemars(range(min = 1, max = 1024))]
    pub bic_scale: u32,
    /// Never slower than Reno.
    pub tcp_friendliness: bool,
    /// Slow start may end before a loss.
    pub hystart: bool,
    /// What ends it: 1 trains of acknowledgements, 2 delay, 3 either.
    #[schemars(range(min = 0, max = 3))]
    pub hystart_detect: u32,
    /// It does not end below this window, segments.
    #[schemars(range(min = 0, max = 65535))]
    pub hystart_low_window: u32,
    /// Acknowledgements of a train are closer than this, microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub hystart_ack_delta_us: u32,
}

impl Default for CubicParameters {
    fn default() -> CubicParameters {
        CubicParameters {
            fast_convergence: true,
            beta: 717,
            initial_ssthresh: 0,
            bic_scale: 41,
            tcp_friendliness: true,
            hystart: true,
            hystart_detect: ACK_TRAIN | DELAY,
            hystart_low_window: 16,
            hystart_ack_delta_us: 2000,
        }
    }
}

/// The largest integer whose cube is not above `a`, as the curve needs it.
pub(super) fn cube_root(a: u64) -> u32 {
    let mut root = (a as f64).cbrt() as u64;
    // The estimate is off by one at most.
    while root.pow(3) > a {
        root -= 1;
    }
    while (root + 1).pow(3) <= a {
        root += 1;
    }
    root as u32
}

/// The curve about its origin: when it gets there and the window there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    /// Time from the epoch's begin to the origin, 1024ths of a second.
    k: u32,
    origin: u32,
}

impl Curve {
    /// From this window towards the last maximum; `bic_scale` as the parameter.
    pub(super) fn new(cwnd: u32, last_max_cwnd: u32, bic_scale: u32) -> Curve {
        if last_max_cwnd <= cwnd {
            return Curve { k: 0, origin: cwnd };
        }
        let factor = (1_u64 << 40) / u64::from(bic_scale * 10);
        Curve {
            k: cube_root(factor * u64::from(last_max_cwnd - cwnd)),
            origin: last_max_cwnd,
        }
    }

    /// Segments to count for one of growth, `t` 1024ths of a second into the epoch, and whether
    /// the origin is passed.
    pub(super) fn count_at(self, t: u64, cwnd: u32, bic_scale: u32) -> (u32, bool) {
        let k = u64::from(self.k);
        let delta = rise(t.abs_diff(k), bic_scale);
        let target = if t < k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        };
        let count = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            100 * cwnd
        };
        (count, t >= k)
    }
}

/// By how many segments the curve is off its origin, so many 1024ths of a second away from it.
fn rise(distance: u64, bic_scale: u32) -> u32 {
    let delta = (u128::from(bic_scale * 10) * u128::from(distance).pow(3)) >> 40;
    delta.min(u128::from(u32::MAX / 2)) as u32
}

/// Reno's window beside CUBIC's, as it would have grown since the epoch began.
#[derive(Clone, Copy, Debug)]
pub(super) struct RenoBeside {
    pub(super) cwnd: u32,
    pub(super) acked: u32,
}

impl RenoBeside {
    /// The count at which CUBIC keeps up with Reno, given the count of its own.
    pub(super) fn bound(&mut self, count: u32, cwnd: u32, beta: u32) -> u32 {
        let scale = 8 * (BETA_SCALE + beta) / 3 / (BETA_SCALE - beta);
        let per = ((cwnd * scale) >> 3).max(1);
        if self.acked > per {
            let more = (self.acked - 1) / per;
            self.cwnd += more;
            self.acked -= more * per;
        }
        if self.cwnd > cwnd {
            count.min(cwnd / (self.cwnd - cwnd))
        } else {
            count
        }
    }
}

/// CUBIC's state.
#[derive(Clone, Debug)]
pub(crate) struct Cubic {
    parameters: CubicParameters,
    hz: u32,
    /// Segments acknowledged for one of growth.
    count: u32,
    last_max_cwnd: u32,
    last_cwnd: u32,
    last_time: Jiffies,
    /// Begin of the epoch: the first growth after a reduction.
    epoch_start: Option<Jiffies>,
    curve: Curve,
    reno: RenoBeside,
    /// Least round trip; zero before the first.
    delay_min_us: u32,
    hystart: HyStart,
}

/// HyStart's round.
#[derive(Clone, Debug)]
struct HyStart {
    found: bool,
    samples: u8,
    /// Largest packet of segmentation offload (sk_gso_max_size).
    offload_bytes: u16,
    round_start_us: u32,
    last_ack_us: u32,
    end: Seq,
    rtt_us: u32,
}

/// What HyStart looks at: not the whole view, which would be gathered where nobody looks too.
#[derive(Clone, Copy, Debug)]
struct Seen {
    snd_una: Seq,
    snd_nxt: Seq,
    now_us: u32,
    paced: bool,
    rtt_us: u32,
}

impl HyStart {
    fn new_round(&mut self, now_us: u32, snd_nxt: Seq) {
        self.round_start_us = now_us;
        self.last_ack_us = now_us;
        self.end = snd_nxt;
        self.rtt_us = u32::MAX;
        self.samples = 0;
    }
}

/// What CUBIC-SCE does to the curve.
impl Cubic {
    /// Whether the window follows a curve.
    pub(super) fn in_epoch(&self) -> bool {
        self.epoch_start.is_some()
    }

    /// Brings the curve's flat part nearer to now by `part` of `parts` of the time between them; what
    /// the curve says of now stays.
    pub(super) fn flatten(&mut self, (part, parts): (u32, u32), now: Jiffies) {
        let Some(start) = self.epoch_start else {
            return;
        };
        let scale = self.parameters.bic_scale;
        let share = |time: u64| time * u64::from(part) / u64::from(parts.max(1));
        let elapsed = now.wrapping_sub(start) as i32;
        let t = u64::from(elapsed.max(0) as u32) * 1024 / u64::from(self.hz);
        let k = u64::from(self.curve.k);
        if t < k {
            let (ahead, left) = (k - t, k - t - share(k - t));
            self.epoch_start = Some(now);
            self.curve.k = left as u32;
            let lower = rise(ahead, scale) - rise(left, scale);
            self.curve.origin = self.curve.origin.saturating_sub(lower);
        } else {
            let past = t - k;
            let left = past - share(past);
            self.curve.k = (t - left) as u32;
            self.curve.origin += rise(past, scale) - rise(left, scale);
        }
    }

    /// The window has been taken down by a segment for a mark: curve and Reno's window go with it.
    pub(super) fn step_down(&mut self) {
        self.curve.origin = self.curve.origin.saturating_sub(1);
        self.reno.cwnd = self.reno.cwnd.saturating_sub(1);
    }

    /// Growth beyond slow start, with Reno's counter of another's keeping; answers what is left of it.
    pub(super) fn grow_counted(
        &mut self,
        window: &mut Window,
        view: &View,
        (acked, counted): (u32, u32),
    ) -> u32 {
        self.reno.acked = counted;
        self.update(window.cwnd, 0, view.now);
        window.additive_increase(self.count, acked);
        self.reno.acked
    }
}

impl Cubic {
    /// bictcp_reset.
    fn reset(&mut self) {
        self.count = 0;
        self.last_max_cwnd = 0;
        self.last_cwnd = 0;
        self.last_time = 0;
        self.epoch_start = None;
        self.delay_min_us = 0;
        self.reno = RenoBeside { cwnd: 0, acked: 0 };
        self.hystart.found = false;
    }

    /// bictcp_update.
    #[inline(always)]
    fn update(&mut self, cwnd: u32, acked: u32, now: Jiffies) {
        self.reno.acked += acked;
        let since = now.wrapping_sub(self.last_time) as i32;
        if self.last_cwnd == cwnd && since <= (self.hz / 32) as i32 {
            return;
        }
        // The curve moves once a jiffy at most; Reno's window with every acknowledgement.
        if self.epoch_start.is_none() || now != self.last_time {
            self.last_cwnd = cwnd;
            self.last_time = now;
            self.follow_curve(cwnd, acked, now);
        }
        if self.parameters.tcp_friendliness {
            self.count = self.reno.bound(self.count, cwnd, self.parameters.beta);
        }
        self.count = self.count.max(2);
    }

    #[inline(never)]
    fn follow_curve(&mut self, cwnd: u32, acked: u32, now: Jiffies) {
        let start = *self.epoch_start.get_or_insert_with(|| {
            self.curve = Curve::new(cwnd, self.last_max_cwnd, self.parameters.bic_scale);
            self.reno = RenoBeside { cwnd, acked };
            now
        });
        let elapsed = i64::from(now.wrapping_sub(start) as i32)
            + i64::from(jiffies_of_us(self.delay_min_us, self.hz));
        let t = (elapsed.max(0) as u64) * 1024 / u64::from(self.hz);
        self.count = self.curve.count_at(t, cwnd, self.parameters.bic_scale).0;
        if self.last_max_cwnd == 0 {
            self.count = self.count.min(COUNT_BEFORE_LOSS_MAX);
        }
    }

    /// A round trip in slow start (hystart_update).
    #[inline(never)]
    fn watch_slow_start(&mut self, window: &mut Window, seen: Seen) {
        if seen.snd_una.after(self.hystart.end) {
            self.hystart.new_round(seen.now_us, seen.snd_nxt);
        }
        if window.cwnd < self.parameters.hystart_low_window {
            return;
        }
        let (detect, rtt_us) = (self.parameters.hystart_detect, seen.rtt_us);
        if detect & ACK_TRAIN != 0 && self.train_is_long(window, seen) {
            self.hystart.found = true;
            window.ssthresh = window.cwnd;
        }
        if detect & DELAY != 0 {
            self.hystart.rtt_us = self.hystart.rtt_us.min(rtt_us);
            if self.hystart.samples < HYSTART_SAMPLES {
                self.hystart.samples += 1;
                return;
            }
            let (low, high) = HYSTART_DELAY_US.into_inner();
            let rise = (self.delay_min_us >> 3).clamp(low, high);
            if self.hystart.rtt_us > self.delay_min_us + rise {
                self.hystart.found = true;
                window.ssthresh = window.cwnd;
            }
        }
    }

    /// Acknowledgements have come close upon one another for the least round trip; for half of it
    /// if the sender does not pace.
    fn train_is_long(&mut self, window: &Window, seen: Seen) -> bool {
        let now = seen.now_us;
        let gap = now.wrapping_sub(self.hystart.last_ack_us) as i32;
        if gap > self.parameters.hystart_ack_delta_us as i32 {
            return false;
        }
        self.hystart.last_ack_us = now;
        let mut threshold = self.delay_min_us + self.offload_delay_us(window.pacing_rate);
        if !seen.paced {
            threshold >>= 1;
        }
        now.wrapping_sub(self.hystart.round_start_us) as i32 > threshold as i32
    }

    /// What offload on either side may delay acknowledgements by: four packets at the pacing rate, a
    /// millisecond at most (hystart_ack_delay).
    fn offload_delay_us(&self, pacing_rate: u64) -> u32 {
        let microbytes = u64::from(self.hystart.offload_bytes) * 4 * 1_000_000;
        microbytes.checked_div(pacing_rate).unwrap_or(0).min(1000) as u32
    }
}

impl CongestionControl for Cubic {
    fn new(stack: &Stack, _seed: u64) -> Cubic {
        Cubic {
            parameters: stack.cubic.clone(),
            hz: stack.hz,
            count: 0,
            last_max_cwnd: 0,
            last_cwnd: 0,
            last_time: 0,
            epoch_start: None,
            curve: Curve { k: 0, origin: 0 },
            reno: RenoBeside { cwnd: 0, acked: 0 },
            delay_min_us: 0,
            hystart: HyStart {
                found: false,
                samples: 0,
                offload_bytes: stack.tso_max_bytes(),
                round_start_us: 0,
                last_ack_us: 0,
                end: Seq(0),
                rtt_us: u32::MAX,
            },
        }
    }

    fn init(&mut self, window: &mut Window, view: &View) {
        self.reset();
        if self.parameters.hystart {
            self.hystart.new_round(view.now_us as u32, view.snd_nxt);
        } else if self.parameters.initial_ssthresh > 0 {
            window.ssthresh = self.parameters.initial_ssthresh;
        }
    }

    #[inline(always)]
    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        if !growth.cwnd_limited {
            return;
        }
        let left = window.slow_start_first(growth.acked);
        if left > 0 {
            self.update(window.cwnd, left, view.now);
            window.additive_increase(self.count, left);
        }
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        let CubicParameters {
            beta,
            fast_convergence,
            ..
        } = self.parameters;
        self.epoch_start = None;
        self.last_max_cwnd = if window.cwnd < self.last_max_cwnd && fast_convergence {
            (u64::from(window.cwnd) * u64::from(BETA_SCALE + beta) / u64::from(2 * BETA_SCALE))
                as u32
        } else {
            window.cwnd
        };
        ((u64::from(window.cwnd) * u64::from(beta) / u64::from(BETA_SCALE)) as u32).max(2)
    }

    fn set_state(&mut self, _window: &mut Window, view: &View, state: CaState) {
        if state == CaState::Loss {
            self.reset();
            self.hystart.new_round(view.now_us as u32, view.snd_nxt);
        }
    }

    /// Time without data to send does not count: the curve is shifted.
    fn cwnd_event(&mut self, _window: &mut Window, view: &View, event: CwndEvent) {
        let idle = view.now.wrapping_sub(view.last_sent) as i32;
        if let (CwndEvent::TxStart, Some(start)) = (event, self.epoch_start)
            && idle > 0
        {
            let shifted = start.wrapping_add(idle as u32);
            let beyond = shifted.wrapping_sub(view.now) as i32 > 0;
            self.epoch_start = Some(if beyond { view.now } else { shifted });
        }
    }

    #[inline(always)]
    fn pkts_acked(&mut self, window: &mut Window, view: &View, sample: AckSample) {
        let Some(rtt_us) = sample.rtt_us else { return };
        // What comes in the first second of an epoch tells of the recovery before it.
        let fresh = |start: Jiffies| (view.now.wrapping_sub(start) as i32) < self.hz as i32;
        if self.epoch_start.is_some_and(fresh) {
            return;
        }
        let rtt_us = rtt_us.max(1);
        if self.delay_min_us == 0 || rtt_us < self.delay_min_us {
            self.delay_min_us = rtt_us;
        }
        if self.parameters.hystart && !self.hystart.found && window.in_slow_start() {
            let seen = Seen {
                snd_una: view.snd_una,
                snd_nxt: view.snd_nxt,
                now_us: view.now_us as u32,
                paced: view.paced,
                rtt_us,
            };
            self.watch_slow_start(window, seen);
        }
    }
}
