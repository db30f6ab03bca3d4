//! What is looked at while a window of time is measured: queues and flows.

use tailback_units::Time;

use super::World;

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
    pub(crate) queue_bytes: u64,
}

/// What a measured window has shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    /// Of each flow when the window began: bytes received, segments retransmitted. Later flows began
    /// at zero.
    start: Vec<(u64, u64)>,
    queue_bytes_sum: u128,
    queue_looks: u64,
    pub(crate) intervals: Vec<IntervalLook>,
}

impl Window {
    /// Mean of what waited in all switches together.
    pub(crate) fn queue_bytes_mean(&self) -> f64 {
        self.queue_bytes_sum as f64 / self.queue_looks.max(1) as f64
    }
}

impl World {
    /// The window begins: from here flows are counted anew.
    pub(super) fn open_window(&mut self) {
        let flows = self.endpoints.len() / 2;
        self.window.start = (0..flows).map(|flow| self.flow_counts(flow)).collect();
    }

    /// What a flow has received and its source has retransmitted since the window began.
    pub(crate) fn flow_in_window(&self, flow: usize) -> (u64, u64) {
        let (bytes, retransmissions) = self.flow_counts(flow);
        let start = self.window.start.get(flow).copied().unwrap_or_default();
        (bytes - start.0, retransmissions - start.1)
    }

    fn flow_counts(&self, flow: usize) -> (u64, u64) {
        let [from, to] = [2 * flow, 2 * flow + 1].map(|id| &self.endpoints[id]);
        let connection = from.connection.as_ref();
        let retransmissions = connection.map_or(0, |c| c.stats().retransmissions);
        (to.read_bytes, retransmissions)
    }

    /// Looks at what waits in the switches.
    pub(super) fn look_at_queues(&mut self) {
        let queued = self.queued_bytes();
        self.window.queue_bytes_sum += u128::from(queued);
        self.window.queue_looks += 1;
    }

    /// Looks at every flow.
    pub(super) fn look_at_flows(&mut self) {
        let queue_bytes = self.queued_bytes();
        let drops = self.switches.iter().map(|s| s.drops()).sum::<u64>();
        let switch_drops = drops - self.iteration_start.switch_drops;
        for flow in 0..self.endpoints.len() / 2 {
            let (received_bytes, retransmissions) = self.flow_in_window(flow);
            let connection = self.endpoints[2 * flow].connection.as_ref();
            self.window.intervals.push(IntervalLook {
                at: self.now,
                flow: flow as u32,
                received_bytes,
                retransmissions,
                cwnd: connection.map_or(0, |c| c.probe().cwnd),
                switch_drops,
                queue_bytes,
            });
        }
    }

    fn queued_bytes(&mut self) -> u64 {
        let now = self.now;
        let mut bytes = 0;
        for switch in &mut self.switches {
            switch.settle(now);
            bytes += (0..switch.ports.len() as u16)
                .map(|port| switch.queued_bytes(port))
                .sum::<u64>();
        }
        bytes
    }
}
