//! The state machine under arbitrary segments, calls and timers, for a fixed budget.
//!
//! One end is driven by a peer that keeps to nothing: segments around the edges of both windows with
//! any flags and options, calls in any order, timers early, late and on time. Whatever comes: no
//! panic, nothing acknowledged that did not arrive, no window taken back (RFC 9293 section 3.8.6.2.1),
//! and a timer runs as long as anything waits to be sent or acknowledged. The same numbers each time:
//! a failure names its case.

use std::sync::Arc;

use tailback_tcp::{
    Config, Connection, Ecn, Flags, Life, PRESETS, SackBlock, Segment, Seq, Shutdown, SocketOption,
    SocketOptions, Stack, SynOptions,
};
use tailback_units::{Bytes, Duration, Time};

const CASES: u64 = 800;
const STEPS: usize = 120;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Mostly little, sometimes far.
    fn offset(&mut self) -> u32 {
        let most = [1, 2, 1500, 20_000, 200_000, u64::from(u32::MAX)][self.below(6) as usize];
        let ahead = self.below(most) as u32;
        if self.chance(30) {
            ahead.wrapping_neg()
        } else {
            ahead
        }
    }
}

/// What arrived, as ranges of sequence space from the peer's SYN on.
#[derive(Default)]
struct Arrived(Vec<(u32, u32)>);

impl Arrived {
    fn add(&mut self, start: u32, bytes: u32) {
        let end = start.wrapping_add(bytes);
        // What begins before the SYN may reach beyond it.
        self.0
            .push(if end < start { (0, end) } else { (start, end) });
    }

    /// Up to where all has arrived.
    fn whole_to(&mut self) -> u32 {
        self.0.sort_unstable();
        let mut end = 0;
        for (from, to) in &self.0 {
            if *from > end {
                break;
            }
            end = end.max(*to);
        }
        end
    }
}

struct Case {
    random: Random,
    now: Time,
    end: Connection,
    peer_isn: Seq,
    arrived: Arrived,
    /// The end's first sequence number, and the highest it has sent.
    own_isn: Option<Seq>,
    own_next: Seq,
    /// What the end has acknowledged last, and the right edge of its window.
    acknowledged: Seq,
    edge: Option<Seq>,
    name: String,
}

impl Case {
    fn new(stack: &Arc<Stack>, profile: &str, number: u64) -> Case {
        let mut random = Random(number << 20);
        let mut config = Config {
            stack: Arc::clone(stack),
            mss: 1460,
            clock_phase: Duration::ZERO,
            options: SocketOptions::default().into(),
            rx_truesize_bytes: 2304,
            seed: number,
        };
        if random.chance(20) {
            let bytes = Bytes::new(2000 + random.below(60_000));
            Arc::make_mut(&mut config.options)
                .set(SocketOption::RcvBuf(bytes))
                .expect("any size");
        }
        let now = Time::ZERO + Duration::from_secs(100);
        let peer_isn = Seq(random.next() as u32);
        let passive = random.chance(50);
        let mut arrived = Arrived::default();
        let mut syn = Segment::EMPTY;
        syn.seq = peer_isn;
        syn.window = random.next() as u16;
        syn.has_timestamps = random.chance(50);
        syn.ts_val = 1000;
        syn.set_syn_options(SynOptions {
            mss: random.next() as u16,
            window_scale: random.chance(70).then(|| random.below(15) as u8),
            sack_permitted: random.chance(70),
        });
        let end = if passive {
            arrived.add(0, 1);
            Connection::accept(&config, now, &syn)
        } else {
            Connection::connect(&config, now)
        };
        let mut case = Case {
            random,
            now,
            end,
            peer_isn,
            arrived,
            own_isn: None,
            own_next: Seq(0),
            acknowledged: peer_isn,
            edge: None,
            name: format!("{profile}, case {number}"),
        };
        case.look();
        // Most conversations begin as they should.
        if case.random.chance(90) {
            let mut answer = syn;
            answer.ack = case.own_next;
            answer.ts_ecr = 0;
            if passive {
                answer.flags = Flags::ACK;
                answer.seq = peer_isn + 1;
            } else {
                answer.flags = Flags::SYN.with(Flags::ACK);
            }
            case.arrive(&answer);
        }
        case
    }

    fn arrive(&mut self, segment: &Segment) {
        if self.end.life() == Life::SynSent && segment.flags.intersects(Flags::SYN) {
            // Whatever number it names is the peer's first.
            self.peer_isn = segment.seq;
            self.arrived = Arrived::default();
        }
        self.arrived
            .add(segment.seq - self.peer_isn, segment.seq_len());
        self.end.handle_segment(self.now, segment);
        self.look();
    }

    fn step(&mut self) {
        let now = self.now;
        match self.random.below(20) {
            0..11 => {
                let segment = self.segment();
                self.arrive(&segment);
            }
            // Left out: writing before the handshake is done.
            11..13 if self.end.life().is_synchronised() => {
                let bytes = 1 + self.random.below(50_000);
                self.end.write(now, bytes);
            }
            13..15 => {
                let most = 1 + self.random.below(30_000);
                self.end.read(now, most);
            }
            15..18 => {
                let due = self.end.poll_timeout();
                if due != Time::NEVER {
                    self.now = due.max(now);
                    self.end.handle_timeout(self.now);
                }
            }
            18 => {
                self.now += Duration::from_us(self.random.below(300_000));
                self.end.handle_timeout(self.now);
            }
            _ => self.call(now),
        }
        self.look();
    }

    fn call(&mut self, now: Time) {
        let option = match self.random.below(9) {
            0 => return self.end.shutdown(now, Shutdown::Write),
            1 => return self.end.shutdown(now, Shutdown::Read),
            2 if self.random.chance(50) => return self.end.close(now),
            3 if self.random.chance(20) => return self.end.abort(now),
            4 => SocketOption::NoDelay(self.random.chance(50)),
            5 => SocketOption::QuickAck(self.random.chance(50)),
            6 => SocketOption::SndBuf(Bytes::new(self.random.below(100_000))),
            7 => SocketOption::UserTimeout(Duration::from_ms(self.random.below(5000))),
            _ => return self.end.local_congestion(now),
        };
        self.end.set_option(now, option).expect("valid values");
    }

    fn segment(&mut self) -> Segment {
        let random = &mut self.random;
        let mut segment = Segment::EMPTY;
        segment.seq = self.acknowledged;
        if random.chance(50) {
            segment.seq += random.offset();
        }
        segment.ack = self.own_next;
        if random.chance(50) {
            segment.ack = self.own_next - random.below(40_000) as u32;
        }
        if random.chance(5) {
            segment.ack += random.offset();
        }
        segment.flags = Flags::ACK;
        if random.chance(10) {
            segment.flags = Flags(random.below(0x200) as u16);
        } else if random.chance(4) {
            segment.flags = segment.flags.with(Flags::FIN);
        }
        if random.chance(60) {
            segment.payload_bytes = [1, 100, 536, 1448, 1460, 9000][random.below(6) as usize];
        }
        segment.window = if random.chance(15) {
            random.below(3) as u16
        } else {
            random.next() as u16
        };
        segment.ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][random.below(4) as usize];
        segment.has_timestamps = random.chance(50);
        segment.ts_val = random.offset().wrapping_add(1000);
        segment.ts_ecr = random.offset().wrapping_add(100_000);
        if segment.flags.intersects(Flags::SYN) {
            segment.set_syn_options(SynOptions {
                mss: random.next() as u16,
                window_scale: random.chance(50).then(|| random.next() as u8),
                sack_permitted: random.chance(50),
            });
        } else {
            for _ in 0..random.below(4) {
                let start = segment.ack + random.offset();
                segment.push_sack(SackBlock {
                    start,
                    end: start + random.below(10_000) as u32,
                });
            }
        }
        segment
    }

    /// Looks at all that the end gives, and at what it may not do.
    fn look(&mut self) {
        while self.end.poll_event().is_some() {}
        while let Some(transmit) = self.end.poll_transmit(self.now) {
            self.check(&transmit.segment);
        }
        let info = self.end.tcp_info(self.now);
        let waits = info.unacked > 0 || info.notsent_bytes > 0;
        if waits && self.end.life().is_synchronised() {
            let name = &self.name;
            assert_ne!(
                self.end.poll_timeout(),
                Time::NEVER,
                "{name}: stuck with {info:?}"
            );
        }
    }

    fn check(&mut self, segment: &Segment) {
        let name = &self.name;
        if segment.flags.intersects(Flags::RST) {
            return;
        }
        let isn = *self.own_isn.get_or_insert(segment.seq);
        if (segment.end_seq() - isn) as i32 > (self.own_next - isn) as i32
            || self.own_next == Seq(0)
        {
            self.own_next = segment.end_seq();
        }
        if !segment.flags.contains(Flags::ACK) {
            return;
        }
        let (to, whole) = (segment.ack - self.peer_isn, self.arrived.whole_to());
        assert!(
            to <= whole,
            "{name}: acknowledges {to}, but only {whole} has arrived"
        );
        self.acknowledged = segment.ack;
        if segment.flags.intersects(Flags::SYN) {
            return;
        }
        let shift = self.end.tcp_info(self.now).rcv_wscale;
        let edge = segment.ack + (u32::from(segment.window) << shift);
        if let Some(before) = self.edge {
            // Linux 2.6.18 rounds the window down to what its field can say, so that much it may
            // seem to take back (tcp_select_window, net/ipv4/tcp_output.c).
            let back = before - edge;
            let rounding = 1 << shift;
            assert!(
                !edge.before(before) || back < rounding,
                "{name}: takes {back} bytes of its window back"
            );
        }
        self.edge = Some(self.edge.map_or(edge, |before| before.max(edge)));
    }
}

#[test]
fn no_input_breaks_a_connection() {
    for (profile, text) in PRESETS {
        let stack: Stack = toml::from_str(text).expect("the preset is complete");
        let stack = Arc::new(stack);
        for number in 0..CASES {
            let mut case = Case::new(&stack, profile, number);
            for _ in 0..STEPS {
                case.step();
            }
        }
    }
}
