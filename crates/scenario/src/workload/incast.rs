//! Incast: synchronised reads of one client from many servers.
//!
//! Models the benchmark of the incast study (Principled Technologies 2010) and of Phanishayee et
//! al. (FAST 2008): the client asks all servers back to back, each answers with its share, and
//! the next iteration begins when the last byte of the last answer is in. Connections stay open
//! over all iterations. The first host is the client, the next `servers` are the servers.
//! Left out: think time between iterations other than the client's own latency.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Bytes;

use super::order;
use crate::problem::Finding;
use crate::topology::Topology;

/// One client asks many servers at once, again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// Number of servers that answer; at most one less than there are hosts.
    #[schemars(range(min = 1, max = 1023))]
    pub servers: u32,
    /// Bytes that each server sends; with `striped`, that all servers send together.
    pub size: Bytes,
    /// Whether `size` is divided among the servers.
    #[serde(default)]
    pub striped: bool,
    /// Iterations, one after another.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub iterations: u32,
    /// Size of the message that asks a server.
    #[serde(default = "default_request")]
    #[schemars(default = "default_request")]
    pub request: Bytes,
    /// Names of the hosts that take part, in the order of their parts: first the client, then the servers.
    /// Absent: all, in the topology's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 2), extend("examples" = [["host3", "host0"]]))]
    pub hosts: Vec<String>,
}

/// A short message; the study's tool does not publish its own. [assumed]
fn default_request() -> Bytes {
    Bytes::new(64)
}

impl Incast {
    /// Hosts of `network` in the order of their parts.
    #[must_use]
    pub fn order(&self, network: &Topology) -> Vec<usize> {
        order::hosts(&self.hosts, network)
    }

    /// Bytes that server `index` (from 0) sends in an iteration.
    ///
    /// Where a striped size does not divide evenly, the first servers send one byte more.
    #[must_use]
    pub fn answer_bytes(&self, index: u32) -> u64 {
        let size = self.size.get();
        if !self.striped {
            return size;
        }
        let servers = u64::from(self.servers);
        size / servers + u64::from(u64::from(index) < size % servers)
    }

    /// Bytes that the client receives in an iteration.
    #[must_use]
    pub fn iteration_bytes(&self) -> u64 {
        if self.striped {
            self.size.get()
        } else {
            self.size.get() * u64::from(self.servers)
        }
    }

    pub(super) fn findings(&self, hosts: usize) -> Vec<Finding> {
        let mut found = Vec::new();
        let (hosts, whose) = order::count(&self.hosts, hosts);
        let servers = self.servers as usize;
        if servers >= hosts {
            found.push(Finding::new(
                "servers",
                format!(
                    "{servers} servers and the client need {} hosts, and {whose} {hosts}",
                    servers + 1
                ),
                format!("at most {} servers, or more hosts", hosts.saturating_sub(1)),
            ));
        }
        if self.size.get() == 0 {
            found.push(Finding::new(
                "size",
                "no bytes to send",
                "a size above zero, such as \"8MB\"",
            ));
        } else if self.striped && self.size.get() < u64::from(self.servers) {
            found.push(Finding::new(
                "size",
                format!(
                    "{} divided among {servers} servers leaves some with nothing to send",
                    self.size
                ),
                format!("at least {servers}B, or fewer servers"),
            ));
        }
        if self.request.get() == 0 {
            found.push(Finding::new(
                "request",
                "an empty message cannot ask for anything",
                "at least 1B, such as \"64B\"",
            ));
        }
        found
    }
}
