//! Networks that push back: PAUSE, its reach, deadlock, ECM and QCN, ports served slowly.

use tailback_scenario::Plan;
use tailback_sim::{Control, RunOutcome, SimError, simulate};

use crate::support::{counts, measure, names};

/// `ring` of so many switches, or one, with so many hosts each: `h0-0`, `h0-1`, … on `s0`, ….
fn network(switches: usize, hosts: usize, workload: &str) -> String {
    let mut text = String::from(
        r#"
name = "pushback"
[network]
topology = "explicit"
"#,
    );
    let link = "rate = \"10Gbit\"\ndelay = \"500ns\"\nmtu = \"1500B\"\n";
    for switch in 0..switches {
        text += &format!("[[network.switch]]\nname = \"s{switch}\"\nmodel = \"queued\"\n");
        for host in 0..hosts {
            let name = format!("h{switch}-{host}");
            text += &format!("[[network.host]]\nname = \"{name}\"\n");
            text += &format!("[[network.link]]\nends = [\"{name}\", \"s{switch}\"]\n{link}");
        }
    }
    let pairs = match switches {
        1 => 0,
        2 => 1,
        ring => ring,
    };
    for switch in 0..pairs {
        let next = (switch + 1) % switches;
        text += &format!("[[network.link]]\nends = [\"s{switch}\", \"s{next}\"]\n{link}");
    }
    text += r#"
[host]
preset = "rhel-5.4-x5540-ne020"
rx_segment_cost = "0s"
rx_kilobyte_cost = "0s"
interrupt_delay = "0s"
interrupt_jitter = "0s"
client_latency = "0s"
send_call_cost = "0s"
[stack]
preset = "linux-2.6.18"
[preset.switch.queued]
ports = 12
forwarding = "store-and-forward"
latency = "0s"
marking = { kind = "off" }
[preset.switch.queued.buffer]
kind = "queued"
shared = "100MB"
segment = "1B"
rx_private = "0B"
tx_private = "0B"
tx_limit = { kind = "hog", bytes = "150KB" }
"#;
    text + workload
}

/// All other hosts to the first for 20 ms.
const TO_FIRST: &str = r#"
[workload]
kind = "bulk"
pairs = { kind = "to-first" }
duration = "20ms"
"#;

const PAUSE: &str = r#"preset.switch.queued.flow_control={ kind = "pause", high_watermark = "130KB", low_watermark = "110KB" }"#;
const PAUSE_BY_INGRESS: &str = r#"preset.switch.queued.flow_control={ kind = "pause", high_watermark = "60KB", low_watermark = "50KB", watch = "ingress" }"#;
const PFC: &str = r#"preset.switch.queued.flow_control={ kind = "pfc", classes = [{ class = 0, high_watermark = "130KB", low_watermark = "110KB" }] }"#;

fn try_run(text: &str, overrides: &[&str]) -> Result<RunOutcome, SimError> {
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let plan = Plan::from_toml(text, "test.toml", &overrides, None).expect("a good scenario");
    simulate(&plan.runs[0], &Control::default())
}

fn run(text: &str, overrides: &[&str]) -> RunOutcome {
    try_run(text, overrides).expect("a run that ends and adds up")
}

fn drops(outcome: &RunOutcome) -> u64 {
    counts(outcome, "drops", "frames").iter().sum()
}

fn received(outcome: &RunOutcome) -> u64 {
    counts(outcome, "flows", "received_bytes").iter().sum()
}

/// A count of the row of table `ports` about that place.
fn port_count(outcome: &RunOutcome, place: &str, name: &str) -> u64 {
    let places = names(outcome, "ports", "place");
    let row = places.iter().position(|p| p == place);
    counts(outcome, "ports", name)[row.unwrap_or_else(|| panic!("{place} is not among {places:?}"))]
}

/// A figure of the row of table `ports` about that place.
fn port(outcome: &RunOutcome, place: &str, values: &[f64]) -> f64 {
    let places = names(outcome, "ports", "place");
    let row = places.iter().position(|p| p == place);
    values[row.unwrap_or_else(|| panic!("{place} is not among {places:?}"))]
}

#[test]
fn pause_drops_nothing_and_keeps_the_link_full() {
    let text = network(1, 5, TO_FIRST);
    let plain = run(&text, &[]);
    assert!(drops(&plain) > 100);
    let paused = run(&text, &[PAUSE]);
    assert_eq!(drops(&paused), 0);
    assert_eq!(counts(&paused, "flows", "timeouts").iter().sum::<u64>(), 0);
    // 20 ms at 9.41 Gb/s of payload, less the start.
    assert!(received(&paused) > 23_000_000, "{}", received(&paused));
    let sent = counts(&paused, "ports", "pauses_sent");
    let stopped = measure(&paused, "ports", "paused_ms");
    assert!(sent.iter().sum::<u64>() > 10);
    assert!(port(&paused, "h0-1", &stopped) > 5.0);
    let whole_ms = paused.simulated.as_ms_f64();
    let percent = measure(&paused, "ports", "paused_percent");
    for (ms, of_run) in stopped.iter().zip(&percent) {
        assert!((of_run - 100.0 * ms / whole_ms).abs() < 1e-9 && *of_run < 100.0);
    }
    assert_eq!(
        port(&paused, "h0-0", &stopped),
        0.0,
        "nobody stops the receiver"
    );
}

#[test]
fn congestion_spreads_to_those_who_send_elsewhere() {
    // Three on s0 and two on s1 send to h0-0; h1-2 sends to h0-4, and shares the link between.
    let workload = r#"
[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["h0-1", "h0-0"], ["h0-2", "h0-0"], ["h0-3", "h0-0"], ["h1-0", "h0-0"], ["h1-1", "h0-0"], ["h1-2", "h0-4"]] }
duration = "20ms"
"#;
    let text = network(2, 5, workload);
    let victim = |outcome: &RunOutcome| {
        let sources = names(outcome, "flows", "source");
        let row = sources.iter().position(|s| s == "h1-2");
        counts(outcome, "flows", "received_bytes")[row.expect("it sends")]
    };
    let (plain, paused) = (run(&text, &[]), run(&text, &[PAUSE]));
    assert_eq!(drops(&paused), 0);
    assert!(
        victim(&paused) * 3 < victim(&plain) * 2,
        "{} and {} without PAUSE",
        victim(&paused),
        victim(&plain)
    );
    let stopped = measure(&paused, "ports", "paused_ms");
    assert!(port(&paused, "s1:5", &stopped) > 1.0, "the link between");
    assert!(port(&paused, "h1-2", &stopped) > 1.0, "the victim's own");
}

#[test]
fn links_that_wait_for_one_another_end_the_run_with_their_names() {
    // A ring of five: each sends to the next but one, so every link carries two flows.
    let list: Vec<String> = (0..5)
        .flat_map(|from| (0..2).map(move |host| (from, host)))
        .map(|(from, host)| format!(r#"["h{from}-{host}", "h{}-{host}"]"#, (from + 2) % 5))
        .collect();
    let workload = format!(
        "[workload]\nkind = \"bulk\"\npairs = {{ kind = \"listed\", list = [{}] }}\nduration = \"50ms\"\n",
        list.join(", ")
    );
    let text = network(5, 2, &workload);
    for pause in [PAUSE, PAUSE_BY_INGRESS] {
        match try_run(&text, &[pause]) {
            Err(error @ SimError::Deadlock { .. }) => {
                let cycle = error.to_string();
                assert!(cycle.contains("PAUSE has stopped"), "{cycle}");
                // Within the run's 50 ms, and not in picoseconds.
                assert!(cycle.starts_with("deadlock at 0.0"), "{cycle}");
                assert!(
                    cycle.contains("watch = \"ingress\", or PFC with classes, avoid"),
                    "{cycle}"
                );
                for link in ["s0>s1", "s1>s2", "s2>s3", "s3>s4", "s4>s0"] {
                    assert!(cycle.contains(link), "{cycle}");
                }
            }
            other => panic!("{other:?}"),
        }
    }
    // Of classes other classes are the way out.
    match try_run(&text, &[PFC]) {
        Err(error @ SimError::Deadlock { .. }) => {
            let said = error.to_string();
            assert!(said.contains("PFC has stopped"), "{said}");
            assert!(said.contains("in different classes, avoid"), "{said}");
        }
        other => panic!("{other:?}"),
    }
    // One sends within its switch instead: by ingress, nobody waits for those who do not feed him.
    let open = text.replace(
        r#"["h4-0", "h1-0"], ["h4-1", "h1-1"]"#,
        r#"["h4-0", "h4-1"]"#,
    );
    assert_ne!(open, text);
    assert!(received(&run(&open, &[PAUSE_BY_INGRESS])) > 100_000_000);
    // By egress a full queue stops those too.
    let stopped = try_run(&open, &[PAUSE]);
    assert!(matches!(stopped, Err(SimError::Deadlock { .. })));
}

#[test]
fn qcn_and_ecm_tell_sources_before_the_queue_is_full() {
    let text = network(1, 5, TO_FIRST);
    let plain = run(&text, &[]);
    for scheme in ["qcn", "ecm"] {
        let set = format!(r#"preset.switch.queued.congestion_management={{ kind = "{scheme}" }}"#);
        let told = run(&text, &[&set]);
        assert!(
            drops(&told) * 2 < drops(&plain),
            "{scheme}: {} and {} without",
            drops(&told),
            drops(&plain)
        );
        let notices = counts(&told, "ports", "congestion_messages");
        assert!(notices.iter().sum::<u64>() > 10);
    }
}

#[test]
fn nobody_is_told_of_room_who_has_no_limiter() {
    let ecm = r#"preset.switch.queued.congestion_management={ kind = "ecm" }"#;
    let workload = r#"
[workload]
kind = "udp"
rate = "500Mbit"
datagram = "1470B"
socket_buffer = "1MB"
duration = "20ms"
pairs = { kind = "to-first" }
"#;
    // A fifth of the line: the queue is always below Qeq, and nobody has ever been told to send less.
    let light = run(&network(1, 5, workload), &[ecm]);
    let told = counts(&light, "ports", "congestion_messages");
    assert_eq!(told.iter().sum::<u64>(), 0);
    // Acknowledgements go to ports that are never full.
    let bulk = run(&network(1, 5, TO_FIRST), &[ecm]);
    let told = counts(&bulk, "ports", "congestion_messages");
    let places = names(&bulk, "ports", "place");
    let hotspot = places.iter().position(|place| place == "s0:0");
    assert_eq!(
        told.iter().sum::<u64>(),
        told[hotspot.expect("the first host's port")]
    );
}

#[test]
fn background_traffic_is_told_to_send_less_too() {
    let workload = r#"
[workload]
kind = "ping"
interval = "1ms"
pairs = { kind = "listed", list = [["h0-3", "h0-4"]] }
duration = "20ms"
[[background]]
source = "h0-1"
destination = "h0-0"
rate = "6Gbit"
[[background]]
source = "h0-2"
destination = "h0-0"
rate = "6Gbit"
"#;
    let text = network(1, 5, workload);
    let plain = run(&text, &[]);
    for scheme in ["qcn", "ecm"] {
        let set = format!(r#"preset.switch.queued.congestion_management={{ kind = "{scheme}" }}"#);
        let told = run(&text, &[&set]);
        assert!(
            drops(&told) * 2 < drops(&plain),
            "{scheme}: {} and {} without",
            drops(&told),
            drops(&plain)
        );
    }
}

#[test]
fn a_port_that_is_served_slowly_for_a_time_carries_that_much() {
    let workload = TO_FIRST
        .replace("to-first", "listed\", list = [[\"h0-1\", \"h0-0\"]]")
        .replace("]]\" }", "]] }");
    let text = network(1, 2, &workload);
    let service = r#"preset.switch.queued.buffer.service=[{ port = 0, rate = "1Gbit", from = "0s", until = "10ms" }]"#;
    let got = received(&run(&text, &[service, PAUSE])) as f64 * 8.0;
    // 10 ms at 0.94 Gb/s and 10 ms at 9.41 of payload.
    let expected = 10e-3 * (1e9 + 10e9) * 1448.0 / 1538.0;
    assert!((got / expected - 1.0).abs() < 0.05, "{got} of {expected}");
}

#[test]
fn pfc_stops_one_class_and_a_run_repeats() {
    let pfc = r#"preset.switch.queued.flow_control={ kind = "pfc", classes = [{ class = 0, high_watermark = "130KB", low_watermark = "110KB" }] }"#;
    let text = network(1, 5, TO_FIRST);
    let first = run(&text, &[pfc]);
    assert_eq!(drops(&first), 0);
    assert_eq!(first, run(&text, &[pfc]));
    // Nobody sends in class 5: nothing is stopped.
    let other = pfc.replace("class = 0", "class = 5");
    let other = run(&text, &[&other]);
    assert!(drops(&other) > 100);
    assert_eq!(
        counts(&other, "ports", "pauses_sent").iter().sum::<u64>(),
        0
    );
}

#[test]
fn a_class_that_is_not_paused_loses_nothing_behind_one_that_is() {
    let workload = r#"
[workload]
kind = "udp"
rate = "1Gbit"
datagram = "1470B"
socket_buffer = "1MB"
duration = "20ms"
pairs = { kind = "listed", list = [["h0-2", "h0-3"]] }
[[background]]
source = "h0-1"
destination = "h0-0"
rate = "8Gbit"
priority = 3
[[background]]
source = "h0-2"
destination = "h0-0"
rate = "8Gbit"
priority = 3
"#;
    let pfc = r#"preset.switch.queued.flow_control={ kind = "pfc", watch = "ingress", classes = [{ class = 3, high_watermark = "60KB", low_watermark = "50KB" }] }"#;
    let bands = r#"preset.switch.queued.buffer.scheduler={ strict = 0, quanta = ["1518B", "1518B"], priomap = [0, 0, 0, 1] }"#;
    let outcome = run(
        &network(1, 4, workload),
        &[pfc, bands, "host.tx_queue_packets=100"],
    );
    // Class 3 is offered 16 Gb/s at a port of 10, so that h0-2 has it waiting all the time.
    let refused = counts(&outcome, "background", "datagrams_refused");
    assert!(refused.iter().all(|refused| *refused > 1000), "{refused:?}");
    assert_eq!(counts(&outcome, "flows", "lost_tx_queue"), [0]);
    assert_eq!(
        counts(&outcome, "flows", "datagrams_received"),
        counts(&outcome, "flows", "datagrams_due")
    );
}

#[test]
fn codel_keeps_the_queue_short_and_the_link_busy() {
    let text = network(1, 5, TO_FIRST);
    let codel = r#"preset.switch.queued.buffer.queue={ kind = "codel", target = "20us", interval = "500us" }"#;
    let series = r#"record.series={ interval = "100us", host = "h0-0" }"#;
    let queue = |outcome: &RunOutcome| {
        let queue = counts(outcome, "network", "queue_bytes");
        queue.iter().sum::<u64>() / queue.len() as u64
    };
    let managed = run(&text, &[codel, series]);
    let causes = names(&managed, "drops", "cause");
    assert!(
        causes.iter().any(|cause| cause == "early-drop"),
        "{causes:?}"
    );
    let (with_it, without) = (queue(&managed), queue(&run(&text, &[series])));
    assert!(
        with_it * 3 < without * 2,
        "{with_it} B, {without} B without"
    );
    assert!(received(&managed) > 18_000_000, "{}", received(&managed));
}

/// The built-in study, one of its cells.
fn study(management: &str, overrides: &[&str]) -> RunOutcome {
    let (_, file, text) = tailback_scenario::BUILT_IN
        .iter()
        .find(|(name, ..)| *name == "l2-congestion")
        .expect("a built-in scenario");
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let plan = Plan::from_toml(text, file, &overrides, None).expect("a good scenario");
    let is_wanted =
        |run: &&tailback_scenario::Run| run.parameters.iter().any(|(_, value)| value == management);
    let run = plan
        .runs
        .iter()
        .find(is_wanted)
        .expect("a cell of the study");
    simulate(run, &Control::default()).expect("a run that ends and adds up")
}

/// A shorter run: the hotspot from 20 to 120 ms of 140.
const SHORT: [&str; 2] = [
    "workload.duration=140ms",
    r#"preset.switch.l2-switch.buffer.service=[{ port = 0, rate = "2Gbit", from = "20ms", until = "120ms" }]"#,
];

#[test]
fn the_study_s_findings_hold() {
    let none = study("none", &SHORT);
    assert!(drops(&none) > 0);
    for paused in ["PAUSE", "ECM+PAUSE", "QCN+PAUSE"] {
        let outcome = study(paused, &SHORT);
        assert_eq!(drops(&outcome), 0, "{paused}");
        let timeouts = counts(&outcome, "flows", "timeouts");
        assert_eq!(timeouts.iter().sum::<u64>(), 0, "{paused}");
    }
    // QCN's gain shows over the study's whole half second (tests/compare/test_l2_runs.py).
    let (with_it, without) = (received(&study("ECM+PAUSE", &SHORT)), received(&none));
    assert!(with_it > without, "{with_it}, none {without}");
    let qcn = study("QCN+PAUSE", &SHORT);
    let times = measure(&qcn, "network", "time_ms");
    let queue = counts(&qcn, "network", "queue_bytes");
    let settled = times
        .iter()
        .zip(&queue)
        .filter(|(t, _)| (70.0..=120.0).contains(*t));
    let (sum, count) = settled.fold((0, 0), |(s, c), (_, q)| (s + q, c + 1));
    let mean = sum / count;
    assert!((13_000..52_000).contains(&mean), "{mean} beside Qeq, 26176");
}

#[test]
fn longer_links_and_flows_of_pareto_sizes_run_too() {
    let long = [SHORT[0], SHORT[1], "network.link.delay=50us"];
    assert!(received(&study("QCN+PAUSE", &long)) > 100_000_000);
    let pareto = [
        r#"workload={ kind = "flows", load = 0.5, duration = "20ms", sizes = { kind = "pareto", least = "2KB", most = "10MB", shape = 1.2 } }"#,
    ];
    let outcome = study("QCN+PAUSE", &pareto);
    assert_eq!(drops(&outcome), 0);
    let flows = counts(&outcome, "slowdowns", "flows");
    assert!(
        flows.len() > 3 && flows.iter().sum::<u64>() > 1000,
        "{flows:?}"
    );
    for median in measure(&outcome, "slowdowns", "slowdown_median") {
        assert!((1.0..50.0).contains(&median), "{median}");
    }
    let all = flows.iter().sum::<u64>();
    assert_eq!(counts(&outcome, "summary", "flows"), [all]);
    assert_eq!(counts(&outcome, "summary", "flows_complete"), [all]);
    let classes = measure(&outcome, "slowdowns", "slowdown_mean");
    let sum: f64 = flows.iter().zip(&classes).map(|(n, m)| *n as f64 * m).sum();
    let mean = measure(&outcome, "summary", "slowdown_mean")[0];
    assert!((mean - sum / all as f64).abs() < 1e-9 * mean, "{mean}");
    let at = |q| measure(&outcome, "summary", q)[0];
    let (median, p95, p99) = (
        at("slowdown_median"),
        at("slowdown_p95"),
        at("slowdown_p99"),
    );
    assert!(
        1.0 <= median && median < p95 && p95 < p99,
        "{median} {p95} {p99}"
    );
}

/// Two hosts to a third through queues of this kind.
fn through(queue: &str, stack: &[&str]) -> RunOutcome {
    let queue = format!("preset.switch.queued.buffer.queue={{ {queue} }}");
    let text = network(1, 3, TO_FIRST);
    run(&text, &[&[queue.as_str()], stack].concat())
}

#[test]
fn every_discipline_keeps_the_queue_below_what_fifo_lets_it_be() {
    let modern = ["stack.preset=linux-7.2", "stack.tcp_ecn=1"];
    let queue_max = |outcome: &RunOutcome| {
        let longest = counts(outcome, "ports", "queue_bytes_max");
        longest.into_iter().max().expect("a port")
    };
    let fifo = through(r#"kind = "fifo""#, &modern);
    for queue in [
        r#"kind = "codel", target = "20us", interval = "200us", ecn = true"#,
        r#"kind = "fq-codel", target = "20us", interval = "200us""#,
        r#"kind = "pie", target = "20us", tupdate = "20us", ecn = true"#,
        r#"kind = "dualpi2", target = "20us", tupdate = "20us", alpha = 100.0, beta = 1000.0"#,
        r#"kind = "cobalt", target = "20us", interval = "200us""#,
    ] {
        let outcome = through(queue, &modern);
        let (own, fifos) = (queue_max(&outcome), queue_max(&fifo));
        assert!(own <= fifos, "{queue}: {own} bytes, {fifos} as FIFO");
        // Nine tenths of what the link carries as payload in 20 ms.
        assert!(
            received(&outcome) > 21_000_000,
            "{queue}: {}",
            received(&outcome)
        );
        let marks: u64 = counts(&outcome, "ports", "marks").iter().sum();
        assert!(marks + drops(&outcome) > 0, "{queue}");
        assert_eq!(outcome.tables, through(queue, &modern).tables, "{queue}");
    }
}

#[test]
fn every_discipline_s_marks_are_comments_of_a_capture() {
    let settings = [
        "stack.preset=linux-7.2",
        "stack.tcp_ecn=1",
        "workload.duration=2ms",
        "record.pcap={ snap = \"64B\" }",
    ];
    // Not PIE: its probability takes longer to rise.
    for queue in [
        r#"kind = "codel", target = "5us", interval = "50us", ecn = true"#,
        r#"kind = "dualpi2", target = "5us", tupdate = "5us", alpha = 100.0, beta = 1000.0"#,
        r#"kind = "dualpi2", drop = "enqueue", target = "5us", tupdate = "5us", alpha = 100.0, beta = 1000.0"#,
        r#"kind = "cobalt", target = "5us", interval = "50us""#,
    ] {
        let outcome = through(queue, &settings);
        let marks: u64 = counts(&outcome, "ports", "marks").iter().sum();
        let capture = outcome.capture.as_deref().expect("a capture");
        let told = |text: &[u8]| capture.windows(text.len()).filter(|w| *w == text).count() as u64;
        assert!(marks > 0, "{queue}");
        assert_eq!(told(b"marked at"), marks, "{queue}");
        // All at the port to the receiver: the others have acknowledgements to send, and no queue.
        assert_eq!(told(b"marked at s0 (port 0, s0>h0-0)"), marks, "{queue}");
        assert_eq!(port_count(&outcome, "s0:0", "marks"), marks, "{queue}");
    }
}
