//! Congestion controls that programs ask for by TCP_CONGESTION, and at which hosts.

use tailback_tcp::congestion::CongestionKind;

use super::{Pairs, Workload};
use crate::background_flows::BackgroundFlows;
use crate::topology::Topology;

/// What sockets of a workload, or of flows beside it, ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// They take turns.
    pub(crate) kinds: &'a [CongestionKind],
    /// Whose; none: any host's.
    pairs: Option<&'a Pairs>,
    both_ends: bool,
}

impl<'a> Asked<'a> {
    /// What those of a workload ask for: its connections' sources, or of questions and answers both ends.
    pub(crate) fn of_workload(workload: &'a Workload) -> Asked<'a> {
        let (kinds, pairs) = match workload {
            Workload::Bulk(bulk) => (&bulk.congestion[..], Some(&bulk.pairs)),
            Workload::Flows(flows) => (&flows.congestion[..], None),
            Workload::FlowList(list) => (list.controls(), None),
            Workload::RequestResponse(asking) => (&asking.congestion[..], Some(&asking.pairs)),
            _ => (&[][..], None),
        };
        Asked {
            kinds,
            pairs,
            both_ends: matches!(workload, Workload::RequestResponse(_)),
        }
    }

    /// What the sources of flows beside a workload ask for.
    pub(crate) fn of_flows_beside(flows: &'a BackgroundFlows) -> Asked<'a> {
        Asked {
            kinds: &flows.congestion,
            pairs: Some(&flows.pairs),
            both_ends: false,
        }
    }

    /// The first host that asks and for which this gives something; of pairs that are drawn, by `seed` and `stream`.
    pub(crate) fn at_first<T>(
        &self,
        (seed, stream): (u64, u64),
        network: &Topology,
        mut of: impl FnMut(usize) -> Option<T>,
    ) -> Option<T> {
        let Some(pairs) = self.pairs else {
            return (0..network.hosts.len()).find_map(of);
        };
        pairs
            .of(seed, stream, network)
            .into_iter()
            .find_map(|(source, destination)| {
                let other = || self.both_ends.then_some(destination);
                of(source).or_else(|| of(other()?))
            })
    }
}
