//! What a time series of the whole network is to show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Duration;

use crate::nearest;
use crate::period;
use crate::problem::Finding;
use crate::topology::Topology;

/// A time series of the whole network and of one host: table `network`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeriesConfig {
    /// Time between rows.
    pub interval: Duration,
    /// The host whose throughput, and the queue to whom, has columns of its own; absent: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl SeriesConfig {
    /// The place of that host in the topology.
    #[must_use]
    pub fn host(&self, network: &Topology) -> usize {
        let named = |name: &String| network.hosts.iter().position(|host| host.name == *name);
        self.host.as_ref().and_then(named).unwrap_or(0)
    }

    pub(crate) fn findings(&self, network: &Topology) -> Vec<Finding> {
        let short = period::too_short("interval", self.interval);
        let mut found: Vec<Finding> = short.into_iter().collect();
        if let Some(name) = &self.host
            && !network.hosts.iter().any(|host| host.name == *name)
        {
            let names = network.hosts.iter().map(|host| host.name.as_str());
            found.push(Finding::new(
                "host",
                format!("there is no host {name:?}"),
                nearest::suggest(name, names),
            ));
        }
        found
    }
}
