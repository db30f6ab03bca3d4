//! When switches take other ways than over a link that is down: what a scenario says of it, and what is wrong with that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_net::impairment::outage::Outage;
use tailback_units::{Duration, Time};

use crate::network::Network;
use crate::plan::Run;
use crate::problem::Finding;
use crate::topology::{Link, Node};

/// When switches learn that a link between two of them is down, or up again; absent: never. One of the two times at
/// least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reroute {
    /// How long a link has to be down until the switches at its ends leave it out of equal paths, and up again until they
    /// take it back; what has no other path as short goes on over it. Absent: they know no sooner than all others do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<Duration>,
    /// How long until all switches know, and shortest paths are those without the link; no less than `local`. Absent:
    /// nobody but its ends ever knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub everywhere: Option<Duration>,
}

/// What is wrong with the times.
pub(crate) fn findings(network: &Network) -> Option<Finding> {
    match network.reroute()? {
        Reroute {
            local: None,
            everywhere: None,
        } => Some(Finding::new(
            "network.reroute",
            "nobody ever learns that a link is down",
            "local = \"1ms\", everywhere = \"200ms\" or both, or no reroute",
        )),
        Reroute {
            local: Some(local),
            everywhere: Some(everywhere),
        } if local > everywhere => Some(Finding::new(
            "network.reroute.everywhere",
            format!(
                "all switches would know after {everywhere}, those that the link joins after {local}"
            ),
            "no less than network.reroute.local",
        )),
        _ => None,
    }
}

/// Runs whose switches would route around what is down, where nothing ever is, or whose flows would keep a port when others
/// are lost, where none ever is: told before the runs, which are sound all the same.
pub(crate) fn unused(runs: &[Run]) -> Vec<Finding> {
    let is_wary = |run: &Run| run.network.reroute.is_some();
    let is_down = |run: &Run| run.network.links.iter().any(Link::may_be_avoided);
    let is_resilient = |run: &Run| {
        let mut switches = run.network.switches.iter();
        switches.any(|switch| switch.config.multipath.is_resilient())
    };
    let mut findings = Vec::new();
    if runs.iter().any(is_wary) && !runs.iter().any(|run| is_wary(run) && is_down(run)) {
        findings.push(Finding::new(
            "network.reroute",
            "no link between two switches is ever down: nothing changes",
            "impairment.outages of such a link, for one alone in network.except, or no reroute",
        ));
    }
    if runs.iter().any(is_resilient) && !runs.iter().any(|run| is_resilient(run) && is_wary(run)) {
        findings.push(Finding::new(
            "network",
            "flows would keep their port when others are lost (multipath.resilient), and routes never change",
            "network.reroute, or without resilient",
        ));
    }
    findings
}

impl Link {
    /// Whether it is down at times, and joins two switches.
    #[must_use]
    pub fn may_be_avoided(&self) -> bool {
        let is_switch = |node| matches!(node, Node::Switch(_));
        is_switch(self.a) && is_switch(self.b) && !self.outages().is_empty()
    }

    /// Times in which it is down, in one direction or both.
    #[must_use]
    pub fn outages(&self) -> &[Outage] {
        let impairment = self.config.impairment.as_ref();
        impairment.map_or(&[], |impairment| &impairment.outages)
    }

    /// When one of them begins or ends next after `now`.
    #[must_use]
    pub fn changes_after(&self, now: Time) -> Time {
        let changes = self
            .outages()
            .iter()
            .map(|outage| outage.changes_after(now));
        changes.min().unwrap_or(Time::NEVER)
    }

    /// Whether it is down at `now`, in one direction or both.
    #[must_use]
    pub fn is_down(&self, now: Time) -> bool {
        self.outages().iter().any(|outage| outage.holds(now))
    }
}
