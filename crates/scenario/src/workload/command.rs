//! Programs of the user's on kernel hosts: iperf3, netperf, a tool of one's own.
//!
//! Nothing is modelled: each program runs on its host's real kernel, from its start to its end.
//! The run ends when all but those in the background have ended. Hosts that are no kernels cannot
//! run it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration};

use crate::problem::Finding;
use crate::topology::Topology;

/// Programs on hosts that are real kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// The programs.
    #[schemars(length(min = 1))]
    pub command: Vec<Command>,
}

/// A program on a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The host's name.
    pub host: String,
    /// The program and its arguments, separated by blanks; no shell looks at it. A host's name in
    /// braces is its address.
    #[schemars(length(min = 1), extend("examples" = ["iperf3 --client {server} --time 1 --json"]))]
    pub run: String,
    /// When it starts, on the simulated clock.
    #[serde(default)]
    #[schemars(default)]
    pub start: Duration,
    /// The run may end while it runs, as for a server that never ends.
    #[serde(default)]
    pub background: bool,
}

impl Commands {
    /// Some, so that a sweep's larger runs may start first.
    pub(super) fn expected_bytes(&self) -> u64 {
        Bytes::new(1 << 30).get() * self.command.len() as u64
    }

    /// What is wrong with it on that network.
    pub(super) fn findings(&self, network: &Topology) -> Vec<Finding> {
        let names = || network.hosts.iter().map(|host| host.name.as_str());
        let mut found = Vec::new();
        for (i, command) in self.command.iter().enumerate() {
            let mut unknown = |path: &str, name: &str| {
                if !names().any(|known| known == name) {
                    found.push(Finding::new(
                        format!("command[{i}].{path}"),
                        format!("there is no host {name:?}"),
                        crate::nearest::suggest(name, names()),
                    ));
                }
            };
            unknown("host", &command.host);
            for name in command.hosts() {
                unknown("run", name);
            }
            if command.run.split_whitespace().next().is_none() {
                found.push(Finding::new(
                    format!("command[{i}].run"),
                    "there is no program",
                    "a program and its arguments, such as \"iperf3 --server --one-off\"",
                ));
            }
        }
        if self.command.iter().all(|command| command.background) {
            found.push(Finding::new(
                "command",
                "all programs are in the background: the run would never end",
                "one program without background = true",
            ));
        }
        found
    }
}

impl Command {
    /// Names of hosts in braces.
    fn hosts(&self) -> impl Iterator<Item = &str> {
        self.run
            .split('{')
            .skip(1)
            .filter_map(|rest| rest.split_once('}'))
            .map(|(name, _)| name)
    }

    /// The program and its arguments, with `address` for each host's name in braces.
    #[must_use]
    pub fn argv(&self, address: impl Fn(&str) -> String) -> Vec<String> {
        let mut run = self.run.clone();
        for name in self.hosts() {
            run = run.replace(&format!("{{{name}}}"), &address(name));
        }
        run.split_whitespace().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_are_addresses() {
        let command = Command {
            host: "a".to_owned(),
            run: "iperf3 -c {b} --bind  {a}".to_owned(),
            start: Duration::ZERO,
            background: false,
        };
        let argv = command.argv(|name| format!("10.0.0.{}", if name == "b" { 2 } else { 1 }));
        assert_eq!(argv, ["iperf3", "-c", "10.0.0.2", "--bind", "10.0.0.1"]);
    }
}
