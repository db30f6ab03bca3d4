//! Congestion controls that only a kernel has, at hosts that are modelled: told before a run is made, for only who
//! makes it knows which hosts are which (`--backend`).

use tailback_tcp::congestion::CongestionKind;

use crate::plan::Run;
use crate::workload::Asked;

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
        let of_asked = |asked: Asked<'_>, stream: u64| {
            let kind = kernels_own(asked.kinds)?;
            let modelled = |host| is_modelled(host).then_some(host);
            let host = asked.at_first((self.seed, stream), &self.network, modelled)?;
            Some((name(host), kind))
        };
        let of_workload = || of_asked(Asked::of_workload(&self.workload), 0);
        let beside = || {
            let mut flows = (1..).zip(&self.background_flows);
            flows.find_map(|(stream, flows)| of_asked(Asked::of_flows_beside(flows), stream))
        };
        of_host.or_else(of_workload).or_else(beside)
    }
}

#[cfg(test)]
#[path = "unmodelled_tests.rs"]
mod tests;
