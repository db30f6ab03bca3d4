//! A shared memory whose egress queues are served when their port is free.
//!
//! The memory is that of [`super::shared`]; what waits is in one queue for each band, under the
//! discipline of the scenario's choice, and the scheduler says whose turn it is. This is the form of
//! a switch whose frames' departures are not known on arrival: because a port can be stopped, a
//! discipline drops what it takes out, or a class overtakes another.

use tailback_units::Time;

use super::DropCause;
use super::shared::{SharedBuffer, SharedConfig};
use crate::flow_control::Paused;
use crate::frame::Frame;
use crate::queue::ets::{Ets, EtsConfig};
use crate::queue::{Discipline, Effects, Held, QueueConfig};

/// One egress port.
#[derive(Clone, Debug)]
struct Port {
    scheduler: Ets,
    bands: Vec<Discipline>,
}

/// Such a switch's memory and queues.
#[derive(Clone, Debug)]
pub struct QueuedBuffer {
    memory: SharedBuffer,
    ports: Vec<Port>,
    effects: Effects,
}

impl QueuedBuffer {
    /// The empty queues of a switch with `ports` ports.
    #[must_use]
    pub fn new(
        memory: &SharedConfig,
        queue: &QueueConfig,
        scheduler: &EtsConfig,
        ports: u16,
    ) -> QueuedBuffer {
        let bands = scheduler.bands().max(1);
        let port = Port {
            scheduler: Ets::new(scheduler),
            bands: vec![Discipline::new(queue); bands],
        };
        QueuedBuffer {
            memory: SharedBuffer::new(memory, ports),
            ports: vec![port; usize::from(ports)],
            effects: Effects::default(),
        }
    }

    /// A frame has arrived at `in_port` for `out_port`: it is queued, or dropped for a cause.
    pub fn offer(
        &mut self,
        now: Time,
        in_port: u16,
        out_port: u16,
        frame: Frame,
    ) -> Result<(), DropCause> {
        let pool = self
            .memory
            .offer(now, in_port, out_port, frame.frame_bytes)?;
        self.memory.hold(in_port, out_port, frame.frame_bytes, pool);
        let port = &mut self.ports[usize::from(out_port)];
        let band = port.scheduler.band(frame.class());
        let held = Held {
            frame,
            in_port,
            pool,
            since: now,
        };
        port.bands[band].enqueue(now, held, &mut self.effects);
        self.release_dropped(out_port);
        Ok(())
    }

    /// The next frame of a port that is free, and the port it came in by. A band waits as long as
    /// the class of its first frame is paused.
    pub fn next(&mut self, now: Time, out_port: u16, paused: &Paused) -> Option<(Frame, u16)> {
        loop {
            let port = &mut self.ports[usize::from(out_port)];
            let bands = &port.bands;
            let band = port.scheduler.next(|band| {
                let held = bands[band].waiting().next()?;
                (!paused.is_paused(now, held.frame.class()))
                    .then(|| u64::from(held.frame.frame_bytes))
            })?;
            let taken = port.bands[band].dequeue(now, &mut self.effects);
            self.release_dropped(out_port);
            if let Some(held) = taken {
                self.release(out_port, &held);
                return Some((held.frame, held.in_port));
            }
        }
    }

    /// What the disciplines have dropped since it was last asked: frames and the ports they came in
    /// by.
    pub fn dropped(&mut self) -> impl Iterator<Item = (Frame, u16)> {
        self.effects.dropped.drain(..).map(|h| (h.frame, h.in_port))
    }

    /// How many frames the disciplines have marked since it was last asked.
    pub fn marked(&mut self) -> u64 {
        std::mem::take(&mut self.effects.marked)
    }

    fn release(&mut self, out_port: u16, held: &Held) {
        let bytes = held.frame.frame_bytes;
        self.memory
            .release(held.in_port, out_port, bytes, held.pool);
    }

    fn release_dropped(&mut self, out_port: u16) {
        for held in std::mem::take(&mut self.effects.dropped_now) {
            self.release(out_port, &held);
            self.effects.dropped.push(held);
        }
    }

    /// Bytes of frames that wait for a port.
    #[inline]
    #[must_use]
    pub fn queued_bytes(&self, out_port: u16) -> u64 {
        self.memory.queued_bytes(out_port)
    }

    /// All frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Frame> {
        let bands = self.ports.iter().flat_map(|p| &p.bands);
        bands.flat_map(|b| b.waiting().map(|h| &h.frame))
    }
}

#[cfg(test)]
#[path = "queued_tests.rs"]
mod tests;
