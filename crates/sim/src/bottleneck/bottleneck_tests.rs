use tailback_tcp::Stack;
use tailback_tcp::congestion::CongestionKind;

use super::{BottleneckConfig, Chance, FlowConfig, bottleneck};

/// Linux of today with this congestion control and buffers that never limit.
fn stack(kind: CongestionKind) -> Stack {
    let plan = tailback_scenario::presets(tailback_scenario::Kind::Stack);
    let text = plan.iter().find(|(name, _)| *name == "linux-7.2");
    let text = text.map(|(_, text)| *text).expect("the preset is there");
    let mut stack: Stack = toml::from_str(text).expect("the preset is complete");
    stack.tcp_congestion_control = kind;
    stack.tcp_wmem = [4096, 1 << 30, 1 << 30].map(tailback_units::Bytes::new);
    stack.tcp_ecn = 1;
    stack
}

/// A flow under periodic loss of one in `every`, on a round trip of 10 ms, without a queue.
fn under_loss(kind: CongestionKind, every: u64) -> BottleneckConfig {
    BottleneckConfig {
        flows: vec![FlowConfig {
            stack: stack(kind),
            rtt_us: 10_000,
            start_us: 0,
            every_second: false,
        }],
        rate_bps: 0,
        buffer_segments: 0,
        mark_segments: 0,
        chance: Chance::Periodic { first: 300, every },
        chance_marks: false,
        warm_up_chances: 6,
        warm_up_us: 0,
        measured_chances: 10,
        measured_us: 0,
        segments_max: 10_000_000,
        look_us: 10_000,
        seed: 1,
    }
}

#[test]
fn reno_under_periodic_loss_is_on_its_curve() {
    // sqrt(3/2 / p) with p = 1e-4: 122.5 segments.
    let result = bottleneck(&under_loss(CongestionKind::Reno, 10_000));
    let flow = &result.flows[0];
    assert_eq!((flow.lost, flow.timeouts), (10, 0));
    let error = flow.window_mean / 122.5 - 1.0;
    assert!(error.abs() < 0.05, "{}: {error}", flow.window_mean);
    assert!(flow.retransmissions >= 9, "each loss is repaired");
}

#[test]
fn the_same_configuration_gives_the_same_result() {
    let config = BottleneckConfig {
        chance: Chance::Random {
            first: 300,
            p: 1e-3,
        },
        ..under_loss(CongestionKind::Cubic, 1)
    };
    let result = bottleneck(&config);
    assert!(result == bottleneck(&config));
    let other = BottleneckConfig {
        seed: 2,
        ..config.clone()
    };
    assert!(result != bottleneck(&other));
}

#[test]
fn a_link_is_filled_and_its_queue_counted() {
    // 100 Mbit/s and 10 ms: 82 segments; a queue of 100 more.
    let config = BottleneckConfig {
        rate_bps: 100_000_000,
        buffer_segments: 100,
        chance: Chance::None,
        warm_up_chances: 0,
        warm_up_us: 5_000_000,
        measured_chances: 0,
        measured_us: 5_000_000,
        ..under_loss(CongestionKind::Reno, 1)
    };
    let result = bottleneck(&config);
    // 1448 bytes of 1538.
    let most = 1e8 * 1448.0 / 1538.0;
    let flow = &result.flows[0];
    assert!(flow.goodput_bps > 0.97 * most && flow.goodput_bps <= most * 1.001);
    assert!(result.queue_max <= 100 && result.queue_mean > 20.0);
    assert!(flow.lost > 0, "the queue overflows");
}

#[test]
fn marks_keep_dctcp_at_the_threshold() {
    let config = BottleneckConfig {
        rate_bps: 1_000_000_000,
        buffer_segments: 1000,
        mark_segments: 65,
        chance: Chance::None,
        warm_up_chances: 0,
        warm_up_us: 2_000_000,
        measured_chances: 0,
        measured_us: 2_000_000,
        look_us: 50,
        ..under_loss(CongestionKind::Dctcp, 1)
    };
    let mut config = config;
    config.flows[0].rtt_us = 500;
    let result = bottleneck(&config);
    assert_eq!(result.flows[0].lost, 0);
    assert!(result.flows[0].marked > 0);
    assert!(
        (30.0..75.0).contains(&result.queue_mean),
        "{}",
        result.queue_mean
    );
}

#[test]
fn prague_goes_by_25_ms_where_accurate_ecn_is_agreed_on() {
    // Growth of (10/25)^2 a round trip and halves: sqrt(0.16 * 3/2 / p) with p = 1e-4, 49 segments.
    let result = bottleneck(&under_loss(CongestionKind::Prague, 10_000));
    let flow = &result.flows[0];
    assert_eq!((flow.lost, flow.timeouts), (10, 0));
    let error = flow.window_mean / 49.0 - 1.0;
    assert!(error.abs() < 0.05, "{}: {error}", flow.window_mean);
    // And its count of marks keeps it at a threshold.
    let config = BottleneckConfig {
        rate_bps: 100_000_000,
        buffer_segments: 1000,
        mark_segments: 20,
        chance: Chance::None,
        warm_up_chances: 0,
        warm_up_us: 5_000_000,
        measured_chances: 0,
        measured_us: 5_000_000,
        ..under_loss(CongestionKind::Prague, 1)
    };
    let result = bottleneck(&config);
    let flow = &result.flows[0];
    assert!(flow.lost == 0 && flow.marked > 0);
    assert!(result.queue_max < 60, "{}", result.queue_max);
    assert!(flow.goodput_bps > 0.9 * 1e8, "{}", flow.goodput_bps);
}
