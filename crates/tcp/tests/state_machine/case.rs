//! A connection's end under arbitrary segments, calls and timers.
//!
//! The end is driven by a peer that keeps to nothing: segments around the edges of both windows with
//! any flags and options, calls in any order, timers early, late and on time. Whatever comes: no
//! panic, nothing acknowledged that did not arrive, no window taken back (RFC 9293 section 3.8.6.2.1),
//! and a timer runs as long as anything waits to be sent or acknowledged. What is arbitrary comes
//! from a seed, so that a failure names its case, or from a fuzzer's bytes.

use std::sync::Arc;

use tailback_tcp::{
    Config, Connection, Ecn, Flags, Life, SackBlock, Segment, Seq, Shutdown, SocketOption,
    SocketOptions, Stack, SynOptions,
};
use tailback_units::{Bytes, Duration, Time};

/// Steps of a case.
pub const STEPS: usize = 120;

/// Where arbitrary numbers come from.
pub enum Random {
    /// SplitMix64.
    Seed(u64),
    /// These bytes, then zeros.
    Given(std::vec::IntoIter<u8>),
}

impl Random {
    fn next(&mut self) -> u64 {
        match self {
            Random::Seed(seed) => {
                *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = *seed;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                z ^ (z >> 31)
            }
            Random::Given(_) => self.take(4),
        }
    }

    /// A number of so many of the given bytes.
    fn take(&mut self, count: usize) -> u64 {
        match self {
            Random::Seed(_) => self.next(),
            Random::Given(bytes) => {
                let mut taken = [0; 8];
                taken
                    .iter_mut()
                    .zip(bytes.take(count))
                    .for_each(|(to, byte)| *to = byte);
                u64::from_le_bytes(taken)
            }
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        // A fuzzer finds its way sooner if small choices take few bytes.
        self.take(if bound <= 256 { 1 } else { 4 }) % bound
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

/// One conversation.
pub struct Case {
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
    /// So many of the next segments the host's queue refuses.
    refuses: u64,
    name: String,
}

impl Case {
    /// Opens it, most often as it should be; `name` is told when something is wrong.
    pub fn new(stack: &Arc<Stack>, name: String, mut random: Random) -> Case {
        let mut config = Config {
            stack: Arc::clone(stack),
            mss: 1460,
            clock_phase: Duration::ZERO,
            options: SocketOptions::default().into(),
            rx_truesize_bytes: 2304,
            rx_head_bytes: 0,
            seed: random.next(),
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
            refuses: 0,
            name,
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

    /// Does something or other, and looks at what comes of it.
    pub fn step(&mut self) {
        let now = self.now;
        match self.random.below(20) {
            0..11 => {
                let segment = self.segment();
                self.arrive(&segment);
            }
            11..13 => {
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
            _ => {
                self.refuses = self.random.below(4);
                return;
            }
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
            if self.refuses > 0 {
                self.refuses -= 1;
                self.end.refused(self.now, &transmit.segment);
                continue;
            }
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
        // Once the peer has said its last no window means anything; Linux takes a bare FIN for which it
        // has no memory, and tells a window of zero with it.
        let over = matches!(
            self.end.life(),
            Life::CloseWait | Life::LastAck | Life::Closing | Life::TimeWait
        );
        if let Some(before) = self.edge.filter(|_| !over) {
            // Linux 2.6.18 rounds the window down to what its field can say, so that much it may
            // seem to take back (tcp_select_window, net/ipv4/tcp_output.c).
            let back = before - edge;
            let rounding = 1 << shift;
            // Since 6.9 Linux tells a window of zero when it had to drop what came in order for
            // want of memory, whatever it had offered (ICSK_ACK_NOMEM there).
            let dropped = self.end.stats().receive_queue_drops > 0;
            assert!(
                !edge.before(before) || back < rounding || (dropped && segment.window == 0),
                "{name}: takes {back} bytes of its window back"
            );
        }
        // Then what it had offered before is forgotten.
        let forgotten = segment.window == 0 && self.end.stats().receive_queue_drops > 0;
        let before = self.edge.filter(|_| !forgotten);
        self.edge = Some(before.map_or(edge, |before| before.max(edge)));
    }
}
