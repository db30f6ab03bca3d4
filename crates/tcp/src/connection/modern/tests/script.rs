//! A sender alone, its peer played by the test: segments and times are given one by one.

use tailback_units::{Bytes, Duration, Time};

use crate::congestion::CongestionKind;
use crate::testing::{config, preset};
use crate::{
    Config, Connection, Flags, Pieces, SackBlock, Segment, Seq, SocketOption, Stack, SynOptions,
};

/// Payload of a segment: timestamps, if there are, take 12 of 1460 bytes.
pub(super) const MSS: u32 = 1448;

/// What the sender sent: when (microseconds since it was open), and which bytes, in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) at_us: u64,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// The sender and its played peer.
pub(super) struct Script {
    pub(super) tcp: Connection,
    now: Time,
    opened: Time,
    first: Seq,
    stamp: u32,
    timestamps: bool,
    trace: Vec<Sent>,
    pub(super) frames: Vec<Segment>,
    /// When the host will have sent what it is given now.
    host: Option<Box<dyn FnMut(Time) -> Time>>,
}

pub(super) fn today() -> Stack {
    Stack {
        tcp_congestion_control: CongestionKind::Reno,
        tcp_wmem: [Bytes::new(4096), Bytes::new(1 << 20), Bytes::new(1 << 22)],
        ..preset("linux-7.2")
    }
}

impl Script {
    /// Opens a connection with a round trip of `rtt_us`.
    pub(super) fn open(stack: Stack, rtt_us: u64) -> Script {
        let (sack, timestamps) = (stack.tcp_sack, stack.tcp_timestamps);
        let config = Config { ..config(stack, 7) };
        let now = Time::ZERO + Duration::from_ms(320);
        let mut syn = Segment::EMPTY;
        syn.seq = Seq(1000);
        syn.window = 65_535;
        syn.has_timestamps = timestamps;
        syn.ts_val = 1;
        syn.set_syn_options(SynOptions {
            mss: if timestamps { 1460 } else { MSS as u16 },
            window_scale: Some(8),
            sack_permitted: sack,
        });
        let mut tcp = Connection::accept(&config, now, &syn);
        let answer = tcp.poll_transmit(now).expect("a SYN is answered").segment;
        let mut script = Script {
            tcp,
            now,
            opened: now,
            first: answer.seq + 1,
            stamp: answer.ts_val,
            timestamps,
            trace: Vec::new(),
            frames: Vec::new(),
            host: None,
        };
        script.wait(rtt_us);
        script.ack(0);
        script.opened = script.now;
        script.trace.clear();
        assert_eq!(script.tcp.poll_event(), Some(crate::Event::Connected));
        script
    }

    /// The sender's application writes so many full segments.
    pub(super) fn write(&mut self, segments: u32) {
        self.write_bytes(segments * MSS);
    }

    pub(super) fn write_bytes(&mut self, bytes: u32) {
        let taken = self.tcp.write(self.now, u64::from(bytes));
        assert_eq!(taken, u64::from(bytes), "the send buffer is full");
        self.collect();
    }

    /// Everything up to segment `segments` is acknowledged.
    pub(super) fn ack(&mut self, segments: u32) {
        self.sack(segments, &[]);
    }

    /// The same, and blocks of segments from, up to but without to, selectively.
    pub(super) fn sack(&mut self, segments: u32, blocks: &[(u32, u32)]) {
        self.answer(segments, blocks, |_| {});
    }

    /// The same, with the segment changed by `edit`.
    pub(super) fn answer(
        &mut self,
        segments: u32,
        blocks: &[(u32, u32)],
        edit: impl FnOnce(&mut Segment),
    ) {
        let mut segment = Segment::EMPTY;
        segment.flags = Flags::ACK;
        segment.seq = Seq(1001);
        segment.ack = self.first + segments * MSS;
        segment.window = 65_535;
        segment.has_timestamps = self.timestamps;
        segment.ts_val = 1;
        segment.ts_ecr = self.stamp;
        for (from, to) in blocks {
            segment.push_sack(SackBlock {
                start: self.first + from * MSS,
                end: self.first + to * MSS,
            });
        }
        edit(&mut segment);
        self.tcp.handle_segment(self.now, &segment);
        self.collect();
    }

    /// The peer echoes the timestamp of the segment that was sent last from now on.
    pub(super) fn echo_newest(&mut self) {
        if let Some(frame) = self.frames.last() {
            self.stamp = frame.ts_val;
        }
    }

    /// The sender's host has a queue from now on.
    pub(super) fn host(&mut self, leaves: impl FnMut(Time) -> Time + 'static) {
        self.host = Some(Box::new(leaves));
    }

    pub(super) fn now(&self) -> Time {
        self.now
    }

    pub(super) fn set_nodelay(&mut self) {
        let set = self.tcp.set_option(self.now, SocketOption::NoDelay(true));
        assert!(set.is_ok());
    }

    /// Time passes; timers fire.
    pub(super) fn wait(&mut self, us: u64) {
        let end = self.now + Duration::from_us(us);
        loop {
            let due = self.tcp.poll_timeout();
            if due > end {
                break;
            }
            self.now = due.max(self.now);
            self.tcp.handle_timeout(self.now);
            self.collect();
        }
        self.now = end;
    }

    /// What was sent since the last call.
    pub(super) fn sent(&mut self) -> Vec<Sent> {
        std::mem::take(&mut self.trace)
    }

    /// The same without times.
    pub(super) fn ranges(&mut self) -> Vec<(u32, u32)> {
        self.sent().iter().map(|s| (s.from, s.to)).collect()
    }

    pub(super) fn now_us(&self) -> u64 {
        (self.now.as_ps() - self.opened.as_ps()) / 1_000_000
    }

    /// Takes what it sends.
    pub(super) fn collect(&mut self) {
        self.tcp.check_invariants();
        while let Some(transmit) = self.tcp.poll_transmit(self.now) {
            let segment = transmit.segment;
            if let Some(host) = &mut self.host
                && segment.payload_bytes > 0
            {
                let mss = transmit.mss;
                let pieces = segment.payload_bytes.div_ceil(mss);
                let cut = self.tcp.cuts_packets() && pieces > 1;
                let times = if cut { pieces } else { 1 };
                let times: Vec<Time> = (0..times).map(|_| host(self.now)).collect();
                let pieces = cut.then(|| Pieces {
                    first: times[0],
                    each: times[1].since(times[0]),
                    mss,
                });
                let last = times[times.len() - 1];
                self.tcp.left_host(self.now, last, pieces, &transmit);
            }
            if segment.payload_bytes == 0 {
                continue;
            }
            self.frames.push(segment);
            self.trace.push(Sent {
                at_us: self.now_us(),
                from: (segment.seq - self.first) / MSS,
                to: (segment.end_seq() - self.first).div_ceil(MSS),
            });
        }
    }
}
