//! The one definition of a scenario: its types, units, presets, checks, sweeps and workloads.
//!
//! [`Plan::from_toml`] turns a scenario file into the runs it stands for, or into all that is
//! wrong with it. This crate knows no backend: a [`Run`] says what is to happen, not how.

mod background;
mod background_flows;
mod built_in;
mod check;
mod columns;
mod dat;
mod document;
mod extent;
mod flow_list_file;
mod identity;
mod kernel;
mod kernel_sysctl;
mod kernel_unheeded;
mod meaning;
mod meaning_bucket;
mod meaning_congestion;
mod meaning_dcqcn;
mod meaning_host;
mod meaning_pushback;
mod meaning_qdisc;
mod meaning_switch;
mod meaning_trace;
mod meaning_way;
mod model;
mod nearest;
mod network;
mod one_path;
mod over;
mod overrides;
mod path;
mod pcap;
mod period;
mod places;
mod plan;
mod preset;
mod problem;
mod python;
mod reroute;
mod resolve;
mod schema;
mod series;
mod sizes_file;
mod socket;
mod sweep;
mod topology;
mod trace_file;
mod unmarked;
mod unmodelled;
mod vlans;
mod workload;

pub use background::{Arrivals, Background};
pub use background_flows::{BackgroundFlow, BackgroundFlows, Pace};
pub use built_in::BUILT_IN;
pub use columns::is_column;
pub use dat::dat_to_toml;
pub use kernel::{HostKind, KernelHost, Offloads};
pub use model::Record;
pub use pcap::PcapConfig;
pub use plan::{Plan, Run};
pub use preset::{Kind, built_in as presets};
pub use problem::{Problem, Severity};
pub use python::{Programs, PythonProgram, Setting};
pub use reroute::Reroute;
pub use schema::schema;
pub use series::SeriesConfig;
pub use socket::{LinuxValue, SocketConfig};
pub use topology::{Host, Link, Node, Switch, Topology};
pub use vlans::carries;
pub use workload::{
    Bernoulli, Bulk, Collective, Command, Commands, Deed, End, Exchange, Flent, FlentTest, Flow,
    Flows, Gaps, Incast, Iperf3, Lane, Measured, MeasuredFlow, Measurement, Operation, Pairs, Ping,
    PingLine, Pinger, Probe, Queries, Rank, Reporter, RequestResponse, Rest, Schedule, SizePoint,
    Sizes, TimedAction, Udp, Workload,
};
