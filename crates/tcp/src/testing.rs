//! Two ends joined by two wires, in virtual time: what the tests of this crate stand on.
//!
//! A wire has a rate, a delay, a queue and a fate for every frame, given by the test. Hosts cut
//! what is handed to them into frames, as segmentation offload does. After every input both ends'
//! books are checked.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use tailback_units::{Duration, Rate, Time};

use crate::segment::{Ecn, Flags, Segment};
use crate::{
    Arrival, Config, Connection, Event, PRESETS, Shutdown, SocketOption, SocketOptions, Stack,
    Transmit,
};

/// The two ends, as indices: who connects, and who accepts.
pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

/// What happens to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Pass,
    Drop,
    Duplicate,
    /// It is late by this much, and overtaken.
    Late(Duration),
    /// It is marked "congestion experienced" if it may be.
    Mark,
    /// It is marked "some congestion experienced" if it may be.
    MarkSce,
}

/// A frame about to be put on a wire, as the test sees it.
pub(crate) struct Frame<'a> {
    pub(crate) segment: &'a Segment,
    /// How many frames with payload this wire has seen before.
    pub(crate) data_index: usize,
    pub(crate) now: Time,
}

type Judge = Box<dyn FnMut(&Frame) -> Fate>;

/// One direction.
pub(crate) struct Wire {
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
    pub(crate) queue_frames: usize,
    /// Segments that the host's own queue still takes; data beyond is refused, and counted.
    pub(crate) admits: usize,
    pub(crate) refused: usize,
    judge: Judge,
    free_at: Time,
    leaving: std::collections::VecDeque<Time>,
    data_frames: usize,
}

/// A frame that was put on a wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Time,
    pub(crate) from: usize,
    pub(crate) segment: Segment,
    pub(crate) lost: bool,
}

/// Two connections, two wires, two applications.
pub(crate) struct Net {
    pub(crate) now: Time,
    pub(crate) ends: [Option<Connection>; 2],
    pub(crate) wires: [Wire; 2],
    pub(crate) trace: Vec<Sent>,
    /// Whether `trace` is kept; long transfers do without.
    pub(crate) keep_trace: bool,
    pub(crate) events: Vec<(Time, usize, Event)>,
    /// Whether an end's application reads all there is as soon as it is told.
    pub(crate) reads: [bool; 2],
    /// Bytes read so far.
    pub(crate) delivered: [u64; 2],
    /// Bytes that an application still wants to write.
    pub(crate) backlog: [u64; 2],
    configs: [Config; 2],
    flight: BinaryHeap<Reverse<(Time, u64, usize, usize)>>,
    frames: Vec<Segment>,
    free: Vec<usize>,
    sequence: u64,
    /// Segments that took the short way in, if each is compared with the long way.
    pub(crate) predicted: Option<usize>,
}

/// The profile under test.
pub(crate) fn stack() -> Stack {
    preset("linux-2.6.18")
}

/// A profile by its name.
pub(crate) fn preset(name: &str) -> Stack {
    let found = PRESETS.iter().find(|(known, _)| *known == name);
    let (_, text) = found.expect("the preset exists");
    toml::from_str(text).expect("the preset is complete")
}

/// `stack` with the receiver of today.
pub(crate) fn with_receiver_of_today(stack: Stack) -> Stack {
    let today = preset("linux-7.2");
    Stack {
        receiver: today.receiver,
        rcvbuf_tuning: today.rcvbuf_tuning,
        tcp_rcvbuf_low_rtt: today.tcp_rcvbuf_low_rtt,
        win_from_space: today.win_from_space,
        initial_receive_window: today.initial_receive_window,
        tcp_rmem: today.tcp_rmem,
        ack_filled_hole: today.ack_filled_hole,
        quickacks_ecn: today.quickacks_ecn,
        tcp_comp_sack_delay_ns: today.tcp_comp_sack_delay_ns,
        tcp_comp_sack_slack_ns: today.tcp_comp_sack_slack_ns,
        tcp_comp_sack_nr: today.tcp_comp_sack_nr,
        tcp_comp_sack_rtt_percent: today.tcp_comp_sack_rtt_percent,
        timestamp_hz: today.timestamp_hz,
        rfc5961: today.rfc5961,
        checks_end_of_window: today.checks_end_of_window,
        tcp_invalid_ratelimit: today.tcp_invalid_ratelimit,
        tcp_challenge_ack_limit: today.tcp_challenge_ack_limit,
        ..stack
    }
}

/// A segment of frames of `mss` bytes, that costs so much.
pub(crate) fn arrival(mss: u32, memory_bytes: u32) -> Arrival {
    Arrival {
        mss: mss as u16,
        memory_bytes,
        fragments: 1,
        room: 0,
    }
}

/// A host's configuration with MTU 1500.
pub(crate) fn config(stack: Stack, seed: u64) -> Config {
    Config {
        stack: Arc::new(stack),
        mss: 1460,
        clock_phase: Duration::ZERO,
        options: SocketOptions::default().into(),
        rx_truesize_bytes: 1500 + 400,
        rx_head_bytes: 0,
        seed,
    }
}

impl Net {
    /// A network of 1 Gb/s and 100 µs each way between two hosts of the profile.
    pub(crate) fn new() -> Net {
        Net::of(stack())
    }

    /// The same between two hosts of `stack`.
    pub(crate) fn of(stack: Stack) -> Net {
        Net::between(config(stack.clone(), 1), config(stack, 2))
    }

    pub(crate) fn between(client: Config, server: Config) -> Net {
        let wire = || Wire {
            rate: Rate::from_gbps(1),
            delay: Duration::from_us(100),
            queue_frames: usize::MAX,
            admits: usize::MAX,
            refused: 0,
            judge: Box::new(|_| Fate::Pass),
            free_at: Time::ZERO,
            leaving: std::collections::VecDeque::new(),
            data_frames: 0,
        };
        Net {
            now: Time::ZERO + Duration::from_ms(10),
            ends: [None, None],
            wires: [wire(), wire()],
            trace: Vec::new(),
            keep_trace: true,
            events: Vec::new(),
            reads: [true; 2],
            delivered: [0; 2],
            backlog: [0; 2],
            configs: [client, server],
            flight: BinaryHeap::new(),
            frames: Vec::new(),
            free: Vec::new(),
            sequence: 0,
            predicted: None,
        }
    }

    /// Lets `judge` decide the fate of every frame that `from` sends.
    pub(crate) fn judge(&mut self, from: usize, judge: impl FnMut(&Frame) -> Fate + 'static) {
        self.wires[from].data_frames = 0;
        self.wires[from].judge = Box::new(judge);
    }

    /// The first `frames` frames that `from` sends from now on are lost.
    pub(crate) fn lose_first(&mut self, from: usize, mut frames: u32) {
        self.judge(from, move |_| {
            let lost = frames > 0;
            frames = frames.saturating_sub(1);
            if lost { Fate::Drop } else { Fate::Pass }
        });
    }

    /// Opens the connection and lets the handshake finish.
    pub(crate) fn open(&mut self) {
        self.connect();
        self.run_for(Duration::from_ms(2));
        assert!(self.happened(CLIENT, Event::Connected));
        assert!(self.happened(SERVER, Event::Connected));
        self.trace.clear();
    }

    pub(crate) fn connect(&mut self) {
        self.ends[CLIENT] = Some(Connection::connect(&self.configs[CLIENT], self.now));
        self.drive(CLIENT);
    }

    /// The other side opens too, without knowing of the first.
    pub(crate) fn connect_back(&mut self) {
        self.ends[SERVER] = Some(Connection::connect(&self.configs[SERVER], self.now));
        self.drive(SERVER);
    }

    pub(crate) fn end(&mut self, end: usize) -> &mut Connection {
        self.ends[end].as_mut().expect("the connection is open")
    }

    pub(crate) fn write(&mut self, end: usize, bytes: u64) {
        self.backlog[end] += bytes;
        self.write_backlog(end);
        self.drive(end);
    }

    /// The application at `end` reads what there is.
    pub(crate) fn read(&mut self, end: usize, most: u64) -> u64 {
        let now = self.now;
        let bytes = self.end(end).read(now, most);
        self.delivered[end] += bytes;
        self.drive(end);
        bytes
    }

    /// The application at `end` sets an option.
    pub(crate) fn set(&mut self, end: usize, option: SocketOption) {
        let now = self.now;
        let set = self.end(end).set_option(now, option);
        assert_eq!(set, Ok(()));
        self.drive(end);
    }

    /// The application at `end` writes no more.
    pub(crate) fn shut(&mut self, end: usize) {
        let now = self.now;
        self.end(end).shutdown(now, Shutdown::Write);
        self.drive(end);
    }

    /// The application at `end` is done.
    pub(crate) fn close(&mut self, end: usize) {
        let now = self.now;
        self.end(end).close(now);
        self.drive(end);
    }

    /// A segment made up by the test arrives at `end`.
    pub(crate) fn inject(&mut self, end: usize, segment: &Segment) {
        let now = self.now;
        self.end(end).handle_segment(now, segment);
        self.drive(end);
    }

    pub(crate) fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        while self.step(end) {}
        self.now = end;
    }

    /// Runs until nothing is in flight and no timer is set, at most `span`; true if so.
    pub(crate) fn run_out(&mut self, span: Duration) -> bool {
        let end = self.now + span;
        while self.step(end) {}
        self.next().is_none()
    }

    /// Runs until `done`, at most for `span`; true if it came to that.
    pub(crate) fn run_until(&mut self, span: Duration, done: impl Fn(&Net) -> bool) -> bool {
        let end = self.now + span;
        while !done(self) {
            if !self.step(end) {
                return false;
            }
        }
        true
    }

    /// `count` things happen, one after another; looks at the network after each.
    pub(crate) fn watch(&mut self, count: usize, mut look: impl FnMut(&mut Net)) {
        for _ in 0..count {
            if !self.step(Time::NEVER) {
                return;
            }
            look(self);
        }
    }

    pub(crate) fn happened(&self, end: usize, event: Event) -> bool {
        self.events.iter().any(|(_, e, v)| *e == end && *v == event)
    }

    /// Frames that `from` has sent.
    pub(crate) fn sent(&self, from: usize) -> impl Iterator<Item = &Sent> {
        self.trace.iter().filter(move |s| s.from == from)
    }

    /// Frames with payload that `from` has sent.
    pub(crate) fn data(&self, from: usize) -> impl Iterator<Item = &Sent> {
        self.sent(from).filter(|s| s.segment.payload_bytes > 0)
    }

    /// Frames without payload that `from` has sent.
    pub(crate) fn acks(&self, from: usize) -> impl Iterator<Item = &Sent> {
        self.sent(from).filter(|s| s.segment.payload_bytes == 0)
    }

    fn next(&self) -> Option<(Time, bool, usize)> {
        let frame = self.flight.peek().map(|Reverse((at, ..))| (*at, true, 0));
        let timer = |end: usize| {
            let at = self.ends[end].as_ref()?.poll_timeout();
            (at != Time::NEVER).then_some((at.max(self.now), false, end))
        };
        frame
            .into_iter()
            .chain(timer(0))
            .chain(timer(1))
            .min_by_key(|n| (n.0, !n.1, n.2))
    }

    /// The next thing happens, if it does by `end`.
    pub(crate) fn step(&mut self, end: Time) -> bool {
        let Some((at, is_frame, which)) = self.next().filter(|n| n.0 <= end) else {
            return false;
        };
        self.now = at;
        if is_frame {
            if let Some(Reverse((_, _, slot, to))) = self.flight.pop() {
                let segment = self.frames[slot];
                self.free.push(slot);
                match &mut self.ends[to] {
                    Some(connection) => {
                        if let Some(count) = &mut self.predicted {
                            *count += usize::from(connection.check_prediction(at, &segment));
                        }
                        connection.handle_segment(at, &segment);
                    }
                    None => {
                        self.ends[to] = Some(Connection::accept(&self.configs[to], at, &segment));
                    }
                }
                self.drive(to);
            }
        } else {
            self.end(which).handle_timeout(at);
            self.drive(which);
        }
        true
    }

    fn write_backlog(&mut self, end: usize) {
        let (now, backlog) = (self.now, self.backlog[end]);
        self.backlog[end] -= self.end(end).write(now, backlog);
    }

    fn drive(&mut self, end: usize) {
        let now = self.now;
        while let Some(event) = self.end(end).poll_event() {
            self.events.push((now, end, event));
            match event {
                Event::Readable if self.reads[end] => {
                    self.delivered[end] += self.end(end).read(now, u64::MAX);
                }
                Event::Writable if self.backlog[end] > 0 => self.write_backlog(end),
                _ => {}
            }
        }
        self.end(end).check_invariants();
        while let Some(transmit) = self.end(end).poll_transmit(now) {
            let admits = &mut self.wires[end].admits;
            if *admits == 0 && transmit.segment.payload_bytes > 0 {
                self.wires[end].refused += 1;
                self.end(end).refused(now, &transmit.segment);
                self.end(end).check_invariants();
                continue;
            }
            *admits = admits.saturating_sub(1);
            cut(&transmit, |segment| self.send(end, segment));
        }
    }

    fn send(&mut self, from: usize, mut segment: Segment) {
        let wire = &mut self.wires[from];
        let fate = (wire.judge)(&Frame {
            segment: &segment,
            data_index: wire.data_frames,
            now: self.now,
        });
        wire.data_frames += usize::from(segment.payload_bytes > 0);
        while wire.leaving.front().is_some_and(|at| *at <= self.now) {
            wire.leaving.pop_front();
        }
        let lost = fate == Fate::Drop || wire.leaving.len() >= wire.queue_frames;
        if self.keep_trace {
            self.trace.push(Sent {
                at: self.now,
                from,
                segment,
                lost,
            });
        }
        if lost {
            return;
        }
        if fate == Fate::Mark && segment.ecn != Ecn::NotEct {
            segment.ecn = Ecn::Ce;
        }
        if fate == Fate::MarkSce && segment.ecn == Ecn::Ect0 {
            segment.ecn = Ecn::Ect1;
        }
        let bytes = u64::from(segment.payload_bytes) + u64::from(segment.header_bytes()) + 58;
        wire.free_at = wire.free_at.max(self.now) + wire.rate.time_for(bytes);
        wire.leaving.push_back(wire.free_at);
        let mut arrives = wire.free_at + wire.delay;
        if let Fate::Late(by) = fate {
            arrives += by;
        }
        for _ in 0..if fate == Fate::Duplicate { 2 } else { 1 } {
            let slot = self.free.pop().unwrap_or(self.frames.len());
            if slot == self.frames.len() {
                self.frames.push(segment);
            }
            self.frames[slot] = segment;
            self.sequence += 1;
            self.flight
                .push(Reverse((arrives, self.sequence, slot, 1 - from)));
        }
    }
}

/// Cuts what is handed to segmentation offload into frames.
fn cut(transmit: &Transmit, mut send: impl FnMut(Segment)) {
    let whole = transmit.segment;
    let mss = u32::from(transmit.mss).max(1);
    let (mut at, end) = (0, u32::from(whole.payload_bytes));
    loop {
        let bytes = (end - at).min(mss);
        let mut piece = whole;
        piece.seq = whole.seq + at;
        piece.payload_bytes = bytes as u16;
        if at > 0 {
            piece.flags = piece.flags.without(Flags::CWR);
        }
        at += bytes;
        if at < end {
            piece.flags = piece.flags.without(Flags::PSH.with(Flags::FIN));
        }
        send(piece);
        if at >= end {
            return;
        }
    }
}
