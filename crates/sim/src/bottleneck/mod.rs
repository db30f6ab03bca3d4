//! One bottleneck between ideal ends: what closed forms of congestion control are held against.
//!
//! Senders are true connections; everything else is as the formulas assume: a fixed round trip, a
//! FIFO of one rate (or none), losses or marks by a process given, receivers that acknowledge
//! every segment, or every second, at once ([`receiver`]), hosts without a queue or a capacity of their own. It is no
//! second simulator: topologies, switches, hosts and workloads are [`crate::simulate`]'s.

mod config;
mod receiver;

use std::collections::VecDeque;
use std::sync::Arc;

use tailback_net::random::{Stream, threshold};
use tailback_tcp::congestion::CongestionKind;
use tailback_tcp::{Config, Connection, Ecn, Event, Segment, SocketOptions, Stats, Transmit};
use tailback_units::{Duration, Time};

pub use config::{BottleneckConfig, BottleneckResult, Chance, FlowConfig, FlowResult, Look};
use receiver::{Echo, Receiver};

/// Payload and headers of a full frame on the wire, bytes: MTU 1500, and 38 around it.
const HEADERS_BYTES: u64 = 52 + 38;
/// Payload without options of MTU 1500, bytes.
const MSS: u16 = 1460;
/// Windows below this get an acknowledgement for every segment.
const SMALL_WINDOW: u32 = 8;
/// Looks kept at most; beyond that every second one goes.
const LOOKS_MAX: usize = 4096;

/// A sender, its receiver, and acknowledgements on their way.
struct Flow {
    config: Config,
    start: Time,
    rtt: Duration,
    connection: Option<Connection>,
    receiver: Receiver,
    acks: VecDeque<(Time, Segment)>,
    totals: Totals,
    begin: Totals,
    cwnd: Summary,
}

/// Counts up to now.
#[derive(Clone, Copy, Default)]
struct Totals {
    delivered: u64,
    sent: u64,
    lost: u64,
    marked: u64,
    stats: Stats,
}

/// Mean, least and greatest of what is looked at.
#[derive(Clone, Copy)]
struct Summary {
    sum: u64,
    count: u64,
    least: u32,
    most: u32,
}

impl Summary {
    const EMPTY: Summary = Summary {
        sum: 0,
        count: 0,
        least: u32::MAX,
        most: 0,
    };

    fn add(&mut self, value: u32) {
        self.sum += u64::from(value);
        self.count += 1;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    fn mean(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }
}

/// The link: when each queued segment leaves.
struct Link {
    rate_bps: u64,
    buffer: usize,
    mark: usize,
    leaving: VecDeque<Time>,
}

/// What the link does with a segment.
enum Passage {
    Leaves { at: Time, marked: bool },
    Full,
}

impl Link {
    fn settle(&mut self, now: Time) {
        while self.leaving.front().is_some_and(|at| *at <= now) {
            self.leaving.pop_front();
        }
    }

    fn pass(&mut self, now: Time, bytes: u64) -> Passage {
        if self.rate_bps == 0 {
            return Passage::Leaves {
                at: now,
                marked: false,
            };
        }
        self.settle(now);
        if self.leaving.len() >= self.buffer {
            return Passage::Full;
        }
        let marked = self.mark > 0 && self.leaving.len() >= self.mark;
        let ps = (u128::from(bytes) * 8 * 1_000_000_000_000).div_ceil(u128::from(self.rate_bps));
        let from = self.leaving.back().copied().unwrap_or(now).max(now);
        let at = from + Duration::from_ps(ps as u64);
        self.leaving.push_back(at);
        Passage::Leaves { at, marked }
    }
}

/// Which segments are struck.
struct Dice {
    chance: Chance,
    threshold: u64,
    stream: Stream,
    seen: u64,
    struck: u64,
}

impl Dice {
    fn strikes(&mut self) -> bool {
        self.seen += 1;
        let strikes = match self.chance {
            Chance::None => false,
            Chance::Periodic { first, every } => {
                self.seen >= first && (self.seen - first).is_multiple_of(every.max(1))
            }
            Chance::Random { first, .. } => {
                self.seen == first || (self.seen > first && self.stream.next_u64() < self.threshold)
            }
        };
        self.struck += u64::from(strikes);
        strikes
    }
}

struct World {
    now: Time,
    flows: Vec<Flow>,
    link: Link,
    dice: Dice,
    chance_marks: bool,
    sent: u64,
    queue: Summary,
    looks: Vec<Look>,
    look_at: Time,
    look_every: Duration,
    /// Every so manyth look is kept.
    stride: u64,
    looked: u64,
    measuring_since: Option<Time>,
    chances_before: u64,
}

/// Runs it; the same configuration gives the same result.
#[must_use]
pub fn bottleneck(config: &BottleneckConfig) -> BottleneckResult {
    let mut world = World::new(config);
    loop {
        let next = world.next_time();
        if next == Time::NEVER {
            break;
        }
        world.step(next);
        if world.measuring_since.is_none() && world.is_warm(config) {
            world.begin_measuring();
        }
        if world.sent >= config.segments_max || world.is_done(config) {
            break;
        }
    }
    world.result()
}

impl World {
    fn new(config: &BottleneckConfig) -> World {
        let flows = config.flows.iter().enumerate().map(|(index, flow)| {
            let stack = Arc::new(flow.stack.clone());
            let echo = match stack.tcp_congestion_control {
                CongestionKind::Dctcp => Echo::Each,
                CongestionKind::Prague => Echo::Counted,
                _ => Echo::Latched,
            };
            Flow {
                receiver: Receiver::new(MSS, echo, flow.every_second),
                config: Config {
                    stack,
                    mss: MSS,
                    clock_phase: Duration::ZERO,
                    options: SocketOptions::default().into(),
                    rx_truesize_bytes: 2048,
                    rx_head_bytes: 0,
                    seed: config.seed.wrapping_add(index as u64),
                },
                start: Time::ZERO + Duration::from_us(flow.start_us),
                rtt: Duration::from_us(flow.rtt_us),
                connection: None,
                acks: VecDeque::new(),
                totals: Totals::default(),
                begin: Totals::default(),
                cwnd: Summary::EMPTY,
            }
        });
        let p = match config.chance {
            Chance::Random { p, .. } => p,
            Chance::None | Chance::Periodic { .. } => 0.0,
        };
        let look_every = Duration::from_us(config.look_us.max(1));
        World {
            now: Time::ZERO,
            flows: flows.collect(),
            link: Link {
                rate_bps: config.rate_bps,
                buffer: config.buffer_segments,
                mark: config.mark_segments,
                leaving: VecDeque::new(),
            },
            dice: Dice {
                chance: config.chance,
                threshold: threshold(p),
                stream: Stream::new(config.seed, "bottleneck", 0),
                seen: 0,
                struck: 0,
            },
            chance_marks: config.chance_marks,
            sent: 0,
            queue: Summary::EMPTY,
            looks: Vec::new(),
            look_at: Time::ZERO + look_every,
            look_every,
            stride: 1,
            looked: 0,
            measuring_since: None,
            chances_before: 0,
        }
    }

    fn next_time(&self) -> Time {
        let of = |flow: &Flow| {
            let timer = flow
                .connection
                .as_ref()
                .map_or(flow.start, Connection::poll_timeout);
            let ack = flow.acks.front().map_or(Time::NEVER, |(at, _)| *at);
            timer.min(ack)
        };
        self.flows.iter().map(of).min().unwrap_or(Time::NEVER)
    }

    fn step(&mut self, next: Time) {
        while self.look_at < next {
            self.look();
        }
        self.now = next.max(self.now);
        for index in 0..self.flows.len() {
            self.serve(index);
        }
    }

    /// What is due for a flow.
    fn serve(&mut self, index: usize) {
        let now = self.now;
        let flow = &mut self.flows[index];
        match &mut flow.connection {
            None if flow.start <= now => {
                flow.connection = Some(Connection::connect(&flow.config, now));
            }
            None => return,
            Some(connection) => {
                let mut due = false;
                if connection.poll_timeout() <= now {
                    connection.handle_timeout(now);
                    due = true;
                }
                if flow.acks.front().is_some_and(|(at, _)| *at <= now)
                    && let Some((_, ack)) = flow.acks.pop_front()
                {
                    connection.handle_segment(now, &ack);
                    due = true;
                }
                if !due {
                    return;
                }
            }
        }
        self.drive(index);
    }

    /// The application writes without end, and what TCP sends goes its way.
    fn drive(&mut self, index: usize) {
        let now = self.now;
        loop {
            let flow = &mut self.flows[index];
            let Some(connection) = &mut flow.connection else {
                return;
            };
            while let Some(event) = connection.poll_event() {
                if matches!(event, Event::Connected | Event::Writable) {
                    connection.write(now, u64::from(u32::MAX));
                }
            }
            let Some(transmit) = connection.poll_transmit(now) else {
                return;
            };
            self.send(index, &transmit);
        }
    }

    /// Cuts what TCP hands down into segments, and puts each on the link.
    fn send(&mut self, index: usize, transmit: &Transmit) {
        let mut left = u32::from(transmit.segment.payload_bytes);
        let mut segment = transmit.segment;
        loop {
            let bytes = left.min(u32::from(transmit.mss));
            segment.payload_bytes = bytes as u16;
            self.put(index, segment);
            segment.seq += bytes;
            left -= bytes;
            if left == 0 {
                return;
            }
        }
    }

    fn put(&mut self, index: usize, mut segment: Segment) {
        let flow = &mut self.flows[index];
        let data = segment.payload_bytes > 0;
        let struck = data && self.dice.strikes();
        self.sent += u64::from(data);
        flow.totals.sent += u64::from(data);
        if struck && !self.chance_marks {
            flow.totals.lost += 1;
            return;
        }
        let bytes = u64::from(segment.payload_bytes) + HEADERS_BYTES;
        let Passage::Leaves { at, marked } = self.link.pass(self.now, bytes) else {
            flow.totals.lost += 1;
            return;
        };
        if (marked || struck) && segment.ecn != Ecn::NotEct {
            segment.ecn = Ecn::Ce;
            flow.totals.marked += 1;
        }
        let arrives_us = at.as_ps() / 1_000_000;
        let cwnd = flow.connection.as_ref().map_or(0, |c| c.probe().cwnd);
        let small = cwnd < SMALL_WINDOW;
        if let Some(ack) = flow.receiver.receive(arrives_us, &segment, small) {
            flow.acks.push_back((at + flow.rtt, ack));
        }
        flow.totals.delivered = flow.receiver.segments;
    }

    fn look(&mut self) {
        let at = self.look_at;
        self.look_at += self.look_every;
        self.link.settle(at);
        let queue = self.link.leaving.len() as u32;
        let probe = |flow: &Flow| flow.connection.as_ref().map_or(0, |c| c.probe().cwnd);
        let cwnd: Vec<u32> = self.flows.iter().map(probe).collect();
        if self.measuring_since.is_some() {
            self.queue.add(queue);
            for (flow, cwnd) in self.flows.iter_mut().zip(&cwnd) {
                flow.cwnd.add(*cwnd);
            }
        }
        if self.looked.is_multiple_of(self.stride) {
            self.looks.push(Look {
                time_s: at.as_ps() as f64 / 1e12,
                queue,
                cwnd,
            });
            if self.looks.len() >= LOOKS_MAX {
                let mut keep = false;
                self.looks.retain(|_| {
                    keep = !keep;
                    keep
                });
                self.stride *= 2;
            }
        }
        self.looked += 1;
    }

    fn is_warm(&self, config: &BottleneckConfig) -> bool {
        self.dice.struck >= config.warm_up_chances
            && self.now >= Time::ZERO + Duration::from_us(config.warm_up_us)
    }

    fn is_done(&self, config: &BottleneckConfig) -> bool {
        let struck = self.dice.struck - self.chances_before;
        self.measuring_since.is_some_and(|since| {
            struck >= config.measured_chances
                && self.now >= since + Duration::from_us(config.measured_us)
        })
    }

    fn begin_measuring(&mut self) {
        self.measuring_since = Some(self.now);
        self.chances_before = self.dice.struck;
        for flow in &mut self.flows {
            flow.begin = flow.totals_now();
        }
    }

    fn result(self) -> BottleneckResult {
        let since = self.measuring_since.unwrap_or(self.now);
        let measured_s = (self.now.as_ps() - since.as_ps()) as f64 / 1e12;
        let chances = self.dice.struck - self.chances_before;
        let per_s = |count: u64| count as f64 / measured_s.max(f64::MIN_POSITIVE);
        let flow = |flow: &Flow| {
            let (end, begin) = (flow.totals_now(), flow.begin);
            let delivered = end.delivered - begin.delivered;
            let payload_bits = u64::from(MSS - 12) * 8;
            FlowResult {
                goodput_bps: per_s(delivered * payload_bits),
                window_mean: per_s(delivered) * flow.rtt.as_ps() as f64 / 1e12,
                cwnd_mean: flow.cwnd.mean(),
                cwnd_min: flow.cwnd.least.min(flow.cwnd.most),
                cwnd_max: flow.cwnd.most,
                sent: end.sent - begin.sent,
                lost: end.lost - begin.lost,
                marked: end.marked - begin.marked,
                retransmissions: end.stats.retransmissions - begin.stats.retransmissions,
                timeouts: u64::from(end.stats.timeouts - begin.stats.timeouts),
            }
        };
        BottleneckResult {
            measured_s,
            chances,
            queue_mean: self.queue.mean(),
            queue_min: self.queue.least.min(self.queue.most),
            queue_max: self.queue.most,
            flows: self.flows.iter().map(flow).collect(),
            looks: self.looks,
        }
    }
}

impl Flow {
    fn totals_now(&self) -> Totals {
        Totals {
            stats: self
                .connection
                .as_ref()
                .map_or(Stats::default(), |connection| *connection.stats()),
            ..self.totals
        }
    }
}

#[cfg(test)]
#[path = "bottleneck_tests.rs"]
mod tests;
