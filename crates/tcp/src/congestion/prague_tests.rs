//! Prague against its formula.

use super::super::path::Path;
use super::super::{Congestion, CongestionKind};
use super::*;

const MSS: u32 = 1448;

/// A sender whose segments are acknowledged one by one, evenly over the round trip.
struct Way {
    path: Path,
    /// A reduction is over when this is acknowledged.
    high_seq: Seq,
}

impl Way {
    fn new(cwnd: u32, rtt_us: u32) -> Way {
        let mut path = Path::new(CongestionKind::Prague, cwnd, rtt_us);
        path.view.mss = MSS;
        path.view.ts_val = 1;
        path.window.ssthresh = 2;
        path.congestion.init(&mut path.window, &path.view);
        let high_seq = path.view.snd_nxt;
        Way { path, high_seq }
    }

    fn state(&mut self) -> &mut State {
        match &mut self.path.congestion {
            Congestion::Prague(prague) => &mut prague.0,
            _ => unreachable!("it was made as Prague"),
        }
    }

    fn deliver(&mut self, marked: bool) {
        let Path {
            window,
            view,
            congestion,
            rtt_us,
        } = &mut self.path;
        view.now_us += u64::from(*rtt_us / window.cwnd.max(1)).max(1);
        view.snd_una += view.mss;
        view.snd_nxt = view.snd_una + window.cwnd * view.mss;
        view.delivered += 1;
        view.delivered_ce += u32::from(marked);
        view.in_flight = window.cwnd;
        if view.state == CaState::Cwr && view.snd_una.after(self.high_seq) {
            congestion.set_state(window, view, CaState::Open);
            view.state = CaState::Open;
        }
        if marked && view.state == CaState::Open {
            congestion.set_state(window, view, CaState::Cwr);
            view.state = CaState::Cwr;
            self.high_seq = view.snd_nxt;
        }
        let sample = RateSample {
            prior_delivered: 0,
            delivered: 1,
            delivered_ce: 0,
            interval_us: 1,
            rtt_us: Some(*rtt_us),
            losses: 0,
            acked_sacked: 1,
            prior_in_flight: window.cwnd,
            lost: 0,
            tx_in_flight: window.cwnd,
            is_app_limited: false,
            is_ack_delayed: false,
            cwnd_limited: true,
            departure_ahead_us: 0,
        };
        congestion.on_rate_sample(window, view, &sample);
    }

    /// A window of segments.
    fn round(&mut self, mut marked: impl FnMut() -> bool) {
        for _ in 0..self.path.window.cwnd {
            let mark = marked();
            self.deliver(mark);
        }
    }

    fn rounds(&mut self, count: u32) {
        for _ in 0..count {
            self.round(|| false);
        }
    }
}

#[test]
fn the_first_mark_halves_and_ends_slow_start() {
    let mut way = Way::new(100, 50_000);
    way.path.window.ssthresh = crate::congestion::INFINITE_SSTHRESH;
    way.deliver(false);
    assert_eq!(way.path.window.cwnd, 101, "slow start");
    way.deliver(true);
    assert!(!way.path.window.in_slow_start());
    let half = way.state().frac_cwnd >> CWND_SHIFT;
    assert!((50..=51).contains(&half), "{half}");
    // The window follows a segment at a time.
    assert_eq!(way.path.window.cwnd, 100);
}

#[test]
fn beyond_the_target_it_grows_by_a_segment_a_round_trip_and_below_by_the_square_of_their_ratio() {
    for (rtt_us, expected) in [(50_000, 1.0), (25_000, 1.0), (12_500, 0.25), (5_000, 0.04)] {
        let mut way = Way::new(200, rtt_us);
        way.rounds(6);
        let before = way.state().frac_cwnd;
        way.rounds(20);
        let grown = (way.state().frac_cwnd - before) as f64 / f64::from(1 << CWND_SHIFT) / 20.0;
        // 1500 bytes of 1500, and a window that grows meanwhile.
        assert!((grown / expected - 1.0).abs() < 0.06, "{rtt_us} {grown}");
    }
}

#[test]
fn alpha_is_averaged_by_a_sixteenth_and_cuts_half_of_its_share() {
    let mut way = Way::new(1000, 50_000);
    way.rounds(6);
    way.state().saw_ce = true;
    way.round(|| true);
    let alpha = way.state().upscaled_alpha >> GAIN_SHIFT;
    assert_eq!(alpha, ALPHA_MAX / 16);
    while way.path.view.state == CaState::Cwr {
        way.deliver(false);
    }
    let before = way.state().frac_cwnd;
    way.deliver(true);
    let share = 1.0 - way.state().frac_cwnd as f64 / before as f64;
    assert!((share - 1.0 / 32.0).abs() < 0.001, "{share}");
}

#[test]
fn a_loss_halves_and_stops_growth_until_recovery_is_over() {
    let mut way = Way::new(100, 50_000);
    way.rounds(6);
    let before = way.state().frac_cwnd;
    let Path {
        congestion,
        window,
        view,
        ..
    } = &mut way.path;
    congestion.set_state(window, view, CaState::Recovery);
    view.state = CaState::Recovery;
    assert_eq!(way.state().frac_cwnd, before - before / 2);
    let held = way.state().frac_cwnd;
    way.rounds(1);
    assert_eq!(way.state().frac_cwnd, held);
}

/// The rate under marks of this probability, Mb/s of 1500-byte packets: a cut of half of alpha at the first mark that comes
/// 25 ms after the one before, and 1 − p segments more in every 25 ms. (Cut every 25 ms, it would be (1 − p)/p.)
fn closed_form_mbps(probability: f64) -> f64 {
    let left = 1.0 - probability;
    let marks = left + (left * left + 2.0 * left).sqrt();
    marks / probability * 1500.0 * 8.0 / 0.025 / 1e6
}

/// The mean of it, simulated.
fn rate_mbps(probability: f64, rtt_us: u32) -> f64 {
    let segments = closed_form_mbps(probability) * f64::from(rtt_us) / 12_000.0;
    let mut way = Way::new(segments as u32, rtt_us);
    let mut random = crate::connection::scramble(7);
    let mut marked = || {
        random = crate::connection::scramble(random);
        (random >> 11) as f64 / (1u64 << 53) as f64 <= probability
    };
    way.rounds(6);
    way.state().saw_ce = true;
    way.state().upscaled_alpha = (probability * ALPHA_MAX as f64) as u64 * 16;
    let (mut sum, mut count) = (0.0, 0);
    for round in 0..30_000 {
        way.round(&mut marked);
        if round >= 5_000 {
            sum += way.state().frac_cwnd as f64 / f64::from(1 << CWND_SHIFT);
            count += 1;
        }
    }
    sum / f64::from(count) * 12_000.0 / f64::from(rtt_us)
}

#[test]
fn its_rate_follows_the_odds_against_a_mark_whatever_the_round_trip_up_to_25_ms() {
    for probability in [0.01, 0.03, 0.1] {
        for rtt_us in [10_000, 25_000] {
            let expected = closed_form_mbps(probability);
            let rate = rate_mbps(probability, rtt_us);
            let error = rate / expected - 1.0;
            assert!(
                error.abs() < 0.1,
                "{probability} {rtt_us}: {rate} for {expected}"
            );
        }
    }
}

#[test]
fn a_packet_for_offload_lasts_a_quarter_of_a_millisecond() {
    let mut way = Way::new(1000, 10_000);
    way.rounds(1);
    // 1000 packets in 10 ms, 24 of them in 2^-12 s.
    assert_eq!(way.state().burst, 24);
    let mut slow = Way::new(4, 10_000);
    slow.rounds(1);
    assert_eq!(slow.state().burst, 1);
}
