//! A tin of CAKE: its queues, whose turn it is among them, and what hosts have under way.

use std::collections::VecDeque;

use tailback_units::{Duration, Time};

use super::config::{CakeConfig, FlowMode};
use super::shaper::Pace;
use crate::frame::FCS_BYTES;
use crate::queue::Held;
use crate::queue::cobalt::{Law, Settings};
use crate::random::{Stream, mix};

/// Queues of a tin (CAKE_QUEUES), in sets of so many (CAKE_SET_WAYS).
const QUEUES: usize = 1024;
const WAYS: usize = 8;
/// A flow's turn at most and at least, bytes (cake_set_rate).
const TURN_BYTES: (u64, u64) = (300, 1514);

/// The target is a twentieth of `rtt` (iproute2, tc/q_cake.c).
const TARGET_SHARE: u64 = 20;

/// Which turns a queue takes (CAKE_SET_*).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Set {
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
pub(super) struct Flow {
    pub(super) queue: VecDeque<Held>,
    pub(super) bytes: u64,
    pub(super) law: Law,
    pub(super) deficit: i64,
    pub(super) set: Set,
    pub(super) tag: u64,
    pub(super) source: usize,
    pub(super) destination: usize,
}

/// A host at one end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Host {
    pub(super) tag: u64,
    /// Its queues among the bulk.
    pub(super) bulk: u32,
}

/// A tin at work.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    pub(super) flows: Vec<Flow>,
    pub(super) sources: Vec<Host>,
    pub(super) destinations: Vec<Host>,
    pub(super) new: VecDeque<usize>,
    pub(super) old: VecDeque<usize>,
    pub(super) decaying: VecDeque<usize>,
    /// Queues in either set (sparse_flow_count, bulk_flow_count).
    pub(super) sparse: u32,
    pub(super) bulk: u32,
    pub(super) bytes: u64,
    pub(super) settings: Settings,
    pub(super) flow_turn: u64,
    pub(super) turn: i64,
    pub(super) deficit: i64,
    /// Its part of the rate, and until when it has used that.
    pub(super) pace: Option<Pace>,
    pub(super) next: Time,
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
    /// With so many bytes a second and a turn by weight of so many, for frames of so many at most.
    pub(super) fn new(
        config: &CakeConfig,
        (rate_bytes, turn): (u64, u64),
        frame_bytes_max: u32,
    ) -> Tin {
        let pace = config.bandwidth.map(|_| Pace::new(rate_bytes));
        let target = config.rtt / TARGET_SHARE;
        let frame = pace.map_or(Duration::ZERO, |pace| {
            pace.time_for(u64::from(frame_bytes_max - FCS_BYTES))
        });
        let raised = target.max(frame * 3 / 2);
        let turns = rate_bytes >> 12;
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
            flow_turn: match pace {
                Some(_) => turns.clamp(TURN_BYTES.0, TURN_BYTES.1),
                None => TURN_BYTES.1,
            },
            turn: turn.max(1) as i64,
            deficit: 0,
            pace,
            next: Time::ZERO,
        }
    }

    pub(super) fn has_any(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The queue of a frame, made ready for it (cake_hash).
    pub(super) fn flow_of(&mut self, held: &Held, mode: FlowMode) -> usize {
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
    pub(super) fn count_bulk(&mut self, flow: usize, mode: FlowMode, comes: bool) {
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
    pub(super) fn turn_of(&self, flow: usize, mode: FlowMode, stream: &mut Stream) -> i64 {
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

    /// What a frame that counts for so many bytes takes of its tin's turn and part of the rate (cake_advance_shaper).
    pub(super) fn charge(&mut self, now: Time, bytes: u64) {
        self.deficit -= bytes as i64;
        self.charge_rate(now, bytes);
    }

    /// The same of its part of the rate alone.
    pub(super) fn charge_rate(&mut self, now: Time, bytes: u64) {
        if let Some(pace) = self.pace {
            let takes = pace.time_for(bytes);
            self.next = if self.next < now {
                self.next + takes
            } else {
                self.next.max(now + takes)
            };
        }
    }

    /// A queue that is served is empty: it leaves, or stays until its law has faded.
    pub(super) fn run_empty(&mut self, at: usize, mode: FlowMode, now: Time) {
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
