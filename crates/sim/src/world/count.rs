//! Counting per iteration.

use tailback_units::{Duration, Time};

use super::hosts::HostState;
use super::{SwitchState, World};
use crate::record::FlowLook;
use crate::samples::Looked;

/// Everything that is counted, since the beginning of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) switch_drops: u64,
    pub(crate) host_drops: u64,
    pub(crate) link_losses: u64,
    pub(crate) marks: u64,
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: u64,
    pub(crate) fast_recoveries: u64,
    pub(crate) read_bytes: u64,
}

/// One iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transaction {
    pub(crate) started: Time,
    pub(crate) completion: Duration,
    pub(crate) counted: Totals,
}

impl Totals {
    pub(crate) fn since(self, earlier: Totals) -> Totals {
        Totals {
            switch_drops: self.switch_drops - earlier.switch_drops,
            host_drops: self.host_drops - earlier.host_drops,
            link_losses: self.link_losses - earlier.link_losses,
            marks: self.marks - earlier.marks,
            retransmissions: self.retransmissions - earlier.retransmissions,
            timeouts: self.timeouts - earlier.timeouts,
            fast_recoveries: self.fast_recoveries - earlier.fast_recoveries,
            read_bytes: self.read_bytes - earlier.read_bytes,
        }
    }
}

impl World {
    /// All counters as they stand.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals {
            switch_drops: self.switches.iter().map(|s| s.drops()).sum(),
            host_drops: self.hosts.iter().map(HostState::dropped).sum(),
            link_losses: self.links.iter().map(|l| l.link.lost().frames).sum(),
            marks: self.switches.iter().map(|s| s.marked()).sum(),
            read_bytes: self.retired.read_bytes,
            retransmissions: self.retired.retransmissions,
            timeouts: self.retired.timeouts,
            fast_recoveries: self.retired.fast_recoveries,
        };
        for one in self.interfaces_with_qdisc() {
            totals.host_drops += one.qdisc.losses().map(|(_, lost)| lost.frames).sum::<u64>();
            totals.marks += one.qdisc.marked();
        }
        // Flows beside the workload are none of its business.
        for endpoint in &self.endpoints[..self.begun_endpoints as usize] {
            if endpoint.listens {
                totals.read_bytes += endpoint.read_bytes;
            }
            if let Some(connection) = &endpoint.connection {
                let stats = connection.stats();
                totals.retransmissions += stats.retransmissions;
                totals.timeouts += u64::from(stats.timeouts);
                totals.fast_recoveries += u64::from(stats.fast_recoveries);
            }
        }
        totals
    }

    pub(super) fn begin_iteration(&mut self, iteration: u64) {
        self.settle_machines();
        self.iteration_start = self.totals();
        self.recorder.begin(self.now, iteration);
        if self.workload.is_counted_late() {
            self.open_window();
        }
    }

    pub(super) fn end_iteration(&mut self, started: Time) {
        self.recorder.end();
        self.settle_machines();
        let counted = self.totals().since(self.iteration_start);
        self.transactions.push(Transaction {
            started,
            completion: self.now.since(started),
            counted,
        });
    }

    /// Looks at everything that is due before somebody outside does something at `at`.
    pub(crate) fn look_before(&mut self, at: Time) {
        if self.recorder.due(at) {
            self.sample_until(at);
        }
    }

    /// Looks at everything the recorder wants to see, as often as it is due by `at`.
    #[cold]
    pub(super) fn sample_until(&mut self, at: Time) {
        while self.recorder.due(at) {
            if self.recorder.watches_next() {
                let at = self.watches_at();
                if self.series.as_ref().is_some_and(|s| s.next() == at) {
                    self.look_at_network();
                }
                if self.interfaces.as_ref().is_some_and(|i| i.next() == at) {
                    self.poll_interfaces();
                }
                if self.reroutes_at() == at {
                    self.reroute();
                }
                self.recorder.watch(self.watches_at());
                continue;
            }
            let (now, samples) = self.recorder.next();
            for switch in &mut self.switches {
                switch.settle(now);
            }
            let queues = self.switches.iter().flat_map(SwitchState::queues);
            if samples {
                let ends = (0..).zip(&self.endpoints).filter_map(|(number, end)| {
                    end.connection.as_ref().map(|connection| Looked {
                        endpoint: number,
                        host: end.host,
                        peer: end.peer.0,
                        peer_host: end.peer_host,
                        bytes: end.read_bytes + end.written_bytes,
                        info: connection.tcp_info(now),
                        memory: connection.mem_info(),
                    })
                });
                self.recorder.sample(queues, ends);
                self.look_at_traces(now);
                continue;
            }
            // A flow is a pair of endpoints; the second of them sends the answers. Flows that come
            // and go are not followed.
            let followed = 2 * self.recorder.flows();
            let flows = self.endpoints[..followed].chunks_exact(2).map(|pair| {
                let sender = pair[1].connection.as_ref();
                FlowLook {
                    received_bytes: pair[0].read_bytes,
                    cwnd: sender.map_or(0, |c| c.probe().cwnd),
                    segments_sent: sender.map_or(0, |c| c.stats().segments_sent),
                    timeouts: sender.map_or(0, |c| c.stats().timeouts.into()),
                }
            });
            self.recorder.look(queues, flows);
        }
    }
}
