//! Settings of marking, of ECN and of what answers marks that contradict one another.

use crate::common::{EXPLICIT, STAR, plan, problem, problems, said};
use crate::switches::{CAPPED, PAUSE, QCN, QUEUED, capped};

const RED: &str = r#"network.switch.marking={ kind = "red", min = "30KB", max = "90KB", probability = 0.1, avpkt = "1000B", burst = 55, bandwidth = "10Gbit", ecn = true }"#;

#[test]
fn red_in_order_is_accepted_and_out_of_order_is_told() {
    assert_eq!(plan(STAR, &[RED]).runs.len(), 1);
    said(
        &[RED, "network.switch.marking.min=90KB"],
        "network.switch.marking.max: marking from 90KB up to 90KB has no range; a max above min",
    );
    said(
        &[RED, "network.switch.marking.bandwidth=0bit"],
        "marking.bandwidth: the average never ages",
    );
    for set in ["burst=29", "min=999B"] {
        let set = format!("network.switch.marking.{set}");
        said(
            &[RED, &set],
            "marking.burst: no weight of the average suits",
        );
    }
    assert_eq!(
        plan(STAR, &[RED, "network.switch.marking.burst=30"])
            .runs
            .len(),
        1
    );
}

#[test]
fn red_without_ecn_has_nothing_to_spare_packets_from() {
    let found = problems(
        STAR,
        &[
            RED,
            "network.switch.marking.ecn=false",
            "network.switch.marking.harddrop=true",
            "network.switch.marking.nodrop=true",
        ],
    );
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn each_profile_of_wred_is_looked_at() {
    let profile = |max: &str| {
        format!(
            r#"{{ min = "30KB", max = "{max}", probability = 0.1, avpkt = "1000B", burst = 55, bandwidth = "10Gbit", ecn = true }}"#
        )
    };
    let set = format!(
        r#"network.switch.marking={{ kind = "wred", profiles = [{}, {}] }}"#,
        profile("90KB"),
        profile("10KB")
    );
    said(&[&set], "network.switch.marking.profiles[1].max");
}

#[test]
fn linear_marking_that_never_marks_is_told() {
    let set = r#"network.switch.marking={ kind = "linear", probability_rise = 0.0, mem_start_point = 10 }"#;
    said(
        &[set],
        "marking.probability_rise: a probability that does not rise",
    );
}

#[test]
fn sce_without_ecn_is_told() {
    said(
        &["stack.tcp_sce=true"],
        "stack.tcp_sce: there is no SCE without ECN",
    );
    said(
        &["stack.tcp_congestion_control=reno-sce"],
        "stack.tcp_congestion_control: reno-sce answers marks, and tcp_ecn = 0 asks for none",
    );
    let marking = r#"network.switch.marking={ kind = "step", threshold = "30KB", mark = "sce" }"#;
    said(
        &[marking],
        "network.switch.marking.mark: SCE marks ECN-capable packets only",
    );
    let sound = [marking, "stack.tcp_sce=true", "stack.tcp_ecn=1"];
    assert_eq!(plan(STAR, &sound).runs.len(), 1);
}

#[test]
fn accurate_ecn_where_it_cannot_be_is_told() {
    said(
        &["stack.tcp_ecn=3"],
        "stack.tcp_ecn: accurate ECN, which this kernel does not know",
    );
    said(
        &["stack.preset=linux-6.12", "stack.tcp_ecn=3"],
        "stack.tcp_ecn: accurate ECN, which this kernel does not know",
    );
    said(
        &["stack.tcp_congestion_control=prague"],
        "stack.tcp_congestion_control: accurate ECN, and the sender is of Linux 2.6",
    );
    said(
        &["stack.preset=linux-sce", "stack.tcp_ecn=4"],
        "stack.tcp_sce: SCE's echo and accurate ECN's count are in the same flag",
    );
    let sound = ["stack.preset=linux-7.2", "stack.tcp_ecn=3"];
    assert_eq!(plan(STAR, &sound).runs.len(), 1);
}

#[test]
fn a_control_that_needs_rate_samples_is_refused_where_none_are_taken() {
    let named = "goes by delivery rates, and the sender is of Linux 2.6";
    for (set, path, name) in [
        (
            "stack.tcp_congestion_control=bbr",
            "stack.tcp_congestion_control",
            "bbr",
        ),
        (
            "socket.TCP_CONGESTION=bbr3",
            "socket.TCP_CONGESTION",
            "at host \"host0\": bbr3",
        ),
        (
            r#"workload={ kind = "bulk", pairs = { kind = "to-first" }, duration = "1s", congestion = ["reno", "bbr"] }"#,
            "workload.congestion[1]",
            "at host \"host1\": bbr",
        ),
        (
            r#"background_flows=[{ pairs = { kind = "to-first" }, congestion = ["bbr3"] }]"#,
            "background_flows[0].congestion[0]",
            "at host \"host1\": bbr3",
        ),
    ] {
        said(&[set], &format!("{path}: {name} {named}"));
        assert_eq!(plan(STAR, &["stack.preset=linux-7.2", set]).runs.len(), 1);
    }
    said(
        &["socket.TCP_CONGESTION=prague"],
        "socket.TCP_CONGESTION: at host \"host0\": accurate ECN, and the sender is of Linux 2.6",
    );
    said(
        &[
            "stack.preset=linux-7.2",
            "stack.tcp_ecn=0",
            "socket.TCP_CONGESTION=dctcp-sce",
        ],
        "socket.TCP_CONGESTION: at host \"host0\": dctcp-sce answers marks, and tcp_ecn = 0",
    );
}

#[test]
fn only_sources_and_modelled_hosts_are_asked_whether_they_can() {
    let bulk = r#"workload={ kind = "bulk", pairs = { kind = "listed", list = [["SOURCE", "b1"]] }, duration = "1s", congestion = ["bbr"] }"#;
    let today = r#"network.host.1.stack={ preset = "linux-7.2" }"#;
    let from = |name: &str| bulk.replace("SOURCE", name);
    assert_eq!(plan(EXPLICIT, &[today, &from("a2")]).runs.len(), 1);
    let refused = problem(EXPLICIT, &[today, &from("a1")]);
    assert!(
        refused.contains("workload.congestion[0]: at host \"a1\""),
        "{refused}"
    );
    let kernels = r#"network.kernels=["host1", "host2", "host3"]"#;
    let bulk = r#"workload={ kind = "bulk", pairs = { kind = "to-first" }, duration = "1s", congestion = ["bbr"] }"#;
    assert_eq!(plan(STAR, &[kernels, bulk]).runs.len(), 1);
}

#[test]
fn every_sce_sender_needs_ecn() {
    for kind in ["reno-sce", "dctcp-sce", "cubic-sce"] {
        let set = format!("stack.tcp_congestion_control={kind}");
        said(&[&set], "answers marks, and tcp_ecn = 0 asks for none");
        assert_eq!(plan(STAR, &[&set, "stack.tcp_ecn=1"]).runs.len(), 1);
    }
}

const DCQCN: &str = "host.dcqcn={}";
const ECN: &str = "stack.tcp_ecn=1";

#[test]
fn dcqcn_needs_marks_and_packets_that_can_bear_them() {
    let off = r#"network.switch.marking={ kind = "off" }"#;
    assert_eq!(plan(STAR, &[RED, ECN, DCQCN]).runs.len(), 1);
    said(
        &[off, ECN, DCQCN],
        "host.dcqcn: DCQCN acts on marks (CE), and no switch makes any",
    );
    said(
        &[RED, "network.switch.marking.ecn=false", ECN, DCQCN],
        "no switch makes any; a switch's marking",
    );
    said(
        &[RED, DCQCN, "stack.tcp_ecn=0"],
        "host.dcqcn: only ECN-capable packets are marked, and no host sends any; ecn = true in [[background]]",
    );
    let udp = r#"workload={ kind = "udp", pairs = { kind = "to-first" }, rate = "1Gbit", duration = "1s", socket_buffer = "1MB" }"#;
    said(
        &[RED, ECN, DCQCN, udp],
        "no host sends any; workload.ecn = true",
    );
    let background =
        r#"background=[{ source = "host1", destination = "host0", rate = "1Gbit", ecn = true }]"#;
    assert_eq!(plan(STAR, &[RED, udp, DCQCN, background]).runs.len(), 1);
    assert_eq!(
        plan(STAR, &[RED, udp, DCQCN, "workload.ecn=true"])
            .runs
            .len(),
        1
    );
}

#[test]
fn dcqcn_does_not_go_with_switches_that_tell_sources_themselves() {
    said(
        &[QUEUED, RED, ECN, DCQCN, QCN],
        "host.dcqcn: a flow has one limiter, and switch",
    );
    assert_eq!(plan(STAR, &[QUEUED, RED, ECN, DCQCN, PAUSE]).runs.len(), 1);
}

#[test]
fn parameters_of_dcqcn_that_contradict_one_another_are_told() {
    for (settings, expected) in [
        (
            r#"{ cnp_interval = "60us" }"#,
            "host.dcqcn.alpha_timer: with a CNP every 60us at most, 55us without one say nothing",
        ),
        (
            r#"{ timer = "0s" }"#,
            "host.dcqcn.timer: every 0s there is time for nothing else",
        ),
        (
            r#"{ byte_counter = "0B" }"#,
            "host.dcqcn.byte_counter: a stage",
        ),
        (
            r#"{ r_min = "0bit" }"#,
            "host.dcqcn.r_min: a flow at no rate",
        ),
    ] {
        said(&[RED, ECN, &format!("host.dcqcn={settings}")], expected);
    }
}

#[test]
fn the_profile_of_wred_that_marks_sce_for_nobody_is_named() {
    let profile = |mark: &str| {
        format!(
            r#"{{ min = "30KB", max = "90KB", probability = 0.1, avpkt = "1000B", burst = 55, bandwidth = "10Gbit", ecn = true, mark = "{mark}" }}"#
        )
    };
    let set = format!(
        r#"network.switch.marking={{ kind = "wred", profiles = [{}, {}] }}"#,
        profile("ce"),
        profile("sce")
    );
    said(
        &[&set],
        "network.switch.marking.profiles[1].mark: SCE marks",
    );
}

#[test]
fn marking_that_no_queue_comes_to_is_told() {
    let step = r#"network.switch.marking={ kind = "step", threshold = "150KB" }"#;
    said(
        &[QUEUED, step],
        "network.switch.marking.threshold: a queue of this switch holds 150000B at most and never comes to 150KB",
    );
    let within = [
        QUEUED,
        r#"network.switch.marking={ kind = "step", threshold = "149KB" }"#,
    ];
    assert_eq!(plan(STAR, &within).runs.len(), 1);
    let far = [
        QUEUED,
        RED,
        "network.switch.marking.min=200KB",
        "network.switch.marking.max=300KB",
        "network.switch.marking.burst=200",
    ];
    said(&far, "network.switch.marking.min: a queue of this switch");
    // Where classes have caps of their own it is the longest queue that counts, or that of the profile's classes.
    let one = r#"network.switch.marking={ kind = "step", threshold = "120KB" }"#;
    assert_eq!(plan(STAR, &capped(one)).runs.len(), 1);
    let both = r#"network.switch.buffer.band_limits=[{ kind = "hog", bytes = "90KB" }, { kind = "hog", bytes = "100KB" }]"#;
    said(
        &[QUEUED, CAPPED[1], both, one],
        "network.switch.marking.threshold: a queue of this switch holds 100000B at most and never comes to 120KB",
    );
    let profile = r#"{ min = "110KB", max = "120KB", probability = 0.1, avpkt = "1000B", burst = 150, bandwidth = "10Gbit", ecn = true }"#;
    let wred =
        format!(r#"network.switch.marking={{ kind = "wred", profiles = [{profile}, {profile}] }}"#);
    said(
        &capped(&wred),
        "network.switch.marking.profiles[1].min: a queue of this switch holds 100000B",
    );
    let linear = r#"network.switch.marking={ kind = "linear", probability_rise = 1.0, mem_start_point = 100 }"#;
    said(
        &[linear],
        "marking.mem_start_point: no queue takes more than all",
    );
}
