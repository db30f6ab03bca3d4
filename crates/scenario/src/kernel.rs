//! Hosts that are real Linux kernels: what a scenario may say of them.
//!
//! A kernel host runs a kernel's own TCP on a machine without limits; the network around it is the
//! simulated one. What the scenario's stack profile says is set as sysctls where Linux has one of
//! that name (`kernel_sysctl`); the rest of the profile does not concern it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_tcp::Stack;
use tailback_units::{Bytes, Duration};

use crate::kernel_sysctl::{self, SysctlValue};
use crate::period;
use crate::problem::Finding;

/// Ticks a second with which kernels are built.
const HZ: [u32; 2] = [100, 1000];

/// Least memory with which a kernel boots and takes part.
const LEAST_MEMORY_BYTES: u64 = 32 << 20;

/// Segments of a packet that every card takes, as the kernel counts them (include/linux/netdevice.h).
const GSO_MAX_SEGS: u32 = 65_535;

/// Memory unless the scenario says otherwise: enough for sockets that hold up to 80 MiB together.
const MEMORY_BYTES: u64 = 128 << 20;

/// What a host is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostKind {
    /// Modelled TCP on a modelled machine.
    #[default]
    Model,
    /// A real Linux kernel in virtual time.
    Kernel,
}

/// Settings of hosts that are real Linux kernels. What is absent is as the kernel has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KernelConfig {
    /// Which of the kernels that were built: a version or its beginning, or a kernel's name; absent: the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^(\d+\.\d+(\.\d+)?|[A-Za-z0-9._-]*[A-Za-z][A-Za-z0-9._-]*)$"), extend("examples" = ["7.2"]))]
    pub version: Option<String>,
    /// Ticks of the kernel's clock a second, 100 or 1000; absent: as the default kernel has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 1000))]
    pub hz: Option<u32>,
    /// Memory of the machine; 128 MiB unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Sysctls by their full names, over what the stack profile sets: net.ipv4.tcp_recovery = 1.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<String, SysctlValue>,
    /// Lines for ip(8), run in order before those of `tc`; the interface is eth0, and all hosts are in
    /// 10.0.0.0/8.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["route change 10.0.0.0/8 dev eth0 rto_min 5ms"]]))]
    pub ip: Vec<String>,
    /// Lines for tc(8), run in order before anything is sent; the interface is eth0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["qdisc replace dev eth0 root fq"]]))]
    pub tc: Vec<String>,
    /// Offloads to switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offloads: Option<Offloads>,
    /// The card interrupts no sooner than this after the last interrupt; 16 us unless given, "0s"
    /// for an interrupt at each frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt_moderation: Option<Duration>,
    /// How often TCP_INFO of each connection is recorded; absent: as the scenario's `record` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_interval: Option<Duration>,
}

/// Offloads of a kernel host's interface; what is absent is on, but `tso`, which is the stack's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Offloads {
    /// TCP segmentation by the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tso: Option<bool>,
    /// Segmentation in the kernel's last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gso: Option<bool>,
    /// Merging of received segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gro: Option<bool>,
    /// Checksums written and checked by the card; without them it does not segment either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_checksum: Option<bool>,
}

/// A host as it would be as a kernel: every setting decided.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelHost {
    /// Version or its beginning; absent: the default kernel's.
    pub version: Option<String>,
    /// Ticks a second; absent: the default kernel's.
    pub hz: Option<u32>,
    /// Memory of the machine.
    pub memory: Bytes,
    /// Sysctls that the scenario asks for: the kernel must have them.
    pub sysctls: BTreeMap<String, String>,
    /// Sysctls of the stack profile: set where the kernel has them.
    pub profile_sysctls: BTreeMap<String, String>,
    /// Lines for ip(8).
    pub ip: Vec<String>,
    /// Lines for tc(8).
    pub tc: Vec<String>,
    /// Offloads to switch.
    pub offloads: Offloads,
    /// Segments that a packet has at most, if that is less than every card takes.
    pub gso_max_segs: Option<u32>,
    /// Least time between two interrupts of the card.
    pub interrupt_moderation: Duration,
    /// How often TCP_INFO is recorded.
    pub sample_interval: Option<Duration>,
}

impl KernelHost {
    /// A host with the scenario's settings under its own, and this stack profile.
    #[must_use]
    pub fn new(
        all: Option<&KernelConfig>,
        own: Option<&KernelConfig>,
        stack: &Stack,
    ) -> KernelHost {
        let none = KernelConfig::default();
        let (all, own) = (all.unwrap_or(&none), own.unwrap_or(&none));
        let mut sysctls = kernel_sysctl::flat(&all.sysctl);
        sysctls.extend(kernel_sysctl::flat(&own.sysctl));
        let mut profile_sysctls = kernel_sysctl::of(stack);
        profile_sysctls.retain(|name, _| !sysctls.contains_key(name));
        let (base, over) = (
            all.offloads.unwrap_or_default(),
            own.offloads.unwrap_or_default(),
        );
        KernelHost {
            version: own.version.clone().or_else(|| all.version.clone()),
            hz: own.hz.or(all.hz),
            memory: own
                .memory
                .or(all.memory)
                .unwrap_or(Bytes::new(MEMORY_BYTES)),
            sysctls,
            profile_sysctls,
            ip: if own.ip.is_empty() { &all.ip } else { &own.ip }.clone(),
            tc: if own.tc.is_empty() { &all.tc } else { &own.tc }.clone(),
            offloads: Offloads {
                tso: over.tso.or(base.tso).or(Some(stack.tso)),
                gso: over.gso.or(base.gso),
                gro: over.gro.or(base.gro),
                tx_checksum: over.tx_checksum.or(base.tx_checksum),
            },
            gso_max_segs: (stack.gso_max_segs < GSO_MAX_SEGS).then_some(stack.gso_max_segs),
            // MLX5E_PARAMS_DEFAULT_RX_CQ_MODERATION_USEC (and of TX) of Linux 7.2,
            // drivers/net/ethernet/mellanox/mlx5/core/en.h: a common card of 10 to 100 Gb/s.
            interrupt_moderation: own
                .interrupt_moderation
                .or(all.interrupt_moderation)
                .unwrap_or(Duration::from_us(16)),
            sample_interval: own.sample_interval.or(all.sample_interval),
        }
    }

    /// The same, with samples so far apart if it says nothing of them itself.
    #[must_use]
    pub fn sampled(mut self, interval: Option<Duration>) -> KernelHost {
        self.sample_interval = self.sample_interval.or(interval);
        self
    }
}

impl KernelConfig {
    /// What is wrong with it; paths are relative to it.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let mut found = kernel_sysctl::findings(&self.sysctl);
        let version = self.version.as_deref().filter(|v| !is_version(v));
        if let Some(version) = version {
            found.push(Finding::new(
                "version",
                format!("{version:?} is no kernel's version"),
                "two or three numbers with points, such as \"7.2\" or \"7.2.13\", or the name of a kernel that was built",
            ));
        }
        if let Some(hz) = self.hz.filter(|hz| !HZ.contains(hz)) {
            found.push(Finding::new(
                "hz",
                format!("kernels are not built with {hz} ticks a second"),
                "100 or 1000",
            ));
        }
        if let Some(memory) = self.memory.filter(|m| m.get() < LEAST_MEMORY_BYTES) {
            found.push(Finding::new(
                "memory",
                format!("a kernel does not work in {memory}"),
                format!("at least {}", Bytes::new(LEAST_MEMORY_BYTES)),
            ));
        }
        let interval = self.sample_interval.into_iter();
        found.extend(interval.filter_map(|time| period::too_short("sample_interval", time)));
        found.extend(lines(
            "ip",
            &self.ip,
            &IP_OBJECTS,
            "route change 10.0.0.0/8 dev eth0 rto_min 5ms",
        ));
        found.extend(lines(
            "tc",
            &self.tc,
            &TC_OBJECTS,
            "qdisc replace dev eth0 root fq",
        ));
        found
    }
}

/// Lines of a program that do not begin with one of its objects.
fn lines<'a>(
    program: &'a str,
    lines: &'a [String],
    objects: &'a [&'a str],
    example: &'a str,
) -> impl Iterator<Item = Finding> + 'a {
    let numbered = lines.iter().enumerate();
    numbered.filter_map(move |(i, line)| {
        let first = line.split_whitespace().next().unwrap_or_default();
        (!objects.contains(&first)).then(|| {
            Finding::new(
                format!("{program}[{i}]"),
                format!("{first:?} is no object of {program}"),
                format!(
                    "a line as {program} takes it, without the word {program}: {example:?}; objects \
                     are {}",
                    objects.join(", ")
                ),
            )
        })
    })
}

/// Whether it is a version's beginning, or may be a kernel's name.
fn is_version(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = text.split('.').collect();
    let is_number = (2..=3).contains(&parts.len()) && parts.into_iter().all(number);
    // Whether there is one of that name is known where runs are made (python/tailback/kernel/cache.py).
    let is_name = text.bytes().any(|b| b.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    is_number || is_name
}

/// What ip(8) can act on that matters to a host with one interface.
const IP_OBJECTS: [&str; 6] = [
    "address",
    "link",
    "neighbour",
    "route",
    "rule",
    "tcp_metrics",
];

/// What tc(8) can act on.
const TC_OBJECTS: [&str; 5] = ["qdisc", "class", "filter", "action", "chain"];

#[cfg(test)]
#[path = "kernel_tests.rs"]
mod tests;
