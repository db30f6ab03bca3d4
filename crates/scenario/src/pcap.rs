//! Which frames a run writes into its capture.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration};

use crate::problem::Finding;
use crate::topology::Topology;

/// A capture of frames, for Wireshark: one pcapng file a run.
///
/// With neither hosts nor links, every link is captured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PcapConfig {
    /// Hosts whose links are captured, in both directions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Links that are captured, in one direction each, named by their two ends: "client>switch".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// Frames that leave before this are not captured.
    pub start: Duration,
    /// Frames that leave after this are not captured; absent: to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Duration>,
    /// Of each frame at most this much is kept; absent: all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snap: Option<Bytes>,
    /// The capture ends after so many frames.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub frames_max: u32,
}

impl Default for PcapConfig {
    fn default() -> PcapConfig {
        PcapConfig {
            hosts: Vec::new(),
            links: Vec::new(),
            start: Duration::ZERO,
            end: None,
            snap: None,
            frames_max: 1_000_000,
        }
    }
}

impl PcapConfig {
    /// Whether the link from one node to another is captured.
    #[must_use]
    pub fn selects(&self, from: &str, to: &str) -> bool {
        let named = |link: &String| link.split_once('>') == Some((from, to));
        (self.hosts.is_empty() && self.links.is_empty())
            || self.hosts.iter().any(|host| host == from || host == to)
            || self.links.iter().any(named)
    }

    /// What does not fit the network.
    pub(crate) fn findings(&self, network: &Topology) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (i, host) in self.hosts.iter().enumerate() {
            if !network.hosts.iter().any(|known| known.name == *host) {
                let names: Vec<&str> = network.hosts.iter().map(|h| h.name.as_str()).collect();
                findings.push(Finding::new(
                    format!("hosts[{i}]"),
                    format!("there is no host {host:?}"),
                    remedy(&names),
                ));
            }
        }
        let ends: Vec<[&str; 2]> = network
            .links
            .iter()
            .flat_map(|link| {
                let [a, b] = [link.a, link.b].map(|node| network.name(node));
                [[a, b], [b, a]]
            })
            .collect();
        for (i, link) in self.links.iter().enumerate() {
            if !ends
                .iter()
                .any(|[from, to]| link.split_once('>') == Some((from, to)))
            {
                let names: Vec<String> = ends.iter().map(|ends| ends.join(">")).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                findings.push(Finding::new(
                    format!("links[{i}]"),
                    format!("there is no link {link:?}"),
                    remedy(&names),
                ));
            }
        }
        if self.end.is_some_and(|end| end <= self.start) {
            findings.push(Finding::new(
                "end",
                "it is not after the start",
                "a later end",
            ));
        }
        findings
    }
}

/// The first of the names there are.
fn remedy(names: &[&str]) -> String {
    const SHOWN: usize = 6;
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!(
        "one of {}{more}",
        names[..names.len().min(SHOWN)].join(", ")
    )
}
