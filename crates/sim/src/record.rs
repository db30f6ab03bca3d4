//! Time series of one iteration: what waits in every switch, how far every flow is.
//!
//! The world is looked at a fixed time apart, as a monitor would, so any model can be watched. If
//! an iteration outlasts the memory set aside, every other look is dropped and the time between
//! looks doubles.

use tailback_units::{Duration, Time};

use crate::samples::{Looked, Samples};
use crate::tables::Table;

/// Time between looks, to begin with. Frames of 9018 B leave a 10 Gb/s port every 7.2 us.
const INTERVAL: Duration = Duration::from_us(20);
/// Most looks kept.
const LOOKS_MAX: usize = 40_000;
/// Rows per place or flow that the tables keep.
const ROWS_MAX: usize = 800;

/// One flow at one look.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowLook {
    pub(crate) received_bytes: u64,
    pub(crate) cwnd: u32,
    pub(crate) segments_sent: u64,
    pub(crate) timeouts: u64,
}

/// What is recorded of one iteration.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// The iteration to record, if any.
    iteration: Option<u64>,
    next_look: Time,
    /// When samples of the whole run are due, and they.
    next_sample: Time,
    samples: Samples,
    /// When the network as a whole is due.
    next_of_network: Time,
    /// The earliest of the three.
    next: Time,
    interval: Duration,
    started: Time,
    places: Vec<String>,
    flows: usize,
    times: Vec<Time>,
    queues: Vec<u64>,
    progress: Vec<FlowLook>,
}

impl Recorder {
    /// A recorder of one iteration, or of none, and of samples.
    pub(crate) fn new(
        iteration: Option<u64>,
        samples: Samples,
        places: Vec<String>,
        flows: usize,
    ) -> Recorder {
        let next_sample = samples.next(None);
        Recorder {
            iteration,
            next_look: Time::NEVER,
            next_sample,
            samples,
            next_of_network: Time::NEVER,
            next: next_sample,
            interval: INTERVAL,
            started: Time::ZERO,
            places,
            flows,
            times: Vec::new(),
            queues: Vec::new(),
            progress: Vec::new(),
        }
    }

    pub(crate) fn begin(&mut self, now: Time, iteration: u64) {
        if self.iteration == Some(iteration) {
            self.started = now;
            self.set_next_look(now);
        }
    }

    pub(crate) fn end(&mut self) {
        self.set_next_look(Time::NEVER);
    }

    fn set_next_look(&mut self, at: Time) {
        self.next_look = at;
        self.set_next();
    }

    /// The network as a whole is to be looked at when that time comes.
    pub(crate) fn watch(&mut self, at: Time) {
        self.next_of_network = at;
        self.set_next();
    }

    /// Whether the network as a whole is what is due next.
    pub(crate) fn watches_next(&self) -> bool {
        self.next_of_network == self.next
    }

    fn set_next(&mut self) {
        let own = self.next_look.min(self.next_sample);
        self.next = own.min(self.next_of_network);
    }

    /// Whether a look is due before what happens at `at`.
    #[inline]
    pub(crate) fn due(&self, at: Time) -> bool {
        self.next <= at
    }

    /// When the next look is due, and whether it is one for samples.
    pub(crate) fn next(&self) -> (Time, bool) {
        (self.next, self.next_sample == self.next)
    }

    /// Keeps samples: the bytes queued at each place, then each connection.
    pub(crate) fn sample(
        &mut self,
        queues: impl Iterator<Item = u64>,
        connections: impl Iterator<Item = Looked>,
    ) {
        self.samples.look(self.next_sample, queues, connections);
        self.next_sample = self.samples.next(Some(self.next_sample));
        self.set_next();
    }

    /// When there were more samples than are kept, if so, and how far apart they were.
    pub(crate) fn too_many(&self) -> Option<(Time, Duration)> {
        self.samples.too_many()
    }

    /// Flows that are looked at: the first so many.
    pub(crate) fn flows(&self) -> usize {
        self.flows
    }

    /// Keeps a look: the bytes queued at each place, then each flow.
    pub(crate) fn look(
        &mut self,
        queues: impl Iterator<Item = u64>,
        flows: impl Iterator<Item = FlowLook>,
    ) {
        self.times.push(self.next_look);
        self.queues.extend(queues);
        self.progress.extend(flows);
        if self.times.len() >= LOOKS_MAX {
            keep_every_other(&mut self.times, 1);
            keep_every_other(&mut self.queues, self.places.len());
            keep_every_other(&mut self.progress, self.flows);
            self.interval += self.interval;
        }
        self.set_next_look(self.next_look + self.interval);
    }

    /// Tables `samples` and `queue_samples`, if asked for, of hosts with these names; and of the
    /// iteration `queues` (least and most in each bucket of time) and `progress` (at its end).
    pub(crate) fn tables(&self, hosts: &[String]) -> Vec<Table> {
        let mut tables = self.samples.tables(&self.places, hosts);
        tables.extend(self.iteration_tables());
        tables
    }

    fn iteration_tables(&self) -> Vec<Table> {
        if self.iteration.is_none() {
            return Vec::new();
        }
        let bucket = self.times.len().div_ceil(ROWS_MAX).max(1);
        let buckets: Vec<std::ops::Range<usize>> = (0..self.times.len())
            .step_by(bucket)
            .map(|first| first..(first + bucket).min(self.times.len()))
            .collect();
        vec![self.queue_table(&buckets), self.progress_table(&buckets)]
    }

    fn time_us(&self, look: usize) -> f64 {
        self.times[look].since(self.started).as_ps() as f64 / 1e6
    }

    fn queue_table(&self, buckets: &[std::ops::Range<usize>]) -> Table {
        let (mut times, mut places, mut least, mut most) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let width = self.places.len();
        for (column, place) in self.places.iter().enumerate() {
            let at = |look: usize| self.queues[look * width + column];
            if (0..self.times.len()).all(|look| at(look) == 0) {
                continue;
            }
            for bucket in buckets {
                times.push(self.time_us(bucket.start));
                places.push(place.clone());
                least.push(bucket.clone().map(at).min().unwrap_or(0));
                most.push(bucket.clone().map(at).max().unwrap_or(0));
            }
        }
        Table::new("queues")
            .measures("time_us", times)
            .names("place", places)
            .counts("queue_bytes_min", least)
            .counts("queue_bytes_max", most)
    }

    fn progress_table(&self, buckets: &[std::ops::Range<usize>]) -> Table {
        let (mut times, mut flows, mut received) = (Vec::new(), Vec::new(), Vec::new());
        let (mut cwnd, mut waiting) = (Vec::new(), Vec::new());
        for flow in 0..self.flows {
            let waits = self.waits(flow);
            let first = self
                .progress
                .get(flow)
                .map_or(0, |look| look.received_bytes);
            for bucket in buckets {
                let last = &self.progress[(bucket.end - 1) * self.flows + flow];
                times.push(self.time_us(bucket.end - 1));
                flows.push(flow as u64);
                received.push(last.received_bytes - first);
                cwnd.push(u64::from(last.cwnd));
                waiting.push(bucket.clone().any(|look| waits[look]));
            }
        }
        Table::new("progress")
            .measures("time_us", times)
            .counts("flow", flows)
            .counts("received_bytes", received)
            .counts("cwnd_segments", cwnd)
            .flags("waiting_for_timeout", waiting)
    }

    /// At which looks a flow was waiting for a retransmission timeout: from the last segment its
    /// sender sent until the timeout fired.
    fn waits(&self, flow: usize) -> Vec<bool> {
        let at = |look: usize| &self.progress[look * self.flows + flow];
        let mut waits = vec![false; self.times.len()];
        for look in 1..self.times.len() {
            if at(look).timeouts > at(look - 1).timeouts {
                let sent = at(look - 1).segments_sent;
                for earlier in (0..look).rev().take_while(|l| at(*l).segments_sent == sent) {
                    waits[earlier] = true;
                }
            }
        }
        waits
    }
}

fn keep_every_other<T: Copy>(looks: &mut Vec<T>, width: usize) {
    if width > 0 {
        let kept: Vec<T> = looks.chunks(width).step_by(2).flatten().copied().collect();
        *looks = kept;
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
