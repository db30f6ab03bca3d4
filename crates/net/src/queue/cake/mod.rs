//! CAKE: tins, and in each a queue for each flow with fair shares for hosts, served by turns, each under COBALT.
//!
//! Models net/sched/sch_cake.c of Linux 7.2 with the words of `tc cake`: a frame's priority chooses its tin
//! (`diffserv_mode`); in a tin a flow's hash chooses one of 1024 queues, in sets of eight so that flows meet in one late;
//! queues take turns by deficit round robin, sparse ones ahead, with a turn that is divided by the flows that a host has
//! under way (`flow_mode`); COBALT looks after each queue ([`cobalt`](super::cobalt)), and empty ones are kept in mind
//! until its state has faded. Beyond `memlimit`, and where the switch's memory has no room for a frame that comes, the
//! longest queue loses its first frame.
//! With `bandwidth`, which is the rate of the port's link, tins have shares of it: the first in order of priority that
//! keeps to its own goes first, and targets are raised where a frame takes long. Without it tins take turns by
//! weight (`unlimited`).
//! Left out: holding back below the link's rate and overheads (a link's rate is CAKE's), `ingress`, `autorate-ingress`,
//! `nat`, `wash`, `ack-filter`, `split-gso`, filters. Source hosts are told apart by the port that their frames come in by.

mod config;

use std::collections::VecDeque;

use tailback_units::{Bytes, Duration, Rate, Time};

pub use self::config::{CakeConfig, DiffservMode, FlowMode};

use super::cobalt::{Law, Settings, Verdict};
use super::{Effects, Held};
use crate::pool::FramePool;
use crate::random::{Stream, mix};
use crate::switch::DropCause;

/// Queues of a tin (CAKE_QUEUES), in sets of so many (CAKE_SET_WAYS).
const QUEUES: usize = 1024;
const WAYS: usize = 8;
/// A flow's turn at most and at least, bytes (cake_set_rate).
const TURN_BYTES: (u64, u64) = (300, 1514);
/// The target is a twentieth of `rtt` (iproute2, tc/q_cake.c).
const TARGET_SHARE: u64 = 20;

/// Which turns a queue takes (CAKE_SET_*).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    #[default]
    None,
    Sparse,
    /// It takes turns with the bulk, and was empty when it last had one.
    SparseWait,
    Bulk,
    /// It is empty, and its law has not faded.
    Decaying,
}

/// One queue.
#[derive(Clone, Debug, Default)]
struct Flow {
    queue: VecDeque<Held>,
    bytes: u64,
    law: Law,
    deficit: i64,
    set: Set,
    tag: u64,
    source: usize,
    destination: usize,
}

/// A host at one end.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    tag: u64,
    /// Its queues among the bulk.
    bulk: u32,
}

#[derive(Clone, Debug)]
struct Tin {
    flows: Vec<Flow>,
    sources: Vec<Host>,
    destinations: Vec<Host>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    decaying: VecDeque<usize>,
    /// Queues in either set (sparse_flow_count, bulk_flow_count).
    sparse: u32,
    bulk: u32,
    bytes: u64,
    settings: Settings,
    flow_turn: u64,
    turn: i64,
    deficit: i64,
    /// Its part of the rate, and until when it has used that.
    rate: Option<Rate>,
    next: Time,
}

/// The queues of one port's class under CAKE.
#[derive(Clone, Debug)]
pub struct Cake {
    flow_mode: FlowMode,
    tin_of: [usize; 8],
    memlimit: u64,
    tins: Vec<Tin>,
    tin: usize,
    waiting: usize,
    bytes: u64,
    stream: Stream,
}

/// The place of `tag` in the set of eight that it falls into: the one that `has` it, else one that `is_free`, else the first
/// that was looked at.
fn place(tag: u64, has: impl Fn(usize) -> bool, is_free: impl Fn(usize) -> bool) -> usize {
    let first = (tag % QUEUES as u64) as usize;
    let set = first / WAYS * WAYS;
    let ways = || (0..WAYS).map(|way| set + (first + way) % WAYS);
    ways()
        .find(|at| has(*at))
        .or_else(|| ways().find(|at| is_free(*at)))
        .unwrap_or(first)
}

impl Tin {
    fn new(config: &CakeConfig, (rate_bps, turn): (u64, u64), frame_bytes_max: u32) -> Tin {
        let rate = config.bandwidth.map(|_| Rate::from_bps(rate_bps.max(1)));
        let target = config.rtt / TARGET_SHARE;
        let frame = rate.map_or(Duration::ZERO, |rate| {
            rate.time_for(u64::from(frame_bytes_max))
        });
        let raised = target.max(frame * 3 / 2);
        let turns = (rate_bps / 8) >> 12;
        Tin {
            flows: vec![Flow::default(); QUEUES],
            sources: vec![Host::default(); QUEUES],
            destinations: vec![Host::default(); QUEUES],
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            sparse: 0,
            bulk: 0,
            bytes: 0,
            settings: Settings {
                target: raised,
                interval: (config.rtt + raised - target).max(raised * 2),
                floor: frame * 4,
            },
            flow_turn: match rate {
                Some(_) => turns.clamp(TURN_BYTES.0, TURN_BYTES.1),
                None => TURN_BYTES.1,
            },
            turn: turn.max(1) as i64,
            deficit: 0,
            rate,
            next: Time::ZERO,
        }
    }

    fn has_any(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The queue of a frame, made ready for it (cake_hash).
    fn flow_of(&mut self, held: &Held, mode: FlowMode) -> usize {
        let source = mix(u64::from(held.in_port) + 1);
        let destination = mix(u64::from(held.frame.destination.0) + 1);
        let tag = match mode {
            FlowMode::Flowblind => return 0,
            FlowMode::Srchost => source,
            FlowMode::Dsthost => destination,
            FlowMode::Hosts => source ^ destination.rotate_left(32),
            _ if mode.keeps_flows() => mix(u64::from(held.frame.to.0) + 1),
            _ => 0,
        };
        let direct = (tag % QUEUES as u64) as usize;
        let known = &self.flows[direct];
        if known.tag == tag && known.set != Set::None {
            return direct;
        }
        let flows = &self.flows;
        let at = place(
            tag,
            |at| flows[at].tag == tag,
            |at| flows[at].set == Set::None,
        );
        let is_known = flows[at].tag == tag;
        if is_known && flows[at].set != Set::None {
            return at;
        }
        // Where all eight are at work two flows share one, and it is the newcomer's host's from now on.
        let is_bulk = flows[at].set == Set::Bulk;
        if is_bulk {
            self.count_bulk(at, mode, false);
        }
        self.flows[at].tag = tag;
        if mode.shares_by_source() {
            self.flows[at].source = reserve(&mut self.sources, source);
        }
        if mode.shares_by_destination() {
            self.flows[at].destination = reserve(&mut self.destinations, destination);
        }
        if is_bulk {
            self.count_bulk(at, mode, true);
        }
        at
    }

    /// A queue comes among the bulk, or leaves it: its hosts' books.
    fn count_bulk(&mut self, flow: usize, mode: FlowMode, comes: bool) {
        let flow = &self.flows[flow];
        let ends = [
            (mode.shares_by_source(), &mut self.sources[flow.source]),
            (
                mode.shares_by_destination(),
                &mut self.destinations[flow.destination],
            ),
        ];
        for (counts, host) in ends {
            if counts {
                host.bulk = if comes {
                    (host.bulk + 1).min(QUEUES as u32)
                } else {
                    host.bulk.saturating_sub(1)
                };
            }
        }
    }

    /// A queue's turn, bytes: divided by its host's queues, and rounded either way at random (cake_get_flow_quantum).
    fn turn_of(&self, flow: usize, mode: FlowMode, stream: &mut Stream) -> i64 {
        let flow = &self.flows[flow];
        let mut load = 1;
        if mode.shares_by_source() {
            load = load.max(self.sources[flow.source].bulk);
        }
        if mode.shares_by_destination() {
            load = load.max(self.destinations[flow.destination].bulk);
        }
        let dither = stream.next_u64() >> 48;
        ((self.flow_turn * (65_535 / u64::from(load)) + dither) >> 16) as i64
    }

    /// What a frame takes of its tin's part of the rate (cake_advance_shaper).
    fn charge(&mut self, now: Time, frame_bytes: u16) {
        self.deficit -= i64::from(frame_bytes);
        if let Some(rate) = self.rate {
            let takes = rate.time_for(u64::from(frame_bytes));
            self.next = if self.next < now {
                self.next + takes
            } else {
                self.next.max(now + takes)
            };
        }
    }

    /// A queue that is served is empty: it leaves, or stays until its law has faded.
    fn run_empty(&mut self, at: usize, mode: FlowMode, now: Time) {
        let flow = &mut self.flows[at];
        flow.law.run_empty(&self.settings, now);
        let fades = !flow.law.is_at_rest(now);
        let was = flow.set;
        flow.set = if fades { Set::Decaying } else { Set::None };
        match was {
            Set::Bulk => {
                self.bulk -= 1;
                self.count_bulk(at, mode, false);
            }
            Set::Sparse | Set::SparseWait => self.sparse -= 1,
            Set::Decaying | Set::None => {}
        }
        if fades {
            self.decaying.push_back(at);
        }
    }
}

/// The place of a host, which is made its own.
fn reserve(hosts: &mut [Host], tag: u64) -> usize {
    let at = place(tag, |at| hosts[at].tag == tag, |at| hosts[at].bulk == 0);
    hosts[at].tag = tag;
    at
}

impl Cake {
    /// Empty queues of frames of so many bytes at most; `stream` draws what is drawn.
    #[must_use]
    pub fn new(config: &CakeConfig, frame_bytes_max: u32, stream: Stream) -> Cake {
        let rate_bps = config.bandwidth.map_or(0, Rate::as_bps);
        let shares = config.diffserv_mode.shares(rate_bps);
        Cake {
            flow_mode: config.flow_mode,
            tin_of: config.diffserv_mode.tins(),
            memlimit: config.memlimit.map_or(u64::MAX, Bytes::get),
            tins: shares
                .into_iter()
                .map(|share| Tin::new(config, share, frame_bytes_max))
                .collect(),
            tin: 0,
            waiting: 0,
            bytes: 0,
            stream,
        }
    }

    /// What is drawn from here on is drawn from `stream`.
    pub(super) fn reseed(&mut self, stream: Stream) {
        self.stream = stream;
    }

    /// A frame joins its flow's queue; beyond the limit the longest loses frames.
    pub fn enqueue(&mut self, now: Time, held: Held, effects: &mut Effects) {
        let mode = self.flow_mode;
        let tin = &mut self.tins[self.tin_of[usize::from(held.frame.class & 7)]];
        let at = tin.flow_of(&held, mode);
        let bytes = u64::from(held.frame.frame_bytes);
        if tin.bytes == 0 {
            tin.next = tin.next.max(now);
        }
        let flow = &mut tin.flows[at];
        flow.queue.push_back(held);
        flow.bytes += bytes;
        tin.bytes += bytes;
        self.bytes += bytes;
        self.waiting += 1;
        match flow.set {
            Set::None | Set::Decaying => {
                if flow.set == Set::Decaying {
                    tin.decaying.retain(|other| *other != at);
                }
                flow.set = Set::Sparse;
                tin.sparse += 1;
                tin.new.push_back(at);
                tin.flows[at].deficit = tin.turn_of(at, mode, &mut self.stream);
            }
            Set::SparseWait => {
                flow.set = Set::Bulk;
                tin.sparse -= 1;
                tin.bulk += 1;
                tin.count_bulk(at, mode, true);
            }
            Set::Sparse | Set::Bulk => {}
        }
        while self.bytes > self.memlimit
            && self.drop_from_longest(now, DropCause::QueueLimit, effects)
        {}
    }

    /// The longest queue loses its first frame; says whether there was any.
    pub(super) fn drop_from_longest(
        &mut self,
        now: Time,
        cause: DropCause,
        effects: &mut Effects,
    ) -> bool {
        // What is not empty is in one of these lists.
        let queues = self.tins.iter().enumerate().flat_map(|(place, tin)| {
            let listed = tin.new.iter().chain(&tin.old);
            listed.map(move |at| (tin.flows[*at].bytes, place, *at))
        });
        let Some((_, tin, at)) = queues.max() else {
            return false;
        };
        let tin = &mut self.tins[tin];
        let flow = &mut tin.flows[at];
        let Some(held) = flow.queue.pop_front() else {
            return false;
        };
        let bytes = u64::from(held.frame.frame_bytes);
        flow.bytes -= bytes;
        flow.law.overflowed(&tin.settings, now);
        tin.bytes -= bytes;
        self.bytes -= bytes;
        self.waiting -= 1;
        effects.drop(held, cause);
        true
    }

    /// The next frame, if any is left.
    pub fn dequeue(
        &mut self,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        // One queue that only fades is looked at before any that waits.
        let mut looks_at_fading = true;
        while self.waiting > 0 {
            self.choose_tin(now)?;
            while let Some(at) = self.next_flow(&mut looks_at_fading) {
                if let Some(held) = self.serve(at, now, frames, effects) {
                    return Some(held);
                }
                if self.tins[self.tin].flows[at].set == Set::None
                    || self.tins[self.tin].flows[at].set == Set::Decaying
                {
                    break;
                }
            }
        }
        None
    }

    /// Whose turn it is among the tins.
    fn choose_tin(&mut self, now: Time) -> Option<()> {
        if self.tins[0].rate.is_some() {
            let mut best: Option<(usize, Duration)> = None;
            for (at, tin) in self
                .tins
                .iter()
                .enumerate()
                .filter(|(_, tin)| tin.has_any())
            {
                // A tin that keeps to its part goes before those in front of it, else the earliest to be due.
                let wait = tin.next.since(now.min(tin.next));
                let behind = wait.is_zero();
                if behind || best.is_none_or(|(_, least)| wait <= least) {
                    best = Some((at, wait));
                }
            }
            self.tin = best?.0;
            return Some(());
        }
        if !self.tins.iter().any(Tin::has_any) {
            return None;
        }
        let count = self.tins.len();
        loop {
            let tin = &mut self.tins[self.tin];
            if tin.deficit >= 0 && tin.has_any() {
                return Some(());
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.turn;
            }
            self.tin = (self.tin + 1) % count;
        }
    }

    /// The queue whose turn it is in the tin; it leaves its list.
    fn next_flow(&mut self, looks_at_fading: &mut bool) -> Option<usize> {
        let tin = &mut self.tins[self.tin];
        let fading = if std::mem::take(looks_at_fading) {
            tin.decaying.pop_front()
        } else {
            None
        };
        let at = fading
            .or_else(|| tin.new.pop_front())
            .or_else(|| tin.old.pop_front())
            .or_else(|| tin.decaying.pop_front())?;
        Some(at)
    }

    /// A queue has its turn, or waits for the next: a frame, if it gives one.
    fn serve(
        &mut self,
        at: usize,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        let mode = self.flow_mode;
        let tin = &mut self.tins[self.tin];
        let flow = &mut tin.flows[at];
        if flow.deficit <= 0 {
            if flow.set == Set::Sparse {
                if flow.queue.is_empty() {
                    flow.set = Set::SparseWait;
                } else {
                    flow.set = Set::Bulk;
                    tin.sparse -= 1;
                    tin.bulk += 1;
                    tin.count_bulk(at, mode, true);
                }
            }
            let turn = tin.turn_of(at, mode, &mut self.stream);
            tin.flows[at].deficit += turn;
            tin.old.push_back(at);
            return None;
        }
        loop {
            let flow = &mut tin.flows[at];
            let Some(mut held) = flow.queue.pop_front() else {
                tin.run_empty(at, mode, now);
                return None;
            };
            let bytes = u64::from(held.frame.frame_bytes);
            flow.bytes -= bytes;
            tin.bytes -= bytes;
            self.bytes -= bytes;
            self.waiting -= 1;
            let books = (&mut *frames, &mut *effects);
            let law = &mut flow.law;
            let verdict = law.judge(&tin.settings, now, &mut held, books, &mut self.stream);
            // The last may be marked, and is not dropped.
            if verdict == Verdict::Drops && !flow.queue.is_empty() {
                effects.drop(held, DropCause::Early);
                continue;
            }
            flow.deficit -= bytes as i64;
            match flow.set {
                Set::Sparse => tin.new.push_front(at),
                Set::SparseWait | Set::Bulk => tin.old.push_front(at),
                Set::None | Set::Decaying => {}
            }
            tin.charge(now, held.frame.frame_bytes);
            return Some(held);
        }
    }

    /// A frame that is among the next to be looked at.
    #[must_use]
    pub fn first(&self) -> Option<&Held> {
        let tins = self.tins[self.tin..].iter().chain(&self.tins[..self.tin]);
        tins.flat_map(|tin| tin.new.iter().chain(&tin.old).map(|at| &tin.flows[*at]))
            .find_map(|flow| flow.queue.front())
    }

    /// Frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Held> {
        let flows = self.tins.iter().flat_map(|tin| &tin.flows);
        flows.flat_map(|flow| &flow.queue)
    }
}

#[cfg(test)]
#[path = "cake_tests.rs"]
mod tests;
