//! Datagrams, and what is seen of a machine.

use tailback_scenario::Plan;
use tailback_sim::{Control, simulate};

use super::common::{BALANCED, CROSSING, FREE, run, udp};
use crate::support::{counts, measure, names};

#[test]
fn every_datagram_is_read_or_lost_at_a_place() {
    let outcome = udp("2400Mbit", &[]);
    let [sent, received, lost] = ["datagrams_sent", "datagrams_received", "datagrams_lost"]
        .map(|column| counts(&outcome, "summary", column)[0]);
    assert!(lost > 1_000, "one core is overloaded at 2400 Mb/s: {lost}");
    assert_eq!(sent, received + lost);
    assert_eq!(
        counts(&outcome, "summary", "data_bytes_total"),
        [received * 1470]
    );
    let listed: u64 = counts(&outcome, "lost", "datagrams").iter().sum();
    assert_eq!(listed, lost);
}

#[test]
fn cores_say_which_of_them_is_the_limit() {
    let busy = |rate| {
        let outcome = udp(rate, &[]);
        let hosts = names(&outcome, "cores", "host");
        assert_eq!(counts(&outcome, "cores", "core"), [0, 1, 2, 3, 0, 1, 2, 3]);
        assert!(hosts[..4].iter().all(|host| host == "ingress"));
        assert!(hosts[4..].iter().all(|host| host == "egress"));
        measure(&outcome, "cores", "busy_s")[4..].to_vec()
    };
    let (light, heavy) = (busy("400Mbit"), busy("2400Mbit"));
    // For half a second 34 000 datagrams a second, some 5 us each, and an interrupt each or fewer.
    assert!((0.08..0.12).contains(&light[0]), "{light:?}");
    assert!((0.49..0.52).contains(&heavy[0]), "{heavy:?}");
    assert!(light[1..].iter().chain(&heavy[1..]).all(|s| *s == 0.0));
}

#[test]
fn a_sender_that_cannot_keep_up_stops_when_its_time_is_over() {
    // The application writes one in some 4.9 us: 102 000 in half a second, where 383 000 are due.
    let outcome = udp("9Gbit", &[]);
    let sent = counts(&outcome, "summary", "datagrams_sent")[0];
    assert!((90_000..=104_000).contains(&sent), "{sent}");
    let goodput = measure(&outcome, "summary", "goodput_mbps_mean")[0];
    assert!(goodput < 2450.0, "{goodput}");
    let busy = measure(&outcome, "cores", "busy_percent");
    let most = busy.iter().copied().fold(0.0, f64::max);
    assert!(most > 97.0, "of the time in which it sent: {busy:?}");
}

#[test]
fn a_transmit_queue_holds_what_it_may_and_no_more() {
    // 2 Gb/s for a line of 1 Gb/s: 10 and 16 packets of 12.304 us are the longest wait.
    let queue = "host.tx_queue_packets=10";
    let ring = "host.tx_ring_descriptors=16";
    let slow = r#"network.link.0.rate="1Gbit""#;
    let outcome = udp("2Gbit", &[BALANCED, slow, queue, ring]);
    let longest = measure(&outcome, "summary", "delay_us_max")[0];
    let full = (10.0 + 16.0) * 12.304;
    assert!((full - 20.0..full + 300.0).contains(&longest), "{longest}");
    assert!(counts(&outcome, "summary", "lost_tx_queue")[0] > 10_000);
}

#[test]
fn a_sender_waits_while_its_socket_s_buffer_is_full() {
    // 126 976 bytes of 2.6, each datagram charged with 1776: 72 of them are the longest wait.
    let outcome = udp("2Gbit", &[BALANCED, r#"network.link.0.rate="1Gbit""#]);
    let longest = measure(&outcome, "summary", "delay_us_max")[0];
    let full = 72.0 * 12.304;
    assert!((full - 20.0..full + 300.0).contains(&longest), "{longest}");
    assert_eq!(counts(&outcome, "summary", "lost_tx_queue"), [0]);
    let sent = measure(&outcome, "summary", "sent_mbps")[0];
    assert!((955.0..960.0).contains(&sent), "{sent}");
}

/// The 99th percentile of datagrams' delays where the sender's link carries packets of such a length.
fn delay_behind_switch(sender_mtu: &str) -> f64 {
    let first = format!(
        r#"{{ ends = ["ingress", "s"], rate = "10Gbit", delay = "1us", mtu = "{sender_mtu}" }}"#
    );
    let second = r#"{ ends = ["s", "egress"], rate = "10Gbit", delay = "1us", mtu = "1500B" }"#;
    let links = format!("network.link=[{first}, {second}]");
    let switch = r#"network.switch=[{ name = "s", model = "plain" }]"#;
    let outcome = udp("2400Mbit", &[switch, &links]);
    measure(&outcome, "summary", "delay_us_p99")[0]
}

#[test]
fn a_datagram_is_charged_a_buffer_of_its_receiver_s_link() {
    assert_eq!(delay_behind_switch("9000B"), delay_behind_switch("1500B"));
}

#[test]
fn a_polled_interface_is_never_faster_than_its_link() {
    let link = r#"network.link.0.rate="1Gbit""#;
    let outcome = udp("2Gbit", &[BALANCED, link, "record.interfaces=5ms"]);
    let mbps = measure(&outcome, "interfaces", "out_mbps");
    // Full all the time: frames of 1516 bytes, and 20 of preamble and gap. A poll may be a frame off.
    let full = 1000.0 * 1516.0 / 1536.0;
    let off = 1516.0 * 8.0 / 5000.0;
    assert!(
        mbps[2..90].iter().all(|m| (m - full).abs() <= off),
        "{mbps:?}"
    );
}

#[test]
fn a_capture_says_what_a_machine_loses() {
    let said = |overrides: &[&str], what: &str| {
        let overrides = [&["record.pcap={}", "workload.duration=20ms"], overrides].concat();
        let capture = udp("2400Mbit", &overrides).capture.expect("a capture");
        capture
            .windows(what.len())
            .filter(|bytes| *bytes == what.as_bytes())
            .count()
            > 100
    };
    let ring = "host.rx_ring_descriptors=8";
    assert!(said(
        &[ring],
        "dropped after ingress>egress: receive ring full."
    ));
    let socket = "workload.socket_buffer=8KiB";
    assert!(said(
        &[socket],
        "dropped after ingress>egress: socket's buffer full."
    ));
    let backlog = [
        "host.machine.softirq.napi=false",
        "host.machine.softirq.backlog_frames=2",
    ];
    assert!(said(
        &backlog,
        "dropped after ingress>egress: backlog full."
    ));
}

#[test]
fn a_script_counts_frames_that_chance_would_lose() {
    let script: Vec<String> = (1..=100).map(|number| number.to_string()).collect();
    let script = script.join(", ");
    let impairment = format!(
        r#"network.link.0.impairment={{ script = [{{ direction = "forward", frames = [{script}], action = "drop" }}] }}"#
    );
    let outcome = udp(
        "400Mbit",
        &[
            "network.link.0.loss=0.5",
            &impairment,
            "workload.duration=10ms",
        ],
    );
    let [first, datagrams] =
        ["first_datagram", "datagrams"].map(|column| counts(&outcome, "lost", column)[0]);
    assert!(
        first == 0 && (100..120).contains(&datagrams),
        "{first}, {datagrams}"
    );
}

#[test]
fn datagrams_on_a_long_path_are_waited_for() {
    let outcome = udp("10Mbit", &["network.link.0.delay=2s"]);
    let sent = counts(&outcome, "summary", "datagrams_sent");
    assert_eq!(counts(&outcome, "summary", "datagrams_received"), sent);
}

#[test]
fn drops_of_a_host_s_sockets_are_one_row() {
    let pairs = r#"workload.pairs={ kind = "listed", list = [["ingress", "egress"], ["ingress", "egress"]] }"#;
    let outcome = udp("1200Mbit", &[pairs, "workload.socket_buffer=64KiB"]);
    let causes = names(&outcome, "drops", "cause");
    assert_eq!(
        causes
            .iter()
            .filter(|cause| *cause == "socket-full")
            .count(),
        1
    );
}

#[test]
fn interrupts_on_another_core_avoid_the_overload() {
    let lost = |overrides| counts(&udp("2400Mbit", overrides), "summary", "datagrams_lost")[0];
    assert!(lost(&[]) > 20 * lost(&[BALANCED]));
}

#[test]
fn a_larger_buffer_makes_the_overload_worse() {
    let lost = |size: &str| {
        let size = format!("workload.socket_buffer={size}");
        counts(
            &udp("2400Mbit", &[&size, "workload.duration=2s"]),
            "summary",
            "datagrams_lost",
        )[0]
    };
    assert!(lost("4MiB") > lost("1MiB"));
}

#[test]
fn below_2000_mbps_one_core_loses_nothing() {
    let outcome = udp("2000Mbit", &["workload.socket_buffer=4MiB"]);
    assert_eq!(counts(&outcome, "summary", "datagrams_lost"), [0]);
}

#[test]
fn a_throttled_interrupt_puts_its_comb_on_arrivals() {
    let gaps = |overrides: &[&str]| {
        let mut all = vec!["workload.rate=100Mbit", "host.machine.softirq.napi=false"];
        all.extend(overrides);
        measure(&udp("100Mbit", &all), "arrivals", "gap_us")
    };
    // A datagram every 117.6 us.
    let smooth = gaps(&["host.machine.interrupts.throttle=0s"]);
    assert_eq!(smooth.len(), 300);
    assert!(
        smooth[1..].iter().all(|gap| (gap - 117.6).abs() < 0.1),
        "{smooth:?}"
    );
    let comb = gaps(&[]);
    let together = comb[1..].iter().filter(|gap| **gap < 1.0).count();
    assert!(together > 10, "two in one interrupt: {together}");
    let throttled = comb[1..]
        .iter()
        .filter(|gap| (**gap - 125.0).abs() < 10.0)
        .count();
    assert!(throttled > 200, "{throttled}");
}

#[test]
fn what_a_client_has_sent_is_seen_to_before_the_answer_comes() {
    // Seeing to a packet that has left takes 5 ms. The SYN's are over when the answer comes after 16 ms; its
    // acknowledgement's come before the first write, whose data are there after 29 ms.
    let outcome = run(
        "kind = \"bulk\"\nduration = \"32ms\"",
        &[
            "network.link.0.delay=8ms",
            "host.machine.costs.complete_packet=5ms",
        ],
    );
    assert!(counts(&outcome, "summary", "data_bytes_total")[0] > 0);
}

#[test]
fn what_a_program_does_about_what_it_has_read_is_done_at_once() {
    // This machine has no socket locks: calls end in one step.
    let workload = "kind = \"request-response\"\nduration = \"100ms\"";
    let outcome = run(workload, &["host=das2-p3-gbe"]);
    let requests = counts(&outcome, "summary", "requests")[0];
    assert!(requests > 100, "round trips take some 300 us: {requests}");
}

#[test]
fn machines_repeat_exactly() {
    assert_eq!(udp("2400Mbit", &[BALANCED]), udp("2400Mbit", &[BALANCED]));
}

#[test]
fn the_drops_at_all_places_sum_to_what_is_missing() {
    let outcome = udp("2400Mbit", &["network.link.0.loss=0.001"]);
    let [sent, received] = ["datagrams_sent", "datagrams_received"]
        .map(|column| counts(&outcome, "summary", column)[0]);
    let frames: u64 = counts(&outcome, "drops", "frames").iter().sum();
    let bytes: u64 = counts(&outcome, "drops", "payload_bytes").iter().sum();
    assert_eq!(frames, sent - received);
    assert_eq!(bytes, (sent - received) * 1470);
    let causes = names(&outcome, "drops", "cause");
    assert_eq!(causes, ["link-loss", "socket-full"]);
}

#[test]
fn pollers_see_what_flows_bring() {
    let outcome = run(
        "kind = \"bulk\"\nduration = \"500ms\"",
        &["record.interfaces=100ms"],
    );
    let interfaces = names(&outcome, "interfaces", "interface");
    let octets = counts(&outcome, "interfaces", "out_octets");
    let there: Vec<u64> = (0..octets.len())
        .filter(|row| interfaces[*row] == "ingress>egress")
        .map(|row| octets[row])
        .collect();
    assert_eq!(there.len(), 5, "a poll every 100 ms");
    assert!(there.is_sorted());
    // What is on the wire beyond what is read: 70 bytes of headers and FCS with each 1448.
    let read = counts(&outcome, "summary", "data_bytes_total")[0] as f64;
    let polled = there[4] as f64 * 1448.0 / 1518.0;
    assert!((polled / read - 1.0).abs() < 0.02, "{polled} of {read}");
}

#[test]
fn a_mesh_measures_every_path_in_every_round() {
    let workload = "kind = \"udp\"\nrate = \"10Mbit\"\nduration = \"100ms\"\n\
                    socket_buffer = \"1MiB\"\n\
                    schedule = { every = \"300ms\", rounds = 3 }";
    let outcome = run(workload, &["workload.pairs={ kind = \"mesh\" }"]);
    assert_eq!(counts(&outcome, "flows", "round"), [0, 0, 1, 1, 2, 2]);
    let starts = measure(&outcome, "flows", "start_s");
    assert!((starts[4] - 0.6).abs() < 1e-3, "{starts:?}");
    // 100 ms at 10 Mb/s are 85.03 datagrams of 1470 bytes; the second pair starts half a gap later.
    assert_eq!(
        counts(&outcome, "flows", "datagrams_received"),
        [86, 85, 86, 85, 86, 85]
    );
}

#[test]
fn a_mark_is_rewritten_before_tcp_sees_it() {
    let goodput = |rewrites: bool, merging: &str| {
        let text = format!(
            r#"
            name = "rewritten"
            [host]
            preset = "xeon-e7330-ixgbe"
            ce_to_ect1 = {rewrites}
            [host.machine]
            merging = {{ {merging} }}
            [stack]
            preset = "linux-sce"
            tcp_congestion_control = "reno"
            [network]
            topology = "star"
            hosts = 2
            link = {{ rate = "1Gbit", delay = "10us", mtu = "1500B" }}
            [network.switch]
            preset = "aruba-25g"
            marking = {{ kind = "step", threshold = "1B" }}
            [workload]
            kind = "bulk"
            pairs = {{ kind = "to-first" }}
            duration = "200ms"
            "#
        );
        let plan = Plan::from_toml(&text, "test", &[], None).expect("a good scenario");
        let outcome = simulate(&plan.runs[0], &Control::default()).expect("a good run");
        measure(&outcome, "summary", "goodput_mbps_mean")[0]
    };
    // Reno answers CE, and SCE not at all.
    for merging in ["kind = \"off\"", "kind = \"gro\", merge_frame = \"300ns\""] {
        let (ce, sce) = (goodput(false, merging), goodput(true, merging));
        assert!(
            ce < 500.0 && sce > 900.0,
            "{merging}: {ce:.0} and {sce:.0} Mb/s"
        );
    }
}

#[test]
fn a_series_of_a_network_without_switches_has_no_queue() {
    let outcome = run(
        "kind = \"bulk\"\nduration = \"10ms\"",
        &[r#"record.series={ interval = "1ms" }"#],
    );
    let queued = counts(&outcome, "network", "queue_bytes");
    assert!(
        queued.len() >= 9 && queued.iter().all(|bytes| *bytes == 0),
        "{queued:?}"
    );
}

#[test]
fn of_doubled_datagrams_both_are_read() {
    let outcome = udp(
        "100Mbit",
        &["network.link.0.impairment={ duplicate = 0.5 }"],
    );
    let [sent, received] = ["datagrams_sent", "datagrams_received"]
        .map(|column| counts(&outcome, "summary", column)[0]);
    assert!(received > sent, "{received} of {sent}");
}

#[test]
fn a_datagram_that_crosses_keeps_its_reader_busier_and_whoever_sees_to_what_left() {
    let busy = |crossing: &str| {
        let outcome = udp("2000Mbit", &[BALANCED, crossing]);
        assert_eq!(counts(&outcome, "summary", "datagrams_lost"), [0]);
        let busy = measure(&outcome, "cores", "busy_s");
        [&busy[..4], &busy[4..]].map(|cores| cores.iter().sum::<f64>())
    };
    let (free, paid) = (busy(FREE), busy(CROSSING));
    // 85 034 datagrams, 6 lines each at either host, but while thread and interrupts have one core.
    let most = 85_034.0 * 6.0 * 88e-9;
    for (free, paid) in free.iter().zip(paid) {
        assert!(
            (0.3..1.01).contains(&((paid - free) / most)),
            "{paid} {free}"
        );
    }
}
