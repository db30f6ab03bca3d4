//! Settings of switches that contradict one another.

use crate::common::{STAR, plan, problem, problems};

const RED: &str = r#"network.switch.marking={ kind = "red", min = "30KB", max = "90KB", probability = 0.1, avpkt = "1000B", burst = 55, bandwidth = "10Gbit", ecn = true }"#;

fn said(set: &[&str], expected: &str) {
    let found = problem(STAR, set);
    assert!(found.contains(expected), "{found}");
}

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
