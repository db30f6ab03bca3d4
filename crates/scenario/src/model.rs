//! What a scenario file may say, as types.
//!
//! These types are the one definition of the format: the JSON Schema is generated from them and
//! a file is checked against it before it is read into them. Where a preset's name may stand for
//! a table, the type's place is marked with [`Presettable`](crate::schema::Presettable).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tailback_net::host::HostConfig;
use tailback_net::switch::SwitchConfig;
use tailback_net::trace::Trace;
use tailback_tcp::Stack;
use tailback_units::Duration;

use crate::background::Background;
use crate::background_flows::BackgroundFlows;
use crate::kernel::KernelConfig;
use crate::network::Network;
use crate::pcap::PcapConfig;
use crate::preset::Kind;
use crate::python::PythonProgram;
use crate::schema::{Overlays, PresetTables, Presettable};
use crate::series::SeriesConfig;
use crate::socket::SocketConfig;
use crate::sweep::Axis;
use crate::workload::Workload;

/// A Tailback scenario: a network, its hosts and their TCP, what they send, and what is varied.
///
/// Every quantity is a string with its unit: "10Gbit", "500ns", "8MB".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Tailback scenario")]
pub struct Scenario {
    /// Short name: lower-case letters, digits and hyphens.
    #[schemars(regex(pattern = r"^[a-z0-9]+(-[a-z0-9]+)*$"), extend("examples" = ["incast-8mb"]))]
    pub name: String,
    /// One line for headings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is asked, and how it is set up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Name of the published study that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["incast"]))]
    pub study: Option<String>,
    /// Files laid over this one, in order, relative to it; such as `tailback fit` writes.
    #[serde(default, skip_serializing_if = "Overlays::is_empty")]
    pub overlay: Overlays,
    /// Hosts, switches and links.
    pub network: Network,
    /// The machine every host is, unless a host says otherwise. Absent: `plain`, which is never the limit.
    #[schemars(with = "Presettable<HostConfig>", default = "default_host")]
    pub host: HostConfig,
    /// The TCP every host speaks, unless a host says otherwise. A table without a preset is laid
    /// over `linux-7.2`.
    #[schemars(with = "Presettable<Stack>", default = "default_stack")]
    pub stack: Stack,
    /// Options of every host's TCP sockets, unless a host says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<SocketConfig>,
    /// Settings of hosts that are real Linux kernels, and of all with `--backend kernel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelConfig>,
    /// What the hosts send.
    pub workload: Workload,
    /// Datagrams beside the workload: cross and reverse traffic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10_000))]
    pub background: Vec<Background>,
    /// TCP flows beside the workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1_000))]
    pub background_flows: Vec<BackgroundFlows>,
    /// Values to vary: the runs are the product of all axes, the first axis slowest.
    ///
    /// A key without a dot names the one value whose last part it is (`servers` is
    /// `workload.servers`, `rto_min` is `stack.rto_min`); a quoted key is a full path
    /// ("network.link.rate").
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sweep: BTreeMap<String, Axis>,
    /// How often each run is repeated, and from which seed.
    #[serde(default)]
    pub run: RunOptions,
    /// What is recorded beyond the tables every run gives.
    #[serde(default)]
    pub record: Record,
    /// Courses of links' capacity, by names of the scenario's own, which a link has in its `trace`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub trace: BTreeMap<String, Trace>,
    /// Congestion controls and queue disciplines of one's own in Python, by names of the scenario's own; `python:NAME`
    /// means one wherever a congestion control goes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub python: BTreeMap<String, PythonProgram>,
    /// Presets of this scenario's own, by kind and name. One with the name of a built-in preset
    /// changes values of that one.
    #[serde(default, skip_serializing_if = "PresetTables::is_empty")]
    pub preset: PresetTables,
}

fn default_host() -> &'static str {
    crate::resolve::DEFAULT_HOST
}

fn default_stack() -> &'static str {
    crate::resolve::DEFAULT_STACK
}

/// How often each run is repeated, and from which seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunOptions {
    /// Runs of each combination of swept values, each from a seed of its own.
    #[schemars(range(min = 1, max = 100_000))]
    pub repetitions: u32,
    /// The seed all randomness derives from.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub seed: u64,
    /// All points of the sweep draw alike, as far as what they draw for is: a run's seed comes from its repetition
    /// alone, not from its swept values.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub common_random_numbers: bool,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            repetitions: 1,
            seed: 1,
            common_random_numbers: false,
        }
    }
}

/// What is recorded beyond the tables every run gives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The iteration, counted from 0, of which every run records the time series of the tables
    /// `queues` and `progress`; beyond the last iteration: the last. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub anatomy_iteration: Option<u32>,
    /// How often TCP_INFO of every connection and what waits in every switch are recorded over the
    /// whole run, in the tables `samples` and `queue_samples`; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["10ms"]))]
    pub sample_interval: Option<Duration>,
    /// A time series of the whole network: table `network`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesConfig>,
    /// How often the counters of every interface are polled, as by SNMP: table `interfaces`; absent:
    /// never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["10s"]))]
    pub interfaces: Option<Duration>,
    /// What became of each request of workload `request-response`: table `requests`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requests: bool,
    /// A capture of frames, for Wireshark: one pcapng file a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcap: Option<PcapConfig>,
}

/// A configuration of which there are presets.
pub trait HasPresets: JsonSchema {
    /// Which presets.
    const KIND: Kind;
}

impl HasPresets for SwitchConfig {
    const KIND: Kind = Kind::Switch;
}

impl HasPresets for HostConfig {
    const KIND: Kind = Kind::Host;
}

impl HasPresets for Stack {
    const KIND: Kind = Kind::Stack;
}
