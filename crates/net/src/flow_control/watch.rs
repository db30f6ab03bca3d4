//! A switch that watches its watermarks.

use tailback_units::{Duration, Rate, Time};

use super::{FlowControlConfig, PauseFrame, Watched, quanta_time};

/// A frame to be sent out of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The port.
    pub port: u16,
    /// The frame.
    pub frame: PauseFrame,
}

/// What stops somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Where too much waits; see [`Watch::place_of`].
    pub place: usize,
    /// What may be left there.
    pub low_bytes: u64,
}

/// Classes that stop together, and when.
#[derive(Clone, Copy, Debug)]
struct Group {
    classes: u8,
    high_bytes: u64,
    low_bytes: u64,
}

/// The watermarks of one switch.
#[derive(Clone, Debug)]
pub struct Watch {
    groups: Vec<Group>,
    watched: Watched,
    quanta: u16,
    ports: usize,
    /// Bytes by group and watched port.
    bytes: Vec<u64>,
    /// Whether that is above, and has not come down to the low watermark since.
    over: Vec<bool>,
    /// By group and port: how many watched ports want its peer stopped.
    stopping: Vec<u16>,
    /// By group and port: when its peer is to be told again; never, if it need not.
    due: Vec<Time>,
    /// By port: half of the time that its frames stop the peer.
    again: Vec<Duration>,
    /// Frames sent, by port.
    sent: Vec<u64>,
}

impl Watch {
    /// Nothing waits in a switch whose ports send at these rates.
    #[must_use]
    pub fn new(config: &FlowControlConfig, rates: &[Rate]) -> Watch {
        let (groups, watched) = match config {
            FlowControlConfig::Pause(pause) => (
                vec![Group {
                    classes: 0xff,
                    high_bytes: pause.high_watermark.get(),
                    low_bytes: pause.low_watermark.get(),
                }],
                pause.watch,
            ),
            FlowControlConfig::Pfc(pfc) => {
                let group = |c: &super::PfcClass| Group {
                    classes: 1 << (c.class & 7),
                    high_bytes: c.high_watermark.get(),
                    low_bytes: c.low_watermark.get(),
                };
                (pfc.classes.iter().map(group).collect(), pfc.watch)
            }
        };
        let ports = rates.len();
        let again = |rate: &Rate| quanta_time(config.quanta(), *rate) / 2;
        let places = groups.len() * ports;
        Watch {
            groups,
            watched,
            quanta: config.quanta(),
            ports,
            bytes: vec![0; places],
            over: vec![false; places],
            stopping: vec![0; places],
            due: vec![Time::NEVER; places],
            again: rates.iter().map(again).collect(),
            sent: vec![0; ports],
        }
    }

    /// Whether it stops classes one by one, not links.
    #[must_use]
    pub fn by_class(&self) -> bool {
        self.groups.iter().all(|group| group.classes != 0xff)
    }

    /// A frame of a class has come from `in_port` and waits for `out_port`.
    pub fn queued(
        &mut self,
        now: Time,
        (in_port, out_port): (u16, u16),
        class: u8,
        frame_bytes: u16,
        orders: &mut Vec<Order>,
    ) {
        let Some((group, place)) = self.place(in_port, out_port, class) else {
            return;
        };
        self.bytes[place] += u64::from(frame_bytes);
        if !self.over[place] && self.bytes[place] > self.groups[group].high_bytes {
            self.over[place] = true;
            self.change(now, group, place, true, orders);
        }
    }

    /// Such a frame waits no longer.
    pub fn left(
        &mut self,
        now: Time,
        (in_port, out_port): (u16, u16),
        class: u8,
        frame_bytes: u16,
        orders: &mut Vec<Order>,
    ) {
        let Some((group, place)) = self.place(in_port, out_port, class) else {
            return;
        };
        self.bytes[place] -= u64::from(frame_bytes);
        if self.over[place] && self.bytes[place] <= self.groups[group].low_bytes {
            self.over[place] = false;
            self.change(now, group, place, false, orders);
        }
    }

    /// Says again whom to stop where half of the last frame's quanta are over.
    pub fn refresh(&mut self, now: Time, orders: &mut Vec<Order>) {
        for group in 0..self.groups.len() {
            for port in 0..self.ports {
                if self.due[group * self.ports + port] <= now {
                    self.order(now, group, port, self.quanta, orders);
                }
            }
        }
    }

    /// When somebody is to be told again, never if nobody is stopped.
    #[must_use]
    pub fn due(&self) -> Time {
        self.due.iter().copied().min().unwrap_or(Time::NEVER)
    }

    /// Why the peer at a port is stopped from sending a class, if it is.
    pub fn reasons(&self, port: u16, class: u8) -> impl Iterator<Item = Reason> {
        let groups = self.groups.iter().enumerate();
        let concerned = groups.filter(move |(_, g)| g.classes & (1 << (class & 7)) != 0);
        concerned.flat_map(move |(number, group)| {
            let places =
                (0..self.ports).map(move |watched| (watched, number * self.ports + watched));
            places
                .filter(move |(watched, place)| {
                    self.over[*place] && self.concerns(*watched, usize::from(port))
                })
                .map(|(_, place)| Reason {
                    place,
                    low_bytes: group.low_bytes,
                })
        })
    }

    /// Where a frame counts that waits, if it does.
    #[must_use]
    pub fn place_of(&self, in_port: u16, out_port: u16, class: u8) -> Option<usize> {
        self.place(in_port, out_port, class).map(|(_, place)| place)
    }

    /// Whether what a watched port holds stops the peer at a port.
    fn concerns(&self, watched: usize, port: usize) -> bool {
        match self.watched {
            Watched::Egress => port != watched,
            Watched::Ingress => port == watched,
        }
    }

    /// Frames sent out of a port.
    #[must_use]
    pub fn sent(&self, port: u16) -> u64 {
        self.sent[usize::from(port)]
    }

    /// The group that a class is watched in, and the place it is counted at.
    fn place(&self, in_port: u16, out_port: u16, class: u8) -> Option<(usize, usize)> {
        let group = self
            .groups
            .iter()
            .position(|g| g.classes & (1 << (class & 7)) != 0)?;
        let port = match self.watched {
            Watched::Egress => out_port,
            Watched::Ingress => in_port,
        };
        Some((group, group * self.ports + usize::from(port)))
    }

    /// A watched port wants its peers stopped, or no longer.
    fn change(
        &mut self,
        now: Time,
        group: usize,
        place: usize,
        stop: bool,
        orders: &mut Vec<Order>,
    ) {
        let watched = place % self.ports;
        for port in 0..self.ports {
            if !self.concerns(watched, port) {
                continue;
            }
            let count = &mut self.stopping[group * self.ports + port];
            if stop {
                *count += 1;
            } else {
                *count -= 1;
            }
            match (stop, *count) {
                (true, 1) => self.order(now, group, port, self.quanta, orders),
                (false, 0) => self.order(now, group, port, 0, orders),
                _ => {}
            }
        }
    }

    fn order(
        &mut self,
        now: Time,
        group: usize,
        port: usize,
        quanta: u16,
        orders: &mut Vec<Order>,
    ) {
        self.due[group * self.ports + port] = match quanta {
            0 => Time::NEVER,
            _ => now + self.again[port],
        };
        self.sent[port] += 1;
        orders.push(Order {
            port: port as u16,
            frame: PauseFrame {
                classes: self.groups[group].classes,
                quanta,
            },
        });
    }
}
