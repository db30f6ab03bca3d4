//! A receiver that closed forms assume: it acknowledges every segment at once, or every second one
//! in order (RFC 5681's delayed acknowledgements without their timer, so only to a window that
//! needs none), cumulatively and selectively, tells every mark, and never runs out of window.

use tailback_tcp::{Ecn, Flags, SackBlock, Segment, Seq, SynOptions};

/// Timestamp ticks a second (TCP_TS_HZ).
const TICKS_PER_S: u64 = 1000;
/// SACK blocks that fit beside timestamps.
const BLOCKS: usize = 3;

/// One flow's receiver.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    next: Seq,
    /// Beyond a hole: ranges in order, and the one that grew last.
    ranges: Vec<(Seq, Seq)>,
    newest: Seq,
    /// ECE until CWR comes (RFC 3168) rather than for each mark (RFC 8257).
    latches: bool,
    congestion: bool,
    /// Every second segment in order is acknowledged; one is unacknowledged.
    every_second: bool,
    owed: bool,
    ts_recent: u32,
    mss: u16,
    /// Segments taken in order or out of it, once each.
    pub(super) segments: u64,
}

impl Receiver {
    pub(super) fn new(mss: u16, latches: bool, every_second: bool) -> Receiver {
        Receiver {
            every_second,
            owed: false,
            next: Seq(0),
            ranges: Vec::new(),
            newest: Seq(0),
            latches,
            congestion: false,
            ts_recent: 0,
            mss,
            segments: 0,
        }
    }

    /// A segment arrives at `now_us`; the answer, if there is one: `small` windows always get one.
    pub(super) fn receive(
        &mut self,
        now_us: u64,
        segment: &Segment,
        small: bool,
    ) -> Option<Segment> {
        let mut ack = Segment::EMPTY;
        ack.flags = Flags::ACK;
        ack.has_timestamps = segment.has_timestamps;
        ack.ts_val = (1 + now_us * TICKS_PER_S / 1_000_000) as u32;
        ack.window = u16::MAX;
        if segment.flags.contains(Flags::SYN) {
            self.next = segment.seq + 1;
            self.ts_recent = segment.ts_val;
            ack.set_syn_options(SynOptions {
                mss: self.mss,
                window_scale: Some(14),
                sack_permitted: true,
            });
            if segment.flags.contains(Flags::ECE) {
                ack.flags = ack.flags.with(Flags::ECE);
            }
        } else if segment.payload_bytes == 0 {
            return None;
        } else {
            // The SYN took the number before.
            ack.seq = Seq(1);
            if !segment.seq.after(self.next) {
                self.ts_recent = segment.ts_val;
            }
            let in_order = segment.seq == self.next && self.ranges.is_empty();
            self.take(segment.seq, segment.end_seq());
            self.note_mark(segment);
            self.owed = self.every_second && in_order && !small && !self.owed;
            if self.owed {
                return None;
            }
            if self.congestion {
                ack.flags = ack.flags.with(Flags::ECE);
            }
            self.tell_ranges(&mut ack);
        }
        ack.ack = self.next;
        ack.ts_ecr = self.ts_recent;
        Some(ack)
    }

    fn note_mark(&mut self, segment: &Segment) {
        let marked = segment.ecn == Ecn::Ce;
        if !self.latches {
            self.congestion = marked;
            return;
        }
        if segment.flags.intersects(Flags::CWR) {
            self.congestion = false;
        }
        self.congestion |= marked;
    }

    fn take(&mut self, start: Seq, end: Seq) {
        if !end.after(self.next) {
            return;
        }
        if !start.after(self.next) {
            self.segments += 1;
            self.next = end;
            while let Some(&(from, to)) = self.ranges.first()
                && !from.after(self.next)
            {
                self.next = self.next.max(to);
                self.ranges.remove(0);
            }
            return;
        }
        self.newest = start;
        let at = self.ranges.partition_point(|&(from, _)| !from.after(start));
        if let Some(before) = at.checked_sub(1).map(|i| self.ranges[i])
            && !start.after(before.1)
        {
            if end.after(before.1) {
                self.segments += 1;
                self.ranges[at - 1].1 = end;
                self.merge(at - 1);
            }
            return;
        }
        self.segments += 1;
        self.ranges.insert(at, (start, end));
        self.merge(at);
    }

    /// The range at `at` may have reached the next.
    fn merge(&mut self, at: usize) {
        while at + 1 < self.ranges.len() && !self.ranges[at + 1].0.after(self.ranges[at].1) {
            self.ranges[at].1 = self.ranges[at].1.max(self.ranges[at + 1].1);
            self.ranges.remove(at + 1);
        }
    }

    /// The range that grew last first, then the highest others.
    fn tell_ranges(&self, ack: &mut Segment) {
        let block = |&(start, end): &(Seq, Seq)| SackBlock { start, end };
        let holds =
            |range: &(Seq, Seq)| !self.newest.before(range.0) && self.newest.before(range.1);
        let newest = self.ranges.iter().rposition(&holds);
        if let Some(index) = newest {
            ack.push_sack(block(&self.ranges[index]));
        }
        let others = self.ranges.iter().enumerate().rev();
        for (_, range) in others.filter(|(i, _)| Some(*i) != newest).take(BLOCKS - 1) {
            ack.push_sack(block(range));
        }
    }
}
