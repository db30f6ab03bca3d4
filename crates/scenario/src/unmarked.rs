//! Switches that would mark where no packet can be marked: told before the runs, which are sound all the same.
//!
//! A packet is ECN-capable where its connection agreed on ECN, and somebody has to ask for it: Linux answers by
//! default and does not ask (tcp_ecn 2, include/net/tcp_ecn.h), but for congestion controls that need it. Looked at are markers
//! that do nothing but mark (`step`, `linear`, CoDel's `ce_threshold`); those that drop in place of marking act either way.

use serde_json::Value;
use tailback_net::marking::MarkingConfig;
use tailback_net::queue::QueueConfig;
use tailback_tcp::congestion::CongestionKind;

use crate::meaning_qdisc;
use crate::plan::Run;
use crate::problem::Finding;
use crate::workload::{Asked, Workload};

/// Runs whose switches mark in vain, where the scenario as written does not speak of `tcp_ecn` at all: who does wants
/// it so.
pub(crate) fn finding(written: &Value, runs: &[Run]) -> Option<Finding> {
    if says(written, "tcp_ecn") || says(&written["workload"], "ecn") {
        return None;
    }
    let vain: Vec<&Run> = runs.iter().filter(|run| marks(run) && !asks(run)).collect();
    let first = vain.first()?;
    let which = match (vain.len() == runs.len(), first.parameters.as_slice()) {
        (true, _) | (_, []) => "no".to_owned(),
        (false, swept) => {
            let values = swept.iter().map(|(name, value)| match value.as_str() {
                Some(text) => format!("{name} {text}"),
                None => format!("{name} {value}"),
            });
            format!(
                "in {} of {} runs (the first: {}) no",
                vain.len(),
                runs.len(),
                values.collect::<Vec<_>>().join(", ")
            )
        }
    };
    if let Workload::Udp(_) = first.workload {
        return Some(Finding::new(
            "workload.ecn",
            format!(
                "a port marks ECN-capable packets, and {which} datagram is one: nothing is marked"
            ),
            "ecn = true",
        ));
    }
    Some(Finding::new(
        "stack.tcp_ecn",
        format!(
            "a port marks ECN-capable packets, and {which} host asks for ECN: nothing is marked"
        ),
        "tcp_ecn = 1 (2, Linux's default, answers and does not ask), or a congestion control that asks by itself, such as \
         dctcp",
    ))
}

/// Whether a key of this name, or a path that ends with it, stands anywhere in `value`.
fn says(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(map) => map
            .iter()
            .any(|(key, value)| key.rsplit('.').next() == Some(name) || says(value, name)),
        Value::Array(items) => items.iter().any(|item| says(item, name)),
        _ => false,
    }
}

/// Whether a switch, or a host's interface, does nothing to a packet but mark it.
fn marks(run: &Run) -> bool {
    let by_delay = |queue: &QueueConfig| match queue {
        QueueConfig::Codel(codel) => codel.ce_threshold.is_some(),
        QueueConfig::FqCodel(codel) => codel.ce_threshold.is_some(),
        _ => false,
    };
    let mut hosts = 0..run.network.hosts.len();
    if hosts.any(|host| run.network.host_qdisc(host).is_some_and(by_delay)) {
        return true;
    }
    let mut switches = run.network.switches.iter().enumerate();
    switches.any(|(number, switch)| {
        let by_rule = matches!(
            switch.config.marking,
            MarkingConfig::Step(_) | MarkingConfig::Linear(_)
        );
        let mut queues = meaning_qdisc::of_switch(number, switch, &run.network.links);
        by_rule || queues.any(by_delay)
    })
}

/// Whether anybody sends packets that can be marked, or opens a connection that asks for them.
fn asks(run: &Run) -> bool {
    // What others' ask for by themselves is not known.
    let needs = |kind: &CongestionKind| {
        kind.needs_ecn() || !kind.is_modelled() || kind.own_name().is_some()
    };
    let connects = !matches!(run.workload, Workload::Udp(_)) || !run.background_flows.is_empty();
    let mut hosts = run.network.hosts.iter();
    let own = connects
        && hosts.any(|host| {
            let stack = &host.stack;
            matches!(stack.tcp_ecn, 1 | 3 | 4)
                || needs(&stack.tcp_congestion_control)
                || host.socket.tcp_congestion.iter().any(needs)
        });
    let by_workload = match &run.workload {
        Workload::Udp(udp) => udp.ecn,
        // What programs of the user's ask for is theirs; echo requests are never marked, and nobody expects it.
        Workload::Command(_) | Workload::Ping(_) => true,
        workload => Asked::of_workload(workload).kinds.iter().any(needs),
    };
    let mut beside = run.background_flows.iter();
    own || by_workload
        || run.background.iter().any(|source| source.ecn)
        || beside.any(|flows| flows.congestion.iter().any(needs))
}
