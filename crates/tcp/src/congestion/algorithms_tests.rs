//! Every algorithm against numbers worked out by hand from its formula; DCTCP, Reno and BIC are
//! in `congestion_tests`.

use tailback_units::Bytes;

use super::CongestionKind as Kind;
use super::path::Path;
use super::tests::FULL;
use super::{AckKind, AckSample, CwndEvent, cubic};
use crate::connection::CaState;

/// Growth over one window.
fn growth(path: &mut Path) -> i64 {
    let before = i64::from(path.window.cwnd);
    for _ in 0..before {
        path.ack();
    }
    i64::from(path.window.cwnd) - before
}

#[test]
fn scalable_grows_a_hundredth_and_cuts_an_eighth() {
    let mut path = Path::new(Kind::Scalable, 1000, 100_000);
    assert_eq!(growth(&mut path), 10);
    path.window.cwnd = 800;
    path.lose();
    assert_eq!(path.window.cwnd, 700);
}

#[test]
fn highspeed_takes_growth_and_cut_from_the_table() {
    // RFC 3649 appendix B: at 1058 segments a(w) = 8 and b(w) = 0.33.
    let mut path = Path::new(Kind::HighSpeed, 1000, 100_000);
    assert_eq!(
        growth(&mut path),
        7,
        "the eighth needs the window it grew to"
    );
    path.window.cwnd = 1000;
    path.lose();
    assert_eq!(path.window.cwnd, 1000 - 1000 * 83 / 256);
    // Up to 38 segments it is Reno.
    let mut path = Path::new(Kind::HighSpeed, 38, 100_000);
    assert_eq!(growth(&mut path), 1);
    path.window.cwnd = 38;
    path.lose();
    assert_eq!(path.window.cwnd, 19);
}

#[test]
fn hybla_grows_by_the_square_of_rho() {
    // rho = 100 ms / 25 ms = 4: 16 segments a round trip, 2^4 - 1 an acknowledgement at first.
    let mut path = Path::new(Kind::Hybla, 1000, 100_000);
    assert!(
        (15..=16).contains(&growth(&mut path)),
        "{}",
        path.window.cwnd
    );
    path.window.cwnd = 100;
    path.window.ssthresh = 1000;
    path.ack();
    assert_eq!(path.window.cwnd, 115);
    // At the reference's own round trip and below it is Reno.
    let mut path = Path::new(Kind::Hybla, 64, 10_000);
    assert_eq!(growth(&mut path), 1);
}

#[test]
fn westwood_goes_back_to_what_the_bandwidth_needs() {
    let mut path = Path::new(Kind::Westwood, 100, 100_000);
    for _ in 0..40 {
        path.window.cwnd = 100;
        path.rounds(1);
    }
    path.window.cwnd = 200;
    path.lose();
    // 100 segments a round trip, in whole bytes a jiffy: 1448 of them.
    assert!(
        (97..=100).contains(&path.window.cwnd),
        "{}",
        path.window.cwnd
    );
    // Reno would have gone to 100 only by chance; here a greater window goes to the same.
    path.window.cwnd = 1000;
    path.congestion
        .cwnd_event(&mut path.window, &path.view, CwndEvent::CompleteCwr);
    assert!((97..=100).contains(&path.window.cwnd));
}

#[test]
fn westwood_of_an_end_that_receives_gigabytes_counts_on() {
    let mut path = Path::new(Kind::Westwood, 10, 1_000);
    let data = AckKind {
        slow_path: true,
        ..AckKind::default()
    };
    // More than 2^32 bytes, a segment each.
    for _ in 0..3_000_000 {
        path.congestion
            .in_ack_event(&mut path.window, &path.view, data);
    }
    assert_eq!(path.window.cwnd, 10);
}

#[test]
fn htcp_grows_with_the_time_since_congestion() {
    let mut path = Path::new(Kind::Htcp, 10_000, 100_000);
    path.rounds(1);
    path.lose();
    // Within a second of it alpha is 2 (1 - beta) = 1.
    assert_eq!(path.window.cwnd, path.window.prior_cwnd / 2);
    path.ack();
    assert_eq!(growth(&mut path), 1);
    // Three seconds after: 1 + 10 (3 - 1) + ((3 - 1) / 2)^2 = 22, rising as they pass.
    path.view.now_us += 2_900_000;
    path.rounds(1);
    let grown = growth(&mut path);
    assert!((21..=26).contains(&grown), "{grown}");
}

#[test]
fn htcp_counts_the_time_since_congestion_in_words_that_wrap() {
    let grown_after = |seconds: u64| {
        let mut path = Path::new(Kind::Htcp, 100_000, 100_000);
        path.rounds(1);
        path.lose();
        path.view.now_us += 1_000_000 * seconds;
        // The first step is still by the growth of before.
        path.rounds(2);
        growth(&mut path)
    };
    // 1 + 10 (125 - 1) + ((125 - 1) / 2)^2 = 5085, less what is lost by whole acknowledgements: one in eleven.
    let grown = grown_after(125);
    assert!((4_000..=5_085).contains(&grown), "{grown}");
    // 67 000 ticks squared are 194 032 704 beyond 2^32: 1 + 1340 + 194, and it rises anew.
    let grown = grown_after(135);
    assert!((1_300..=1_600).contains(&grown), "{grown}");
}

#[test]
fn htcp_cuts_to_the_ratio_of_round_trips() {
    let mut path = Path::new(Kind::Htcp, 1000, 100_000);
    for _ in 0..3 {
        for rtt_us in [100_000, 110_000, 120_000, 130_000, 140_000] {
            path.rtt_us = rtt_us;
            path.window.cwnd = 1000;
            path.rounds(2);
        }
        path.rtt_us = 100_000;
        path.window.cwnd = 1000;
        path.lose();
    }
    // 100 / 140 = 0.714, in 128ths 91; the maximum fades by 5 % of its excess a congestion.
    assert!(
        (700..=740).contains(&path.window.cwnd),
        "{}",
        path.window.cwnd
    );
}

#[test]
fn vegas_holds_the_queue_between_alpha_and_beta() {
    let mut path = Path::new(Kind::Vegas, 100, 100_000);
    path.rounds(1);
    let mut step = |queued: u32| {
        path.rtt_us = 100_000 + 1000 * queued + 100;
        path.rounds(2);
        path.window.cwnd = 100;
        path.rounds(2);
        i64::from(path.window.cwnd) - 100
    };
    assert!(step(1) > 0, "fewer than alpha");
    assert_eq!(step(3), 0, "between");
    assert!(step(6) < 0, "more than beta");
}

#[test]
fn vegas_ends_slow_start_at_the_rate_it_has() {
    let mut path = Path::new(Kind::Vegas, 100, 100_000);
    path.rounds(1);
    path.window.cwnd = 100;
    path.window.ssthresh = 10_000;
    path.rtt_us = 125_000;
    while path.window.in_slow_start() {
        path.ack();
    }
    // The window of this rate without a queue, four fifths, and one for the truncation.
    assert!(path.window.cwnd <= 200 * 4 / 5 + 1, "{}", path.window.cwnd);
    assert!(path.window.ssthresh <= path.window.cwnd);
}

#[test]
fn yeah_is_fast_without_a_queue_and_takes_it_out_with_one() {
    let mut path = Path::new(Kind::Yeah, 1000, 100_000);
    path.rounds(1);
    path.window.cwnd = 1000;
    assert_eq!(growth(&mut path), 10, "a hundredth");
    // A tenth of the window queued, more than 80: it is taken out.
    path.window.cwnd = 1100;
    path.rtt_us = 110_000;
    path.rounds(2);
    assert!(
        (950..=1020).contains(&path.window.cwnd),
        "{}",
        path.window.cwnd
    );
    assert!(
        path.window.cwnd - path.window.ssthresh <= 2,
        "and what is left is the threshold"
    );
}

#[test]
fn veno_tells_random_loss_from_congestion() {
    let mut path = Path::new(Kind::Veno, 100, 100_000);
    path.rounds(1);
    path.window.cwnd = 100;
    path.lose();
    assert_eq!(path.window.cwnd, 80, "nothing queued");
    path.window.cwnd = 100;
    path.rtt_us = 110_000;
    path.ack();
    path.window.cwnd = 100;
    path.lose();
    assert_eq!(path.window.cwnd, 50, "nine queued");
}

#[test]
fn veno_grows_every_second_round_trip_under_congestion() {
    let mut path = Path::new(Kind::Veno, 100, 100_000);
    path.rounds(1);
    path.rtt_us = 110_000;
    path.window.cwnd = 100;
    path.rounds(10);
    assert!(
        (104..=106).contains(&path.window.cwnd),
        "{}",
        path.window.cwnd
    );
}

#[test]
fn illinois_grows_ten_at_rest_and_a_third_at_the_greatest_delay() {
    let mut path = Path::new(Kind::Illinois, 1000, 100_000);
    path.rounds(1);
    assert!((9..=10).contains(&growth(&mut path)));
    path.rtt_us = 200_000;
    path.rounds(3);
    let before = path.window.cwnd;
    path.rounds(10);
    let grown = path.window.cwnd - before;
    assert!((2..=3).contains(&grown), "{grown}: 0.3 a round trip");
    path.window.cwnd = 1000;
    path.lose();
    assert_eq!(path.window.cwnd, 500, "the greatest delay cuts half");
}

#[test]
fn lp_makes_way_when_the_delay_rises() {
    let mut path = Path::new(Kind::Lp, 100, 100_000);
    let run = |path: &mut Path, one_way_ms: u32, acks: u32| {
        for _ in 0..acks {
            path.view.ts_now = path.view.now;
            path.view.ts_ecr = path.view.now - 100;
            // The peer's clock is read when the segment arrives.
            path.view.ts_val = path.view.ts_ecr + one_way_ms;
            path.ack();
        }
    };
    // The first delay is its own threshold, and cuts.
    run(&mut path, 50, 200);
    path.window.cwnd = 100;
    run(&mut path, 50, 1000);
    let calm = path.window.cwnd;
    assert!(calm > 100, "Reno's growth at rest");
    run(&mut path, 90, 60);
    assert!(path.window.cwnd <= calm / 2 + 1, "{}", path.window.cwnd);
}

#[test]
fn lp_without_timestamps_is_reno() {
    let mut path = Path::new(Kind::Lp, 100, 100_000);
    path.rounds(1);
    let before = path.window.cwnd;
    // Nothing is echoed, and the own clock, which begins anywhere, is long past a third of its span.
    (path.view.ts_now, path.view.ts_val, path.view.ts_ecr) = (2_000_000_000, 0, 0);
    for _ in 0..before {
        path.ack();
    }
    assert_eq!(path.window.cwnd, before + 1);
}

#[test]
fn nv_shrinks_a_window_with_a_queue_and_lets_one_without_grow() {
    let mut path = Path::new(Kind::Nv, 200, 10_000);
    path.rounds(12);
    assert!(path.window.cwnd > 205, "no queue: it grows");
    // The same rate at twice the round trip: half of the window is queue.
    let cwnd = path.window.cwnd;
    path.rtt_us = 20_000;
    path.rounds(12);
    assert!(path.window.cwnd < cwnd, "{} of {cwnd}", path.window.cwnd);
    path.window.cwnd = 1000;
    path.lose();
    assert_eq!(path.window.cwnd, 799, "819 / 1024");
}

#[test]
fn cdg_backs_off_when_the_delay_keeps_rising() {
    let mut path = Path::new(Kind::Cdg, 100, 20_000);
    path.rounds(10);
    assert!(!path.window.enter_cwr, "no trend");
    for _ in 0..8 {
        // 5 ms a round: the sum over the window is 40 ms, and exp(-42e-6 * 40 000) = 0.19.
        path.rtt_us += 5000;
        path.rounds(1);
    }
    assert!(path.window.enter_cwr);
    path.window.enter_cwr = false;
    path.window.cwnd = 1000;
    let ssthresh = path.congestion.ssthresh(&path.window, &path.view);
    assert_eq!(ssthresh, 707, "by the square root of a half");
}

#[test]
fn cdg_looks_at_the_greatest_delay_only_while_the_least_has_not_risen() {
    // The greatest rises by 5 ms a round, the least stays: that of the SYN, a small frame, is less.
    let backs_off = |syn_us: Option<u32>| {
        let mut path = Path::new(Kind::Cdg, 100, 20_000);
        if let Some(us) = syn_us {
            path.congestion.syn_acked(us);
        }
        for round in 1..=8 {
            for segment in 0..path.window.cwnd {
                path.rtt_us = 20_000 + 5000 * round * u32::from(segment > 50);
                path.ack();
            }
        }
        path.window.enter_cwr
    };
    assert!(backs_off(None));
    assert!(!backs_off(Some(19_990)));
}

#[test]
fn compound_grows_by_alpha_of_the_window_to_three_quarters() {
    // 10 000^0.75 = 1000, an eighth of it 125.
    let mut path = Path::new(Kind::Compound, 10_000, 100_000);
    path.rounds(1);
    path.window.cwnd = 10_000;
    let grown = growth(&mut path);
    assert!((123..=126).contains(&grown), "{grown}");
    let cwnd = path.window.cwnd;
    path.lose();
    assert_eq!(path.window.cwnd, cwnd / 2);
    // More than gamma queued: the delay window goes, Reno's stays.
    path.rtt_us = 150_000;
    path.rounds(3);
    assert!(path.window.cwnd >= 4990, "Reno's window stays");
}

#[test]
fn cube_roots_are_whole() {
    let roots = [
        (0, 0),
        (1, 1),
        (7, 1),
        (8, 2),
        (26, 2),
        (27, 3),
        (999_999, 99),
    ];
    for (a, root) in roots {
        assert_eq!(cubic::cube_root(a), root);
    }
    assert_eq!(cubic::cube_root(2_642_245_u64.pow(3) - 1), 2_642_244);
}

#[test]
fn cubic_is_back_at_its_maximum_after_k() {
    // K = cbrt(1000 (1 - 0.7) / 0.4) = 9.09 s.
    let mut path = Path::new(Kind::Cubic, 1000, 100_000);
    path.lose();
    assert_eq!(path.window.cwnd, 1000 * 717 / 1024);
    let begin = path.view.now_us;
    let seconds = |path: &Path| (path.view.now_us - begin) as f64 / 1e6;
    let mut halfway = 0;
    while seconds(&path) < 9.09 {
        path.ack();
        if seconds(&path) < 4.545 {
            halfway = path.window.cwnd;
        }
    }
    // W(K/2) = 1000 - 0.4 (9.09 / 2)^3 = 962.
    assert!((958..=966).contains(&halfway), "{halfway}");
    assert!(
        (995..=1003).contains(&path.window.cwnd),
        "{}",
        path.window.cwnd
    );
    // Two seconds later 0.4 * 2^3 = 3.2 more, six seconds later 86.
    while seconds(&path) < 15.09 {
        path.ack();
    }
    assert!(
        (1080..=1092).contains(&path.window.cwnd),
        "{}",
        path.window.cwnd
    );
}

#[test]
fn cubic_is_not_slower_than_reno_on_a_short_path() {
    // RFC 9438: alpha = 3 (1 - 0.7) / (1 + 0.7) = 0.53 a round trip of 1 ms, beside 0.4 t^3.
    let mut path = Path::new(Kind::Cubic, 100, 1_000);
    path.lose();
    let cwnd = path.window.cwnd;
    path.rounds(50);
    let grown = path.window.cwnd - cwnd;
    // 50 * 0.53 = 26.7, less what it lags behind.
    assert!((22..=27).contains(&grown), "{grown}");
}

#[test]
fn cubic_converges_faster_after_falling_windows() {
    let mut path = Path::new(Kind::Cubic, 1000, 100_000);
    path.lose();
    path.window.cwnd = 800;
    path.lose();
    // The maximum is taken for 800 (1 + 0.7) / 2 = 680.
    let begin = path.view.now_us;
    // K = cbrt((680 - 560) / 0.4) = 6.7 s.
    while path.view.now_us - begin < 6_700_000 {
        path.ack();
    }
    assert!(
        (674..=684).contains(&path.window.cwnd),
        "{}",
        path.window.cwnd
    );
}

#[test]
fn hystart_ends_slow_start_when_the_delay_rises() {
    let mut path = Path::new(Kind::Cubic, 20, 100_000);
    path.window.ssthresh = u32::MAX;
    path.view.paced = true;
    path.rounds(1);
    assert!(path.window.in_slow_start());
    // An eighth of 100 ms is 12.5 ms.
    path.rtt_us = 112_000;
    path.rounds(1);
    assert!(path.window.in_slow_start(), "not yet");
    path.rtt_us = 113_500;
    path.rounds(2);
    assert!(!path.window.in_slow_start());
}

#[test]
fn hystart_allows_for_packets_as_large_as_the_host_offloads() {
    // Four packets at 1 GB/s, and a millisecond at most.
    for (tso_max, rate, allowed_us) in [
        (65_343, 1_000_000_000, 261),
        (16_384, 1_000_000_000, 65),
        (16_384, 1_000_000, 1000),
    ] {
        let mut path = Path::with(Kind::Cubic, 20, 10_000, |s| s.tso_max = Bytes::new(tso_max));
        path.window.ssthresh = u32::MAX;
        path.window.pacing_rate = rate;
        path.view.paced = true;
        let start = path.view.now_us;
        let sample = AckSample {
            packets: 1,
            rtt_us: Some(10_000),
            in_flight: 20,
        };
        while path.window.in_slow_start() {
            path.view.now_us += 1;
            path.congestion
                .pkts_acked(&mut path.window, &path.view, sample);
        }
        // The first beyond it.
        assert_eq!(
            path.view.now_us - start,
            10_000 + allowed_us + 1,
            "{tso_max} {rate}"
        );
    }
}

#[test]
fn cubic_of_2007_leaves_four_fifths_and_grows_slowly_beyond() {
    let mut path = Path::new(Kind::Cubic21, 1000, 100_000);
    path.window.counting = super::WindowCounting::Acks;
    path.lose();
    assert_eq!(path.window.cwnd, 799);
    let begin = path.view.now_us;
    // K = cbrt(1000 (1 - 0.8) / 0.4) = 7.94 s; one packet an acknowledgement.
    while path.view.now_us - begin < 7_940_000 {
        path.ack();
    }
    assert!(
        (985..=1003).contains(&path.window.cwnd),
        "{}",
        path.window.cwnd
    );
    // Long after, at most 16 segments in 100 ms, a round trip here; but the mean of packets per
    // acknowledgement, begun at 2 and kept in 16ths rounded down, does not fall below 31 / 16.
    while path.view.now_us - begin < 30_000_000 {
        path.ack();
    }
    let grown = growth(&mut path);
    assert!((30..=31).contains(&grown), "{grown}");
}

#[test]
fn a_timeout_is_forgotten_by_none() {
    for &kind in Kind::ALL {
        let mut path = Path::new(kind, 100, 10_000);
        path.rounds(3);
        let Path {
            congestion,
            window,
            view,
            ..
        } = &mut path;
        let cwnd = window.cwnd;
        window.prior_cwnd = cwnd;
        window.ssthresh = congestion.ssthresh(window, view);
        congestion.cwnd_event(window, view, CwndEvent::Loss);
        congestion.set_state(window, view, CaState::Loss);
        view.state = CaState::Loss;
        window.cwnd = 1;
        for _ in 0..40 {
            congestion.grow(window, view, FULL);
        }
        assert!(window.cwnd <= cwnd, "{kind:?} is beyond its window again");
        assert!(window.ssthresh >= 2 && window.cwnd >= 1, "{kind:?}");
    }
}
