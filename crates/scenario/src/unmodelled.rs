//! Congestion controls that only a kernel has, at hosts that are modelled: told before a run is made, for only who
//! makes it knows which hosts are which (`--backend`).

use tailback_tcp::congestion::CongestionKind;

use crate::plan::Run;
use crate::workload::{Pairs, Workload};

impl Run {
    /// The first modelled host that is to send by a congestion control of which there is no model, and which;
    /// `is_modelled` tells hosts by their numbers.
    #[must_use]
    pub fn unmodelled_control(
        &self,
        is_modelled: impl Fn(usize) -> bool,
    ) -> Option<(&str, CongestionKind)> {
        let hosts = &self.network.hosts;
        let name = |host: usize| hosts[host].name.as_str();
        let kernels_own = |kinds: &[CongestionKind]| {
            let mut kinds = kinds.iter().copied();
            kinds.find(|kind| !kind.is_modelled())
        };
        let of_host = hosts.iter().enumerate().find_map(|(number, host)| {
            let stack = &host.stack.tcp_congestion_control;
            let kind = kernels_own(host.socket.tcp_congestion.as_slice())
                .or_else(|| kernels_own(std::slice::from_ref(stack)))?;
            is_modelled(number).then(|| (name(number), kind))
        });
        let source = |pairs: Option<&Pairs>, stream: u64| match pairs {
            None => (0..hosts.len()).find(|host| is_modelled(*host)),
            Some(pairs) => {
                let pairs = pairs.of(self.seed, stream, &self.network).into_iter();
                let mut sources = pairs.map(|(source, _)| source);
                sources.find(|source| is_modelled(*source))
            }
        };
        let of_workload = || {
            let (asked, pairs) = match &self.workload {
                Workload::Bulk(bulk) => (&bulk.congestion, Some(&bulk.pairs)),
                Workload::Flows(flows) => (&flows.congestion, None),
                _ => return None,
            };
            let kind = kernels_own(asked)?;
            Some((name(source(pairs, 0)?), kind))
        };
        let beside = || {
            (1..)
                .zip(&self.background_flows)
                .find_map(|(stream, flows)| {
                    let kind = kernels_own(&flows.congestion)?;
                    Some((name(source(Some(&flows.pairs), stream)?), kind))
                })
        };
        of_host.or_else(of_workload).or_else(beside)
    }
}

#[cfg(test)]
#[path = "unmodelled_tests.rs"]
mod tests;
