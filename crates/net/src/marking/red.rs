//! Random early detection, and weighted RED: a profile for each traffic class.
//!
//! Models Floyd and Jacobson (IEEE/ACM ToN 1(4), 1993) with the parameters of Linux `tc red`: an
//! average of the queue, moved by 1/2^Wlog of the difference at every arrival and aged over idle
//! time; between `min` and `max` a packet is marked or dropped with a probability that rises to
//! `probability`, spread evenly: the next one is that at which the average's excess times the packets since the last
//! comes to a number drawn after it, and the first packet in the band only draws; above `max` every one.
//! With `ecn` a packet that is ECN-capable is marked in place of being dropped. WRED (Cisco's name;
//! Linux calls it GRED) is the same with a profile a class and one average a class. A port with
//! several queues has averages of each.
//! Left out: `limit` (the switch's memory is the limit), `adaptive`, gentle RED, GRED's shared
//! average and buffer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_tcp::Header;
use tailback_units::{Bytes, Duration, Rate, Time};

use super::{Mark, QueueLook, Verdict};
use crate::random::Stream;

/// The least weight's negative logarithm (`tc red`).
const WLOG_MAX: u32 = 31;

/// Parameters of RED, by the names of `tc red`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedConfig {
    /// Average queue at which marking or dropping begins.
    pub min: Bytes,
    /// Average queue at which its probability is greatest, and beyond which it is 1.
    pub max: Bytes,
    /// The greatest probability between the two.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// Mean size of a packet: with `burst` and `bandwidth` it gives the average's time constant.
    pub avpkt: Bytes,
    /// Packets that may come at once before the average follows, at least `min` / `avpkt`; 0: no averaging at all.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub burst: u32,
    /// Rate by which the average is aged while the queue is empty.
    pub bandwidth: Rate,
    /// Mark packets that are ECN-capable and drop the others; without it, drop all.
    pub ecn: bool,
    /// Above `max` drop all: what is ECN-capable too, and in spite of `nodrop`.
    #[serde(default)]
    pub harddrop: bool,
    /// With `ecn`, let packets that are not ECN-capable pass where they would be dropped.
    #[serde(default)]
    pub nodrop: bool,
    /// What a mark is.
    #[serde(default)]
    pub mark: Mark,
}

/// Parameters of weighted RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WredConfig {
    /// A profile for each traffic class, from class 0; classes beyond the last use the last.
    #[schemars(length(min = 1, max = 8))]
    pub profiles: Vec<RedConfig>,
}

/// One profile on one queue of one port.
#[derive(Clone, Copy, Debug, Default)]
struct Average {
    /// The average queue in bytes, times 2^Wlog.
    scaled: u64,
    /// Packets since the last one marked or dropped; none: the average was not between `min` and `max`.
    since: Option<u64>,
    /// The product of these packets and the average's excess at which the next one is due, bytes.
    due_bytes: u64,
}

#[derive(Clone, Debug)]
struct Profile {
    config: RedConfig,
    wlog: u32,
    /// The greatest such product.
    due_bytes_max: u64,
    packet_time: Duration,
}

/// RED at work on all ports of a switch.
#[derive(Clone, Debug)]
pub struct Red {
    profiles: Vec<Profile>,
    /// By port, band and profile.
    averages: Vec<Average>,
    bands: usize,
    stream: Stream,
}

impl Red {
    pub(super) fn new(profiles: &[RedConfig], (ports, bands): (u16, usize), stream: Stream) -> Red {
        let profile = |config: &RedConfig| {
            let span = config.max.get().saturating_sub(config.min.get()).max(1);
            Profile {
                // Without any the average would not move; the scenario's checks refuse it.
                wlog: config.wlog().unwrap_or(WLOG_MAX),
                due_bytes_max: (span as f64 / config.probability) as u64,
                packet_time: config.bandwidth.time_for(config.avpkt.get().max(1)),
                config: config.clone(),
            }
        };
        Red {
            averages: vec![Average::default(); usize::from(ports) * bands * profiles.len()],
            bands,
            profiles: profiles.iter().map(profile).collect(),
            stream,
        }
    }

    /// Draws anew, from `stream`, what is drawn and has not told yet.
    pub(super) fn reseed(&mut self, stream: Stream) {
        self.stream = stream;
        for (place, state) in self.averages.iter_mut().enumerate() {
            let profile = &self.profiles[place % self.profiles.len()];
            let Some(since) = state.since else {
                continue;
            };
            let beyond = (state.scaled >> profile.wlog).saturating_sub(profile.config.min.get());
            let least = beyond.saturating_mul(since) + 1;
            let left = profile.due_bytes_max.saturating_sub(least);
            state.due_bytes = least + self.stream.below(left);
        }
    }

    pub(super) fn arrive(&mut self, now: Time, queue: QueueLook, header: &mut Header) -> Verdict {
        let class = usize::from(header.class()).min(self.profiles.len() - 1);
        let profile = &self.profiles[class];
        let place = usize::from(queue.port) * self.bands + usize::from(queue.band);
        let state = &mut self.averages[place * self.profiles.len() + class];
        state.update(profile, now, queue);
        let average = state.scaled >> profile.wlog;
        let config = &profile.config;
        if average < config.min.get() {
            state.since = None;
            return Verdict::Pass;
        }
        if average >= config.max.get() {
            state.since = None;
            return punish(config, !config.harddrop, header);
        }
        // As red_action in include/net/red.h.
        let since = state.since.map_or(0, |since| since + 1);
        state.since = Some(since);
        let acts =
            since > 0 && (average - config.min.get()).saturating_mul(since) >= state.due_bytes;
        if acts || since == 0 {
            state.since = Some(0);
            state.due_bytes = self.stream.below(profile.due_bytes_max);
        }
        if acts {
            punish(config, true, header)
        } else {
            Verdict::Pass
        }
    }
}

fn punish(config: &RedConfig, may_mark: bool, header: &mut Header) -> Verdict {
    // In this order: beyond `max`, `harddrop` is asked before `nodrop` (RED_HARD_MARK in sch_red.c).
    if !config.ecn || !may_mark {
        return Verdict::Drop;
    }
    if super::is_ecn_capable(header) {
        return super::marked(config.mark.set(header));
    }
    if config.nodrop {
        return Verdict::Pass;
    }
    Verdict::Drop
}

impl Average {
    #[inline]
    fn update(&mut self, profile: &Profile, now: Time, queue: QueueLook) {
        if queue.queued_bytes == 0 && queue.free_at < now {
            let idle = now.since(queue.free_at).as_ps() / profile.packet_time.as_ps().max(1);
            // In place of the difference (red_calc_qavg).
            return self.age(profile.wlog, idle);
        }
        self.scaled += queue.queued_bytes;
        self.scaled -= (self.scaled - queue.queued_bytes) >> profile.wlog;
    }

    /// As if so many packets had found the queue empty.
    fn age(&mut self, wlog: u32, packets: u64) {
        for _ in 0..packets {
            let less = self.scaled >> wlog;
            if less == 0 {
                self.scaled = 0;
                return;
            }
            self.scaled -= less;
        }
    }
}

impl RedConfig {
    /// The weight's negative logarithm: the greatest weight with which `burst` packets that come at
    /// once do not lift the average of an empty queue above `min` (Floyd and Jacobson, section 6, with
    /// L = burst, as `tc red` solves it), 0 without averaging. None where `tc red` finds none either: a burst that
    /// does not come to `min`, or a `min` below a packet.
    #[must_use]
    pub fn wlog(&self) -> Option<u32> {
        if self.burst == 0 {
            return Some(0);
        }
        let min_packets = self.min.get() as f64 / self.avpkt.get().max(1) as f64;
        let least = f64::from(self.burst) + 1.0 - min_packets;
        if least < 1.0 {
            return None;
        }
        (1..=WLOG_MAX).find(|log| {
            let weight = 0.5_f64.powi(*log as i32);
            let mut rest = 1.0;
            for _ in 0..self.burst {
                rest *= 1.0 - weight;
            }
            least <= (1.0 - rest) / weight
        })
    }
}

#[cfg(test)]
#[path = "red_tests.rs"]
mod tests;
