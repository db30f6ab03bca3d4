//! What tests ask of a connection: its books must agree with its queue, after every input.

use tailback_units::{Duration, Time};

use super::{Connection, TimerKind};
use crate::queue::{LOST, RETRANS, SACKED};
use crate::segment::{Flags, Segment};
use crate::seq::Seq;

impl Connection {
    /// A segment that this end would take for its peer's: in order, nothing new, no data.
    pub(crate) fn plain_segment(&self) -> Segment {
        let mut segment = Segment::EMPTY;
        segment.flags = Flags::ACK;
        segment.seq = self.receive.rcv_nxt;
        segment.ack = self.snd_una;
        segment.window = (self.snd_wnd >> self.send_shift) as u16;
        segment.has_timestamps = self.timestamps;
        segment.ts_val = self.ts_recent;
        segment
    }

    /// Walks over the old sender's queue look at every packet from now on.
    pub(crate) fn walk_plainly(&mut self, plain: bool) {
        self.queue.places.plain = plain;
    }

    /// What is sent and not acknowledged: from, to, segments, tags.
    pub(crate) fn outstanding(&self) -> Vec<(Seq, Seq, u16, u8)> {
        if self.is_modern() {
            return self.outstanding_today();
        }
        (0..self.queue.len())
            .filter_map(|index| self.queue.get(index))
            .map(|p| (p.seq, p.end_seq, p.segments, p.tags))
            .collect()
    }

    /// The short look at the timers says what the long one says.
    fn check_timeouts(&self) {
        let due = self.poll_timeout();
        let now = self.clock.now();
        let step = Duration::from_ps(1);
        for at in [now, now + Duration::from_ms(7), due, due + step] {
            let Some(tick) = self.first_tick(at).filter(|_| at > Time::ZERO) else {
                continue;
            };
            let sooner = self.may_time_out_before(at, tick);
            assert!(sooner || due >= at, "{due:?} is before {at:?}");
            assert!(!sooner || due < at || self.modern.has_deadline());
        }
    }

    /// Panics where counts and queue disagree, or nothing would ever wake the connection again.
    pub(crate) fn check_invariants(&mut self) {
        self.queue.check_places();
        self.check_timeouts();
        let mut counted = [0_u32; 4];
        let mut next = None;
        for (seq, end_seq, segments, tags) in self.outstanding() {
            for (count, tag) in counted.iter_mut().zip([0, SACKED, LOST, RETRANS]) {
                if tag == 0 || tags & tag != 0 {
                    *count += u32::from(segments);
                }
            }
            assert!(segments > 0);
            assert!(tags & SACKED == 0 || tags & LOST == 0, "both here and lost");
            assert!(next.is_none_or(|n| n == seq), "a gap in the queue");
            assert!(end_seq.after(self.snd_una), "acknowledged and kept");
            next = Some(end_seq);
        }
        let [packets, sacked, lost, retrans] = counted;
        assert_eq!(self.packets_out, packets, "packets_out");
        assert_eq!(self.lost_out, lost, "lost_out");
        assert_eq!(self.retrans_out, retrans, "retrans_out");
        if self.sack {
            assert_eq!(self.sacked_out, sacked, "sacked_out");
        }
        assert!(self.sacked_out + self.lost_out <= self.packets_out);
        if !self.life.is_synchronised() {
            return;
        }
        assert!(
            next.is_none_or(|n| n == self.snd_nxt),
            "the queue ends before snd_nxt"
        );
        assert!(self.window.cwnd >= 1);
        assert!(u64::from(self.head_left) <= self.unsent);
        let timer = self.timer.map(|(kind, _)| kind);
        if self.is_modern() {
            self.check_modern_invariants();
        } else if self.packets_out > 0 {
            assert_eq!(timer, Some(TimerKind::Retransmit));
        } else if self.has_unsent() {
            assert!(timer.is_some(), "data waits and no timer runs");
        }
        if self.receive.ack.scheduled {
            assert!(
                self.receive.ack.timer.is_some() || self.receive.ack.compression.is_holding(),
                "an acknowledgement is owed for ever"
            );
        }
    }
}
