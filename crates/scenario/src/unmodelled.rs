//! Congestion controls that only a kernel has, at hosts that are modelled, and those that only modelled hosts can
//! have, at others: told before a run is made, for only who makes it knows which hosts are which (`--backend`).

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
        self.control_at(|kind| !kind.is_modelled(), is_modelled)
    }

    /// The first host that is no modelled one and to send by a congestion control of the user's own, and which;
    /// `is_outside` tells hosts by their numbers.
    #[must_use]
    pub fn own_control_outside(
        &self,
        is_outside: impl Fn(usize) -> bool,
    ) -> Option<(&str, CongestionKind)> {
        self.control_at(|kind| kind.own_name().is_some(), is_outside)
    }

    /// The first of such hosts that is to send by such a control.
    fn control_at(
        &self,
        is_such: impl Fn(&CongestionKind) -> bool,
        at: impl Fn(usize) -> bool,
    ) -> Option<(&str, CongestionKind)> {
        let hosts = &self.network.hosts;
        let name = |host: usize| hosts[host].name.as_str();
        let such = |kinds: &[CongestionKind]| {
            let mut kinds = kinds.iter().copied();
            kinds.find(|kind| is_such(kind))
        };
        let of_host = hosts.iter().enumerate().find_map(|(number, host)| {
            let stack = &host.stack.tcp_congestion_control;
            let kind = such(host.socket.tcp_congestion.as_slice())
                .or_else(|| such(std::slice::from_ref(stack)))?;
            at(number).then(|| (name(number), kind))
        });
        let of_asked = |asked: Asked<'_>, stream: u64| {
            let kind = such(asked.kinds)?;
            let there = |host| at(host).then_some(host);
            let host = asked.at_first((self.seed, stream), &self.network, there)?;
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
