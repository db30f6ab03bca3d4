//! Exchange: one connection whose two ends do what a list says, when it says it.
//!
//! For experiments that single something out: a lost tail, a zero window, an idle restart. The first
//! host opens the connection to the second at time zero. Both ends read whatever comes, unless told to
//! hold. An action due before the connection is up is done when it is up.
//! Left out: more than one connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration};

use super::order;
use crate::problem::Finding;
use crate::topology::Topology;

/// One connection between the first two hosts, with timed actions of both ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// When the run ends.
    pub duration: Duration,
    /// What the ends do; of actions at the same time the first listed goes first.
    #[schemars(length(min = 1))]
    pub action: Vec<TimedAction>,
    /// Names of the client and of the server. Absent: the topology's first two hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 2, max = 2), extend("examples" = [["host3", "host0"]]))]
    pub hosts: Vec<String>,
}

/// One thing that one end does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimedAction {
    /// When, from the beginning of the run.
    #[serde(default)]
    #[schemars(default)]
    pub at: Duration,
    /// Which end.
    pub end: End,
    /// What it does.
    pub does: Deed,
    /// Bytes it writes, if it writes; bytes it reads at most before it holds again, if it reads.
    #[serde(default)]
    #[schemars(default)]
    pub size: Bytes,
}

/// An end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The first host, which opens the connection.
    Client,
    /// The second host.
    Server,
}

/// What an end can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// Writes `size` bytes, as fast as the send buffer takes them.
    Write,
    /// Stops reading.
    Hold,
    /// Reads what has come and goes on reading; with a `size` so much at most, once, and holds.
    Read,
    /// Closes its direction once all it wrote is with TCP; it still reads.
    Shutdown,
    /// Closes the socket once all it wrote is with TCP.
    Close,
    /// Resets the connection once all it wrote is with TCP.
    Abort,
}

impl Exchange {
    /// Client and server among the hosts of `network`.
    #[must_use]
    pub fn ends(&self, network: &Topology) -> [usize; 2] {
        let order = order::hosts(&self.hosts, network);
        [order[0], order[1]]
    }

    /// The actions in the order they are due.
    #[must_use]
    pub fn in_order(&self) -> Vec<TimedAction> {
        let mut actions = self.action.clone();
        actions.sort_by_key(|action| action.at);
        actions
    }

    /// Bytes that `end` writes in all.
    #[must_use]
    pub fn written_bytes(&self, end: End) -> u64 {
        let writes = |a: &&TimedAction| a.end == end && a.does == Deed::Write;
        self.action
            .iter()
            .filter(writes)
            .map(|a| a.size.get())
            .sum()
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for (i, action) in self.action.iter().enumerate() {
            let writes = action.does == Deed::Write;
            let sized = writes || action.does == Deed::Read;
            let path = format!("action[{i}].size");
            if writes && action.size.get() == 0 {
                let remedy = "a size above zero, such as \"100kB\"";
                found.push(Finding::new(path, "no bytes to write", remedy));
            } else if !sized && action.size.get() > 0 {
                let reason = "only does = \"write\" and \"read\" take a size";
                found.push(Finding::new(path, reason, "leave it out"));
            }
            if action.at >= self.duration {
                found.push(Finding::new(
                    format!("action[{i}].at"),
                    "the run is over by then",
                    "a time before `duration`, or a longer duration",
                ));
            }
        }
        found
    }
}
