//! Captures: what is in them, and that taking one changes nothing.

use tailback_scenario::Plan;
use tailback_sim::RunOutcome;

use crate::support::simulated;

const SCENARIO: &str = r#"
name = "capture"
[network]
topology = "star"
switch = { preset = "arista-7124s" }
hosts = 9
link = { rate = "10Gbit", delay = "25ns", mtu = "1500B" }
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-2.6.18"
[workload]
kind = "incast"
servers = 8
size = "2MB"
iterations = 2
"#;

fn run(overrides: &[&str]) -> RunOutcome {
    simulated(SCENARIO, overrides)
}

/// Interface, captured and original length, and comment of every packet.
fn packets(capture: &[u8]) -> Vec<(u32, u32, u32, Option<String>)> {
    let word = |at: usize| u32::from_le_bytes(capture[at..at + 4].try_into().expect("four bytes"));
    let mut packets = Vec::new();
    let mut at = 0;
    while at < capture.len() {
        let length = word(at + 4) as usize;
        if word(at) == 6 {
            let options = at + 28 + (word(at + 20) as usize).next_multiple_of(4);
            let comment = (word(options) & 0xffff == 1).then(|| {
                let bytes = (word(options) >> 16) as usize;
                String::from_utf8_lossy(&capture[options + 4..options + 4 + bytes]).into_owned()
            });
            packets.push((word(at + 8), word(at + 20), word(at + 24), comment));
        }
        at += length;
    }
    packets
}

#[test]
fn a_capture_changes_nothing_and_is_the_same_again() {
    let plain = run(&[]);
    assert!(plain.capture.is_none());
    let taken = run(&["record.pcap={}"]);
    assert_eq!(
        (taken.trajectory, &taken.tables),
        (plain.trajectory, &plain.tables)
    );
    assert_eq!(taken.capture, run(&["record.pcap={}"]).capture);
    let all = packets(&taken.capture.expect("a capture"));
    // Every frame is on two links; what is dropped or still on its way is not on the second.
    assert!(all.len() as u64 >= taken.hops);
    assert!(all.iter().any(|packet| packet.3.is_none()));
}

#[test]
fn drops_are_comments_on_the_senders_own_packets() {
    let outcome = run(&["record.pcap.hosts=['host3']"]);
    let packets = packets(&outcome.capture.expect("a capture"));
    let dropped: Vec<&String> = packets
        .iter()
        .filter_map(|packet| packet.3.as_ref())
        .collect();
    assert!(!dropped.is_empty(), "eight senders overflow the port");
    let places = [
        "dropped at switch (port 0, switch>host0): ",
        "dropped after switch>host0: ",
    ];
    for comment in dropped {
        assert!(
            places.iter().any(|place| comment.starts_with(place)),
            "{comment}"
        );
    }
}

#[test]
fn a_capture_has_the_links_the_window_and_the_lengths_that_were_asked_for() {
    let outcome = run(&[
        "record.pcap.links=['switch>host0']",
        "record.pcap.snap='54B'",
        "record.pcap.frames_max=100",
    ]);
    let packets = packets(&outcome.capture.expect("a capture"));
    assert_eq!(packets.len(), 100);
    assert!(packets.iter().all(|packet| packet.0 == 0 && packet.1 <= 54));
    assert!(packets.iter().any(|packet| packet.2 == 1514));
    let last = packets[99].3.as_ref().expect("the last one says so");
    assert!(last.contains("the capture is full"), "{last}");
    let none = run(&["record.pcap.start='1h'"]);
    assert!(
        none.capture
            .is_some_and(|capture| self::packets(&capture).is_empty())
    );
}

#[test]
fn a_name_that_is_not_there_is_an_error_with_the_names_there_are() {
    let overrides = ["record.pcap={hosts=['nobody'], links=['host1>host2'], start='2s', end='1s'}"];
    let overrides: Vec<String> = overrides.map(str::to_owned).to_vec();
    let problems = Plan::from_toml(SCENARIO, "capture.toml", &overrides, None).expect_err("wrong");
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told.iter().any(|text| text.contains("nobody")));
    assert!(told.iter().any(|text| text.contains("host1>host2")));
}

#[test]
fn a_captured_packet_has_its_class() {
    let bulk = r#"workload={ kind = "bulk", pairs = { kind = "listed", list = [["host1", "host0"]] }, duration = "1ms", connections = 2, priority = [0, 5] }"#;
    let beside = r#"background=[{ source = "host2", destination = "host0", rate = "100Mbit", priority = 6 }]"#;
    let capture = run(&[bulk, beside, r#"record.pcap={ hosts = ["host0"] }"#]).capture;
    let capture = capture.expect("a capture");
    let mut classes = [0; 8];
    let word = |at: usize| u32::from_le_bytes(capture[at..at + 4].try_into().expect("four bytes"));
    let mut at = 0;
    while at < capture.len() {
        if word(at) == 6 {
            // Behind the block's own 28 bytes and 14 of Ethernet: version, then DSCP and ECN.
            let tos = capture[at + 28 + 14 + 1];
            classes[usize::from(tos >> 5)] += 1;
            assert_eq!(tos >> 2 & 7, 0, "no class selector");
        }
        at += word(at + 4) as usize;
    }
    let seen: Vec<usize> = (0..8).filter(|class| classes[*class] > 0).collect();
    assert_eq!(seen, [0, 5, 6]);
}
