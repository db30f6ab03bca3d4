//! Queue disciplines of single links.

use crate::common::{plan, problem, warnings};

/// A home behind a slow line: its router shapes what goes out.
const HOME: &str = r#"
name = "home"
title = "A home behind a slow line"

[network]
topology = "explicit"
host = [{ name = "home" }, { name = "server" }]
switch = [
  { name = "router", model = { preset = "plain-queued" } },
  { name = "modem", model = { preset = "plain-queued" } },
]
link = [
  { ends = ["home", "router"], rate = "1Gbit", delay = "10us", mtu = "1500B" },
  { ends = ["router", "modem"], rate = "1Gbit", delay = "10us", mtu = "1500B", qdisc.forward = { kind = "cake", bandwidth = "18Mbit" } },
  { ends = ["modem", "server"], rate = "20Mbit", delay = "10ms", mtu = "1500B" },
]

[stack]
preset = "linux-7.2"
tcp_ecn = 0

[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["home", "server"]] }
duration = "1s"
"#;

#[test]
fn what_no_port_can_have_is_refused() {
    assert_eq!(plan(HOME, &[]).runs.len(), 1);
    let refused = [
        (
            "network.switch.router.model=plain",
            "network.link[1].qdisc.forward: switch \"router\" sends this way, and has no queue that waits for its port",
        ),
        (
            "network.link.1.qdisc.forward.rtt=0s",
            "network.link[1].qdisc.forward.rtt: every delay is too long",
        ),
        (
            "network.link.1.qdisc.forward.memlimit=1kB",
            "network.link[1].qdisc.forward.memlimit: there is no room for one frame of 1518 bytes",
        ),
        (
            "network.link.1.qdisc.forward.bandwidth=0bit",
            "network.link[1].qdisc.forward.bandwidth: nothing would ever leave",
        ),
        (
            "network.link.1.qdisc.forward.overhead=257",
            "network.link[1].qdisc.forward.overhead: ",
        ),
        (
            "network.link.1.qdisc.forward.mpu=257",
            "network.link[1].qdisc.forward.mpu: ",
        ),
        (
            r#"network.link.1.qdisc.forward={ kind = "cake", ingress = true }"#,
            "network.link[1].qdisc.forward.ingress: without bandwidth nothing is counted",
        ),
        (
            r#"network.link.1.qdisc.backward={ kind = "cobalt", sce = 1 }"#,
            "network.link[1].qdisc.backward.sce: SCE marks ECN-capable packets only, and no host sends any",
        ),
        (
            r#"network.link.1.qdisc.backward={ kind = "python", name = "mine" }"#,
            "network.link[1].qdisc.backward.name: there is no [python.mine]",
        ),
    ];
    for (set, told) in refused {
        let found = problem(HOME, &[set]);
        assert!(found.contains(told), "{set}: {found}");
    }
}

/// What the interface of a host has to have beside a discipline of its own for that to be refused, and why.
const UNFIT: [(&[&str], &str); 4] = [
    (
        &["host={ preset = \"server-25g-machine\" }"],
        "in its network is a host that is a machine with parts",
    ),
    (
        &[
            "host={ preset = \"server-25g\", dcqcn = {} }",
            "stack.tcp_ecn=1",
        ],
        "has a card that speaks DCQCN",
    ),
    (&["stack.pacing=fq"], "has sch_fq at its interface already"),
    (
        &[
            "network.switch.router.model={ preset = \"plain-queued\", flow_control = { kind = \"pause\", high_watermark = \"130KB\", low_watermark = \"110KB\" } }",
        ],
        "obeys switches that push back",
    ),
];

#[test]
fn a_hosts_own_is_refused_where_its_card_has_other_queues() {
    let fq_codel = r#"network.link.0.qdisc={ forward = { kind = "fq-codel" } }"#;
    assert_eq!(plan(HOME, &[fq_codel]).runs[0].network.host_qdisc(1), None);
    assert!(
        plan(HOME, &[fq_codel]).runs[0]
            .network
            .host_qdisc(0)
            .is_some()
    );
    for (beside, why) in UNFIT {
        let found = problem(HOME, &[&[fq_codel][..], beside].concat());
        let wanted =
            format!("network.link[0].qdisc.forward: host \"home\" sends this way, and {why}");
        assert!(found.contains(&wanted), "{beside:?}: {found}");
    }
}

#[test]
fn marks_at_a_host_that_nobody_asks_for_are_told() {
    let marks = r#"network.link.0.qdisc={ forward = { kind = "fq-codel", ce_threshold = "1ms" } }"#;
    let text = HOME.replace("tcp_ecn = 0\n", "");
    let told = warnings(&text, &[marks]);
    let wanted = "a port marks ECN-capable packets, and no host asks for ECN: nothing is marked";
    assert_eq!(told, [wanted]);
    assert_eq!(warnings(&text, &[marks, "stack.tcp_ecn=1"]), [""; 0]);
}

#[test]
fn a_rate_beyond_the_links_is_told() {
    let told = |set: &str| warnings(HOME, &[set]);
    assert_eq!(told("network.link.1.rate=18Mbit"), [""; 0]);
    assert_eq!(
        told("network.link.1.rate=17Mbit"),
        ["the link itself has 17Mbit: 18Mbit holds nothing back"]
    );
    // A switch's own discipline is at all of its ports.
    let queue = |rate: &str| {
        let cake = format!(r#"{{ kind = "cake", bandwidth = "{rate}" }}"#);
        told(&format!(
            r#"network.switch.router.model={{ preset = "plain-queued", buffer = {{ queue = {cake} }} }}"#
        ))
    };
    assert_eq!(queue("1Gbit"), [""; 0]);
    assert_eq!(
        queue("2Gbit"),
        ["no link of switch \"router\" has more than 1Gbit: CAKE's 2Gbit hold nothing back"]
    );
}

#[test]
fn a_link_among_like_ones_may_have_its_own() {
    let text = r#"
name = "leaves"
title = "A fabric with one slow port"

[network]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts = 2
switch = "plain-queued"
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }
except = [{ ends = ["host0", "leaf0"], qdisc = { backward = { kind = "fq-codel" } } }]

[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["host3", "host0"]] }
duration = "1ms"
"#;
    // Said from either end.
    let turned = r#"[{ ends = ["leaf0", "host0"], qdisc = { forward = { kind = "fq-codel" } } }]"#;
    for set in [vec![], vec![format!("network.except={turned}")]] {
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let plan = plan(text, &set);
        let network = &plan.runs[0].network;
        let own = network.links.iter().filter_map(|link| {
            let both = link.config.qdisc.as_ref()?;
            let sender = if both.forward.is_some() {
                link.a
            } else {
                link.b
            };
            Some((network.name(sender), both.iter().count()))
        });
        assert_eq!(own.collect::<Vec<_>>(), [("leaf0", 1)]);
    }
}
