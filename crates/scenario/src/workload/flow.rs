//! A list of flows: what a workload without answers comes down to.
//!
//! A seed gives the list; every backend replays it. A flow is a connection of its own: its source
//! opens it, sends, and that is all.

use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Bytes, Duration, Rate, Time};

use crate::topology::{Node, Topology};

/// One flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// When its source opens the connection.
    pub start: Time,
    /// The host that sends, by its place in the topology.
    pub source: usize,
    /// The host that receives.
    pub destination: usize,
    /// Bytes of payload; absent: it never ends.
    pub bytes: Option<u64>,
    /// What its source asks for by TCP_CONGESTION; absent: nothing, so the host's stack decides.
    pub congestion: Option<CongestionKind>,
    /// The priority of its packets both ways, 0 to 7: a switch's traffic class.
    pub priority: u8,
    /// The query, from 1, that it answers with others; none: it is by itself.
    pub query: Option<u32>,
}

/// Mean time between what brings `bytes` each, where it makes a line of this rate carry `load` of it, picoseconds.
pub(super) fn gap_ps(load: f64, rate: Rate, bytes: u64) -> u64 {
    // In 2^-32, so that the same number comes out everywhere.
    let load = (load * 4_294_967_296.0) as u128;
    let line = u128::from(rate.time_for(bytes).as_ps());
    ((line << 32) / load.max(1)).min(u128::from(u64::MAX)) as u64
}

/// What the flow of that number asks for: those listed take turns.
pub(crate) fn turn<T: Copy>(listed: &[T], number: usize) -> Option<T> {
    let turns = listed.len().max(1);
    listed.get(number % turns).copied()
}

/// How many of them there are in this time on the lines of all hosts, on average.
pub(super) fn arrivals(load: f64, bytes: u64, duration: Duration, network: &Topology) -> u64 {
    let of = |rate| duration.as_ps() / gap_ps(load, rate, bytes).max(1);
    let lines = host_lines(network).into_iter();
    lines.fold(0, |sum, (rate, _)| of(rate).saturating_add(sum))
}

/// The rate of each host's link, and its MTU.
pub(super) fn host_lines(network: &Topology) -> Vec<(Rate, Bytes)> {
    let mut lines = vec![(Rate::default(), Bytes::default()); network.hosts.len()];
    for link in &network.links {
        for node in [link.a, link.b] {
            if let Node::Host(host) = node {
                lines[host] = (link.config.rate, link.config.mtu);
            }
        }
    }
    lines
}
