//! What would begin after the run is over.

use crate::common::{plan, problem};

const BULK: &str = r#"name = "short"
host = "plain"
[network]
topology = "star"
hosts = 3
switch = "plain-queued"
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }
[workload]
WORKLOAD
"#;

const PAIR: &str = r#"pairs = { kind = "listed", list = [["host1", "host0"]] }"#;

fn scenario(workload: &str) -> String {
    BULK.replace("WORKLOAD", workload)
}

fn bulk() -> String {
    scenario(&format!("kind = \"bulk\"\nduration = \"10ms\"\n{PAIR}"))
}

fn set(path: &str, time: &str) -> String {
    match path {
        "background" => format!(
            r#"background=[{{ source = "host1", destination = "host0", rate = "1Gbit", from = "{time}" }}]"#
        ),
        "background_flows" => format!(r#"background_flows=[{{ {PAIR}, from = "{time}" }}]"#),
        _ => format!(r#"record.pcap={{ start = "{time}" }}"#),
    }
}

#[test]
fn what_begins_when_a_run_is_over_is_refused() {
    let kinds = [
        ("background", "background.0.from", "background[0].from"),
        (
            "background_flows",
            "background_flows.0.from",
            "background_flows[0].from",
        ),
        ("record.pcap", "record.pcap.start", "record.pcap.start"),
    ];
    for (kind, swept, path) in kinds {
        let found = problem(&bulk(), &[&set(kind, "10ms")]);
        let told = "the run is over by then: it ends at 10ms at the latest";
        assert!(found.contains(told) && found.contains(path), "{found}");
        assert_eq!(plan(&bulk(), &[&set(kind, "9ms")]).runs.len(), 1);
        // A sweep of the run's length has it where it is long enough.
        let longer = r#"sweep={ "workload.duration" = ["20ms", "30ms"] }"#;
        assert_eq!(plan(&bulk(), &[&set(kind, "15ms"), longer]).runs.len(), 2);
        let times = format!("sweep={{ {swept:?} = [\"1ms\", \"1s\"] }}");
        if kind != "record.pcap" {
            let found = problem(&bulk(), &[&set(kind, "1ms"), &times]);
            assert!(found.contains(told), "{found}");
        }
    }
}

#[test]
fn connections_some_of_which_never_begin_are_refused() {
    let told = "the run ends at 10ms at the latest: some never would";
    let asking = format!("kind = \"request-response\"\nduration = \"10ms\"\n{PAIR}");
    for text in [bulk(), scenario(&asking)] {
        let found = problem(&text, &["workload.start_within=10ms"]);
        assert!(
            found.contains("workload.start_within") && found.contains(told),
            "{found}"
        );
        plan(&text, &["workload.start_within=9999us"]);
        // As long as it is by default.
        let found = problem(&text, &["workload.duration=100us"]);
        assert!(found.contains("up to 100us after the start"), "{found}");
    }
    let beside = |within: &str| {
        format!(r#"background_flows=[{{ {PAIR}, from = "8ms", start_within = "{within}" }}]"#)
    };
    let found = problem(&bulk(), &[&beside("2ms")]);
    let path = "background_flows[0].start_within";
    assert!(found.contains(told) && found.contains(path), "{found}");
    assert!(found.contains("less than 2ms"), "{found}");
    plan(&bulk(), &[&beside("1999us")]);
    let longer = r#"sweep={ "workload.duration" = ["11ms", "12ms"] }"#;
    plan(&bulk(), &[&beside("2ms"), longer]);
    let senders = |senders: u32, measured: &str, skew: &str| {
        scenario(&format!(
            "kind = \"iperf3\"\nsenders = {senders}\nmeasured = \"{measured}\"\nduration = \"10ms\"\n\
             lead = \"5ms\"\nstart_skew = \"{skew}\""
        ))
    };
    let found = problem(&senders(1, "all", "10ms"), &[]);
    assert!(
        found.contains("workload.start_skew") && found.contains(told),
        "{found}"
    );
    plan(&senders(1, "all", "9ms"), &[]);
    // The others begin before the first, which is alone where there is one.
    plan(&senders(2, "first", "14ms"), &[]);
    let found = problem(&senders(2, "first", "15ms"), &[]);
    assert!(found.contains("the run ends at 15ms"), "{found}");
    plan(&senders(1, "first", "1s"), &[]);
}

#[test]
fn the_latest_end_is_that_of_the_workload() {
    let late =
        |workload: &str, time: &str| problem(&scenario(workload), &[&set("background", time)]);
    let fits = |workload: &str, time: &str| plan(&scenario(workload), &[&set("background", time)]);
    // What is measured comes after the others' lead of two seconds.
    let first = "kind = \"iperf3\"\nsenders = 2\nmeasured = \"first\"\nduration = \"1s\"";
    fits(first, "2900ms");
    assert!(late(first, "3s").contains("it ends at 3s"));
    let flows = "kind = \"flows\"\nload = 0.3\nsizes = { kind = \"web-search\" }\nduration = \"10ms\"\ndrain = \"90ms\"";
    fits(flows, "99ms");
    assert!(late(flows, "100ms").contains("it ends at 100ms"));
    let ping = format!("kind = \"ping\"\ncount = 3\n{PAIR}");
    fits(&ping, "3s");
    assert!(late(&ping, "4s").contains("it ends at 4s"));
    // Datagrams on their way are waited for, and reads take as long as they take.
    fits(
        &format!(
            "kind = \"udp\"\nrate = \"1Mbit\"\nduration = \"1ms\"\nsocket_buffer = \"1MB\"\n{PAIR}"
        ),
        "1s",
    );
    fits(
        "kind = \"incast\"\nservers = 2\nsize = \"1MB\"\niterations = 1",
        "1s",
    );
}

#[test]
fn a_service_outside_the_run_is_told_and_one_that_is_never_slow_refused() {
    let service = |rate: &str| {
        format!(
            r#"network.switch.buffer.service=[{{ port = 0, rate = "{rate}", from = "10s", until = "20s" }}]"#
        )
    };
    let short = plan(&bulk(), &[&service("2Gbit")]);
    let [warning] = short.warnings.as_slice() else {
        panic!("{:?}", short.warnings)
    };
    assert!(
        warning.reason.contains("the run is over by then"),
        "{warning}"
    );
    let sometimes = r#"sweep={ "workload.duration" = ["10ms", "11s"] }"#;
    assert_eq!(plan(&bulk(), &[&service("10Gbit"), sometimes]).warnings, []);
    let found = problem(&bulk(), &[&service("20Gbit")]);
    assert!(found.contains("no link here carries 20Gbit"), "{found}");
}
