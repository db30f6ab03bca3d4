//! What a scenario says of a host that a kernel in virtual time does not do.
//!
//! A kernel takes of a stack profile what is a sysctl (`kernel_sysctl`), and of a host how long its applications
//! take. Of the rest it is as it is: `linux-7.2` and `uml-virtio` say how, so that a value which differs from
//! theirs is one that the run will not have.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tailback_net::host::HostConfig;
use tailback_tcp::Stack;

use crate::document::Document;
use crate::kernel_sysctl;
use crate::preset::{Kind, built_in};
use crate::topology::Host;

/// As kernels are, by the names of the presets.
const STACK: &str = "linux-7.2";
const HOST: &str = "uml-virtio";

/// Beside `tcp_…`: values of a stack that become sysctls, or the interface's.
const STACK_DONE: [&str; 6] = [
    "rmem_max",
    "wmem_max",
    "rto_min",
    "rto_max",
    "tso",
    "gso_max_segs",
];

/// Sysctls that have no effect any more: FACK since 4.15, the part of a buffer that is window since 6.6
/// (Documentation/networking/ip-sysctl.rst of Linux 7.2).
const WITHOUT_EFFECT: [&str; 2] = ["tcp_fack", "tcp_adv_win_scale"];

/// Of a host: what its applications take, what is refused, and what the simulator does with its frames.
const HOST_DONE: [&str; 6] = [
    "service_latency",
    "service_jitter",
    "client_latency",
    "send_call_cost",
    "dcqcn",
    "ce_to_ect1",
];

/// What kernels on these hosts do not do of what the scenario says of them, a sentence each.
pub(crate) fn unheeded<'a>(hosts: impl Iterator<Item = &'a Host>) -> Vec<String> {
    static STACKS: OnceLock<Map<String, Value>> = OnceLock::new();
    static HOSTS: OnceLock<Map<String, Value>> = OnceLock::new();
    let kernels = STACKS.get_or_init(|| preset::<Stack>(Kind::Stack, STACK));
    let machines = HOSTS.get_or_init(|| preset::<HostConfig>(Kind::Host, HOST));
    let (mut stack, mut machine) = (BTreeSet::new(), BTreeSet::new());
    let mut inexact = BTreeSet::new();
    let mut before: Option<&Host> = None;
    for host in hosts {
        // Most hosts of a run are alike.
        if before.is_some_and(|one| one.stack == host.stack && one.config == host.config) {
            continue;
        }
        before = Some(host);
        let is_sysctl = |name: &String| {
            let is = name.starts_with("tcp_") || STACK_DONE.contains(&name.as_str());
            is && !WITHOUT_EFFECT.contains(&name.as_str())
        };
        let own = different(&*host.stack, kernels);
        stack.extend(own.into_iter().filter(|name| !is_sysctl(name)));
        let is_done = |name: &String| HOST_DONE.contains(&name.as_str());
        machine.extend(
            different(&host.config, machines)
                .into_iter()
                .filter(|name| !is_done(name)),
        );
        inexact.extend(kernel_sysctl::inexact(&host.stack));
    }
    let listed = |names: BTreeSet<String>| Vec::from_iter(names).join(", ");
    let mut said = Vec::new();
    if !stack.is_empty() {
        said.push(format!(
            "stack: {}, which are not as in Linux 7.2; kernels take of a stack profile what is a sysctl",
            listed(stack)
        ));
    }
    said.extend(inexact);
    if !machine.is_empty() {
        said.push(format!(
            "host: {}; kernels have machines without limits and a card of their own (kernel.offloads, \
             kernel.interrupt_moderation)",
            listed(machine)
        ));
    }
    said
}

/// A built-in preset with all its values.
fn preset<T: DeserializeOwned + Serialize>(kind: Kind, name: &str) -> Map<String, Value> {
    let found = built_in(kind).iter().find(|(known, _)| *known == name);
    let root = found.and_then(|(name, text)| Some(Document::parse(text, name).ok()?.root));
    let whole = root.and_then(|root| serde_json::from_value::<T>(root).ok());
    values(&whole.expect("built-in presets are in order: see the tests"))
}

fn values(whole: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(whole) {
        Ok(Value::Object(values)) => values,
        _ => Map::new(),
    }
}

/// Names of the values that are not as in `usual`, those among them that only one of both has.
fn different(whole: &impl Serialize, usual: &Map<String, Value>) -> Vec<String> {
    let own = values(whole);
    let names = own.keys().chain(usual.keys());
    names
        .filter(|name| own.get(*name) != usual.get(*name))
        .cloned()
        .collect()
}

#[cfg(test)]
#[path = "kernel_unheeded_tests.rs"]
mod tests;
