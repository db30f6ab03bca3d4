//! What a schema cannot say: values that do not make sense, alone or together.

use std::borrow::Cow;

use tailback_net::impairment::delay_steps::DelaySteps;
use tailback_net::impairment::outage::Outage;
use tailback_net::impairment::script::FrameAction;
use tailback_net::link::LinkConfig;
use tailback_net::queue::QueueConfig;
use tailback_net::switch::shared::{SharedConfig, TxLimit};
use tailback_net::switch::{BufferConfig, SwitchConfig};
use tailback_units::{Bytes, Duration, Rate};

use crate::extent;
use crate::meaning_bucket;
use crate::meaning_congestion;
use crate::meaning_dcqcn;
use crate::meaning_host;
use crate::meaning_pushback;
use crate::meaning_qdisc;
use crate::meaning_switch;
use crate::meaning_trace;
use crate::model::Scenario;
use crate::network::Network;
use crate::over;
use crate::period;
use crate::problem::Finding;
use crate::python;
use crate::reroute;
use crate::topology::{Topology, exceptions};
use crate::vlans;
use crate::workload::Workload;
use tailback_tcp::{CwndReduction, FastRecovery, Sender, Stack};

/// RFC 791: every host accepts datagrams of 576 bytes.
const SMALLEST_MTU_BYTES: u64 = 576;
/// The usual limit of switches that carry jumbo frames.
const LARGEST_MTU_BYTES: u64 = 9216;
/// Least of `tcp_rmem` (tcp_min_rcvbuf, net/ipv4/sysctl_net_ipv4.c).
const RMEM_LEAST_BYTES: u64 = 4096;
/// Ethernet header and FCS.
const FRAME_OVERHEAD_BYTES: u64 = 18;

/// The network of `scenario`, or all that is wrong with what it says.
pub(crate) fn check(scenario: &Scenario) -> Result<Topology, Vec<Finding>> {
    let mut findings = name(&scenario.name);
    let mut mtu = 0;
    let mut fastest = Rate::default();
    for (path, link) in links(&scenario.network) {
        findings.extend(of_link(&path, &link, scenario));
        mtu = mtu.max(link.mtu.get());
        fastest = fastest.max(link.rate);
    }
    for exception in scenario.network.exceptions() {
        mtu = mtu.max(exception.link.mtu.map_or(0, |mtu| mtu.get()));
        fastest = fastest.max(exception.link.rate.unwrap_or_default());
    }
    findings.extend(meaning_trace::findings(scenario));
    findings.extend(python::findings(&scenario.python));
    findings.extend(over::findings(scenario));
    findings.extend(reroute::findings(&scenario.network));
    for (path, switch) in switches(&scenario.network) {
        let mut found = check_switch(switch, mtu);
        found.extend(meaning_switch::findings(switch));
        found.extend(over::never_slow(switch, fastest));
        found.extend(meaning_pushback::findings(switch));
        found.extend(meaning_switch::unanswered(switch, stacks(scenario)));
        findings.extend(found.into_iter().map(|f| f.within(&path)));
    }
    let host = meaning_host::findings(&scenario.host).into_iter();
    findings.extend(host.map(|f| f.within("host")));
    findings.extend(stack_findings(&scenario.stack, "stack"));
    if let Some(socket) = &scenario.socket {
        let found = socket.findings(stacks(scenario));
        findings.extend(found.into_iter().map(|f| f.within("socket")));
    }
    if let Some(kernel) = &scenario.kernel {
        let found = kernel.findings();
        findings.extend(found.into_iter().map(|f| f.within("kernel")));
    }
    if let Network::Explicit(explicit) = &scenario.network {
        for (i, host) in explicit.host.iter().enumerate() {
            let at = format!("network.host[{i}]");
            if let Some(own) = &host.host {
                let found = meaning_host::findings(own).into_iter();
                findings.extend(found.map(|f| f.within(&format!("{at}.host"))));
            }
            if let Some(own) = &host.socket {
                let stack = host.stack.as_ref().unwrap_or(&scenario.stack);
                let found = own.findings(std::iter::once(stack)).into_iter();
                findings.extend(found.map(|f| f.within(&format!("{at}.socket"))));
            }
            if let Some(own) = &host.kernel {
                let found = own.findings().into_iter();
                findings.extend(found.map(|f| f.within(&format!("{at}.kernel"))));
            }
            if let Some(own) = &host.stack {
                findings.extend(stack_findings(own, &format!("{at}.stack")));
            }
        }
    }
    let recorded = [
        ("record.sample_interval", scenario.record.sample_interval),
        ("record.interfaces", scenario.record.interfaces),
    ];
    let recorded = recorded.into_iter();
    findings.extend(recorded.filter_map(|(path, time)| period::too_short(path, time?)));
    let asks = matches!(scenario.workload, Workload::RequestResponse(_));
    if scenario.record.requests && !asks {
        findings.push(Finding::new(
            "record.requests",
            "nobody asks: this workload has no requests",
            "workload.kind request-response, or no record.requests",
        ));
    }
    if let Some(hosts) = hosts(&scenario.network) {
        let workload = scenario.workload.findings(hosts);
        findings.extend(workload.into_iter().map(|f| f.within("workload")));
    }
    match Topology::new(scenario) {
        Ok(topology) => {
            // What follows lists all that is asked for.
            let vast = extent::findings(scenario, &topology);
            if !vast.is_empty() {
                findings.extend(vast);
                return Err(findings);
            }
            findings.extend(meaning_pushback::network_findings(&topology));
            let exceptions = exceptions::whole(&scenario.network, &topology);
            // What is wrong with all of a kind has been told.
            let told: Vec<String> = findings.iter().map(|f| f.reason.clone()).collect();
            for (path, link) in &exceptions {
                let found = of_link(path, link, scenario).into_iter();
                findings.extend(found.filter(|f| !told.contains(&f.reason)));
            }
            let links = [links(&scenario.network), exceptions].concat();
            findings.extend(meaning_trace::network_findings(&links, &topology));
            findings.extend(meaning_qdisc::network_findings(&links, &topology));
            findings.extend(meaning_dcqcn::network_findings(scenario, &topology));
            let workload = scenario.workload.name_findings(&topology);
            let named = workload.is_empty();
            findings.extend(workload.into_iter().map(|f| f.within("workload")));
            if findings.is_empty() {
                findings.extend(alone(scenario, &topology));
            }
            if named {
                findings.extend(vlans::findings(scenario, &topology));
            }
            findings.extend(meaning_congestion::asked_findings(scenario, &topology));
            for (i, background) in scenario.background.iter().enumerate() {
                let found = background.findings(&topology).into_iter();
                findings.extend(found.map(|f| f.within(&format!("background[{i}]"))));
            }
            for (i, beside) in scenario.background_flows.iter().enumerate() {
                let found = beside.findings(&topology).into_iter();
                findings.extend(found.map(|f| f.within(&format!("background_flows[{i}]"))));
            }
            if let Some(pcap) = &scenario.record.pcap {
                let found = pcap.findings(&topology).into_iter();
                findings.extend(found.map(|f| f.within("record.pcap")));
            }
            if let Some(series) = &scenario.record.series {
                let found = series.findings(&topology).into_iter();
                findings.extend(found.map(|f| f.within("record.series")));
            }
            if findings.is_empty() {
                Ok(topology)
            } else {
                Err(findings)
            }
        }
        Err(more) => {
            findings.extend(more);
            Err(findings)
        }
    }
}

/// A host with nobody to send to. A program may have its reasons.
fn alone(scenario: &Scenario, topology: &Topology) -> Option<Finding> {
    let lonely = topology.hosts.len() < 2 && !matches!(scenario.workload, Workload::Command(_));
    lonely.then(|| {
        Finding::new(
            "network",
            "its one host has nobody to send to",
            "two hosts or more",
        )
    })
}

fn name(name: &str) -> Vec<Finding> {
    let part = |p: &str| {
        !p.is_empty()
            && p.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    if name.split('-').all(part) {
        return Vec::new();
    }
    vec![Finding::new(
        "name",
        format!("{name:?} cannot name a scenario"),
        "lower-case letters, digits and hyphens, such as \"incast-8mb\"",
    )]
}

/// How many hosts there are, where that is said.
fn hosts(network: &Network) -> Option<usize> {
    let count = match network {
        Network::Star(star) => return star.count(),
        Network::Stars(stars) => stars.stars * stars.hosts,
        Network::FatTree(tree) => tree.k.pow(3) / 4,
        Network::LeafSpine(fabric) => fabric.leaves * fabric.hosts,
        Network::Dumbbell(dumbbell) => 2 * dumbbell.pairs,
        Network::ParkingLot(lot) => 2 * (lot.pairs + lot.hop_pairs * lot.trunk.len() as u32),
        Network::Explicit(explicit) => return Some(explicit.host.len()),
    };
    Some(count as usize)
}

/// Traces, policers and shapers that are faster than their link.
pub(crate) fn too_fast(scenario: &Scenario, topology: Option<&Topology>) -> Vec<Finding> {
    let exceptions = topology.map(|topology| exceptions::whole(&scenario.network, topology));
    let links = links(&scenario.network).into_iter();
    let links = links.chain(exceptions.into_iter().flatten());
    let found = links.flat_map(|(path, link)| {
        let policer = meaning_bucket::never_binds(&link);
        let found = meaning_trace::too_fast(&link, scenario).into_iter();
        found
            .chain(policer)
            .chain(meaning_qdisc::never_held_back(&link))
            .map(move |finding| finding.within(&path))
    });
    let at_ports = topology.map(meaning_qdisc::never_held_back_at);
    found.chain(at_ports.into_iter().flatten()).collect()
}

fn of_link(path: &str, link: &LinkConfig, scenario: &Scenario) -> Vec<Finding> {
    let unknown = meaning_trace::unknown(link, scenario);
    let shallow = meaning_trace::too_shallow(link, scenario);
    let uses_ecn = stacks(scenario).any(|stack| stack.tcp_ecn > 0);
    let qdiscs = meaning_qdisc::of_link(link, uses_ecn);
    let found = check_link(link).into_iter().chain(unknown);
    let found = found.chain(shallow).chain(qdiscs);
    found.map(|f| f.within(path)).collect()
}

fn links(network: &Network) -> Vec<(String, Cow<'_, LinkConfig>)> {
    let whole = |path: &str, link| (path.to_owned(), Cow::Borrowed(link));
    match network {
        Network::Star(star) => vec![whole("network.link", &star.link)],
        Network::Stars(stars) => vec![
            whole("network.link", &stars.link),
            whole("network.uplink", &stars.uplink),
        ],
        Network::FatTree(tree) => vec![whole("network.link", &tree.link)],
        Network::LeafSpine(fabric) => {
            let mut links = vec![whole("network.link", &fabric.link)];
            let uplink = fabric.uplink();
            if uplink != fabric.link {
                links.push(("network.uplink".to_owned(), Cow::Owned(uplink)));
            }
            links
        }
        Network::Dumbbell(dumbbell) => chain(&dumbbell.link, &dumbbell.trunk),
        Network::ParkingLot(lot) => chain(&lot.link, &lot.trunk),
        Network::Explicit(explicit) => {
            let links = explicit.link.iter().enumerate();
            links
                .map(|(i, l)| whole(&format!("network.link[{i}]"), &l.link))
                .collect()
        }
    }
}

/// The links of hosts, and those between switches in a row.
fn chain<'a>(link: &'a LinkConfig, trunk: &'a [LinkConfig]) -> Vec<(String, Cow<'a, LinkConfig>)> {
    let hosts = ("network.link".to_owned(), Cow::Borrowed(link));
    let trunk = trunk.iter().enumerate();
    let trunk = trunk.map(|(i, link)| (format!("network.trunk[{i}]"), Cow::Borrowed(link)));
    std::iter::once(hosts).chain(trunk).collect()
}

pub(crate) fn switches(network: &Network) -> Vec<(String, &SwitchConfig)> {
    match network {
        Network::Star(star) => vec![("network.switch".to_owned(), &star.switch)],
        Network::Stars(stars) => vec![
            ("network.switch".to_owned(), &stars.switch),
            ("network.core".to_owned(), &stars.core),
        ],
        Network::FatTree(tree) => vec![("network.switch".to_owned(), &tree.switch)],
        Network::LeafSpine(fabric) => {
            let spine = fabric.spine.iter();
            let spine = spine.map(|spine| ("network.spine".to_owned(), spine));
            std::iter::once(("network.switch".to_owned(), &fabric.switch))
                .chain(spine)
                .collect()
        }
        Network::Dumbbell(dumbbell) => vec![("network.switch".to_owned(), &dumbbell.switch)],
        Network::ParkingLot(lot) => vec![("network.switch".to_owned(), &lot.switch)],
        Network::Explicit(explicit) => {
            let switches = explicit.switch.iter().enumerate();
            switches
                .map(|(i, s)| (format!("network.switch[{i}].model"), &s.model))
                .collect()
        }
    }
}

/// The stack of the scenario, and those of hosts that have their own.
fn stacks(scenario: &Scenario) -> impl Iterator<Item = &Stack> {
    let own = match &scenario.network {
        Network::Explicit(explicit) => explicit.host.as_slice(),
        _ => &[],
    };
    std::iter::once(&scenario.stack).chain(own.iter().filter_map(|host| host.stack.as_ref()))
}

fn check_link(link: &LinkConfig) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !(SMALLEST_MTU_BYTES..=LARGEST_MTU_BYTES).contains(&link.mtu.get()) {
        findings.push(Finding::new(
            "mtu",
            format!("an MTU of {} is out of range", link.mtu),
            format!("{SMALLEST_MTU_BYTES}B to {LARGEST_MTU_BYTES}B"),
        ));
    }
    if link.rate.as_bps() == 0 {
        findings.push(Finding::new(
            "rate",
            "nothing ever crosses a link of rate zero",
            "a rate above zero, such as \"10Gbit\"",
        ));
    }
    let late = link.impairment.iter().filter_map(|i| i.reorder.as_ref());
    findings.extend(late.filter(|late| late.delay.is_zero()).map(|_| {
        Finding::new(
            "impairment.reorder.delay",
            "frames that are not late overtake nobody",
            "how much later, such as \"300us\", or no reorder",
        )
    }));
    let outages = link.impairment.iter().flat_map(|i| &i.outages);
    for (i, outage) in outages.enumerate() {
        let at = |key: &str| format!("impairment.outages[{i}].{key}");
        let Outage { from, until, every } = *outage;
        if from >= until {
            let reason = format!("from {from} until {until} is no time");
            findings.push(Finding::new(
                at("until"),
                reason,
                "an end after the beginning",
            ));
        } else if let Some(finding) = every.and_then(|every| period::too_short(&at("every"), every))
        {
            findings.push(finding);
        } else if every.is_some_and(|every| every <= until - from) {
            let reason = format!(
                "the link would never be up: it is down for {} each time",
                until - from
            );
            findings.push(Finding::new(at("every"), reason, "a longer time"));
        }
    }
    let delays = link
        .impairment
        .iter()
        .filter_map(|i| i.delay_steps.as_ref());
    for DelaySteps { steps, period } in delays {
        let from: Vec<Duration> = steps.iter().map(|step| step.from).collect();
        let found = period::course("steps", &from, *period).into_iter();
        findings.extend(found.map(|f| f.within("impairment.delay_steps")));
    }
    findings.extend(meaning_bucket::policer(link));
    let rules = link.impairment.iter().flat_map(|i| &i.script);
    for (i, rule) in rules.enumerate() {
        let path = format!("impairment.script[{i}].by");
        let delays = rule.action == FrameAction::Delay;
        if delays && rule.by.is_zero() {
            let remedy = "how much later, such as \"300us\"";
            findings.push(Finding::new(
                path,
                "the frames would not be delayed",
                remedy,
            ));
        } else if !delays && !rule.by.is_zero() {
            let reason = "only an action \"delay\" takes a time";
            findings.push(Finding::new(path, reason, "leave it out"));
        }
    }
    findings
}

fn check_switch(switch: &SwitchConfig, mtu_bytes: u64) -> Vec<Finding> {
    let mut findings = Vec::new();
    let frame_bytes = mtu_bytes + FRAME_OVERHEAD_BYTES;
    let mut holds_no_frame = |path: &str, room: u64, unit: Bytes| {
        let unit = unit.get().max(1);
        let needed = frame_bytes.div_ceil(unit) * unit;
        if room < needed {
            findings.push(Finding::new(
                path,
                format!("there is no room for one frame of {frame_bytes} bytes"),
                format!("at least {needed}B, or a smaller MTU"),
            ));
        }
    };
    let unit = match &switch.buffer {
        BufferConfig::Shared(shared) => {
            shared_memory(shared, &mut holds_no_frame);
            ("buffer.segment", shared.segment)
        }
        BufferConfig::Queued(queued) => {
            let shared = &queued.memory;
            shared_memory(shared, &mut holds_no_frame);
            for (band, limit) in queued.band_limits.iter().enumerate() {
                if let TxLimit::Hog { bytes } = limit {
                    let path = format!("buffer.band_limits[{band}].bytes");
                    holds_no_frame(&path, bytes.get(), Bytes::new(1));
                }
            }
            if let QueueConfig::Cobalt(cobalt) = &queued.queue
                && cobalt.memlimit.get() > 0
            {
                let room = cobalt.memlimit.get();
                holds_no_frame("buffer.queue.memlimit", room, Bytes::new(1));
            }
            if let QueueConfig::Cake(cake) = &queued.queue
                && let Some(room) = cake.memlimit.filter(|room| room.get() > 0)
            {
                holds_no_frame("buffer.queue.memlimit", room.get(), Bytes::new(1));
            }
            ("buffer.segment", shared.segment)
        }
        BufferConfig::Voq(voq) => {
            holds_no_frame("buffer.port_buffer", voq.port_buffer.get(), voq.cell);
            ("buffer.cell", voq.cell)
        }
    };
    if unit.1.get() == 0 {
        findings.push(Finding::new(
            unit.0,
            "memory cannot be given out in pieces of no bytes",
            "at least 1B",
        ));
    }
    findings
}

/// Asks `holds_no_frame`, with a path, of what a shared memory may hold of one queue, and in pieces of how many bytes.
fn shared_memory(memory: &SharedConfig, holds_no_frame: &mut impl FnMut(&str, u64, Bytes)) {
    let private = memory.rx_private.get().max(memory.tx_private.get());
    let shared = memory.shared.get();
    holds_no_frame("buffer.shared", shared.max(private), memory.segment);
    let hog = match memory.tx_limit {
        TxLimit::Hog { bytes } => Some(bytes),
        TxLimit::None {} | TxLimit::Dynamic { .. } => None,
    };
    for (path, cap) in [
        ("buffer.tx_limit.bytes", hog),
        ("buffer.rx_hog", memory.rx_hog),
    ] {
        // Below its cap a queue takes a frame, so that any segment is enough.
        if cap.is_some_and(|cap| cap < memory.segment) {
            holds_no_frame(path, private, memory.segment);
        }
    }
}

fn stack_findings(stack: &Stack, at: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    // The schema keeps hz above zero.
    let tick = Duration::from_secs(1) / u64::from(stack.hz.max(1));
    if stack.rto_min < tick {
        findings.push(Finding::new(
            "rto_min",
            format!("{} is shorter than a tick of this clock", stack.rto_min),
            format!("at least {tick}, or a larger hz"),
        ));
    }
    if stack.rto_initial < tick {
        findings.push(Finding::new(
            "rto_initial",
            format!("{} is shorter than a tick of this clock", stack.rto_initial),
            format!("at least {tick}, or a larger hz"),
        ));
    }
    if stack.rto_max < stack.rto_min {
        findings.push(Finding::new(
            "rto_max",
            format!("{} is less than rto_min, {}", stack.rto_max, stack.rto_min),
            "no less than rto_min",
        ));
    }
    if stack.delack_max < stack.delack_min {
        findings.push(Finding::new(
            "delack_max",
            format!(
                "{} is less than delack_min, {}",
                stack.delack_max, stack.delack_min
            ),
            "no less than delack_min",
        ));
    }
    for (path, buffer) in [("tcp_rmem", &stack.tcp_rmem), ("tcp_wmem", &stack.tcp_wmem)] {
        if !buffer.is_sorted() {
            findings.push(Finding::new(
                path,
                "least, initial and most are not in this order",
                "three sizes, none smaller than the one before it",
            ));
        }
    }
    let least = Bytes::new(RMEM_LEAST_BYTES);
    if stack.tcp_rmem.iter().any(|size| *size < least) {
        findings.push(Finding::new(
            "tcp_rmem",
            format!("Linux takes no size below {least}"),
            format!("three sizes of at least {least}"),
        ));
    }
    if stack.sender == Sender::Linux72 && stack.tcp_reordering > stack.tcp_max_reordering {
        findings.push(Finding::new(
            "tcp_reordering",
            format!(
                "it is more than tcp_max_reordering, {}",
                stack.tcp_max_reordering
            ),
            "no more than tcp_max_reordering",
        ));
    }
    if stack.sender == Sender::Linux72 && stack.tcp_notsent_lowat == 0 {
        findings.push(Finding::new(
            "tcp_notsent_lowat",
            "nobody could ever write: there is never less than nothing unsent",
            "more than 0, such as 131072; 4294967295 for no limit",
        ));
    }
    if stack.sender == Sender::Linux72 && stack.fast_recovery == FastRecovery::Reno {
        findings.push(Finding::new(
            "fast_recovery",
            "the sender linux-7.2 knows no fast recovery but newreno's",
            "\"newreno\", or sender = \"linux-2.6\"",
        ));
    }
    if stack.sender == Sender::Linux72 && stack.cwnd_reduction != CwndReduction::Prr {
        findings.push(Finding::new(
            "cwnd_reduction",
            "the sender linux-7.2 reduces its window by PRR alone",
            "\"prr\", or sender = \"linux-2.6\"",
        ));
    }
    if stack.sender == Sender::Linux72 && stack.rto_jitter > 0.0 {
        findings.push(Finding::new(
            "rto_jitter",
            "the sender linux-7.2 has timeouts that are not randomised",
            "0, or sender = \"linux-2.6\"",
        ));
    }
    findings.extend(meaning_congestion::stack_findings(stack));
    findings.into_iter().map(|f| f.within(at)).collect()
}
