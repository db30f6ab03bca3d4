//! Paths that write the ECN field anew.

use crate::support::{measure, simulated as run};

const STAR: &str = r#"name = "bleached"
[network]
topology = "star"
hosts = 3
switch = { preset = "plain", buffer = { shared = "300KB" }, marking = { kind = "step", threshold = "60KB" } }
link = { rate = "1Gbit", delay = "20us", mtu = "1500B" }
[host]
preset = "plain"
[stack]
preset = "linux-7.2"
tcp_congestion_control = "dctcp"
[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["host0", "host2"], ["host1", "host2"]] }
duration = "300ms"
"#;

/// Marks and drops of the switch, and goodput, Mb/s.
fn of(set: &[&str]) -> (u64, u64, f64) {
    let outcome = run(STAR, set);
    let of = |column: &str| measure(&outcome, "summary", column)[0];
    let goodput = of("goodput_mbps_mean");
    (
        of("marks_mean") as u64,
        of("switch_drops_mean") as u64,
        goodput,
    )
}

fn written(impairment: &str) -> (u64, u64, f64) {
    of(&[&format!("network.link.impairment={{ {impairment} }}")])
}

#[test]
fn who_is_bleached_is_dropped_and_who_is_marked_by_all_is_slow() {
    let (marks, drops, goodput) = of(&[]);
    assert!(marks > 100 && drops == 0 && goodput > 900.0);
    // On its way to the switch: nothing there can be marked.
    let (marks, drops, _) = written(r#"ecn_field = "not-ect", direction = "forward""#);
    assert!(marks == 0 && drops > 0, "{marks} {drops}");
    // On its way from there: marks are made, and nobody hears of them.
    for field in ["not-ect", "ect0"] {
        let set = format!(r#"ecn_field = "{field}", direction = "backward""#);
        let (marks, drops, _) = written(&set);
        assert!(marks > 100 && drops > 0, "{field}: {marks} {drops}");
    }
    let (_, drops, slow) = written(r#"ecn_field = "ce""#);
    assert!(drops == 0 && slow < goodput / 2.0, "{drops} {slow}");
}

#[test]
fn what_is_not_ecn_capable_stays() {
    let plain = "stack.tcp_congestion_control=cubic";
    let marked = r#"network.link.impairment={ ecn_field = "ce" }"#;
    assert_eq!(of(&[plain]), of(&[plain, marked]));
}
