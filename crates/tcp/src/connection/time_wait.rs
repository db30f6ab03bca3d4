//! TIME-WAIT, and FIN-WAIT-2 without an application.
//!
//! Models Linux 7.2 net/ipv4/tcp_minisocks.c (tcp_time_wait, tcp_timewait_state_process); 2.6.18
//! differs in answering every segment that it cannot take, without a limit on their rate.
//! A few numbers outlive the connection, so that late segments are answered: RFC 9293 section
//! 3.10.7.4 and, against resets, RFC 1337. What the connection held is freed.

use super::accurate_ecn::EcnMode;
use super::{Connection, Event, Life, rate_limit::RateLimit};
use crate::clock::{self, Jiffies};
use crate::queue::LazyQueue;
use crate::segment::{Ecn, Flags, Segment};
use crate::seq::Seq;

/// Added to the last sequence number for a connection that follows on the same ports.
const REOPENING_GAP: u32 = 65_535 + 2;

/// What outlives a connection (tcp_timewait_sock).
#[derive(Clone, Debug)]
pub(super) struct TimeWait {
    /// The peer's FIN is still to come (tw_substate).
    fin_wait_2: bool,
    rcv_wnd: u32,
    until: Jiffies,
    answers: RateLimit,
}

impl Connection {
    /// The connection is over but for late segments (tcp_time_wait).
    pub(super) fn enter_time_wait(&mut self, now: Jiffies, fin_wait_2: bool) {
        let wait = if fin_wait_2 {
            self.fin_timeout()
        } else {
            self.clock.ticks(self.stack.time_wait)
        };
        let rcv_wnd = self.receive.window_left();
        self.leave_metrics();
        self.stop_timers();
        self.life = Life::TimeWait;
        self.queue = LazyQueue::default();
        self.packets_out = 0;
        self.sacked_out = 0;
        self.lost_out = 0;
        self.retrans_out = 0;
        self.receive.ack.scheduled = false;
        self.time_wait = Some(Box::new(TimeWait {
            fin_wait_2,
            rcv_wnd,
            until: now,
            answers: RateLimit::default(),
        }));
        self.extend_time_wait(now, wait);
        if !fin_wait_2 {
            self.events.push(Event::Closed);
        }
    }

    fn extend_time_wait(&mut self, now: Jiffies, wait: Jiffies) {
        if let Some(time_wait) = &mut self.time_wait {
            time_wait.until = now.wrapping_add(wait);
        }
        self.arm_life_timer(now, wait);
    }

    /// It has lasted long enough.
    pub(super) fn time_wait_over(&mut self) {
        let silent = self.time_wait.take().is_some_and(|t| !t.fin_wait_2);
        if silent {
            self.life = Life::Closed;
            self.stop_timers();
        } else {
            self.end(None);
        }
    }

    /// A segment that comes in TIME-WAIT (tcp_timewait_state_process).
    pub(super) fn handle_in_time_wait(&mut self, now: Jiffies, segment: &Segment) {
        let Some(time_wait) = &self.time_wait else {
            return;
        };
        if time_wait.fin_wait_2 {
            return self.handle_in_small_fin_wait_2(now, segment, time_wait.rcv_wnd);
        }
        let length = self.clock.ticks(self.stack.time_wait);
        let stale = self.is_stale(segment, 0);
        let reset = segment.flags.intersects(Flags::RST);
        if !stale && segment.seq == self.receive.rcv_nxt && (segment.seq_len() == 0 || reset) {
            if reset {
                if !self.stack.tcp_rfc1337 {
                    self.time_wait_over();
                }
                return;
            }
            self.extend_time_wait(now, length);
            if segment.has_timestamps {
                self.ts_recent = segment.ts_val;
            }
            return;
        }
        if reset {
            return;
        }
        if stale || segment.flags.contains(Flags::ACK) {
            self.extend_time_wait(now, length);
        }
        self.answer_in_time_wait(now, segment);
    }

    fn handle_in_small_fin_wait_2(&mut self, now: Jiffies, segment: &Segment, rcv_wnd: u32) {
        let next = self.receive.rcv_nxt;
        if self.is_stale(segment, 0) || !is_in_window(segment, next, next + rcv_wnd) {
            return self.answer_in_time_wait(now, segment);
        }
        if segment.flags.intersects(Flags::RST) {
            return self.time_wait_over();
        }
        let syn = segment.flags.intersects(Flags::SYN) && !segment.seq.before(next);
        let old = !segment.flags.contains(Flags::ACK)
            || !segment.end_seq().after(next)
            || segment.seq_len() == 0;
        if !syn && old {
            return;
        }
        let lone_fin = segment.flags.intersects(Flags::FIN) && segment.end_seq() == next + 1;
        if syn || !lone_fin {
            self.time_wait_over();
            return self.refuse(segment);
        }
        self.receive.rcv_nxt = next + 1;
        if segment.has_timestamps {
            self.ts_recent = segment.ts_val;
        }
        if let Some(time_wait) = &mut self.time_wait {
            time_wait.fin_wait_2 = false;
        }
        let length = self.clock.ticks(self.stack.time_wait);
        self.extend_time_wait(now, length);
        self.events.push(Event::Closed);
        self.send_last_ack(self.last_ect());
    }

    fn answer_in_time_wait(&mut self, now: Jiffies, segment: &Segment) {
        let data = segment.seq_len() > 0 && !segment.flags.intersects(Flags::SYN);
        let interval = self.clock.ticks(self.stack.tcp_invalid_ratelimit);
        let Some(time_wait) = &mut self.time_wait else {
            return;
        };
        if !segment.flags.intersects(Flags::RST)
            && (data || time_wait.answers.allows(now, interval))
        {
            self.send_last_ack(Ecn::NotEct);
        }
    }

    /// The ECN field of what was sent last, which the socket leaves behind (tw_tos); kernels before accurate ECN
    /// take it out of what they answer without a socket (ip_send_unicast_reply).
    fn last_ect(&self) -> Ecn {
        match self.ecn {
            _ if !self.stack.accurate_ecn => Ecn::NotEct,
            EcnMode::Accurate => self.congestion.ect(),
            EcnMode::Classic if self.congestion.needs_ecn() => self.congestion.ect(),
            EcnMode::Classic if self.fin_data_last => Ecn::Ect0,
            _ => Ecn::NotEct,
        }
    }

    /// The acknowledgement that is sent without the connection (tcp_v4_timewait_ack).
    fn send_last_ack(&mut self, ecn: Ecn) {
        let mut segment = Segment::EMPTY;
        segment.flags = Flags::ACK;
        segment.ecn = ecn;
        segment.seq = self.snd_nxt;
        segment.ack = self.receive.rcv_nxt;
        let window = self.time_wait.as_ref().map_or(0, |t| t.rcv_wnd);
        // Of a window that was never scaled the lower half (tcp_v4_send_ack).
        segment.window = (window >> self.receive.window_shift) as u16;
        if self.timestamps {
            segment.has_timestamps = true;
            segment.ts_val = self.clock.timestamp();
            segment.ts_ecr = self.ts_recent;
        }
        self.stats.acks_sent += 1;
        self.emit(segment);
    }

    /// Whether `syn` may open a new connection in place of this one, which rests: the initial
    /// sequence number for it.
    #[must_use]
    pub fn reopened_by(&self, syn: &Segment) -> Option<Seq> {
        let resting = self.time_wait.as_ref().is_some_and(|t| !t.fin_wait_2);
        let opens = syn.flags.contains(Flags::SYN)
            && !syn.flags.intersects(Flags::RST.with(Flags::ACK))
            && !self.is_stale(syn, 0);
        let newer = syn.seq.after(self.receive.rcv_nxt)
            || (syn.has_timestamps && clock::before(self.ts_recent, syn.ts_val));
        (resting && opens && newer).then(|| self.snd_nxt + REOPENING_GAP)
    }
}

/// Whether any of a segment is inside a window (tcp_in_window).
pub(super) fn is_in_window(segment: &Segment, start: Seq, end: Seq) -> bool {
    let (seq, end_seq) = (segment.seq, segment.end_seq());
    seq == start || (end_seq.after(start) && seq.before(end)) || (seq == end && seq == end_seq)
}
