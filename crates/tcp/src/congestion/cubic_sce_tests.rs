//! CUBIC-SCE against what it comes down to, by hand.

use crate::congestion::tests::{VIEW, modern, stack};
use crate::congestion::{AckKind, Congestion, CongestionKind, Growth, View, Window};

const MSS: u32 = 1448;

fn sender() -> Congestion {
    Congestion::new(CongestionKind::CubicSce, &stack(|_| {}), 1)
}

/// A sender in congestion avoidance that has known a loss at this window.
fn after_loss(cwnd: u32) -> (Congestion, Window) {
    let (mut sender, mut window) = (sender(), modern(cwnd, 10));
    sender.ssthresh(&window, &VIEW);
    ack(&mut sender, &mut window, &VIEW, false);
    (sender, window)
}

/// One segment is acknowledged, with ESCE or without.
fn ack(sender: &mut Congestion, window: &mut Window, view: &View, esce: bool) {
    let kind = AckKind {
        esce,
        marked_bytes: if esce { MSS } else { 0 },
        ..AckKind::default()
    };
    sender.in_ack_event(window, view, kind);
    let growth = Growth {
        acked: 1,
        cwnd_limited: true,
    };
    sender.grow(window, view, growth);
}

#[test]
fn where_reno_rules_it_settles_at_one_over_the_square() {
    // A round trip of a millisecond: the curve hardly rises between marks.
    for p in [0.05_f64, 0.1] {
        for start in [20, 1000] {
            let (mut sender, mut window) = after_loss(start);
            let below = (p * 4_294_967_296.0) as u64;
            let (mut state, mut sum) = (1_u64, 0.0);
            let (mut now, mut left) = (VIEW.now, window.cwnd);
            let (warm, count) = (6_000_000, 3_000_000);
            for step in 0..warm + count {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                left -= 1;
                if left == 0 {
                    (now, left) = (now + 1, window.cwnd);
                }
                let view = View { now, ..VIEW };
                ack(&mut sender, &mut window, &view, (state >> 32) < below);
                if step >= warm {
                    sum += f64::from(window.cwnd);
                }
            }
            let (seen, expected) = (sum / f64::from(count), 1.0 / (p * p));
            assert!(
                (seen / expected - 1.0).abs() < 0.12,
                "p {p} from {start}: {seen} for {expected}"
            );
        }
    }
}

#[test]
fn a_marked_window_costs_a_root() {
    let (mut sender, mut window) = after_loss(100);
    for _ in 0..100 {
        ack(&mut sender, &mut window, &VIEW, true);
    }
    // √100, less what the same acknowledgements count for Reno.
    assert!((90..=92).contains(&window.cwnd), "{}", window.cwnd);
}

#[test]
fn the_first_esce_ends_slow_start_at_half() {
    let (mut sender, mut window) = (sender(), modern(100, 0x7fff_ffff));
    ack(&mut sender, &mut window, &VIEW, false);
    assert_eq!(window.cwnd, 101);
    ack(&mut sender, &mut window, &VIEW, true);
    assert_eq!(window.ssthresh, 50);
}

#[test]
fn ce_costs_an_eighth_after_esce_and_cubics_share_without() {
    let (mut sender, mut window) = (sender(), modern(100, 50));
    ack(&mut sender, &mut window, &VIEW, false);
    assert_eq!(sender.clone().ssthresh(&window, &VIEW), 70);
    ack(&mut sender, &mut window, &VIEW, true);
    assert_eq!(sender.ssthresh(&window, &VIEW), 87);
}

/// Segments that the window grows by in the last of so many seconds after a loss at 1000 segments, with
/// a round trip of a second; all of the last but one are marked or not.
fn growth_in_the_last_second(seconds: u32, marked: bool) -> u32 {
    let (mut sender, mut window) = after_loss(1000);
    let mut before = 0;
    for step in 0..seconds {
        let last_but_one = step == seconds - 2;
        before = window.cwnd;
        for number in 0..before {
            let view = View {
                now: VIEW.now + step * 1000 + number * 1000 / before,
                ..VIEW
            };
            ack(&mut sender, &mut window, &view, marked && last_but_one);
        }
    }
    window.cwnd - before
}

#[test]
fn a_marked_window_makes_a_steep_curve_flat() {
    // Long beyond its origin the curve is steep.
    let free = growth_in_the_last_second(20, false);
    let marked = growth_in_the_last_second(20, true);
    assert!(free > 100, "{free}");
    // A marked window leaves no time between now and the flat part; what is left is the way that the
    // window is behind its curve.
    assert!(4 * marked < free, "{marked} and {free}");
}
