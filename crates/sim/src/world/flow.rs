//! Flows that come and go: their two ends, and what is remembered of them.

use tailback_net::frame::{EndpointId, FRAME_BYTES_MIN, GAP_BYTES, HostId};
use tailback_tcp::Stats;
use tailback_units::{Duration, Time};

use super::{Endpoint, World};

/// What the host that sends told of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToldBySender {
    pub(crate) segments_sent: u64,
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: u32,
    pub(crate) cwnd: u32,
    pub(crate) mss_bytes: u32,
    pub(crate) srtt: Duration,
}

/// What is known of a flow once it is over, or when the run ends.
#[derive(Clone, Debug)]
pub(crate) struct FlowRecord {
    /// Its number: endpoint 2n and 2n + 1 were its ends.
    pub(crate) number: u32,
    pub(crate) source: HostId,
    pub(crate) destination: HostId,
    pub(crate) received_bytes: u64,
    /// What the source's end counted.
    pub(crate) sender: Stats,
    pub(crate) cwnd: u32,
    pub(crate) mss_bytes: u32,
    pub(crate) srtt: Duration,
    /// When its last byte was read, if it was.
    pub(crate) completed: Option<Time>,
}

/// What endpoints that are gone have counted, together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Retired {
    pub(crate) read_bytes: u64,
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: u64,
    pub(crate) fast_recoveries: u64,
}

impl std::ops::AddAssign for Retired {
    fn add_assign(&mut self, more: Retired) {
        self.read_bytes += more.read_bytes;
        self.retransmissions += more.retransmissions;
        self.timeouts += more.timeouts;
        self.fast_recoveries += more.fast_recoveries;
    }
}

impl World {
    /// Makes the two ends of a flow and opens its connection.
    pub(super) fn open(&mut self, source: usize, destination: usize, priority: u8) {
        let id = self.begun_endpoints;
        self.begun_endpoints += 2;
        for (id, host, peer) in [(id, source, destination), (id + 1, destination, source)] {
            let mut end = Endpoint::new(id, host, peer);
            end.priority = priority;
            match self.endpoints.get_mut(id as usize) {
                // Its place was kept, for there are flows beside the workload.
                Some(kept) => *kept = end,
                None => self.endpoints.push(end),
            }
        }
        self.give_thread(EndpointId(id));
        self.give_thread(EndpointId(id + 1));
        if !self.hosts[source].outside {
            self.connect(EndpointId(id));
        }
    }

    /// A flow is over at one end: remembers what is known there and takes the end away.
    pub(super) fn retire(&mut self, id: EndpointId, complete: bool) {
        self.remember(id, complete);
        self.take_away(id);
    }

    /// Remembers what is known of a flow at one end.
    pub(super) fn remember(&mut self, id: EndpointId, complete: bool) {
        let number = id.0 / 2;
        let record = self.flow_record(number, 2 * number, complete.then_some(self.now));
        if !id.0.is_multiple_of(2) {
            self.flows.push(record);
        } else if self.endpoints[id.0 as usize].connection.is_some() {
            self.sources.push(record);
        }
    }

    /// Takes an end away: what comes for it is for nobody.
    pub(super) fn take_away(&mut self, id: EndpointId) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        endpoint.listens = false;
        self.retired.read_bytes += endpoint.read_bytes;
        endpoint.backlog.clear();
        if let Some(connection) = endpoint.connection.take() {
            // One that has not ended in order leaves now what it would leave then.
            if let Some(learned) = connection.learned() {
                let host = &mut self.hosts[usize::from(endpoint.host.0)];
                host.metrics.learn(endpoint.peer_host, self.now, &learned);
            }
            let stats = connection.stats();
            self.retired.retransmissions += stats.retransmissions;
            self.retired.timeouts += u64::from(stats.timeouts);
            self.retired.fast_recoveries += u64::from(stats.fast_recoveries);
            let host = &mut self.hosts[usize::from(endpoint.host.0)];
            host.shortage.add(&connection.shortage());
        }
    }

    /// Wakes the application at the other end of a flow when the smallest frame could be there, if
    /// nothing else were on the way: nothing is known anywhere sooner.
    pub(super) fn tell_peer(&mut self, id: EndpointId) {
        let endpoint = &self.endpoints[id.0 as usize];
        let (peer, to) = (endpoint.peer, endpoint.peer_host);
        let (rate, delay) = self.way(endpoint.host, to, peer.0);
        let least = rate.time_for(u64::from(FRAME_BYTES_MIN + GAP_BYTES));
        let at = self.now + delay + least;
        if let Some(outbox) = &mut self.ledger.outbox
            && outbox.tell(to.0, peer, at)
        {
            return;
        }
        self.wake_app_at(peer, at);
    }

    /// The flow of that number as it stands; `sender` is the endpoint that sends.
    pub(crate) fn flow_record(
        &self,
        number: u32,
        sender: u32,
        completed: Option<Time>,
    ) -> FlowRecord {
        let [from, to] = [sender, sender ^ 1].map(|id| &self.endpoints[id as usize]);
        let probe = from.connection.as_ref().map(|c| c.probe());
        FlowRecord {
            number,
            source: from.host,
            destination: to.host,
            received_bytes: to.read_bytes,
            sender: from
                .connection
                .as_ref()
                .map_or_else(Stats::default, |c| *c.stats()),
            cwnd: probe.map_or(0, |p| p.cwnd),
            mss_bytes: probe.map_or(0, |p| p.mss_bytes),
            srtt: probe.map_or(Duration::ZERO, |p| p.srtt),
            completed,
        }
    }

    /// The host of `sender`, an endpoint that is not modelled here, has counted this.
    pub(crate) fn told_by_sender(&mut self, sender: u32, told: &ToldBySender) {
        let number = sender / 2;
        if self.flows.iter().all(|flow| flow.number != number) {
            let record = self.flow_record(number, sender, None);
            self.flows.push(record);
        }
        if let Some(flow) = self.flows.iter_mut().find(|flow| flow.number == number) {
            flow.sender.segments_sent = told.segments_sent;
            flow.sender.retransmissions = told.retransmissions;
            flow.sender.timeouts = told.timeouts;
            flow.cwnd = told.cwnd;
            flow.mss_bytes = told.mss_bytes;
            flow.srtt = told.srtt;
        }
    }

    /// How many flows the workload has begun.
    pub(crate) fn begun_flows(&self) -> usize {
        self.begun_endpoints as usize / 2
    }

    /// Every flow of the workload, in the order of their numbers: a pair of endpoints each.
    pub(crate) fn all_flows(&self) -> Vec<FlowRecord> {
        let sender = self.workload.sender();
        let mut flows = self.flows.clone();
        flows.retain(|flow| 2 * flow.number < self.beside.first());
        flows.sort_unstable_by_key(|flow| flow.number);
        self.add_sources(&mut flows, sender);
        let mut over = flows.iter().map(|flow| flow.number).peekable();
        let mut running = Vec::new();
        for number in 0..self.begun_flows() as u32 {
            if over.next_if_eq(&number).is_none() {
                running.push(self.flow_record(number, 2 * number + sender, None));
            }
        }
        flows.extend(running);
        flows.sort_unstable_by_key(|flow| flow.number);
        flows
    }

    /// Every flow beside the workload, in the order of their endpoints.
    pub(crate) fn flows_beside(&self) -> Vec<FlowRecord> {
        let first = self.beside.first() / 2;
        let numbers = (first..).take(self.beside.flows().len());
        let told = |number| self.flows.iter().find(|flow| flow.number == number);
        numbers
            .map(|number| {
                let seen = || self.flow_record(number, 2 * number, None);
                told(number).cloned().unwrap_or_else(seen)
            })
            .collect()
    }

    /// What sources have counted of flows whose destinations are gone, in the order of their numbers.
    fn add_sources(&self, flows: &mut [FlowRecord], sender: u32) {
        let mut sources = self.sources.clone();
        sources.sort_unstable_by_key(|flow| flow.number);
        let mut sources = sources.into_iter().peekable();
        for flow in flows {
            while sources
                .next_if(|source| source.number < flow.number)
                .is_some()
            {}
            let number = flow.number;
            let gone = sources.next_if(|source| source.number == number);
            let source = gone.or_else(|| {
                let end = 2 * number + sender;
                let known = self.endpoints.get(end as usize);
                let lasts = known.is_some_and(|end| end.connection.is_some());
                lasts.then(|| self.flow_record(number, end, None))
            });
            if let Some(source) = source {
                flow.sender = source.sender;
                flow.cwnd = source.cwnd;
                flow.srtt = source.srtt;
            }
        }
    }
}
