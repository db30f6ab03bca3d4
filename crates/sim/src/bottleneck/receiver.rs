//! A receiver that closed forms assume: it acknowledges every segment at once, or every second one
//! in order (RFC 5681's delayed acknowledgements without their timer, so only to a window that
//! needs none), cumulatively and selectively, tells every mark as its sender wants it, and never runs out of window.

use tailback_tcp::{Ecn, Flags, SackBlock, Segment, Seq, SynOptions};

/// Timestamp ticks a second (TCP_TS_HZ).
const TICKS_PER_S: u64 = 1000;
/// SACK blocks that fit beside timestamps.
const BLOCKS: usize = 3;

/// How marks are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Echo {
    /// ECE until CWR comes (RFC 3168).
    Latched,
    /// ECE for each mark (RFC 8257).
    Each,
    /// Their count, modulo 8, in AE, CWR and ECE (RFC 9768).
    Counted,
}

/// The count begins with this (RFC 9768 section 3.2.1).
const COUNT_INITIAL: u32 = 5;

/// A number of three bits as AE, CWR and ECE.
fn flags_of(field: u32) -> Flags {
    let flags = [(4, Flags::NS), (2, Flags::CWR), (1, Flags::ECE)];
    let set = flags.into_iter().filter(|(bit, _)| field & bit != 0);
    set.fold(Flags::NONE, |all, (_, flag)| all.with(flag))
}

/// What an answer's three flags say of the ECN field that a SYN had (RFC 9768 table 2).
fn reflected(ecn: Ecn) -> Flags {
    flags_of(match ecn {
        Ecn::NotEct => 2,
        Ecn::Ect1 => 3,
        Ecn::Ect0 => 4,
        Ecn::Ce => 6,
    })
}

/// One flow's receiver.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    next: Seq,
    /// Beyond a hole: ranges in order, and the one that grew last.
    ranges: Vec<(Seq, Seq)>,
    newest: Seq,
    echo: Echo,
    congestion: bool,
    /// Marked segments so far.
    marks: u32,
    /// Every second segment in order is acknowledged; one is unacknowledged.
    every_second: bool,
    owed: bool,
    ts_recent: u32,
    mss: u16,
    /// Segments taken in order or out of it, once each.
    pub(super) segments: u64,
}

impl Receiver {
    pub(super) fn new(mss: u16, echo: Echo, every_second: bool) -> Receiver {
        Receiver {
            every_second,
            owed: false,
            next: Seq(0),
            ranges: Vec::new(),
            newest: Seq(0),
            echo,
            congestion: false,
            marks: 0,
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
            let asks = flags_of(7);
            if self.echo == Echo::Counted && segment.flags.contains(asks) {
                ack.flags = ack.flags.with(reflected(segment.ecn));
            } else if segment.flags.contains(Flags::ECE) {
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
            if self.echo == Echo::Counted {
                ack.flags = ack
                    .flags
                    .with(flags_of(COUNT_INITIAL.wrapping_add(self.marks)));
            } else if self.congestion {
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
        self.marks = self.marks.wrapping_add(marked.into());
        if self.echo != Echo::Latched {
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
