//! Both SCE senders against their closed forms, by hand.

use crate::congestion::reno_sce::{RenoSceParameters, RenoSceVersion};
use crate::congestion::tests::{VIEW, modern, stack};
use crate::congestion::{AckKind, Congestion, CongestionKind, CwndEvent, Growth, Window};

const MSS: u32 = 1448;

fn sender(kind: CongestionKind, version: RenoSceVersion) -> Congestion {
    Congestion::new(
        kind,
        &stack(|s| s.reno_sce = RenoSceParameters { version }),
        1,
    )
}

/// One segment is acknowledged, with ESCE or without.
fn ack(sender: &mut Congestion, window: &mut Window, esce: bool) {
    let kind = AckKind {
        esce,
        marked_bytes: if esce { MSS } else { 0 },
        ..AckKind::default()
    };
    sender.in_ack_event(window, &VIEW, kind);
    let growth = Growth {
        acked: 1,
        cwnd_limited: true,
    };
    sender.grow(window, &VIEW, growth);
}

/// The mean window over many segments of which one in `1/p` is marked, at random.
fn mean_window(kind: CongestionKind, version: RenoSceVersion, p: f64) -> f64 {
    let mut sender = sender(kind, version);
    let mut window = modern(50, 50);
    let below = (p * 4_294_967_296.0) as u64;
    let (mut state, mut sum) = (1_u64, 0.0);
    let (warm, count) = (1_000_000, 3_000_000);
    for step in 0..warm + count {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ack(&mut sender, &mut window, (state >> 32) < below);
        if step >= warm {
            sum += f64::from(window.cwnd);
        }
    }
    sum / f64::from(count)
}

#[test]
fn dctcp_sce_settles_at_its_closed_form() {
    for p in [0.02, 0.05, 0.1] {
        let expected = 2.0 * (1.0 - p) / p;
        let seen = mean_window(CongestionKind::DctcpSce, RenoSceVersion::A, p);
        assert!(
            (seen / expected - 1.0).abs() < 0.1,
            "p {p}: {seen} for {expected}"
        );
    }
}

#[test]
fn both_versions_of_reno_sce_settle_at_their_closed_forms() {
    for p in [0.05_f64, 0.1] {
        let a = ((1.0 - p) / p).powi(2);
        let seen = mean_window(CongestionKind::RenoSce, RenoSceVersion::A, p);
        assert!((seen / a - 1.0).abs() < 0.1, "A, p {p}: {seen} for {a}");
    }
    for p in [0.1_f64, 0.2] {
        let b = (2.0 * (1.0 - p) / p).powi(2);
        let seen = mean_window(CongestionKind::RenoSce, RenoSceVersion::B, p);
        assert!((seen / b - 1.0).abs() < 0.1, "B, p {p}: {seen} for {b}");
    }
}

#[test]
fn a_marked_window_costs_half_or_a_root() {
    for (kind, version, left) in [
        (CongestionKind::DctcpSce, RenoSceVersion::A, 50..=50),
        (CongestionKind::RenoSce, RenoSceVersion::A, 90..=91),
        (CongestionKind::RenoSce, RenoSceVersion::B, 95..=96),
    ] {
        let mut sender = sender(kind, version);
        let mut window = modern(100, 50);
        for _ in 0..100 {
            ack(&mut sender, &mut window, true);
        }
        assert!(
            left.contains(&window.cwnd),
            "{kind:?} {version:?}: {}",
            window.cwnd
        );
    }
}

#[test]
fn the_first_esce_ends_slow_start() {
    let mut sender = sender(CongestionKind::RenoSce, RenoSceVersion::A);
    let mut window = modern(100, 0x7fff_ffff);
    ack(&mut sender, &mut window, false);
    assert_eq!(window.cwnd, 101);
    ack(&mut sender, &mut window, true);
    assert_eq!(window.ssthresh, 50);
    for _ in 0..100 {
        ack(&mut sender, &mut window, false);
    }
    assert!(window.cwnd <= 102, "one segment a window: {}", window.cwnd);
}

#[test]
fn ce_leaves_three_eighths_or_more_after_esce() {
    for (esce, left) in [(false, 38), (true, 44)] {
        let mut sender = sender(CongestionKind::DctcpSce, RenoSceVersion::A);
        let mut window = modern(100, 10);
        ack(&mut sender, &mut window, esce);
        let ssthresh = sender.ssthresh(&window, &VIEW);
        assert_eq!(ssthresh, 50);
        window.cwnd = ssthresh;
        sender.cwnd_event(&mut window, &VIEW, CwndEvent::CompleteCwr);
        assert_eq!(window.cwnd, left);
    }
}

#[test]
fn version_b_answers_ce_on_every_acknowledgement() {
    let mut sender = sender(CongestionKind::RenoSce, RenoSceVersion::B);
    let mut window = modern(100, 10);
    let kind = AckKind {
        ece: true,
        marked_bytes: MSS,
        ..AckKind::default()
    };
    for _ in 0..100 {
        sender.in_ack_event(&mut window, &VIEW, kind);
    }
    assert_eq!(window.cwnd, 75);
    sender.cwnd_event(&mut window, &VIEW, CwndEvent::CompleteCwr);
    assert_eq!(window.cwnd, 75);
}

#[test]
fn esce_goes_before_ce_in_version_b_and_after_it_in_version_a() {
    for (version, left) in [(RenoSceVersion::A, 100..=100), (RenoSceVersion::B, 95..=96)] {
        let mut sender = sender(CongestionKind::RenoSce, version);
        let mut window = modern(100, 10);
        let kind = AckKind {
            ece: true,
            esce: true,
            marked_bytes: MSS,
            ..AckKind::default()
        };
        for _ in 0..100 {
            sender.in_ack_event(&mut window, &VIEW, kind);
        }
        assert!(left.contains(&window.cwnd), "{version:?}: {}", window.cwnd);
    }
}

#[test]
fn the_window_stays_at_two() {
    let mut sender = sender(CongestionKind::DctcpSce, RenoSceVersion::A);
    let mut window = modern(2, 2);
    for _ in 0..100 {
        ack(&mut sender, &mut window, true);
    }
    assert_eq!(window.cwnd, 2);
}
