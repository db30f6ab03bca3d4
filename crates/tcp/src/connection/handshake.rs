//! Opening.
//!
//! Models the three-way handshake with MSS, window scaling, SACK-permitted, timestamps and ECN,
//! also with SYNs that cross (RFC 9293, 7323, 2018, 3168; Linux tcp_connect,
//! tcp_rcv_synsent_state_process, tcp_make_synack, tcp_check_req, tcp_ecn_create_request,
//! tcp_ecn_rcv_synack, tcp_ecn_clear_syn; alike in 2.6.18 and 7.2 but for what the stack says). `accurate_ecn` has which ECN
//! is agreed on.
//! Left out: the listening socket's queues, SYN cookies, data on a SYN.

use tailback_units::Time;

use super::time_wait::is_in_window;
use super::{Config, Connection, Event, Life, TimerKind, Transmit};
use crate::clock::{self, Jiffies, Stamp};
use crate::receive::TIMESTAMP_BYTES;
use crate::segment::{Flags, Segment, SynOptions};

/// The segment size of a peer that names none (TCP_MSS_DEFAULT, include/uapi/linux/tcp.h), bytes.
const MSS_DEFAULT: u32 = 536;

impl Connection {
    /// Opens a connection: a SYN leaves.
    #[must_use]
    pub fn connect(config: &Config, now: Time) -> Connection {
        let mut connection = Connection::new(config, Life::SynSent);
        let jiffies = connection.clock.jiffies(now);
        connection.syn_stamp = connection.clock.timestamp();
        connection.retrans_stamp = Stamp::at(jiffies);
        connection.send_syn(jiffies, 0);
        connection
    }

    /// Answers a SYN: a SYN with an acknowledgement leaves.
    #[must_use]
    pub fn accept(config: &Config, now: Time, syn: &Segment) -> Connection {
        let mut connection = Connection::new(config, Life::SynReceived);
        let jiffies = connection.clock.jiffies(now);
        connection.syn_stamp = connection.clock.timestamp();
        connection.stats.segments_received = 1;
        connection.negotiate(syn);
        connection.send_syn(jiffies, 0);
        connection
    }

    /// Takes over what the peer's SYN offers.
    fn negotiate(&mut self, syn: &Segment) {
        let Some(offer) = syn.syn_options() else {
            return;
        };
        let stack = &self.stack;
        self.timestamps &= syn.has_timestamps;
        self.sack &= offer.sack_permitted;
        self.fack &= self.sack;
        let scaled = stack.tcp_window_scaling && offer.window_scale.is_some();
        self.send_shift = if scaled {
            offer.window_scale.unwrap_or(0).min(14)
        } else {
            0
        };
        self.agree_on_ecn(syn);
        if syn.has_timestamps {
            self.ts_recent = syn.ts_val;
        }
        let answering = self.passive;
        self.receive
            .synchronise(syn.seq + 1, scaled, self.timestamps, answering);
        let mut offered = match offer.mss {
            0 => MSS_DEFAULT,
            bytes => u32::from(bytes),
        };
        if self.options.maxseg > 0 {
            offered = offered.min(self.options.maxseg);
        }
        self.mss_clamp = offered;
        let options = if self.timestamps { TIMESTAMP_BYTES } else { 0 };
        let least = self.stack.tcp_min_snd_mss.max(options + 8);
        self.mss_most = self.mss_most.min(offered).max(least) - options;
        self.snd_wnd = u32::from(syn.window);
        self.max_window = self.snd_wnd;
        self.bound_mss();
        self.snd_wl1 = syn.seq;
        self.receive
            .ack
            .initialise_rcv_mss(self.mss, self.receive.rcv_wnd);
    }

    /// Sends the SYN of this side, again if it was sent before: `again` is then one more than timeouts came
    /// before what brings it.
    pub(super) fn send_syn(&mut self, now: Jiffies, again: u32) {
        let answering = self.life == Life::SynReceived;
        let mut segment = Segment::EMPTY;
        segment.seq = self.snd_una;
        segment.window = self.receive.rcv_wnd.min(65_535) as u16;
        segment.has_timestamps = self.timestamps;
        segment.ts_val = self.clock.timestamp();
        if answering {
            segment.ack = self.receive.rcv_nxt;
            segment.flags = Flags::ACK;
            segment.ts_ecr = self.ts_recent;
        }
        let asked = self.syn_ecn_flags(answering, again);
        segment.flags = segment.flags.with(asked);
        segment.set_syn_options(SynOptions {
            mss: self.syn_mss,
            window_scale: self.receive.scaling.then_some(self.receive.window_shift),
            sack_permitted: self.sack,
        });
        if answering {
            self.put_option_of_answer(&mut segment, again);
        }
        segment.ecn = self.syn_ecn();
        self.snd_nxt = self.snd_una + 1;
        self.syn_sent();
        self.out.push_back(Transmit {
            segment,
            first_only: Flags::CWR,
            mss: self.syn_mss,
        });
        // The first timeout is not cut short (tcp_connect, and tcp_retransmit_timer of the others).
        let wait = if self.passive || again == 0 {
            self.rtt.rto
        } else {
            self.within_user_timeout(now, self.retrans_stamp.get(), self.rtt.rto)
        };
        self.set_timer(now, TimerKind::Retransmit, wait);
    }

    /// A segment before the connection is established. True if it is to be processed further.
    pub(super) fn handshake_segment(&mut self, now: Jiffies, segment: &Segment) -> bool {
        match self.life {
            Life::SynSent => self.answer_to_syn(now, segment),
            _ if self.passive => self.answer_to_answer(now, segment),
            _ => self.answer_to_crossed(now, segment),
        }
    }

    /// tcp_rcv_synsent_state_process.
    fn answer_to_syn(&mut self, now: Jiffies, segment: &Segment) -> bool {
        let (ack, reset, syn) = (
            segment.flags.contains(Flags::ACK),
            segment.flags.intersects(Flags::RST),
            segment.flags.intersects(Flags::SYN),
        );
        if ack {
            let in_range = segment.ack.after(self.snd_una) && !segment.ack.after(self.snd_nxt);
            let echo = segment.ts_ecr;
            let made_up = segment.has_timestamps
                && echo != 0
                && (clock::before(echo, self.syn_stamp)
                    || clock::before(self.clock.timestamp(), echo));
            if !in_range || made_up {
                self.refuse(segment);
                return false;
            }
            if reset {
                self.reset_received();
                return false;
            }
            if !syn {
                return false;
            }
            self.negotiate(segment);
            self.establish(now, segment);
            if self.receive.ack.in_pingpong() {
                // The application has data to send with it soon.
                self.receive.ack.scheduled = true;
                self.receive.ack.enter_quick_mode(self.receive.rcv_wnd);
                self.receive.ack.wait_longest(now);
            } else {
                self.reflect_answer();
                self.send_ack();
            }
            self.push(now);
            return false;
        }
        if syn && !reset {
            // Both have opened at the same time.
            self.negotiate(segment);
            self.life = Life::SynReceived;
            self.send_syn(now, 0);
        }
        false
    }

    /// A SYN was answered, and a segment comes (tcp_check_req).
    fn answer_to_answer(&mut self, now: Jiffies, segment: &Segment) -> bool {
        let flags = segment.flags;
        let (ack, reset) = (flags.contains(Flags::ACK), flags.intersects(Flags::RST));
        let first = segment.seq == self.receive.rcv_nxt - 1;
        let stale = self.timestamps && self.is_stale(segment, 0);
        let interval = self.clock.ticks(self.stack.tcp_invalid_ratelimit);
        if flags.contains(Flags::SYN) && first && !ack && !reset && !stale {
            if self.answers.allows(now, interval) {
                self.answered_again = self.answered_again.saturating_add(1);
                self.syn_came_again(segment);
                self.send_syn(now, self.retransmits + 1);
            }
            return false;
        }
        if ack && !reset && segment.ack != self.snd_nxt {
            self.refuse(segment);
            return false;
        }
        let echo = segment.ts_ecr;
        let made_up = self.stack.rfc5961
            && self.timestamps
            && segment.has_timestamps
            && echo != 0
            && (clock::before(echo, self.syn_stamp) || clock::before(self.clock.timestamp(), echo));
        let next = self.receive.rcv_nxt;
        if stale || made_up || !is_in_window(segment, next, next + self.receive.rcv_wnd) {
            let data = segment.seq_len() > 0 && !flags.intersects(Flags::SYN);
            if !reset && (data || self.answers.allows(now, interval)) {
                self.send_ack();
            }
            return false;
        }
        if reset && self.stack.rfc5961 && segment.seq != next {
            self.challenge(now);
            return false;
        }
        if reset || (flags.intersects(Flags::SYN) && !first) {
            self.refuse(segment);
            self.reset_received();
            return false;
        }
        if !ack {
            return false;
        }
        if segment.has_timestamps && !segment.seq.after(next) {
            self.ts_recent = segment.ts_val;
        }
        self.answers.forget();
        self.take_window(segment);
        self.handshake_ends(segment);
        self.establish(now, segment);
        true
    }

    /// The SYNs have crossed, and a segment comes (TCP_SYN_RECV in tcp_rcv_state_process).
    fn answer_to_crossed(&mut self, now: Jiffies, segment: &Segment) -> bool {
        if !self.acceptable(now, segment) {
            return false;
        }
        if !segment.flags.contains(Flags::ACK) || segment.ack != self.snd_nxt {
            if segment.flags.contains(Flags::ACK) {
                self.refuse(segment);
            }
            return false;
        }
        self.take_window(segment);
        self.handshake_ends(segment);
        self.establish(now, segment);
        // What was written meanwhile goes out (tcp_data_snd_check).
        self.push(now);
        segment.seq_len() > u32::from(segment.flags.intersects(Flags::SYN))
    }

    /// The window of the segment that ends the handshake.
    fn take_window(&mut self, segment: &Segment) {
        let shift = if segment.flags.intersects(Flags::SYN) {
            0
        } else {
            self.send_shift
        };
        self.snd_wnd = u32::from(segment.window) << shift;
        self.max_window = self.snd_wnd;
        self.bound_mss();
        self.snd_wl1 = segment.seq;
    }

    fn establish(&mut self, jiffies: Jiffies, segment: &Segment) {
        self.become_established();
        self.snd_una = segment.ack;
        self.high_seq = self.snd_una;
        self.small_end = self.snd_una;
        self.timer = None;
        // Without metrics of the route tcp_init_metrics leaves cwnd as it is: 2, or 1 after a
        // SYN was lost.
        if self.retransmits > 0 && !self.passive {
            self.window.cwnd = 1;
        }
        let lost_syns = std::mem::take(&mut self.retransmits);
        self.retrans_stamp = Stamp::NONE;
        let receiver_now = self.receiver_now(jiffies);
        self.receive.establish(receiver_now);
        self.receive.ack.begin(jiffies);
        self.cwnd_stamp = jiffies;
        self.last_sent = jiffies;
        self.pushed_seq = self.snd_una;
        if self.is_modern() {
            let before = lost_syns + u32::from(self.answered_again);
            self.establish_today(jiffies, segment, lost_syns, before);
        } else if segment.has_timestamps && segment.ts_ecr != 0 {
            let sample = self.ticks_since(segment.ts_ecr);
            self.rtt.sample(sample, self.snd_una, self.snd_nxt);
        }
        self.use_metrics();
        self.fix_up_sndbuf();
        self.give_way_without_count();
        let view = self.view(jiffies);
        self.congestion.init(&mut self.window, &view);
        self.arm_keepalive(jiffies);
        self.events.push(Event::Connected);
    }

    /// Ticks since a timestamp was sent, as its echo tells.
    #[inline]
    pub(super) fn ticks_since(&self, echo: u32) -> Jiffies {
        self.clock
            .ticks_of_timestamp(self.clock.timestamp().wrapping_sub(echo))
    }

    /// The segment size: no more than half of the largest window seen; today all of a tiny one
    /// (tcp_sync_mss, tcp_bound_to_half_wnd).
    pub(super) fn bound_mss(&mut self) {
        let options = if self.timestamps { TIMESTAMP_BYTES } else { 0 };
        let tiny = self.is_modern() && self.max_window <= MSS_DEFAULT;
        let part = self.max_window >> u32::from(!tiny);
        let half = part.max(68 - 20 - options);
        self.mss = if self.max_window > 0 {
            self.mss_most.min(half)
        } else {
            self.mss_most
        };
    }

    /// RFC 3390's window as Linux 2.6.18 counts it (tcp_init_cwnd), segments: what cwnd is not
    /// cut below after idleness.
    pub(super) fn initial_cwnd(&self) -> u32 {
        match self.mss {
            _ if self.stack.initial_cwnd > 0 => self.stack.initial_cwnd,
            m if m > 1460 => 2,
            m if m > 1095 => 3,
            _ => 4,
        }
    }
}
