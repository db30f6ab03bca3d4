//! What is looked at while a window of time is measured: queues and flows.

use std::collections::BTreeMap;

use tailback_units::Time;

use super::{FlowRecord, SwitchState, ToldBySender, World};

/// A flow at the end of an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntervalLook {
    pub(crate) at: Time,
    pub(crate) flow: u32,
    /// Since the window began.
    pub(crate) received_bytes: u64,
    pub(crate) retransmissions: u64,
    pub(crate) cwnd: u32,
    /// Of all switches, since the window began.
    pub(crate) switch_drops: u64,
    /// At the port for which most waits.
    pub(crate) queue_bytes: u64,
}

/// What hosts outside told of a flow at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    /// By the host that receives.
    pub(crate) read_bytes: Option<u64>,
    /// By the host that sends.
    pub(crate) sender: Option<ToldBySender>,
}

/// What a flow has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowCounts {
    pub(crate) received_bytes: u64,
    segments_sent: u64,
    /// Segments.
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: u64,
    fast_recoveries: u32,
}

impl FlowCounts {
    fn of(flow: &FlowRecord) -> FlowCounts {
        FlowCounts {
            received_bytes: flow.received_bytes,
            segments_sent: flow.sender.segments_sent,
            retransmissions: flow.sender.retransmissions,
            timeouts: flow.sender.timeouts.into(),
            fast_recoveries: flow.sender.fast_recoveries,
        }
    }

    /// What a kernel has counted that sends.
    fn told(&mut self, sender: &ToldBySender) {
        self.segments_sent = sender.segments_sent;
        self.retransmissions = sender.retransmissions;
        self.timeouts = sender.timeouts.into();
    }

    /// A kernel's connection that is gone tells nothing any more: no less than nothing.
    fn since(self, earlier: FlowCounts) -> FlowCounts {
        let less = u64::saturating_sub;
        FlowCounts {
            received_bytes: less(self.received_bytes, earlier.received_bytes),
            segments_sent: less(self.segments_sent, earlier.segments_sent),
            retransmissions: less(self.retransmissions, earlier.retransmissions),
            timeouts: less(self.timeouts, earlier.timeouts),
            fast_recoveries: self.fast_recoveries.saturating_sub(earlier.fast_recoveries),
        }
    }
}

/// What a measured window has shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    /// Of each flow when the window began. Later flows began at zero.
    start: Vec<FlowCounts>,
    /// The same when it ended.
    end: Vec<FlowCounts>,
    /// Of each port of every switch, over all looks.
    queue_bytes_sums: Vec<u64>,
    queue_looks: u64,
    pub(crate) intervals: Vec<IntervalLook>,
}

impl Window {
    /// Mean of what waited for the port at which it was most.
    pub(crate) fn queue_bytes_mean(&self) -> f64 {
        let most = self.queue_bytes_sums.iter().max().copied();
        most.unwrap_or(0) as f64 / self.queue_looks.max(1) as f64
    }
}

impl World {
    /// The window begins: from here flows are counted anew.
    pub(super) fn open_window(&mut self) {
        self.window.start = self.all_flows().iter().map(FlowCounts::of).collect();
    }

    /// What a host outside told of a flow when the window began.
    pub(crate) fn told_at_begin(&mut self, flow: usize, told: &Told) {
        let start = &mut self.window.start;
        if start.len() <= flow {
            start.resize(flow + 1, FlowCounts::default());
        }
        let counts = &mut start[flow];
        counts.received_bytes = told.read_bytes.unwrap_or(counts.received_bytes);
        if let Some(sender) = &told.sender {
            counts.told(sender);
        }
    }

    /// [`World::all_flows`], less what they had counted when the window began.
    pub(crate) fn all_flows_in_window(&self) -> Vec<FlowRecord> {
        let mut flows = self.all_flows();
        for flow in &mut flows {
            let Some(start) = self.window.start.get(flow.number as usize) else {
                continue;
            };
            let counts = FlowCounts::of(flow).since(*start);
            flow.received_bytes = counts.received_bytes;
            flow.sender.segments_sent = counts.segments_sent;
            flow.sender.retransmissions = counts.retransmissions;
            flow.sender.timeouts = counts.timeouts as u32;
            flow.sender.fast_recoveries = counts.fast_recoveries;
        }
        flows
    }

    /// The window ends: what flows count from here on is not measured.
    pub(super) fn close_window(&mut self) {
        let flows = self.begun_flows();
        self.window.end = (0..flows).map(|flow| self.flow_counts(flow)).collect();
    }

    /// What hosts outside told of a flow at the times at which it was looked at. The window is from
    /// `begin` to `end`.
    pub(crate) fn told_of_flow(
        &mut self,
        flow: usize,
        looks: &BTreeMap<Time, Told>,
        ends: [Time; 2],
    ) {
        let flows = self.begun_flows();
        let window = &mut self.window;
        window.start.resize(flows, FlowCounts::default());
        window.end.resize(flows, FlowCounts::default());
        // A connection that is not there yet has counted nothing, one that is gone what it had when it was seen last.
        let mut last = Told::default();
        let known: BTreeMap<Time, Told> = looks
            .iter()
            .map(|(time, told)| {
                last.read_bytes = told.read_bytes.or(last.read_bytes);
                last.sender = told.sender.or(last.sender);
                (*time, last)
            })
            .collect();
        let at = |time: Time| {
            let before = known.range(..=time).next_back();
            before.map_or_else(Told::default, |(_, told)| *told)
        };
        for (counts, time) in [
            (&mut window.start[flow], ends[0]),
            (&mut window.end[flow], ends[1]),
        ] {
            let told = at(time);
            counts.received_bytes = told.read_bytes.unwrap_or(counts.received_bytes);
            if let Some(sender) = told.sender {
                counts.told(&sender);
            }
        }
        let start = window.start[flow];
        let rows = window.intervals.iter_mut();
        for row in rows.filter(|row| row.flow as usize == flow) {
            let told = at(row.at);
            if let Some(bytes) = told.read_bytes {
                row.received_bytes = bytes.saturating_sub(start.received_bytes);
            }
            if let Some(sender) = told.sender {
                row.retransmissions = sender.retransmissions.saturating_sub(start.retransmissions);
                row.cwnd = sender.cwnd;
            }
        }
        let last = at(ends[1]);
        if let Some(bytes) = last.read_bytes {
            self.endpoints[2 * flow + 1].read_bytes = bytes;
        }
        if let Some(sender) = last.sender {
            self.told_by_sender(2 * flow as u32, &sender);
        }
    }

    /// What a flow has counted in the window, or since it began.
    pub(crate) fn flow_in_window(&self, flow: usize) -> FlowCounts {
        let ended = self.window.end.get(flow).copied();
        let counts = ended.unwrap_or_else(|| self.flow_counts(flow));
        let start = self.window.start.get(flow).copied().unwrap_or_default();
        counts.since(start)
    }

    fn flow_counts(&self, flow: usize) -> FlowCounts {
        FlowCounts::of(&self.flow_record(flow as u32, 2 * flow as u32, None))
    }

    /// Looks at what waits in the switches.
    pub(super) fn look_at_queues(&mut self) {
        self.settle_switches();
        let queues = self.switches.iter().flat_map(SwitchState::queues);
        let sums = &mut self.window.queue_bytes_sums;
        for (port, bytes) in queues.enumerate() {
            match sums.get_mut(port) {
                Some(sum) => *sum += bytes,
                None => sums.push(bytes),
            }
        }
        self.window.queue_looks += 1;
    }

    /// Looks at every flow.
    pub(super) fn look_at_flows(&mut self) {
        self.settle_switches();
        let queues = self.switches.iter().flat_map(SwitchState::queues);
        let queue_bytes = queues.max().unwrap_or(0);
        let drops = self.switches.iter().map(|s| s.drops()).sum::<u64>();
        let switch_drops = drops - self.iteration_start.switch_drops;
        for flow in 0..self.begun_flows() {
            let start = self.window.start.get(flow).copied().unwrap_or_default();
            let counts = self.flow_counts(flow).since(start);
            let connection = self.endpoints[2 * flow].connection.as_ref();
            self.window.intervals.push(IntervalLook {
                at: self.now,
                flow: flow as u32,
                received_bytes: counts.received_bytes,
                retransmissions: counts.retransmissions,
                cwnd: connection.map_or(0, |c| c.probe().cwnd),
                switch_drops,
                queue_bytes,
            });
        }
    }

    /// Brings the books of all switches up to now.
    fn settle_switches(&mut self) {
        let now = self.now;
        for switch in &mut self.switches {
            switch.settle(now);
        }
    }
}
