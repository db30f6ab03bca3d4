//! Settings of switches that contradict one another.

use crate::common::{STAR, plan, problems, said};

pub const QUEUED: &str = r#"network.switch.buffer={ kind = "queued", shared = "150KB", segment = "64B", rx_private = "0B", tx_private = "0B", tx_limit = { kind = "none" } }"#;
pub const PAUSE: &str = r#"network.switch.flow_control={ kind = "pause", high_watermark = "130KB", low_watermark = "110KB" }"#;
pub const QCN: &str = r#"network.switch.congestion_management={ kind = "qcn" }"#;

#[test]
fn pushing_back_needs_queues_that_can_be_stopped() {
    assert_eq!(plan(STAR, &[QUEUED, PAUSE, QCN]).runs.len(), 1);
    said(
        &[PAUSE],
        "network.switch.flow_control: when a frame leaves this kind of buffer is settled as it arrives; a buffer of kind \"queued\", as the preset plain-queued has",
    );
    said(&[QCN], "network.switch.congestion_management: when a frame");
}

#[test]
fn pushing_back_that_is_off_is_none_on_any_switch_and_in_a_sweep() {
    let off = [
        r#"network.switch.flow_control={ kind = "off" }"#,
        r#"network.switch.congestion_management={ kind = "off" }"#,
    ];
    let with = plan(STAR, &off);
    assert_eq!(with.runs[0].network, plan(STAR, &[]).runs[0].network);
    // Over a preset's own it takes that away.
    let pushing = plan(STAR, &[QUEUED, PAUSE, QCN]);
    assert!(pushing.runs[0].network.switches[0].config.pushes_back());
    let (_, pause) = PAUSE.split_once('=').expect("an assignment");
    let axis = format!(r#"sweep={{ flow_control = [{{ kind = "off" }}, {pause}] }}"#);
    let swept = plan(STAR, &[QUEUED, &axis]);
    let stops = swept.runs.iter().map(|run| {
        let control = &run.network.switches[0].config.flow_control;
        (run.parameters[0].1.to_string(), control.is_some())
    });
    let stops: Vec<(String, bool)> = stops.collect();
    assert_eq!(stops[0], (r#""off""#.to_owned(), false));
    assert!(stops[1].1);
    said(
        &[r#"network.switch.flow_control={ kind = "off", high_watermark = "1KB" }"#],
        "high_watermark",
    );
}

#[test]
fn watermarks_out_of_order_or_out_of_reach_are_told() {
    said(
        &[
            QUEUED,
            PAUSE,
            "network.switch.flow_control.low_watermark=130KB",
        ],
        "flow_control.low_watermark: 130KB is not below the high watermark, 130KB",
    );
    said(
        &[
            QUEUED,
            PAUSE,
            "network.switch.flow_control.high_watermark=150KB",
        ],
        "flow_control.high_watermark: a queue holds 150000B at most",
    );
}

/// Two bands, of which class 1's may hold 100 KB.
pub const CAPPED: [&str; 3] = [
    QUEUED,
    r#"network.switch.buffer.scheduler={ strict = 2, priomap = [0, 1] }"#,
    r#"network.switch.buffer.band_limits=[{ kind = "none" }, { kind = "hog", bytes = "100KB" }]"#,
];

pub fn capped(control: &str) -> Vec<&str> {
    let mut all = CAPPED.to_vec();
    all.push(control);
    all
}

#[test]
fn watermarks_beyond_the_cap_of_a_class_are_told() {
    let pfc = |class: u8, high: &str| {
        let class =
            format!(r#"{{ class = {class}, high_watermark = "{high}", low_watermark = "50KB" }}"#);
        format!(r#"network.switch.flow_control={{ kind = "pfc", classes = [{class}] }}"#)
    };
    assert_eq!(plan(STAR, &capped(&pfc(0, "120KB"))).runs.len(), 1);
    assert_eq!(plan(STAR, &capped(&pfc(1, "99KB"))).runs.len(), 1);
    said(
        &capped(&pfc(1, "120KB")),
        "classes[0].high_watermark: a queue holds 100000B at most, so none ever is above 120KB",
    );
    // PAUSE counts all that waits for a port.
    assert_eq!(plan(STAR, &capped(PAUSE)).runs.len(), 1);
    let both = r#"network.switch.buffer.band_limits=[{ kind = "hog", bytes = "20KB" }, { kind = "hog", bytes = "100KB" }]"#;
    said(
        &[QUEUED, CAPPED[1], both, PAUSE],
        "flow_control.high_watermark: a queue holds 120000B at most",
    );
}

/// A memory of 2 MB with this beside it.
fn roomy(rest: &str) -> String {
    let fixed = r#"kind = "queued", shared = "2MB", segment = "64B", tx_private = "0B""#;
    format!("network.switch.buffer={{ {fixed}, {rest} }}")
}

const HOGGED: &str = r#"rx_private = "0B", rx_hog = "20KB", tx_limit = { kind = "none" }"#;

#[test]
fn what_several_ports_send_may_be_for_one_queue() {
    // STAR's switch has 24 ports: 23 of them fill a queue with 20 KB each, or with 10 KB of their own.
    let private = r#"rx_private = "10KB", tx_limit = { kind = "hog", bytes = "50KB" }"#;
    for (buffer, most) in [(roomy(HOGGED), 460_000), (roomy(private), 290_000)] {
        assert_eq!(plan(STAR, &[&buffer, PAUSE]).runs.len(), 1);
        let qcn = r#"network.switch.congestion_management={ kind = "qcn", qeq = "100KB" }"#;
        assert_eq!(plan(STAR, &[&buffer, qcn]).runs.len(), 1);
        said(
            &[
                &buffer,
                PAUSE,
                "network.switch.flow_control.high_watermark=500KB",
            ],
            &format!("flow_control.high_watermark: a queue holds {most}B at most"),
        );
    }
}

#[test]
fn what_one_port_sends_may_be_for_several_queues() {
    let watch = "network.switch.flow_control.watch=ingress";
    let capped = roomy(r#"rx_private = "0B", tx_limit = { kind = "hog", bytes = "50KB" }"#);
    assert_eq!(plan(STAR, &[&capped, PAUSE, watch]).runs.len(), 1);
    said(
        &[&capped, PAUSE],
        "flow_control.high_watermark: a queue holds 50000B at most",
    );
    said(
        &[&roomy(HOGGED), PAUSE, watch],
        "flow_control.high_watermark: what comes in by a port holds 20000B at most",
    );
}

#[test]
fn pfc_on_a_class_that_there_is_not_is_told() {
    let pfc = |class: u8| {
        let class =
            format!(r#"{{ class = {class}, high_watermark = "60KB", low_watermark = "50KB" }}"#);
        format!(r#"network.switch.flow_control={{ kind = "pfc", classes = [{class}] }}"#)
    };
    let bands = r#"network.switch.buffer.scheduler={ strict = 2, priomap = [1, 1, 1, 0] }"#;
    assert_eq!(plan(STAR, &[QUEUED, bands, &pfc(3)]).runs.len(), 1);
    said(
        &[QUEUED, bands, &pfc(4)],
        "flow_control.classes[0].class: class 4 is not defined: priomap has 4",
    );
    let wrong = r#"network.switch.buffer.scheduler={ strict = 2, priomap = [2] }"#;
    said(&[QUEUED, wrong], "priomap[0]: there is no band 2");
}

#[test]
fn congestion_points_that_cannot_work_are_told() {
    said(
        &[
            QUEUED,
            QCN,
            "network.switch.congestion_management.qeq=200KB",
        ],
        "congestion_management.qeq: a queue holds 150000B at most",
    );
    said(
        &[
            QUEUED,
            QCN,
            r#"network.switch.congestion_management.sampling={ kind = "probability", least = 0.1, most = 0.01 }"#,
        ],
        "sampling.most: a probability from 0.1 up to 0.01 falls",
    );
    let slow = r#"network.switch.buffer.service=[{ port = 99, rate = "2Gbit", from = "2ms", until = "1ms" }]"#;
    let found = problems(STAR, &[QUEUED, slow]);
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn queues_whose_settings_contradict_one_another_are_told() {
    let queue = |queue: &str| format!("network.switch.buffer.queue={{ {queue} }}");
    for (settings, expected) in [
        (
            r#"kind = "fq-codel", target = "100ms""#,
            "queue.interval: a delay above 100ms for 100ms says nothing",
        ),
        (
            r#"kind = "fq-codel", quantum = "0B""#,
            "queue.quantum: a turn of no bytes",
        ),
        (
            r#"kind = "pie", tupdate = "0s""#,
            "queue.tupdate: every 0s there is time for nothing else",
        ),
        (
            r#"kind = "dualpi2", tupdate = "0s""#,
            "queue.tupdate: every 0s there is time for nothing else",
        ),
        (
            r#"kind = "cobalt", memlimit = "0B""#,
            "queue.memlimit: a queue of no bytes",
        ),
        (
            r#"kind = "cobalt", interval = "1ms""#,
            "queue.interval: a delay above 5ms for 1ms",
        ),
        (
            r#"kind = "codel", mark = "sce""#,
            "queue.mark: without ecn nothing is marked",
        ),
        (
            r#"kind = "cobalt", sce = 1"#,
            "queue.sce: SCE marks ECN-capable packets only",
        ),
        (
            r#"kind = "pie", ecn = true, mark = "sce""#,
            "queue.mark: SCE marks ECN-capable packets only",
        ),
    ] {
        if expected.contains("without ecn") {
            let found = problems(STAR, &[QUEUED, &queue(settings), "stack.tcp_ecn=1"]);
            assert!(found[0].contains(expected), "{found:?}");
        } else {
            said(&[QUEUED, &queue(settings)], expected);
        }
    }
    let sound = queue(r#"kind = "cobalt", sce = 1"#);
    let sce = ["stack.tcp_ecn=1", "stack.tcp_sce=true"];
    assert_eq!(plan(STAR, &[QUEUED, &sound, sce[0], sce[1]]).runs.len(), 1);
}

#[test]
fn caps_for_bands_that_there_are_not_are_told() {
    let limits = r#"network.switch.buffer.band_limits=[{ kind = "dynamic", alpha = 1.0 }, { kind = "none" }]"#;
    said(&[QUEUED, limits], "buffer.band_limits: 2 caps for 1 bands");
    let bands = r#"network.switch.buffer.scheduler={ strict = 2, priomap = [1, 0] }"#;
    assert_eq!(plan(STAR, &[QUEUED, bands, limits]).runs.len(), 1);
}

#[test]
fn sources_that_are_never_told_or_never_slowed_are_told() {
    let ecm = r#"network.switch.congestion_management={ kind = "ecm" }"#;
    let key = |key: &str| format!("network.switch.congestion_management.{key}");
    for (scheme, set, expected) in [
        (QCN, "qeq=0B", "qeq: queues are counted in pages"),
        (ecm, "qeq=0B", "qeq: queues are counted in pages"),
        (QCN, "gd=0.0", "gd: messages that take nothing off"),
        (ecm, "gd=0.0", "gd: messages that take nothing off"),
        (
            ecm,
            "sampling_interval=0B",
            "sampling_interval: after no bytes there is no sample",
        ),
        (
            QCN,
            r#"sampling={ kind = "interval", bytes = "0B", jitter = 0.15 }"#,
            "sampling.bytes: after no bytes there is no sample",
        ),
        (
            QCN,
            r#"sampling={ kind = "probability", least = 0.0, most = 0.0 }"#,
            "sampling.most: no frame is ever sampled",
        ),
    ] {
        said(&[QUEUED, scheme, &key(set)], expected);
    }
}

#[test]
fn timers_that_leave_time_for_nothing_else_are_told() {
    let often = "every 1ps there is time for nothing else, and the run hardly ends; at least 1us";
    let ecm = r#"network.switch.congestion_management={ kind = "ecm", td = "1ps" }"#;
    said(
        &[QUEUED, ecm],
        &format!("congestion_management.td: {often}"),
    );
    for timer in ["timer", "drift_interval"] {
        let set = format!("network.switch.congestion_management.{timer}=1ps");
        said(&[QUEUED, QCN, &set], &format!("{timer}: {often}"));
    }
    let none = "network.switch.congestion_management.timer=0s";
    assert_eq!(plan(STAR, &[QUEUED, QCN, none]).runs.len(), 1);
    for queue in ["pie", "dualpi2"] {
        let set = format!(r#"network.switch.buffer.queue={{ kind = "{queue}", tupdate = "1ps" }}"#);
        said(&[QUEUED, &set], &format!("buffer.queue.tupdate: {often}"));
    }
}

#[test]
fn queues_that_aim_at_nothing_or_hold_no_frame_are_told() {
    for queue in ["pie", "dualpi2"] {
        let set = format!(r#"network.switch.buffer.queue={{ kind = "{queue}", target = "0s" }}"#);
        said(&[QUEUED, &set], "buffer.queue.target: no queue is shorter");
    }
    said(
        &[
            QUEUED,
            r#"network.switch.buffer.queue={ kind = "pie", alpha = 0, beta = 0 }"#,
        ],
        "buffer.queue.alpha: with beta = 0 as well",
    );
    said(
        &[
            QUEUED,
            r#"network.switch.buffer.queue={ kind = "dualpi2", alpha = 0.0, beta = 0.0 }"#,
        ],
        "buffer.queue.alpha: with beta = 0 as well",
    );
    // RFC 9332's gains for a round trip of 100 us.
    let near = r#"network.switch.buffer.queue={ kind = "dualpi2", target = "50us", tupdate = "33us", alpha = 330.0, beta = 3000.0 }"#;
    assert_eq!(plan(STAR, &[QUEUED, near]).runs.len(), 1);
    let memlimit = |bytes: &str| {
        format!(r#"network.switch.buffer.queue={{ kind = "cobalt", memlimit = "{bytes}" }}"#)
    };
    said(
        &[QUEUED, &memlimit("9017B")],
        "buffer.queue.memlimit: there is no room for one frame of 9018 bytes",
    );
    assert_eq!(plan(STAR, &[QUEUED, &memlimit("9018B")]).runs.len(), 1);
    let limits = |bytes: &str| {
        format!(r#"network.switch.buffer.band_limits=[{{ kind = "hog", bytes = "{bytes}" }}]"#)
    };
    said(
        &[QUEUED, &limits("9017B")],
        "buffer.band_limits[0].bytes: there is no room for one frame of 9018 bytes",
    );
    assert_eq!(plan(STAR, &[QUEUED, &limits("9018B")]).runs.len(), 1);
}

#[test]
fn a_port_is_served_at_one_rate_at_a_time() {
    let service = |port: u16, from: &str| {
        let first = r#"{ port = 0, rate = "1Gbit", from = "0s", until = "2ms" }"#;
        format!(
            r#"network.switch.buffer.service=[{first}, {{ port = {port}, rate = "2Gbit", from = "{from}", until = "3ms" }}]"#
        )
    };
    said(
        &[QUEUED, &service(0, "1ms")],
        "buffer.service[1].from: port 0 is served at two rates: service[0] is at this time too",
    );
    for apart in [service(1, "1ms"), service(0, "2ms")] {
        assert_eq!(plan(STAR, &[QUEUED, &apart]).runs.len(), 1);
    }
}

#[test]
fn a_kind_without_its_table_is_told_how_it_is_written() {
    said(
        &[QUEUED, "network.switch.buffer.tx_limit=none"],
        r#"buffer.tx_limit: the text "none" does not fit here; a table: { kind = "none" }"#,
    );
    let without = QUEUED.replace(r#", tx_limit = { kind = "none" }"#, "");
    said(
        &[&without],
        r#"; one of { kind = "none" }, { kind = "hog" }"#,
    );
}

#[test]
fn quanta_that_are_over_at_once_and_limiters_that_limit_nothing_are_told() {
    let quanta = |n: u32| format!("network.switch.flow_control.quanta={n}");
    assert_eq!(plan(STAR, &[QUEUED, PAUSE, &quanta(40)]).runs.len(), 1);
    said(
        &[QUEUED, PAUSE, &quanta(39)],
        "says its PAUSE frames again when half of 39 quanta are over",
    );
    let key = |key: &str| format!("network.switch.congestion_management.{key}");
    said(
        &[QUEUED, QCN, &key("min_dec_factor=1.0")],
        "min_dec_factor: messages that leave all of a rate slow nobody down",
    );
    said(
        &[QUEUED, QCN, &key("r_min=10Gbit")],
        "r_min, 10Gbit, is no less than the line of any host",
    );
    said(
        &[QUEUED, QCN, &key("qeq=63B")],
        "qeq: queues are counted in pages of 64B",
    );
}

#[test]
fn caps_of_no_bytes_are_told_where_ports_have_nothing_of_their_own() {
    let none = r#"network.switch.buffer.tx_limit={ kind = "hog", bytes = "0B" }"#;
    said(
        &[QUEUED, none],
        "buffer.tx_limit.bytes: there is no room for one frame",
    );
    said(
        &[QUEUED, "network.switch.buffer.rx_hog=63B"],
        "buffer.rx_hog: there is no room for one frame",
    );
    let own = "network.switch.buffer.tx_private=20KB";
    assert_eq!(plan(STAR, &[QUEUED, none, own]).runs.len(), 1);
}

#[test]
fn a_threshold_for_nobody_is_refused() {
    let queue = |more: &str| {
        format!(
            "network.switch={{ preset = \"plain-queued\", buffer.queue = {{ kind = \"fq-codel\", {more} }} }}"
        )
    };
    said(
        &[&queue("ce_threshold_mask = 3")],
        "buffer.queue.ce_threshold_mask: without ce_threshold nothing is marked for its delay",
    );
    said(
        &[&queue("ce_threshold = \"1ms\", ce_threshold_selector = 1")],
        "buffer.queue.ce_threshold_selector: 1 has bits that ce_threshold_mask = 0 leaves out: nothing is meant",
    );
    let l4s = queue("ce_threshold = \"1ms\", ce_threshold_selector = 1, ce_threshold_mask = 3");
    assert_eq!(plan(STAR, &[&l4s, "stack.tcp_ecn=1"]).runs.len(), 1);
}

#[test]
fn cake_that_lets_nothing_go_is_refused() {
    let queue = |more: &str| {
        format!(
            "network.switch={{ preset = \"plain-queued\", buffer.queue = {{ kind = \"cake\", {more} }} }}"
        )
    };
    said(
        &[&queue("bandwidth = \"0bit\"")],
        "buffer.queue.bandwidth: nothing would ever leave",
    );
    said(
        &[&queue("rtt = \"0s\"")],
        "buffer.queue.rtt: every delay is too long",
    );
    said(
        &[&queue("memlimit = \"63B\"")],
        "buffer.queue.memlimit: there is no room for one frame",
    );
    let good = queue("diffserv_mode = \"diffserv4\", bandwidth = \"10Gbit\"");
    assert_eq!(
        plan(STAR, &[&good, "network.link.rate=10Gbit"]).runs.len(),
        1
    );
}

#[test]
fn marks_that_nobody_asks_for_are_told_of_unless_the_scenario_speaks_of_ecn() {
    let step = r#"network.switch.marking={ kind = "step", threshold = "60KB" }"#;
    let modern = [step, "stack.preset=linux-7.2"];
    let warned = |more: &[&str]| {
        let changes = [&modern, more].concat();
        let warnings = plan(STAR, &changes).warnings;
        warnings.into_iter().map(|w| w.reason).collect::<Vec<_>>()
    };
    assert_eq!(
        warned(&[]),
        ["a port marks ECN-capable packets, and no host asks for ECN: nothing is marked"]
    );
    assert_eq!(
        warned(&["sweep.tcp_congestion_control=[\"dctcp\", \"cubic\", \"bbr\"]"]),
        [
            "a port marks ECN-capable packets, and in 2 of 3 runs (the first: tcp_congestion_control cubic) no host \
             asks for ECN: nothing is marked"
        ]
    );
    // So does a threshold of a queue's delay.
    for kind in ["codel", "fq-codel"] {
        let queue = format!(
            "network.switch={{ preset = \"plain-queued\", buffer.queue = {{ kind = \"{kind}\", ce_threshold = \"1ms\" }} }}"
        );
        let changes = [queue.as_str(), "stack.preset=linux-7.2"];
        assert_eq!(plan(STAR, &changes).warnings.len(), 1);
        assert_eq!(
            plan(STAR, &[&changes[..], &["stack.tcp_ecn=1"]].concat()).warnings,
            []
        );
    }
    let udp = |more: &str| {
        let text = STAR.split("[workload]").next().expect("its beginning");
        let text = format!(
            "{text}[workload]\nkind = \"udp\"\npairs = {{ kind = \"to-first\" }}\nrate = \"1Gbit\"\n\
             duration = \"1ms\"\nsocket_buffer = \"1MB\"\n{more}"
        );
        let warnings = plan(&text, &modern).warnings;
        warnings
            .into_iter()
            .map(|w| (w.path, w.remedy))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        udp(""),
        [("workload.ecn".to_owned(), "ecn = true".to_owned())]
    );
    assert_eq!(udp("ecn = true"), []);
    assert_eq!(udp("ecn = false"), [], "it is wanted so");
    for asked in [
        "stack.tcp_ecn=1",
        "stack.tcp_ecn=2",
        "stack.tcp_congestion_control=dctcp",
        "socket.TCP_CONGESTION=dctcp",
        "network.switch.marking={ kind = \"off\" }",
        "sweep.tcp_ecn=[0, 2]",
    ] {
        assert_eq!(warned(&[asked]), [""; 0], "{asked}");
    }
}
