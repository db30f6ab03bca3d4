//! A shared memory whose egress queues are served when their port is free.
//!
//! The memory is that of [`super::shared`]; what waits is in one queue for each band, under the
//! discipline of the scenario's choice, and the scheduler says whose turn it is. This is the form of
//! a switch whose frames' departures are not known on arrival: because a port can be stopped or its
//! rate changes, a discipline drops what it takes out, or a class overtakes another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Duration, Rate, Time};

use super::DropCause;
use super::shared::{SharedBuffer, SharedConfig, TxLimit};
use crate::flow_control::Paused;
use crate::marking::QueueLook;
use crate::pool::{Flight, FramePool};
use crate::queue::ets::{Ets, EtsConfig};
use crate::queue::{Discipline, Effects, Held, QueueConfig};
use crate::random::Stream;

/// Parameters of such a switch's memory and queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))] // serde cannot, with a flattened field
pub struct QueuedConfig {
    /// The memory.
    #[serde(flatten)]
    pub memory: SharedConfig,
    /// How the frames of one band wait.
    #[serde(default)]
    pub queue: QueueConfig,
    /// Which band is served first.
    #[serde(default)]
    pub scheduler: EtsConfig,
    /// Cap on what each band of a port may hold beside the port's own cap, from band 0; bands beyond
    /// the last have none. With `dynamic` a threshold over ports and classes: each band's factor times the
    /// shared memory that is free (Choudhury and Hahne; the alpha of each queue in Broadcom's chips).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub band_limits: Vec<TxLimit>,
    /// Ports that are served slower for a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub service: Vec<Service>,
}

impl QueuedConfig {
    /// The most bytes that one band of a port can hold while nothing else waits in the switch, which has `ports` ports;
    /// `beyond` are bytes that it may take of what ingress ports have to themselves.
    #[must_use]
    pub fn band_capacity_bytes(&self, band: usize, ports: u16, beyond: u64) -> u64 {
        let port = self.memory.queue_capacity_bytes(ports) + beyond;
        self.band_limits.get(band).map_or(port, |limit| {
            let own = self.memory.tx_private.get() + beyond;
            port.min(limit.capacity_bytes(self.memory.shared.get(), own))
        })
    }

    /// The same of all bands of a port together.
    #[must_use]
    pub fn port_capacity_bytes(&self, ports: u16, beyond: u64) -> u64 {
        let bands = (0..self.scheduler.bands().max(1))
            .map(|band| self.band_capacity_bytes(band, ports, beyond));
        bands
            .sum::<u64>()
            .min(self.memory.queue_capacity_bytes(ports) + beyond)
    }
}

/// A time in which a port is served slower than its link could carry: frames take their usual time on
/// the link, and the port rests after each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// The port, from 0.
    pub port: u16,
    /// The rate at which it is served, preamble and gap included.
    pub rate: Rate,
    /// From when.
    pub from: Duration,
    /// Until when.
    pub until: Duration,
}

impl Service {
    /// Whether the port is slow at `now`.
    #[inline]
    #[must_use]
    pub fn holds(&self, now: Time) -> bool {
        (self.from..self.until).contains(&now.since(Time::ZERO))
    }
}

/// One egress port.
#[derive(Clone, Debug)]
struct Port {
    scheduler: Ets,
    bands: Vec<Discipline>,
    /// Bytes that each band holds, and since when it holds none.
    held_bytes: Vec<u64>,
    empty_since: Vec<Time>,
}

/// Such a switch's memory and queues at work.
#[derive(Clone, Debug)]
pub struct QueuedBuffer {
    memory: SharedBuffer,
    band_limits: Vec<TxLimit>,
    ports: Vec<Port>,
    effects: Effects,
}

impl QueuedBuffer {
    /// The empty queues of switch number `number` of a run with `seed`; of each port the longest frame, bytes, and its
    /// own discipline, if it has one.
    #[must_use]
    pub fn new(
        config: &QueuedConfig,
        of_ports: &[(u32, Option<&QueueConfig>)],
        (seed, number): (u64, usize),
    ) -> QueuedBuffer {
        let ports = of_ports.len() as u16;
        let bands = config.scheduler.bands().max(1) as u64;
        let band = |port: u16, band: u64| {
            let place = ((((number as u64) << 16) | u64::from(port)) << 3) | band;
            let (longest, own) = of_ports[usize::from(port)];
            let queue = own.unwrap_or(&config.queue);
            Discipline::new(queue, longest, Stream::new(seed, "queue", place))
        };
        let port = |port: u16| Port {
            scheduler: Ets::new(&config.scheduler),
            bands: (0..bands).map(|number| band(port, number)).collect(),
            held_bytes: vec![0; bands as usize],
            empty_since: vec![Time::ZERO; bands as usize],
        };
        QueuedBuffer {
            memory: SharedBuffer::new(&config.memory, ports),
            band_limits: config.band_limits.clone(),
            ports: (0..ports).map(port).collect(),
            effects: Effects::default(),
        }
    }

    /// Whether a frame that has arrived at `in_port` for `out_port` may be queued, or the cause why
    /// it is dropped. What the discipline drops to make room for it is to be asked for with
    /// [`QueuedBuffer::take_dropped`].
    pub fn admit(
        &mut self,
        now: Time,
        in_port: u16,
        out_port: u16,
        frame: Flight,
    ) -> Result<Held, DropCause> {
        self.place(now, in_port, out_port, frame).or_else(|cause| {
            if !self.make_room(now, out_port, frame.class, cause) {
                return Err(cause);
            }
            self.place(now, in_port, out_port, frame)
        })
    }

    /// Has the discipline of a frame's queue drop others, if that may help; says whether it did.
    #[cold]
    fn make_room(&mut self, now: Time, out_port: u16, class: u8, cause: DropCause) -> bool {
        if cause == DropCause::IngressLimit {
            return false; // what waits here need not have come in there
        }
        let port = &mut self.ports[usize::from(out_port)];
        let band = port.scheduler.band(class);
        let made = port.bands[band].make_room(now, cause, &mut self.effects);
        self.release_dropped(now, out_port);
        made
    }

    #[inline]
    fn place(
        &mut self,
        now: Time,
        in_port: u16,
        out_port: u16,
        frame: Flight,
    ) -> Result<Held, DropCause> {
        let port = &self.ports[usize::from(out_port)];
        let band = port.scheduler.band(frame.class);
        if let Some(limit) = self.band_limits.get(band) {
            let held = port.held_bytes[band] + u64::from(frame.frame_bytes);
            if held > limit.most_bytes(self.memory.free_bytes()) {
                return Err(DropCause::QueueLimit);
            }
        }
        let admitted = self
            .memory
            .offer(now, in_port, out_port, frame.frame_bytes)?;
        Ok(Held {
            frame,
            in_port,
            pool: admitted.pool,
            since: now,
            marked: false,
        })
    }

    /// The frame just admitted is queued for `out_port`, whose transmitter is, or was, free at `free_at`; what the
    /// discipline drops for it is to be asked for with [`QueuedBuffer::take_dropped`].
    pub fn enqueue(
        &mut self,
        (now, free_at): (Time, Time),
        out_port: u16,
        held: Held,
        frames: &mut FramePool,
    ) {
        let bytes = held.frame.frame_bytes;
        self.memory.hold(held.in_port, out_port, bytes, held.pool);
        let port = &mut self.ports[usize::from(out_port)];
        let band = port.scheduler.band(held.frame.class);
        if port.held_bytes[band] == 0 && free_at < now {
            // The port has asked for more since the last frame left, and found none.
            port.bands[band].dequeue(free_at, frames, &mut self.effects);
        }
        port.held_bytes[band] += u64::from(bytes);
        port.bands[band].enqueue(now, held, frames, &mut self.effects);
        self.release_dropped(now, out_port);
    }

    /// The next frame of a port that is free. A band waits as long as the class of its first frame is
    /// paused, or its discipline holds it back.
    pub fn next(
        &mut self,
        now: Time,
        out_port: u16,
        paused: &Paused,
        frames: &mut FramePool,
    ) -> Option<Held> {
        loop {
            let port = &mut self.ports[usize::from(out_port)];
            let bands = &port.bands;
            let band = port.scheduler.next(|band| {
                let held = bands[band].first()?;
                if bands[band].held_until() > now {
                    return None;
                }
                (!paused.is_paused(now, held.frame.class))
                    .then(|| u64::from(held.frame.frame_bytes))
            })?;
            let taken = port.bands[band].dequeue(now, frames, &mut self.effects);
            let bytes = taken.as_ref().map_or(0, |held| held.frame.frame_bytes);
            port.scheduler.sent(band, bytes.into());
            self.release_dropped(now, out_port);
            if let Some(held) = taken {
                self.release(now, out_port, &held);
                return Some(held);
            }
        }
    }

    /// When the first band of a port that its discipline holds back at `now` may send, if any is.
    #[must_use]
    pub fn held_until(&self, now: Time, out_port: u16) -> Time {
        let bands = &self.ports[usize::from(out_port)].bands;
        let times = bands.iter().map(Discipline::held_until);
        times.filter(|at| *at > now).min().unwrap_or(Time::NEVER)
    }

    /// A frame that a discipline has dropped, and why, of which nobody has heard yet.
    pub fn take_dropped(&mut self) -> Option<(Held, DropCause)> {
        self.effects.dropped.pop()
    }

    /// Frames that the disciplines have marked since it was last asked.
    pub fn take_marked(&mut self) -> impl Iterator<Item = Flight> + '_ {
        self.effects.marked.drain(..)
    }

    fn release(&mut self, now: Time, out_port: u16, held: &Held) {
        let bytes = held.frame.frame_bytes;
        let port = &mut self.ports[usize::from(out_port)];
        let band = port.scheduler.band(held.frame.class);
        port.held_bytes[band] -= u64::from(bytes);
        if port.held_bytes[band] == 0 {
            port.empty_since[band] = now;
        }
        self.memory
            .release(held.in_port, out_port, bytes, held.pool);
    }

    fn release_dropped(&mut self, now: Time, out_port: u16) {
        while let Some((held, cause)) = self.effects.dropped_now.pop() {
            self.release(now, out_port, &held);
            self.effects.dropped.push((held, cause));
        }
    }

    /// Bytes of frames that wait for a port.
    #[inline]
    #[must_use]
    pub fn queued_bytes(&self, out_port: u16) -> u64 {
        self.memory.queued_bytes(out_port)
    }

    /// What waits in the queue that a frame of this class joins, as a marker sees it; its port's transmitter is, or
    /// was, free at `free_at`. One queue of several has been idle since its last frame began to leave, as Linux's
    /// child of a classful discipline is (red_start_of_idle_period).
    #[inline]
    #[must_use]
    pub fn look(&self, out_port: u16, class: u8, free_at: Time) -> QueueLook {
        let port = &self.ports[usize::from(out_port)];
        let band = port.scheduler.band(class);
        let alone = port.bands.len() == 1;
        QueueLook {
            port: out_port,
            band: band as u8,
            queued_bytes: port.held_bytes[band],
            free_at: if alone {
                free_at
            } else {
                port.empty_since[band]
            },
        }
    }

    /// Whether nothing waits for a port.
    #[must_use]
    pub fn is_empty(&self, out_port: u16) -> bool {
        let bands = &self.ports[usize::from(out_port)].bands;
        bands.iter().all(|band| band.first().is_none())
    }

    /// All that waits, and for which port.
    pub fn held(&self) -> impl Iterator<Item = (u16, &Held)> {
        let ports = (0..).zip(&self.ports);
        ports.flat_map(|(number, port)| {
            let bands = port.bands.iter().flat_map(Discipline::waiting);
            bands.map(move |held| (number, held))
        })
    }

    /// All frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Flight> {
        self.held().map(|(_, held)| &held.frame)
    }
}

#[cfg(test)]
#[path = "queued_tests.rs"]
mod tests;
