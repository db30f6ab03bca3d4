//! A host's configuration for the agent: its set-up as the scenario has it, and its tasks.

use std::collections::BTreeMap;

use tailback_agent::config::{self, GuestConfig, Interface, Neighbour, Offloads, Task};
use tailback_scenario::{LinuxValue, Node, Run, SocketConfig};
use tailback_wire::plan;

use super::addresses::Addresses;
use super::measured;
use super::tasks::ns;

/// Bits of the network's part in all addresses of the plan.
const PREFIX_LENGTH: u8 = 8;

/// The configuration of a host of a run; `epoch_ns` is the time of day at which its clock is zero.
pub(super) fn of(
    run: &Run,
    number: usize,
    epoch_ns: u64,
    tasks: Vec<Task>,
    at: &Addresses,
) -> GuestConfig {
    let host = &run.network.hosts[number];
    let kernel = &host.kernel;
    let others = (0..run.network.hosts.len()).filter(|other| *other != number);
    let (looks_ns, counters_ns) = measured::looks_ns(run);
    GuestConfig {
        host: host.name.clone(),
        seed: run.seed,
        epoch_ns,
        interface: Interface {
            name: "eth0".to_owned(),
            address: at.of(number),
            prefix_length: PREFIX_LENGTH,
            mtu_bytes: u32::from(mtu_bytes(run, number)),
            // What the card does not offer cannot be switched.
            offloads: Offloads {
                gso: kernel.offloads.gso,
                gro: kernel.offloads.gro,
                ..Offloads::default()
            },
            whole_ring: false,
        },
        neighbours: others
            .map(|other| Neighbour {
                address: at.of(other),
                mac: mac(other),
            })
            .collect(),
        peers: Vec::new(),
        keep_sysctls: false,
        patience_ns: None,
        until_over: false,
        profile_sysctls: kernel.profile_sysctls.clone(),
        sysctls: kernel.sysctls.clone(),
        socket_options: socket_options(&host.socket),
        commands: [("ip", &kernel.ip), ("tc", &kernel.tc)]
            .into_iter()
            .flat_map(|(program, lines)| lines.iter().map(move |line| words(program, line)))
            .collect(),
        sample_interval_ns: kernel.sample_interval.map(ns),
        looks_ns,
        counters_ns,
        tasks,
    }
}

/// The MTU of a host's link, bytes.
pub(super) fn mtu_bytes(run: &Run, host: usize) -> u16 {
    let link = run.network.links_of(Node::Host(host)).next();
    link.map_or(1500, |link| run.network.links[link].config.mtu.get() as u16)
}

/// The Ethernet address of a host, as it is written.
pub(super) fn mac(host: usize) -> String {
    plan::mac(host as u16)
        .map(|byte| format!("{byte:02x}"))
        .join(":")
}

/// A line for a program, without its name, as the words of a command.
pub(super) fn words(program: &str, line: &str) -> Vec<String> {
    let words = line.split_whitespace();
    std::iter::once(program)
        .chain(words)
        .map(str::to_owned)
        .collect()
}

fn socket_options(socket: &SocketConfig) -> BTreeMap<String, config::OptionValue> {
    let options = socket.linux().into_iter();
    let value = |value| match value {
        LinuxValue::Number(number) => config::OptionValue::Number(number),
        LinuxValue::Long(number) => config::OptionValue::Long(number),
        LinuxValue::Text(text) => config::OptionValue::Text(text),
    };
    options.map(|(n, v)| (n.to_owned(), value(v))).collect()
}
