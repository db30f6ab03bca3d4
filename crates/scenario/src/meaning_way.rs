//! Which way a link is meant, and who sends that way: traces and queue disciplines are one direction's.

use std::borrow::Cow;

use tailback_net::link::LinkConfig;
use tailback_net::switch::BufferConfig;
use tailback_net::switch::queued::QueuedConfig;

use crate::problem::Finding;
use crate::topology::{Node, Topology};

/// Why nobody can do it who sends one way, and what would be right.
pub(crate) type Unfit = (String, &'static str);

/// What is wrong with who sends, wherever a link has something in `key` for a direction: `has` lists those, and `unfit` is asked
/// of the two ends, the sender first; `links` are the scenario's, by their paths.
pub(crate) fn findings(
    links: &[(String, Cow<'_, LinkConfig>)],
    topology: &Topology,
    key: &str,
    has: impl Fn(&LinkConfig) -> Vec<&'static str>,
    unfit: impl Fn(Node, Node) -> Option<Unfit>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, link) in links {
        for direction in has(link) {
            let mut here = topology.links.iter().filter(|one| one.config == **link);
            let wrong = here.find_map(|one| match direction {
                "forward" => unfit(one.a, one.b),
                _ => unfit(one.b, one.a),
            });
            if let Some((reason, remedy)) = wrong {
                let at = format!("{path}.{key}.{direction}");
                found.push(Finding::new(at, reason, remedy));
            }
        }
    }
    found
}

/// The queues of a switch that are served when their port is free.
pub(crate) fn queues_of(topology: &Topology, number: usize) -> Result<&QueuedConfig, Unfit> {
    match &topology.switches[number].config.buffer {
        BufferConfig::Queued(queued) => Ok(queued),
        BufferConfig::Shared(_) | BufferConfig::Voq(_) => {
            let name = topology.name(Node::Switch(number));
            let reason =
                format!("switch {name:?} sends this way, and has no queue that waits for its port");
            let remedy = "a switch whose buffer is of kind \"queued\", such as \"plain-queued\"";
            Err((reason, remedy))
        }
    }
}
