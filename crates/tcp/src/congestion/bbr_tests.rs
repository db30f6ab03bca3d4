//! BBR on a path of 100 Mbit/s and 20 ms: one acknowledgement a segment at the bottleneck's rate.

use super::super::tests::{VIEW, modern, stack};
use super::super::{CongestionControl, RateSample, View, Window};
use super::{Bbr, Mode};

/// Segments a second: 1 000 in 100 ms.
const RATE: u64 = 10_000;
const RTT_US: u32 = 20_000;
/// Bandwidth times round trip, segments.
const BDP: u32 = 200;

struct Pipe {
    bbr: Bbr,
    window: Window,
    view: View,
}

impl Pipe {
    fn new() -> Pipe {
        let mut bbr = Bbr::new(&stack(|s| s.hz = 1000), 7);
        let mut window = modern(10, u32::MAX);
        let view = View {
            srtt_us8: RTT_US * 8,
            min_rtt_us: RTT_US,
            now_us: 1_000_000,
            ..VIEW
        };
        bbr.init(&mut window, &view);
        Pipe { bbr, window, view }
    }

    fn mode(&self) -> Mode {
        self.bbr.0.mode
    }

    /// A segment is delivered: the pipe is full as far as window and pacing fill it, the rest queues.
    fn deliver(&mut self) {
        let Pipe { bbr, window, view } = self;
        let filled = u64::from(window.cwnd) * 1_000_000 / u64::from(RTT_US);
        let paced = window.pacing_rate / u64::from(view.mss);
        let rate = RATE.min(filled).min(paced).max(1);
        view.now_us += 1_000_000 / rate;
        view.now = (view.now_us / 1000) as u32;
        view.delivered += 1;
        view.delivered_us = view.now_us;
        view.in_flight = window.cwnd;
        let queue_us = u64::from(window.cwnd.saturating_sub(BDP)) * 1_000_000 / RATE;
        let rtt_us = if paced > RATE || window.cwnd > 2 * BDP {
            RTT_US + queue_us as u32
        } else {
            RTT_US
        };
        let sample = RateSample {
            prior_delivered: view.delivered.saturating_sub(window.cwnd),
            delivered: window.cwnd as i32,
            delivered_ce: 0,
            interval_us: (u64::from(window.cwnd) * 1_000_000 / rate) as i64,
            rtt_us: Some(rtt_us),
            losses: 0,
            acked_sacked: 1,
            prior_in_flight: window.cwnd,
            lost: 0,
            tx_in_flight: window.cwnd,
            // What PROBE_RTT asks for.
            is_app_limited: std::mem::take(&mut window.mark_app_limited),
            is_ack_delayed: false,
            cwnd_limited: true,
            departure_ahead_us: 0,
        };
        bbr.on_rate_sample(window, view, &sample);
    }

    fn deliver_until(&mut self, what: &str, done: impl Fn(&Pipe) -> bool) {
        for _ in 0..400_000 {
            if done(self) {
                return;
            }
            self.deliver();
        }
        panic!(
            "never {what}; {:?}, window {}",
            self.mode(),
            self.window.cwnd
        );
    }
}

#[test]
fn it_paces_from_the_first_segment_on() {
    let pipe = Pipe::new();
    // 2.89 times ten segments in a round trip, less one per cent.
    let expected = 2.89 * 10.0 * 1448.0 / 0.020 * 0.99;
    let rate = pipe.window.pacing_rate as f64;
    assert!((rate / expected - 1.0).abs() < 0.005, "{rate} {expected}");
}

#[test]
fn startup_ends_when_the_rate_grows_no_more_and_drain_empties_the_queue() {
    let mut pipe = Pipe::new();
    pipe.deliver_until("draining", |p| p.mode() == Mode::Drain);
    let bandwidth = pipe.bbr.0.bandwidth.get();
    let expected = (RATE << 24) / 1_000_000;
    let error = f64::from(bandwidth) / expected as f64 - 1.0;
    assert!(error.abs() < 0.01, "{error}");
    // The inverse of STARTUP's gain: 0.347 of the bandwidth.
    let share = pipe.window.pacing_rate as f64 / (RATE as f64 * 1448.0 * 0.99);
    assert!((share - 0.347).abs() < 0.005, "{share}");
}

#[test]
fn a_cycle_probes_drains_and_cruises() {
    let mut pipe = Pipe::new();
    pipe.deliver_until("draining", |p| p.mode() == Mode::Drain);
    // The queue is gone.
    pipe.window.cwnd = BDP;
    pipe.deliver_until("probing", |p| p.mode() == Mode::ProbeBw);
    let mut gains = std::collections::BTreeMap::new();
    let from = pipe.view.now_us;
    while pipe.view.now_us - from < 4_000_000 {
        pipe.deliver();
        *gains.entry(pipe.bbr.0.pacing_gain).or_insert(0) += 1;
    }
    assert_eq!(gains.keys().copied().collect::<Vec<_>>(), [192, 256, 320]);
    let cruising = f64::from(gains[&256]) / f64::from(gains.values().sum::<i32>());
    assert!(cruising > 0.6, "{cruising}: six phases of eight");
    // Twice the product, three packets of offload of 10 ms / 1024 at most, made even.
    let most = 2 * BDP + 3 * 9 + 8;
    assert!(
        (2 * BDP..=most).contains(&pipe.window.cwnd),
        "{}",
        pipe.window.cwnd
    );
}

#[test]
fn after_ten_seconds_it_looks_for_the_round_trip_with_four_segments() {
    let mut pipe = Pipe::new();
    pipe.deliver_until("draining", |p| p.mode() == Mode::Drain);
    pipe.window.cwnd = BDP;
    pipe.deliver_until("probing", |p| p.mode() == Mode::ProbeBw);
    // From here on the path is longer: the old least is not seen again.
    pipe.bbr.0.rtt_min_us = RTT_US - 1;
    let cwnd = pipe.window.cwnd;
    pipe.deliver_until("in PROBE_RTT", |p| p.mode() == Mode::ProbeRtt);
    let from = pipe.view.now_us;
    assert_eq!(pipe.window.cwnd, 4);
    assert!(pipe.window.mark_app_limited, "low rates are not to count");
    pipe.deliver_until("out of it", |p| p.mode() == Mode::ProbeBw);
    let held_ms = (pipe.view.now_us - from) / 1000;
    assert!((200..=260).contains(&held_ms), "{held_ms} ms");
    // The rounding to even numbers and the first phase make it a few more or less.
    assert!(
        pipe.window.cwnd + 4 >= cwnd,
        "{} of {cwnd} is back",
        pipe.window.cwnd
    );
}

#[test]
fn steady_heavy_loss_is_a_policer() {
    let mut pipe = Pipe::new();
    pipe.deliver_until("draining", |p| p.mode() == Mode::Drain);
    pipe.window.cwnd = BDP;
    pipe.deliver_until("probing", |p| p.mode() == Mode::ProbeBw);
    let own = &mut pipe.bbr.0;
    let mut view = pipe.view;
    // A quarter lost, at half the rate, in every round of two intervals.
    for _ in 0..12 {
        view.delivered += 100;
        view.lost += 25;
        view.delivered_us += 20_000;
        own.policer.watch(&view, 1, false, true, true);
    }
    let bandwidth = own.policer.bandwidth().expect("a policer");
    let expected = (100_u64 << 24) / 20_000;
    let error = f64::from(bandwidth) / expected as f64 - 1.0;
    assert!(error.abs() < 0.01, "{error}");
}
