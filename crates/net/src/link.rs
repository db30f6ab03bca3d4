//! Point-to-point full-duplex Ethernet links.
//!
//! Models one direction as a serialiser and a pipe: frames leave one after another at line rate,
//! each takes the propagation delay, none overtakes another. Random loss is independent from
//! frame to frame (a bit error the FCS finds); anything else is in [`crate::impairment`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{ByteTime, Bytes, Duration, Rate, Time};

use crate::frame::{ETHERNET_BYTES, FRAME_BYTES_MIN, GAP_BYTES};
use crate::impairment::ecn_field::EcnField;
use crate::impairment::script::Direction;
use crate::impairment::{Fate, Impairment, ImpairmentConfig};
use crate::loss::Losses;
use crate::pool::{Flight, FrameId};
use crate::queue::LinkQdiscs;
use crate::random::{self, Stream};
use crate::ring::Ring;
use crate::trace::LinkTraces;

/// A full-duplex Ethernet link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Line rate in decimal bits per second.
    pub rate: Rate,
    /// Propagation delay, one way. 5 ns a metre in copper or fibre.
    pub delay: Duration,
    /// Largest IP packet that the link carries (the IP MTU), 576 B to 9216 B.
    #[schemars(extend("examples" = ["1500B"]))]
    pub mtu: Bytes,
    /// Probability that a frame is lost on the link, in each direction, independently; 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss: f64,
    /// What surrounds an IP packet on the link.
    #[serde(default, skip_serializing_if = "Framing::is_ethernet")]
    pub framing: Framing,
    /// What else the link does to frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impairment: Option<ImpairmentConfig>,
    /// How its capacity changes: names of the scenario's traces. A switch sends over it, with a buffer of kind
    /// `queued`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<LinkTraces>,
    /// How frames wait for it in a switch that sends over it, with a buffer of kind `queued`, in place of that
    /// buffer's `queue`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<Box<LinkQdiscs>>,
}

impl LinkConfig {
    /// How long a frame is under way at most once it has left, impairments included.
    #[must_use]
    pub fn delay_max(&self) -> Duration {
        let held = self.impairment.as_ref().map(ImpairmentConfig::delay_max);
        self.delay + held.unwrap_or_default()
    }

    /// The same link, described from its other end.
    #[must_use]
    pub fn turned(mut self) -> LinkConfig {
        if let Some(LinkTraces { forward, backward }) = &mut self.trace {
            std::mem::swap(forward, backward);
        }
        if let Some(qdiscs) = &mut self.qdisc {
            let LinkQdiscs { forward, backward } = &mut **qdiscs;
            std::mem::swap(forward, backward);
        }
        if let Some(impairment) = &mut self.impairment {
            impairment.direction = impairment.direction.map(Direction::turned);
            for rule in &mut impairment.script {
                rule.direction = rule.direction.turned();
            }
        }
        self
    }
}

/// What surrounds an IP packet on a link, and so how long it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// Ethernet: header, FCS, preamble and gap, 38 bytes.
    #[default]
    Ethernet,
    /// Ethernet with a VLAN's tag (IEEE 802.1Q): 4 bytes more.
    Vlan,
    /// Packet over SONET: PPP in HDLC-like framing (RFC 1662, RFC 2615), 9 bytes with a 32-bit FCS
    /// and one flag between packets. The rate is that of the payload: 9584.64 Mb/s in an OC-192c
    /// (ITU-T G.707, C-4-64c). Octets that are stuffed are left out; packets below 46 bytes count
    /// as 46.
    Pos,
}

impl Framing {
    /// Bytes beyond those of Ethernet, modulo 2^64.
    fn extra_bytes(self) -> u64 {
        match self {
            Framing::Ethernet => 0,
            Framing::Vlan => 4,
            Framing::Pos => 9_u64.wrapping_sub(u64::from(IP_TO_WIRE_BYTES)),
        }
    }

    fn is_ethernet(&self) -> bool {
        *self == Framing::Ethernet
    }
}

/// Bytes that Ethernet adds to an IP packet, preamble and gap included.
const IP_TO_WIRE_BYTES: u32 = ETHERNET_BYTES + GAP_BYTES;

/// One direction of a link: what is on its way, in order.
#[derive(Debug)]
pub struct Link {
    byte_time: ByteTime,
    /// Octets handed to the transmitter; the frames lie apart, for two counters side by side would be moved to
    /// wide registers and back.
    octets: u64,
    /// What a frame has around it on the line, and what its framing adds to that of Ethernet: bytes modulo
    /// 2^64.
    around_bytes: u64,
    /// From a frame's last bit here until it is handled at the other end.
    delay: Duration,
    /// Frames handed to the transmitter.
    frames: u64,
    /// When the transmitter has sent all it was given.
    free_at: Time,
    flying: Ring<Flight>,
    /// When the first of these is to be handled; never if there is none.
    next_at: Time,
    rare: Box<Rare>,
}

/// What most frames do not need, so that the rest of many links stays in the processor's cache.
#[derive(Debug)]
struct Rare {
    rate: Rate,
    /// The delay without what the other end takes to handle a frame.
    propagation: Duration,
    /// A frame is lost if a random 64-bit number is below this.
    loss_below: u64,
    stream: Stream,
    lost: Losses,
    policed: Losses,
    impairment: Option<Impairment>,
}

impl Link {
    /// An idle link, in one direction; `stream` decides which frames are lost.
    #[must_use]
    pub fn new(config: &LinkConfig, direction: Direction, stream: Stream) -> Link {
        let impairment = config.impairment.as_ref().and_then(|config| {
            let own = Stream::new(stream.clone().next_u64(), "impairment", 0);
            Impairment::new(config, direction, own)
        });
        Link {
            byte_time: config.rate.byte_time(),
            around_bytes: u64::from(GAP_BYTES).wrapping_add(config.framing.extra_bytes()),
            delay: config.delay,
            octets: 0,
            frames: 0,
            free_at: Time::ZERO,
            flying: Ring::default(),
            next_at: Time::NEVER,
            rare: Box::new(Rare {
                rate: config.rate,
                propagation: config.delay,
                loss_below: random::threshold(config.loss),
                stream,
                lost: Losses::default(),
                policed: Losses::default(),
                impairment,
            }),
        }
    }

    /// The same where the other end handles each frame only so long after it has come.
    #[must_use]
    pub fn handled_after(mut self, latency: Duration) -> Link {
        self.delay += latency;
        self
    }

    /// A last stretch of a link that takes no time and does nothing to frames.
    #[must_use]
    pub fn onward(config: &LinkConfig) -> Link {
        let config = LinkConfig {
            delay: Duration::ZERO,
            loss: 0.0,
            impairment: None,
            trace: None,
            qdisc: None,
            ..config.clone()
        };
        Link::new(&config, Direction::Forward, Stream::new(0, "onward", 0))
    }

    /// The line rate.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rare.rate
    }

    /// When the transmitter will be free.
    #[inline]
    #[must_use]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Time to serialise a frame with its preamble and gap.
    #[inline]
    #[must_use]
    pub fn serialisation(&self, frame: &Flight) -> Duration {
        self.serialisation_of(frame.frame_bytes)
    }

    /// Bytes of line time that a frame takes, with all that its framing puts around it.
    #[inline]
    #[must_use]
    pub fn wire_bytes(&self, frame_bytes: u16) -> u64 {
        u64::from(frame_bytes).wrapping_add(self.around_bytes)
    }

    /// The same for one of so many bytes.
    #[inline]
    #[must_use]
    pub fn serialisation_of(&self, frame_bytes: u16) -> Duration {
        self.byte_time.time_for(self.wire_bytes(frame_bytes))
    }

    /// Sends a frame as soon as the transmitter is free, but not before `earliest`; the answer is
    /// when its last bit has left.
    #[inline]
    pub fn transmit(&mut self, earliest: Time, frame: &Flight) -> Time {
        let finish = self.free_at.max(earliest) + self.serialisation(frame);
        self.octets += u64::from(frame.frame_bytes);
        self.frames += 1;
        self.free_at = finish;
        finish
    }

    /// Sends so many frames of one length, one after another, as [`Link::transmit`] does; the answer is
    /// when the last bit of the first has left, and how much later that of each other does.
    #[inline]
    pub fn transmit_run(
        &mut self,
        earliest: Time,
        frame_bytes: u16,
        frames: u16,
    ) -> (Time, Duration) {
        let each = self.serialisation_of(frame_bytes);
        let first = self.free_at.max(earliest) + each;
        self.octets += u64::from(frames) * u64::from(frame_bytes);
        self.frames += u64::from(frames);
        self.free_at = first + each * u64::from(frames.saturating_sub(1));
        (first, each)
    }

    /// Sends something of the link's own, of so many bytes of line time, as soon as the transmitter is
    /// free, but not before `earliest`; the answer is when its last bit has left.
    pub fn occupy(&mut self, earliest: Time, wire_bytes: u64) -> Time {
        self.free_at = self.free_at.max(earliest) + self.byte_time.time_for(wire_bytes);
        self.free_at
    }

    /// When a bit that left at `sent` is at the other end.
    #[must_use]
    pub fn reaches(&self, sent: Time) -> Time {
        sent + self.rare.propagation
    }

    /// When a frame whose last bit left at `finish` has arrived, and is handled.
    #[inline]
    #[must_use]
    pub fn arrival(&self, finish: Time) -> Time {
        finish + self.delay
    }

    /// Time from the beginning of the shortest frame until it has arrived.
    #[must_use]
    pub fn least_transit(&self) -> Duration {
        self.byte_time
            .time_for(u64::from(FRAME_BYTES_MIN).wrapping_add(self.around_bytes))
            + self.delay
    }

    /// Decides whether the frame is lost on the way, and counts it if so.
    #[inline]
    pub fn loses(&mut self, frame: &Flight) -> bool {
        let rare = &mut *self.rare;
        if rare.loss_below == 0 || rare.stream.next_u64() >= rare.loss_below {
            return false;
        }
        self.count_lost(frame);
        true
    }

    fn count_lost(&mut self, frame: &Flight) {
        self.rare.lost.count(frame.payload_bytes.into());
    }

    /// Whether every frame arrives, and as it was sent.
    #[must_use]
    pub fn is_lossless(&self) -> bool {
        self.rare.loss_below == 0 && self.rare.impairment.is_none()
    }

    /// Whether this direction has impairments; then [`Link::fate`] is to be asked of every frame.
    #[inline]
    #[must_use]
    pub fn is_impaired(&self) -> bool {
        self.rare.impairment.is_some()
    }

    /// What becomes of the next frame, which comes to the other end at `at`; counted if it is lost or policed.
    #[cold]
    pub fn fate(&mut self, at: Time, frame: &Flight) -> Fate {
        let Some(impairment) = &mut self.rare.impairment else {
            return Fate::Pass;
        };
        let fate = impairment.fate(at, frame.frame_bytes, frame.payload_bytes > 0);
        match fate {
            Fate::Lost => self.count_lost(frame),
            Fate::Policed => self.rare.policed.count(frame.payload_bytes.into()),
            Fate::Pass | Fate::Late(_) | Fate::Doubled | Fate::Marked => {}
        }
        fate
    }

    /// What this direction writes into the ECN field of what comes through.
    #[cold]
    #[must_use]
    pub fn ecn_field(&self) -> Option<EcnField> {
        self.rare
            .impairment
            .as_ref()
            .and_then(Impairment::ecn_field)
    }

    /// How long a frame that arrives at `at` is held before it is handed on.
    #[cold]
    pub fn hold(&mut self, at: Time, frame: &Flight) -> Duration {
        let line = self.serialisation(frame);
        let held = self.rare.impairment.as_mut().map(|i| i.hold(at, line));
        held.unwrap_or(Duration::ZERO)
    }

    /// Octets (headers and FCS included) and frames handed to the transmitter so far, those in its queue
    /// included.
    #[must_use]
    pub fn handed(&self) -> (u64, u64) {
        (self.octets, self.frames)
    }

    /// Puts a frame on its way, to be handled at its `at`, no earlier than the one before it. True
    /// if nothing was on its way, so that this is now the next event of the link.
    #[inline]
    pub fn launch(&mut self, frame: Flight) -> bool {
        self.launch_for(&frame, frame.at)
    }

    /// The same of a frame that is to be handled at `at`, whatever it was to be before.
    #[inline(always)]
    pub fn launch_for(&mut self, frame: &Flight, at: Time) -> bool {
        debug_assert!(
            self.flying.back().is_none_or(|last| last.at <= at),
            "a frame overtakes"
        );
        let first = self.next_at == Time::NEVER;
        if first {
            self.next_at = at;
        }
        self.flying.push_like(frame, |frame| frame.at = at);
        first
    }

    /// Puts frames on their way, as [`Link::launch`] does, that are like one but for their places, which
    /// `ids` has: the first is to be handled when that one is, each other so much `later` than the one before.
    #[inline]
    pub fn launch_run(
        &mut self,
        like: &Flight,
        later: Duration,
        ids: impl ExactSizeIterator<Item = FrameId>,
    ) -> bool {
        let first = self.next_at == Time::NEVER && ids.len() > 0;
        if first {
            self.next_at = like.at;
        }
        let mut at = like.at;
        // They are put together where they stay: on the way there they would be written and read again in
        // other widths.
        self.flying.push_run(like, ids, |frame, id| {
            frame.at = at;
            frame.frame = id;
            at += later;
        });
        first
    }

    /// Puts a frame on its way that those launched before it and due later do not hold up. True if
    /// it is now the next event of the link.
    #[cold]
    pub fn launch_out_of_order(&mut self, frame: Flight) -> bool {
        let place = self.flying.iter().take_while(|f| f.at <= frame.at).count();
        self.flying.insert(place, frame);
        if place == 0 {
            self.next_at = frame.at;
        }
        place == 0
    }

    /// Puts a frame on its way to somebody who takes what has come when it suits, by
    /// [`Link::forget_polled`]: the link has no next event of its own. True if nothing was on its way.
    #[inline]
    pub fn launch_for_poll(&mut self, frame: Flight) -> bool {
        self.flying.push_back(frame);
        self.flying.len() == 1
    }

    /// What is on its way to whoever polls changes places with `others`.
    pub fn swap_flying(&mut self, others: &mut Ring<Flight>) {
        std::mem::swap(&mut self.flying, others);
    }

    /// Whoever polls has taken so many frames, by [`Link::flying_behind`].
    #[inline]
    pub fn forget_polled(&mut self, frames: usize) {
        self.flying.pop_many(frames);
    }

    /// Frames on their way, from that which is `first` behind the next to before that which is `last`, or to
    /// the end: two stretches of them.
    #[inline(always)]
    #[must_use]
    pub fn flying_between(&self, first: usize, last: usize) -> [&[Flight]; 2] {
        self.flying.stretches(first, last.min(self.flying.len()))
    }

    /// The frame that is so many behind the next.
    #[inline]
    #[must_use]
    pub fn flying_behind(&self, others: usize) -> Option<&Flight> {
        self.flying.get(others)
    }

    /// When the frame is to be handled that was put on its way last but so many, if it has not been.
    #[inline]
    #[must_use]
    pub fn launched_before(&self, others: usize) -> Option<Time> {
        self.flying.back_but(others).map(|frame| frame.at)
    }

    /// The next frame to be handled.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Option<&Flight> {
        self.flying.front()
    }

    /// The next frame will be looked at soon: brings it, and the one after it, into the processor's cache.
    #[inline]
    pub fn prefetch_next(&self) {
        self.flying.prefetch_front();
        self.flying.prefetch_second();
    }

    /// When the next frame is to be handled; never if there is none.
    #[inline]
    #[must_use]
    pub fn next_at(&self) -> Time {
        self.next_at
    }

    /// Takes the next frame, whenever it is to be handled.
    pub fn take_next(&mut self) -> Option<Flight> {
        let taken = self.flying.pop_front();
        self.next_at = self.flying.front().map_or(Time::NEVER, |next| next.at);
        taken
    }

    /// Takes the next frame, whose time has come: [`Link::next_at`] is not never.
    // Not an option of a frame: that would be written and read once more on the way.
    #[inline(always)]
    pub fn land(&mut self) -> Flight {
        debug_assert!(self.next_at < Time::NEVER, "a frame is on its way");
        let (landed, next) = self.flying.next_front();
        self.next_at = next.map_or(Time::NEVER, |next| next.at);
        landed
    }

    /// Frames on their way.
    pub fn flying(&self) -> impl Iterator<Item = &Flight> {
        self.flying.iter()
    }

    /// What was lost on the link so far, by cause.
    #[must_use]
    pub fn losses(&self) -> [(&'static str, Losses); 2] {
        [
            ("link-loss", self.rare.lost),
            ("policer", self.rare.policed),
        ]
    }

    /// What was lost on the link so far.
    #[must_use]
    pub fn lost(&self) -> Losses {
        let mut all = self.rare.lost;
        all += self.rare.policed;
        all
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
