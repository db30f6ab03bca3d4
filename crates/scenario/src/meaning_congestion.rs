//! Congestion controls that a stack cannot run, by whatever key they are asked for.

use tailback_tcp::congestion::CongestionKind;
use tailback_tcp::{Sender, Stack};

use crate::kernel::HostKind;
use crate::model::Scenario;
use crate::network::Network;
use crate::problem::Finding;
use crate::topology::{Host, Topology};
use crate::workload::Asked;

/// What is wrong with a stack's congestion control and ECN, by paths relative to the stack.
pub(crate) fn stack_findings(stack: &Stack) -> Vec<Finding> {
    let kind = stack.tcp_congestion_control;
    let unfit = unfit(kind, stack)
        .map(|(reason, remedy)| Finding::new("tcp_congestion_control", reason, remedy));
    let mut found: Vec<Finding> = unfit.into_iter().collect();
    let unknown = stack.sender == Sender::Linux26 || !stack.accurate_ecn;
    if stack.tcp_ecn >= 3 && unknown && !stack.tcp_sce && kind != CongestionKind::Prague {
        found.push(Finding::new(
            "tcp_ecn",
            "accurate ECN, which this kernel does not know",
            "preset linux-7.2 (accurate_ecn = true), or ECN as of RFC 3168 (tcp_ecn 0 to 2)",
        ));
    }
    if stack.tcp_sce && (stack.tcp_ecn >= 3 || kind == CongestionKind::Prague) {
        found.push(Finding::new(
            "tcp_sce",
            ONE_FLAG,
            "tcp_sce = false, or tcp_ecn = 1",
        ));
    }
    if stack.tcp_sce && stack.tcp_ecn == 0 {
        found.push(Finding::new(
            "tcp_sce",
            "there is no SCE without ECN, and tcp_ecn is 0",
            "tcp_ecn = 1, or tcp_sce = false",
        ));
    }
    found
}

/// What SCE and accurate ECN have in common.
const ONE_FLAG: &str = "SCE's echo and accurate ECN's count are in the same flag of the header";

/// Why a stack cannot run this, and what would do.
fn unfit(kind: CongestionKind, stack: &Stack) -> Option<(String, &'static str)> {
    let name = kind.name();
    if kind.full_control() && stack.sender == Sender::Linux26 {
        let reason = match kind {
            CongestionKind::Prague => {
                "accurate ECN, and the sender is of Linux 2.6, which has none".to_owned()
            }
            _ => format!(
                "{name} goes by delivery rates, and the sender is of Linux 2.6, which measures none"
            ),
        };
        let remedy = "sender = \"linux-7.2\" (preset linux-7.2), or another congestion control";
        return Some((reason, remedy));
    }
    if kind.own_name().is_some() && stack.sender == Sender::Linux26 {
        let reason = format!(
            "{name} is asked on the occasions of Linux 7.2's sender, and this one is of Linux 2.6"
        );
        let remedy = "sender = \"linux-7.2\" (preset linux-7.2), or another congestion control";
        return Some((reason, remedy));
    }
    (kind.answers_sce() && stack.tcp_ecn == 0).then(|| {
        let reason = format!("{name} answers marks, and tcp_ecn = 0 asks for none");
        (reason, "tcp_ecn = 1, or another congestion control")
    })
}

/// The same of what sockets, flows of the workload and flows beside it ask for on modelled hosts; a
/// kernel says itself what it has.
pub(crate) fn asked_findings(scenario: &Scenario, network: &Topology) -> Vec<Finding> {
    let mut found = socket_findings(scenario, network);
    let asked = Asked::of_workload(&scenario.workload);
    found.extend(flow_findings("workload", asked, network));
    for (i, beside) in scenario.background_flows.iter().enumerate() {
        let at = format!("background_flows[{i}]");
        found.extend(flow_findings(&at, Asked::of_flows_beside(beside), network));
    }
    found
}

/// What is wrong with `kind` at `host`.
fn unfit_at(kind: CongestionKind, host: &Host, path: &str) -> Option<Finding> {
    if host.kind == HostKind::Kernel {
        return None;
    }
    let accurate = kind == CongestionKind::Prague && host.stack.tcp_sce;
    let unfit = unfit(kind, &host.stack);
    let unfit = unfit.or(accurate.then(|| (ONE_FLAG.to_owned(), "tcp_sce = false")));
    unfit.map(|(reason, remedy)| {
        Finding::new(path, format!("at host {:?}: {reason}", host.name), remedy)
    })
}

/// TCP_CONGESTION of all sockets, once, and of hosts' own.
fn socket_findings(scenario: &Scenario, network: &Topology) -> Vec<Finding> {
    let own = |i: usize| match &scenario.network {
        Network::Explicit(explicit) => explicit.host[i].socket.as_ref()?.tcp_congestion,
        _ => None,
    };
    let mut found: Vec<Finding> = Vec::new();
    let mut shared = true;
    for (i, host) in network.hosts.iter().enumerate() {
        let Some(kind) = host.socket.tcp_congestion else {
            continue;
        };
        if own(i).is_some() {
            let path = format!("network.host[{i}].socket.TCP_CONGESTION");
            found.extend(unfit_at(kind, host, &path));
        } else if shared {
            let unfit = unfit_at(kind, host, "socket.TCP_CONGESTION");
            shared = unfit.is_none();
            found.extend(unfit);
        }
    }
    found
}

/// What flows ask for that one of the hosts which ask cannot run.
fn flow_findings(at: &str, asked: Asked<'_>, network: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    for (i, kind) in asked.kinds.iter().enumerate() {
        let path = format!("{at}.congestion[{i}]");
        let unfit = |host: &Host| unfit_at(*kind, host, &path);
        // Pairs may be many: they are asked for where somebody could not run it.
        if network.hosts.iter().find_map(unfit).is_some() {
            let first = asked.at_first((0, 0), network, |host| unfit(&network.hosts[host]));
            found.extend(first);
        }
    }
    found
}
