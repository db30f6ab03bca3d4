use std::collections::BTreeMap;

use super::{
    AckSample, Congestion, CongestionControl, CongestionKind, CwndEvent, Growth, View, Window,
    WindowCounting, bic::Bic, dctcp::Dctcp, reno::Reno,
};
use crate::connection::{CaState, Sender};
use crate::seq::Seq;
use crate::stack::{PRESETS, Stack};

/// A stack of 2.6.18 with this changed.
pub(super) fn stack(change: impl FnOnce(&mut Stack)) -> Stack {
    let mut stack: Stack = toml::from_str(PRESETS[0].1).expect("a preset is a stack");
    change(&mut stack);
    stack
}

/// A window that counts acknowledgements as 2.6.18 does.
pub(super) fn window(cwnd: u32, ssthresh: u32) -> Window {
    Window {
        ssthresh,
        ..Window::new(cwnd, WindowCounting::Acks)
    }
}

/// A window that counts segments as Linux does today.
pub(super) fn modern(cwnd: u32, ssthresh: u32) -> Window {
    Window {
        ssthresh,
        ..Window::new(cwnd, WindowCounting::Segments)
    }
}

/// A view at rest at time zero.
pub(super) const VIEW: View = View {
    now: 1000,
    now_us: 0,
    state: CaState::Open,
    mss: 1448,
    snd_una: Seq(0),
    snd_nxt: Seq(0),
    in_flight: 0,
    srtt_us8: 0,
    min_rtt_us: u32::MAX,
    delivered: 0,
    delivered_ce: 0,
    lost: 0,
    delivered_us: 0,
    app_limited: false,
    sacked: false,
    ts_now: 0,
    ts_hz: 1000,
    ts_val: 0,
    ts_ecr: 0,
    last_sent: 0,
    ecn: false,
    paced: false,
};

/// One segment or acknowledgement with the window in full use.
pub(super) const FULL: Growth = Growth {
    acked: 1,
    cwnd_limited: true,
};

fn bic() -> Bic {
    Bic::new(&stack(|s| s.hz = 1000), 1)
}

#[test]
fn reno_grows_by_one_in_a_window_and_halves() {
    let mut w = window(10, 5);
    for _ in 0..11 {
        Reno.grow(&mut w, &VIEW, FULL);
    }
    assert_eq!(w.cwnd, 11);
    assert_eq!(Reno.ssthresh(&w, &VIEW), 5);
    assert_eq!(Reno.ssthresh(&window(3, 5), &VIEW), 2);
}

#[test]
fn today_segments_count_and_slow_start_ends_at_the_threshold() {
    let mut w = modern(8, 10);
    let acked = |acked| Growth { acked, ..FULL };
    // Two bring it to the threshold, the other 9 are not enough for a window of 10.
    Reno.grow(&mut w, &VIEW, acked(11));
    assert_eq!((w.cwnd, w.cwnd_count), (10, 9));
    // 1 + 9 make a whole window, and 5 are left.
    Reno.grow(&mut w, &VIEW, acked(6));
    assert_eq!((w.cwnd, w.cwnd_count), (11, 5));
    // Two windows at once.
    w.cwnd_count = 0;
    Reno.grow(&mut w, &VIEW, acked(22));
    assert_eq!((w.cwnd, w.cwnd_count), (13, 0));
}

#[test]
fn the_window_of_before_is_what_undo_returns_to() {
    let mut w = modern(5, 5);
    w.prior_cwnd = 12;
    assert_eq!(Reno.undo_cwnd(&w, &VIEW), 12);
    assert_eq!(Reno.undo_cwnd(&window(5, 5), &VIEW), 10, "2.6.18 doubles");
}

#[test]
fn nothing_grows_unless_the_window_is_used() {
    let idle = Growth {
        cwnd_limited: false,
        ..FULL
    };
    // Vegas in slow start does not ask, in Linux.
    let all = CongestionKind::ALL.iter();
    for &kind in all.filter(|&&kind| kind != CongestionKind::Vegas) {
        let mut congestion = Congestion::new(kind, &stack(|_| {}), 1);
        let mut w = window(10, 100);
        congestion.init(&mut w, &VIEW);
        w.cwnd = 10;
        congestion.grow(&mut w, &VIEW, idle);
        assert_eq!(w.cwnd, 10, "{kind:?}");
    }
}

#[test]
fn one_at_work_controls_as_much_as_its_kind() {
    for &kind in CongestionKind::ALL {
        let congestion = Congestion::new(kind, &stack(|_| {}), 1);
        assert_eq!(congestion.kind(), kind);
        assert_eq!(congestion.full_control(), kind.full_control(), "{kind:?}");
    }
}

#[test]
fn every_one_is_found_by_its_name() {
    for &kind in CongestionKind::ALL {
        assert_eq!(CongestionKind::from_name(kind.name()), Some(kind));
        let text = format!("kind = \"{}\"", kind.name());
        let read: BTreeMap<String, CongestionKind> = toml::from_str(&text).expect("a name");
        assert_eq!(read["kind"], kind);
    }
    assert_eq!(CongestionKind::from_name("tahoe"), None);
}

#[test]
fn bic_cuts_to_four_fifths_and_is_reno_when_small() {
    let mut bic = bic();
    assert_eq!(bic.ssthresh(&window(1000, 1), &VIEW), 799);
    assert_eq!(bic.ssthresh(&window(14, 1), &VIEW), 7);
}

#[test]
fn bic_jumps_while_far_and_creeps_when_near() {
    let mut bic = bic();
    bic.ssthresh(&window(1000, 1), &VIEW);
    let acks_to_grow = |bic: &mut Bic, cwnd: u32| {
        let mut w = window(cwnd, 1);
        (1..100_000).find(|_| {
            bic.grow(&mut w, &VIEW, FULL);
            w.cwnd > cwnd
        })
    };
    // delayed_ack is 2 packets an acknowledgement: half as many acknowledgements.
    assert_eq!(acks_to_grow(&mut bic, 800), Some(800 / 16 / 2 + 1));
    assert_eq!(acks_to_grow(&mut bic, 997), Some(997 * 20 / 4 / 2 + 1));
}

#[test]
fn bic_of_today_takes_acknowledgements_of_nothing_new_for_packets_less_each() {
    let acks_to_grow = |sender: Sender| {
        let of = |s: &mut Stack| (s.hz, s.sender) = (1000, sender);
        let mut bic = Bic::new(&stack(of), 1);
        bic.ssthresh(&window(1000, 1), &VIEW);
        let mut w = window(800, 1);
        for _ in 0..16 {
            let nothing = AckSample {
                packets: 0,
                rtt_us: None,
                in_flight: 0,
            };
            bic.pkts_acked(&mut w, &VIEW, nothing);
        }
        (1..1000).find(|_| {
            bic.grow(&mut w, &VIEW, FULL);
            w.cwnd > 800
        })
    };
    assert_eq!(acks_to_grow(Sender::Linux26), Some(800 / 16 / 2 + 1));
    // Sixteenths of 2 packets: 32 less a sixteenth each, in integers, is 15.
    assert_eq!(acks_to_grow(Sender::Linux72), Some(800 / 16 * 16 / 15 + 1));
}

#[test]
fn bic_with_fast_convergence_remembers_less() {
    let mut bic = bic();
    bic.ssthresh(&window(1000, 1), &VIEW);
    bic.ssthresh(&window(800, 1), &VIEW);
    let undone = bic.undo_cwnd(&window(1, 1), &VIEW);
    assert_eq!(undone, 800 * (1024 + 819) / 2048);
}

#[test]
fn dctcp_follows_the_share_of_marks() {
    let mut dctcp = Dctcp::new(&stack(|_| {}), 1);
    let mut view = View { ecn: true, ..VIEW };
    let mut w = window(100, 1);
    dctcp.init(&mut w, &view);
    assert_eq!(dctcp.ssthresh(&w, &view), 50, "alpha begins at one");
    for _ in 0..400 {
        // A quarter of every window is marked.
        for part in 0..4 {
            view.delivered += 10;
            view.delivered_ce += if part == 0 { 10 } else { 0 };
            view.snd_una += 1;
            view.snd_nxt = view.snd_una + 4;
            dctcp.in_ack_event(&mut w, &view, Default::default());
        }
    }
    let ssthresh = dctcp.ssthresh(&window(800, 1), &view);
    assert!(
        (690..=712).contains(&ssthresh),
        "{ssthresh}: a quarter marked cuts an eighth"
    );
    dctcp.cwnd_event(&mut w, &view, CwndEvent::Loss);
    assert_eq!(w.ssthresh, 50, "a loss cuts half");
}

#[test]
fn dctcp_without_ecn_is_reno() {
    let mut dctcp = Dctcp::new(&stack(|s| s.dctcp.dctcp_alpha_on_init = 100), 1);
    let mut w = window(100, 1);
    dctcp.init(&mut w, &VIEW);
    assert_eq!(dctcp.ssthresh(&w, &VIEW), 50);
}

#[test]
fn kinds_that_need_ecn_are_those_whose_connections_do() {
    for kind in CongestionKind::ALL {
        let congestion = Congestion::new(*kind, &stack(|_| {}), 1);
        assert_eq!(kind.needs_ecn(), congestion.needs_ecn(), "{kind:?}");
    }
}
