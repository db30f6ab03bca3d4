//! Ingress-buffered switch: virtual output queues and a crossbar.
//!
//! Models a switch like the Cisco Nexus 5000 family (Cisco white paper C11-462176; Nexus
//! 5000/5500 QoS guide): each ingress port holds its frames in its own memory, one queue for each
//! egress port; an egress port that is free takes the next frame, in turn over the ingress ports that
//! have one and are not sending to another egress port (one round of iSLIP, McKeown, IEEE/ACM ToN
//! 7(2), 1999). A share of the grants may go to a random one of them instead (parallel iterative
//! matching, Anderson et al., ACM TOCS 11(4), 1993): what a real arbiter's pipeline does to the turn
//! is not public, and a perfect turn keeps senders in step with each other for ever. A frame that
//! finds its ingress memory full is dropped there.
//! Left out: the egress pipeline's own small buffer, traffic classes, multicast.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Time};

use super::DropCause;
use crate::pool::Flight;
use crate::random::{self, Stream};
use crate::ring::Ring;

/// Parameters of ingress buffers with virtual output queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoqConfig {
    /// Packet memory of each ingress port for this traffic class.
    pub port_buffer: Bytes,
    /// Allocation unit: a frame takes whole cells.
    pub cell: Bytes,
    /// Rate of a crossbar path as a multiple of the ingress port's line rate.
    #[schemars(range(min = 1.0, max = 16.0))]
    pub speedup: f64,
    /// Share of the grants that go to a random waiting ingress port rather than the next in turn;
    /// 0 is iSLIP, 1 parallel iterative matching.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub random_grants: f64,
}

/// What an egress port that is free gets.
#[derive(Clone, Copy, Debug)]
pub enum Grant {
    /// The next frame.
    Frame {
        /// The frame.
        frame: Flight,
        /// The ingress port it came from.
        in_port: u16,
    },
    /// Frames wait for this port, but their ingress ports send elsewhere until then.
    Wait(Time),
    /// Nothing waits for this port.
    Empty,
}

#[derive(Clone, Debug, Default)]
struct Ingress {
    used_cells: u32,
    /// Sending through the crossbar until then; the frame's cells are free then too.
    busy_until: Time,
    leaving_cells: u32,
    /// One queue for each egress port.
    queues: Vec<Ring<Flight>>,
}

#[derive(Clone, Debug)]
struct Egress {
    /// A bit for each ingress port that has a frame for this one.
    waiting: Vec<u64>,
    /// Round robin: the ingress port to look at first.
    next: u16,
    queued_bytes: u64,
    /// When the calendar will look at the port, never if it will not.
    looked_at: Time,
}

/// Ingress buffers and a crossbar at work.
#[derive(Clone, Debug)]
pub struct VoqBuffer {
    cell_bytes: u32,
    limit_cells: u32,
    ingress: Vec<Ingress>,
    egress: Vec<Egress>,
    speedup_inverse_16: u64,
    /// A grant is random if a random 64-bit number is below this.
    random_below: u64,
    stream: Stream,
}

impl VoqBuffer {
    /// The empty buffers of a switch with `ports` ports; `stream` decides which grants are random.
    #[must_use]
    pub fn new(config: &VoqConfig, ports: u16, stream: Stream) -> VoqBuffer {
        let ports = usize::from(ports);
        let cell = config.cell.get().max(1);
        VoqBuffer {
            cell_bytes: cell.min(u64::from(u32::MAX)) as u32,
            limit_cells: (config.port_buffer.get() / cell).min(u64::from(u32::MAX)) as u32,
            ingress: vec![
                Ingress {
                    queues: vec![Ring::default(); ports],
                    ..Ingress::default()
                };
                ports
            ],
            egress: vec![
                Egress {
                    waiting: vec![0; ports.div_ceil(64)],
                    next: 0,
                    queued_bytes: 0,
                    looked_at: Time::NEVER,
                };
                ports
            ],
            speedup_inverse_16: (65_536.0 / config.speedup) as u64,
            random_below: random::threshold(config.random_grants),
            stream,
        }
    }

    /// Whether an ingress port has room for a frame of so many bytes, or the cause why it is dropped.
    #[inline]
    pub fn admit(&mut self, now: Time, in_port: u16, frame_bytes: u16) -> Result<(), DropCause> {
        let cells = self.cells(frame_bytes);
        let ingress = &mut self.ingress[usize::from(in_port)];
        ingress.settle(now);
        if ingress.used_cells + cells > self.limit_cells {
            return Err(DropCause::BufferFull);
        }
        Ok(())
    }

    /// A frame has arrived at `in_port` for `out_port`: it is queued, or dropped for a cause.
    #[inline]
    pub fn offer(
        &mut self,
        now: Time,
        in_port: u16,
        out_port: u16,
        frame: Flight,
    ) -> Result<(), DropCause> {
        self.admit(now, in_port, frame.frame_bytes)?;
        let cells = self.cells(frame.frame_bytes);
        let ingress = &mut self.ingress[usize::from(in_port)];
        ingress.used_cells += cells;
        ingress.queues[usize::from(out_port)].push_back(frame);
        let egress = &mut self.egress[usize::from(out_port)];
        egress.waiting[usize::from(in_port / 64)] |= 1 << (in_port % 64);
        egress.queued_bytes += u64::from(frame.frame_bytes);
        Ok(())
    }

    /// The same where nothing waits for `out_port`, which is free. True if the frame crosses at once, as
    /// [`VoqBuffer::grant`] would have it; else it is queued.
    #[inline]
    pub fn offer_to_idle(
        &mut self,
        now: Time,
        in_port: u16,
        out_port: u16,
        frame: Flight,
        line_time: Duration,
    ) -> Result<bool, DropCause> {
        debug_assert!(
            self.queued_bytes(out_port) == 0,
            "something waits for the port"
        );
        let cells = self.cells(frame.frame_bytes);
        let ports = self.ports();
        let ingress = &mut self.ingress[usize::from(in_port)];
        if ingress.busy_until > now
            || ingress.used_cells - ingress.leaving_cells + cells > self.limit_cells
        {
            return self.offer(now, in_port, out_port, frame).map(|()| false);
        }
        ingress.settle(now);
        ingress.used_cells += cells;
        ingress.cross(now, line_time, self.speedup_inverse_16, cells);
        self.egress[usize::from(out_port)].next = (in_port + 1) % ports;
        // It is the one to choose from, and yet chosen: as if it had been queued.
        if self.random_below > 0 && self.stream.next_u64() < self.random_below {
            self.stream.below(1);
        }
        Ok(true)
    }

    /// `out_port` is free: what it gets. A frame crosses in its line time `line_time(in_port, frame)` on
    /// its ingress port's line divided by the speed-up.
    #[inline]
    pub fn grant(
        &mut self,
        now: Time,
        out_port: u16,
        line_time: impl Fn(u16, &Flight) -> Duration,
    ) -> Grant {
        if self.random_below > 0
            && self.stream.next_u64() < self.random_below
            && let Some(in_port) = self.random_waiting(now, out_port)
        {
            return self.take(now, in_port, out_port, line_time);
        }
        let mut earliest = Time::NEVER;
        let start = self.egress[usize::from(out_port)].next;
        for (from, to) in [(start, self.ports()), (0, start)] {
            let mut at = from;
            while let Some(in_port) = self.waiting_between(out_port, at, to) {
                let busy_until = self.ingress[usize::from(in_port)].busy_until;
                if busy_until <= now {
                    return self.take(now, in_port, out_port, line_time);
                }
                earliest = earliest.min(busy_until);
                at = in_port + 1;
            }
        }
        if earliest == Time::NEVER {
            Grant::Empty
        } else {
            Grant::Wait(earliest)
        }
    }

    /// When an ingress port can send through the crossbar.
    #[inline]
    #[must_use]
    pub fn ready_at(&self, in_port: u16) -> Time {
        self.ingress[usize::from(in_port)].busy_until
    }

    /// When the calendar will look at a port, never if it will not.
    #[inline]
    #[must_use]
    pub fn looked_at(&self, out_port: u16) -> Time {
        self.egress[usize::from(out_port)].looked_at
    }

    /// A port is to be looked at again at `at`. True if the calendar would not do so by then.
    #[inline]
    pub fn look_again(&mut self, out_port: u16, at: Time) -> bool {
        let looked_at = &mut self.egress[usize::from(out_port)].looked_at;
        let is_new = at < *looked_at;
        *looked_at = at.min(*looked_at);
        is_new
    }

    /// The calendar looks at a port. False if it was to look earlier, and has.
    #[inline]
    pub fn looks(&mut self, now: Time, out_port: u16) -> bool {
        let looked_at = &mut self.egress[usize::from(out_port)].looked_at;
        let is_due = *looked_at == now;
        if is_due {
            *looked_at = Time::NEVER;
        }
        is_due
    }

    /// Bytes of frames that wait for a port, at all ingress ports together.
    #[inline]
    #[must_use]
    pub fn queued_bytes(&self, out_port: u16) -> u64 {
        self.egress[usize::from(out_port)].queued_bytes
    }

    /// All frames that wait, in no particular order.
    pub fn waiting(&self) -> impl Iterator<Item = &Flight> {
        let queues = self.ingress.iter().flat_map(|i| &i.queues);
        queues.flat_map(Ring::iter)
    }

    fn ports(&self) -> u16 {
        self.ingress.len() as u16
    }

    #[inline]
    fn cells(&self, frame_bytes: u16) -> u32 {
        u32::from(frame_bytes).div_ceil(self.cell_bytes)
    }

    /// One of the ingress ports that have a frame for `out_port` and are not sending, at random.
    fn random_waiting(&mut self, now: Time, out_port: u16) -> Option<u16> {
        let (mut chosen, mut seen, mut at) = (None, 0, 0);
        while let Some(in_port) = self.waiting_between(out_port, at, self.ports()) {
            at = in_port + 1;
            if self.ingress[usize::from(in_port)].busy_until <= now {
                seen += 1;
                if self.stream.below(seen) == 0 {
                    chosen = Some(in_port);
                }
            }
        }
        chosen
    }

    /// The first ingress port in `from..to` that has a frame for `out_port`.
    #[inline]
    fn waiting_between(&self, out_port: u16, from: u16, to: u16) -> Option<u16> {
        let waiting = &self.egress[usize::from(out_port)].waiting;
        let mut keep = u64::MAX << (from % 64);
        let mut word = from / 64;
        while word * 64 < to {
            let bits = waiting[usize::from(word)] & keep;
            if bits != 0 {
                let port = word * 64 + bits.trailing_zeros() as u16;
                return (port < to).then_some(port);
            }
            keep = u64::MAX;
            word += 1;
        }
        None
    }

    fn take(
        &mut self,
        now: Time,
        in_port: u16,
        out_port: u16,
        line_time: impl Fn(u16, &Flight) -> Duration,
    ) -> Grant {
        let ports = self.ports();
        let ingress = &mut self.ingress[usize::from(in_port)];
        ingress.settle(now);
        let queue = &mut ingress.queues[usize::from(out_port)];
        let Some(frame) = queue.pop_front() else {
            return Grant::Empty;
        };
        let egress = &mut self.egress[usize::from(out_port)];
        if queue.is_empty() {
            egress.waiting[usize::from(in_port / 64)] &= !(1 << (in_port % 64));
        }
        egress.queued_bytes -= u64::from(frame.frame_bytes);
        egress.next = (in_port + 1) % ports;
        let cells = u32::from(frame.frame_bytes).div_ceil(self.cell_bytes);
        ingress.cross(
            now,
            line_time(in_port, &frame),
            self.speedup_inverse_16,
            cells,
        );
        Grant::Frame { frame, in_port }
    }
}

impl Ingress {
    /// Begins to send a frame of so many cells through the crossbar, in its line time over the speed-up.
    #[inline]
    fn cross(&mut self, now: Time, line_time: Duration, speedup_inverse_16: u64, cells: u32) {
        let crossing = u128::from(line_time.as_ps()) * u128::from(speedup_inverse_16);
        self.busy_until = now + Duration::from_ps(crossing.div_ceil(65_536) as u64);
        self.leaving_cells = cells;
    }

    /// Frees the cells of the frame that has crossed by `now`.
    #[inline]
    fn settle(&mut self, now: Time) {
        if self.busy_until <= now {
            self.used_cells -= self.leaving_cells;
            self.leaving_cells = 0;
        }
    }
}

#[cfg(test)]
#[path = "voq_tests.rs"]
mod tests;
