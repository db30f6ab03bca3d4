//! A star: every host has a link to one store-and-forward switch with an output queue for each; or,
//! between two hosts, just a link.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::hash::{DefaultHasher, Hash, Hasher};

use tailback_kernel::{Network, Packet};
use tailback_units::{Duration, Rate, Time};
use tailback_wire::{Ecn, ip, plan};

/// Preamble, gap and FCS of a frame, bytes.
const OVERHEAD_BYTES: u64 = 24;
/// Smallest frame without FCS, bytes.
const FRAME_BYTES_MIN: u64 = 60;

#[derive(Clone, Debug)]
pub struct StarConfig {
    /// Rate of each host's link.
    pub rates: Vec<Rate>,
    pub delay: Duration,
    pub mtu_bytes: u16,
    /// Bytes that an output queue holds; `None`: two hosts and no switch.
    pub buffer_bytes: Option<u64>,
    /// Packets are marked when more bytes wait.
    pub mark_above_bytes: Option<u64>,
}

/// One packet that a host sent, or that arrived at one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub at: Time,
    pub host: usize,
    pub arrives: bool,
    pub bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Switch,
    Host(usize),
}

pub struct Star {
    config: StarConfig,
    up_free: Vec<Time>,
    down_free: Vec<Time>,
    /// Bytes in each output queue, with the time they leave.
    queued: Vec<BTreeMap<Time, u64>>,
    heap: BinaryHeap<Reverse<(Time, u64)>>,
    flying: BTreeMap<u64, (Place, Packet)>,
    number: u64,
    pub trace: Vec<Event>,
    pub keep_trace: bool,
    pub hash: DefaultHasher,
    pub packets: u64,
    pub drops: u64,
    pub marks: u64,
    pub queued_bytes_max: u64,
    pub arrived_bytes: Vec<u64>,
    pub first_arrival: Vec<Time>,
    pub last_arrival: Vec<Time>,
}

impl Star {
    pub fn new(config: StarConfig, hosts: usize) -> Star {
        assert_eq!(config.rates.len(), hosts);
        Star {
            config,
            up_free: vec![Time::ZERO; hosts],
            down_free: vec![Time::ZERO; hosts],
            queued: vec![BTreeMap::new(); hosts],
            heap: BinaryHeap::new(),
            flying: BTreeMap::new(),
            number: 0,
            trace: Vec::new(),
            keep_trace: false,
            hash: DefaultHasher::new(),
            packets: 0,
            drops: 0,
            marks: 0,
            queued_bytes_max: 0,
            arrived_bytes: vec![0; hosts],
            first_arrival: vec![Time::NEVER; hosts],
            last_arrival: vec![Time::ZERO; hosts],
        }
    }

    fn serialisation(&self, host: usize, packet: &Packet) -> Duration {
        let bytes = (packet.bytes.len() as u64).max(FRAME_BYTES_MIN) + OVERHEAD_BYTES;
        self.config.rates[host].time_for(bytes)
    }

    fn launch(&mut self, at: Time, place: Place, packet: Packet) {
        self.number += 1;
        self.heap.push(Reverse((at, self.number)));
        self.flying.insert(self.number, (place, packet));
    }

    pub fn next(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |Reverse((at, _))| *at)
    }

    /// Handles the next event; gives the packet that arrives at a host.
    pub fn handle(&mut self) -> Option<(Time, usize, Packet)> {
        let Reverse((at, number)) = self.heap.pop()?;
        let (place, mut packet) = self.flying.remove(&number)?;
        let Place::Host(host) = place else {
            let to = packet
                .bytes
                .first_chunk()
                .copied()
                .and_then(plan::host_of_mac);
            let to = usize::from(to?);
            let waiting: u64 = self.queued[to].range(at..).map(|(_, bytes)| bytes).sum();
            self.queued[to] = self.queued[to].split_off(&at);
            let bytes = packet.bytes.len() as u64;
            if waiting + bytes > self.config.buffer_bytes.unwrap_or(0) {
                self.drops += 1;
                return None;
            }
            if self.config.mark_above_bytes.is_some_and(|k| waiting > k)
                && ip::set_ecn(&mut packet.bytes[14..], Ecn::Ce)
            {
                self.marks += 1;
            }
            self.queued_bytes_max = self.queued_bytes_max.max(waiting + bytes);
            let finish = self.down_free[to].max(at) + self.serialisation(to, &packet);
            self.down_free[to] = finish;
            *self.queued[to].entry(finish).or_default() += bytes;
            self.launch(finish + self.config.delay, Place::Host(to), packet);
            return None;
        };
        self.note(at, host, true, &packet);
        self.arrived_bytes[host] += packet.bytes.len() as u64 + OVERHEAD_BYTES;
        self.first_arrival[host] = self.first_arrival[host].min(at);
        self.last_arrival[host] = at;
        Some((at, host, packet))
    }

    fn note(&mut self, at: Time, host: usize, arrives: bool, packet: &Packet) {
        self.packets += 1;
        let head = packet.bytes.len().min(70);
        (at.as_ps(), host, arrives, &packet.bytes[..head]).hash(&mut self.hash);
        if self.keep_trace {
            self.trace.push(Event {
                at,
                host,
                arrives,
                bytes: packet.bytes.len(),
            });
        }
    }
}

impl Network for Star {
    fn transmit(&mut self, host: usize, earliest: Time, packet: Packet) -> (Time, Vec<u8>) {
        let finish = self.up_free[host].max(earliest) + self.serialisation(host, &packet);
        self.up_free[host] = finish;
        // Only arrivals are hashed: two hosts may send in either order at one time.
        if self.keep_trace {
            self.trace.push(Event {
                at: finish,
                host,
                arrives: false,
                bytes: packet.bytes.len(),
            });
        }
        let place = match self.config.buffer_bytes {
            Some(_) => Place::Switch,
            None => Place::Host(1 - host),
        };
        self.launch(finish + self.config.delay, place, packet);
        (finish, Vec::new())
    }

    fn next_event(&mut self) -> Time {
        self.next()
    }

    fn transit_min(&self, host: usize) -> Duration {
        self.config.rates[host].time_for(FRAME_BYTES_MIN + OVERHEAD_BYTES) + self.config.delay
    }
}
