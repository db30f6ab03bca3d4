//! What makes no sense of cards that speak DCQCN.

use tailback_net::impairment::script::FrameAction;
use tailback_net::l2cm::dcqcn::DcqcnConfig;
use tailback_net::marking::{Mark, MarkingConfig};
use tailback_net::queue::QueueConfig;

use crate::kernel::HostKind;
use crate::meaning_qdisc;
use crate::model::Scenario;
use crate::period;
use crate::problem::Finding;
use crate::topology::{Link, Topology};
use crate::workload::Workload;

/// Parameters that contradict one another, by paths relative to them.
pub(crate) fn findings(config: &DcqcnConfig) -> Vec<Finding> {
    let mut found = Vec::new();
    if config.alpha_timer <= config.cnp_interval {
        found.push(Finding::new(
            "alpha_timer",
            format!(
                "with a CNP every {} at most, {} without one say nothing",
                config.cnp_interval, config.alpha_timer
            ),
            "longer than cnp_interval",
        ));
    }
    found.extend(period::too_short("alpha_timer", config.alpha_timer));
    found.extend(period::too_short("timer", config.timer));
    if config.byte_counter.get() == 0 {
        found.push(Finding::new(
            "byte_counter",
            "a stage that takes nothing never ends",
            "more than zero, such as \"10MB\"",
        ));
    }
    if config.r_min.as_bps() == 0 {
        found.push(Finding::new(
            "r_min",
            "a flow at no rate sends nothing that could be marked or not",
            "a rate above zero, such as \"100Mbit\"",
        ));
    }
    found
}

/// A network in which they have nothing to do, or do not fit.
pub(crate) fn network_findings(scenario: &Scenario, network: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    if network.hosts.iter().all(|host| host.config.dcqcn.is_none()) {
        return found;
    }
    let path = match scenario.host.dcqcn {
        Some(_) => "host.dcqcn",
        None => "network",
    };
    let mut add = |reason: String, remedy: &str| found.push(Finding::new(path, reason, remedy));
    let switches = &network.switches;
    let mut managed = switches
        .iter()
        .filter(|s| s.config.congestion_management.is_some());
    if let Some(switch) = managed.next() {
        add(
            format!(
                "a flow has one limiter, and switch {:?} tells sources too",
                switch.name
            ),
            "cards that speak DCQCN, or switches with congestion_management",
        );
    }
    if !(0..switches.len()).any(|number| marks(network, number))
        && !network.links.iter().any(impairs)
    {
        add(
            "DCQCN acts on marks (CE), and no switch makes any".to_owned(),
            "a switch's marking, such as kind = \"red\" with ecn = true",
        );
    }

    let capable = match &scenario.workload {
        Workload::Udp(udp) => udp.ecn,
        Workload::Ping(_) => false,
        _ => network.hosts.iter().any(|host| host.stack.tcp_ecn > 0),
    };
    if !capable && !scenario.background.iter().any(|source| source.ecn) {
        let remedy = match &scenario.workload {
            Workload::Udp(_) => "workload.ecn = true",
            Workload::Ping(_) => "ecn = true in [[background]], or another workload",
            _ => "ecn = true in [[background]], or tcp_ecn = 1 in a stack",
        };
        add(
            "only ECN-capable packets are marked, and no host sends any".to_owned(),
            remedy,
        );
    }
    let mut hosts = network.hosts.iter();
    if let Some(host) = hosts.find(|host| host.kind == HostKind::Kernel) {
        add(
            format!(
                "host {:?} is a real kernel, whose card neither answers marks nor obeys CNPs",
                host.name
            ),
            "modelled hosts, or none with dcqcn",
        );
    }
    found
}

/// Whether a switch marks CE.
fn marks(network: &Topology, number: usize) -> bool {
    let switch = &network.switches[number].config;
    let red = |red: &tailback_net::marking::red::RedConfig| red.ecn && red.mark == Mark::Ce;
    let joins = match &switch.marking {
        MarkingConfig::Off(_) => false,
        MarkingConfig::Step(step) => step.mark == Mark::Ce,
        MarkingConfig::Linear(linear) => linear.mark == Mark::Ce,
        MarkingConfig::Red(config) => red(config),
        MarkingConfig::Wred(wred) => wred.profiles.iter().any(red),
    };
    joins
        || meaning_qdisc::of_switch(number, &network.switches[number], &network.links)
            .any(waits_and_marks)
}

/// Whether a queue discipline does.
fn waits_and_marks(queue: &QueueConfig) -> bool {
    match queue {
        QueueConfig::Fifo {} => false,
        QueueConfig::Codel(codel) => {
            (codel.ecn && codel.mark == Mark::Ce) || codel.ce_threshold.is_some()
        }
        QueueConfig::FqCodel(codel) => {
            (codel.ecn && codel.mark == Mark::Ce) || codel.ce_threshold.is_some()
        }
        QueueConfig::Pie(pie) => pie.ecn && pie.mark == Mark::Ce,
        QueueConfig::Dualpi2(_) | QueueConfig::Cobalt(_) | QueueConfig::Cake(_) => true,
        QueueConfig::Python(_) => true, // nobody knows before it runs
    }
}

/// Whether a link's script does.
fn impairs(link: &Link) -> bool {
    let impairment = link.config.impairment.as_ref();
    let mut rules = impairment.into_iter().flat_map(|i| &i.script);
    rules.any(|rule| rule.action == FrameAction::Mark)
}
