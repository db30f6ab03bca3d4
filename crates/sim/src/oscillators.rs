//! The oscillators of a run's hosts and switches.

use tailback_net::link::LinkConfig;
use tailback_net::oscillator::Oscillator;
use tailback_net::random::Stream;
use tailback_scenario::Run;

/// By node, hosts first: its own. A host more or less changes no other's, nor a switch's.
pub(crate) struct Oscillators(Vec<Oscillator>);

impl Oscillators {
    /// Those of a run.
    pub(crate) fn new(run: &Run) -> Oscillators {
        let network = &run.network;
        let kinds = [
            ("host-oscillator", network.hosts.len()),
            ("switch-oscillator", network.switches.len()),
        ];
        let all = kinds
            .into_iter()
            .flat_map(|(name, count)| (0..count as u64).map(move |index| (name, index)));
        let own =
            |(name, index)| Oscillator::new(network.clock_ppm, Stream::new(run.seed, name, index));
        Oscillators(all.map(own).collect())
    }

    /// A link, or one direction of it, as a node sends over it.
    pub(crate) fn sent_by(&self, node: usize, config: &LinkConfig) -> LinkConfig {
        LinkConfig {
            rate: self.0[node].rate(config.rate),
            ..config.clone()
        }
    }
}

#[cfg(test)]
#[path = "oscillators_tests.rs"]
mod tests;
