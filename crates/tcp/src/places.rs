//! What is known of the retransmission queue without looking at it, so that walks over it pass over packets which
//! they could not change.
//!
//! The kernel's hints end with every packet that is acknowledged; while much is lost each acknowledgement then
//! walks the whole window three times. What is kept here holds on: it goes along with the queue, and may be
//! too cautious, never wrong. It changes no result: a test drives connections with and without.

use std::collections::VecDeque;

use crate::queue::{LOST, Packet, Queue, RETRANS, SACKED};
use crate::seq::Seq;

/// What holds for packets by their place, counted from the first that the queue ever had.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// The place of the first packet that is there.
    base: usize,
    /// Packets that stand for several segments, or did when they were sent: while there are any, a place
    /// is not a count of segments.
    many: usize,
    /// All before this one are tagged.
    tagged: usize,
    /// Of those before this one none waits to be sent again.
    resent: usize,
    /// From this one on none is lost.
    lost_to: usize,
    /// What has been sent again, in this order: the end of the packet, and what was next to send. Those that were
    /// acknowledged since, or sent yet again, are out of date.
    again: VecDeque<(Seq, Seq)>,
    /// Walks look at every packet: what tests compare with.
    #[cfg(test)]
    pub(crate) plain: bool,
}

impl Places {
    pub(crate) const NEW: Places = Places {
        base: 0,
        many: 0,
        tagged: 0,
        resent: 0,
        lost_to: 0,
        again: VecDeque::new(),
        #[cfg(test)]
        plain: false,
    };

    /// A packet was put at the end, or has come out of another.
    #[inline]
    pub(crate) fn added(&mut self, packet: &Packet) {
        self.many += usize::from(packet.many);
    }

    /// The first packet was taken off.
    #[inline]
    pub(crate) fn taken(&mut self, packet: &Packet) {
        self.base += 1;
        self.many -= usize::from(packet.many);
    }

    /// The last packet was taken off, which has no tags: nothing is known of a place behind it.
    pub(crate) fn taken_back(&mut self, packet: &Packet) {
        self.many -= usize::from(packet.many);
    }

    /// A packet was divided: the first part ends at `end`, and `more` is one if only now it stands for several
    /// segments. What held before a place holds before it still.
    pub(crate) fn split(&mut self, rest: &Packet, end: Seq, more: usize) {
        self.many += more;
        self.lost_to += 1;
        if rest.has(RETRANS) {
            let whole = |entry: &(Seq, Seq)| *entry == (rest.end_seq, rest.sent_before);
            let place = self.again.iter().position(whole);
            let entry = (end, rest.sent_before);
            self.again.insert(place.unwrap_or(self.again.len()), entry);
        }
    }

    /// The packet at `index` is lost, or its retransmission is.
    #[inline]
    pub(crate) fn lost(&mut self, index: usize) {
        let place = self.base + index;
        self.resent = self.resent.min(place);
        self.lost_to = self.lost_to.max(place + 1);
    }

    /// All packets before `index` are tagged, if those before what was known are: it is the next one.
    #[inline]
    pub(crate) fn is_tagged(&mut self, index: usize) {
        let place = self.base + index;
        if self.tagged.max(self.base) == place {
            self.tagged = place + 1;
        }
    }

    /// All `len` packets are lost or selectively acknowledged, none is sent again.
    pub(crate) fn all_lost(&mut self, len: usize) {
        let end = self.base + len;
        (self.tagged, self.resent, self.lost_to) = (end, self.base, end);
        self.again.clear();
    }

    /// No packet is lost.
    pub(crate) fn none_lost(&mut self) {
        (self.tagged, self.lost_to) = (0, 0);
    }

    /// A packet is sent again. What is acknowledged up to `una` is out of date; all is, if no other
    /// retransmission is out.
    pub(crate) fn sent_again(&mut self, packet: &Packet, una: Seq, only: bool) {
        if only {
            self.again.clear();
        }
        while self.again.front().is_some_and(|(end, _)| !end.after(una)) {
            self.again.pop_front();
        }
        self.again.push_back((packet.end_seq, packet.sent_before));
    }
}

impl Queue {
    /// Each packet stands for one segment, and has since it was sent: places count segments.
    #[inline]
    pub(crate) fn is_simple(&self) -> bool {
        #[cfg(test)]
        if self.places.plain {
            return false;
        }
        self.places.many == 0
    }

    /// Packets that are tagged before any that is not: at least so many, and at most `most` and all but one.
    #[inline]
    pub(crate) fn tagged(&self, most: u32) -> usize {
        #[cfg(test)]
        if self.places.plain {
            return 0;
        }
        let known = self.places.tagged.saturating_sub(self.places.base);
        known.min(most as usize).min(self.len().saturating_sub(1))
    }

    /// The first lost packet that waits to be sent again.
    pub(crate) fn next_lost(&mut self) -> Option<usize> {
        let base = self.places.base;
        let reach = self.places.lost_to.saturating_sub(base).min(self.len());
        let from = self.places.resent.saturating_sub(base).min(reach);
        let waits = |p: &Packet| p.has(LOST) && !p.has(SACKED | RETRANS);
        let found = (from..reach).find(|index| self.get(*index).is_some_and(waits));
        self.places.resent = base + found.unwrap_or(reach);
        found
    }

    /// The first packet that begins at `seq` or later.
    #[inline]
    pub(crate) fn first_from(&self, seq: Seq) -> usize {
        let Some(front) = self.front() else { return 0 };
        if !seq.after(front.seq) {
            return 0;
        }
        // Mostly all are as large as the first.
        if !seq.before(front.end_seq) {
            let guess = 1 + (seq - front.end_seq) / u32::from(front.mss).max(1);
            if self.get(guess as usize).is_some_and(|p| p.seq == seq) {
                return guess as usize;
            }
        }
        self.first_where(|packet| packet.seq.before(seq))
    }

    /// The packets from `first` to before `stop` are selectively acknowledged and were never sent again.
    pub(crate) fn note_once(&mut self, first: usize, stop: usize) {
        if let Some(packet) = self.get_mut(first)
            && first < stop
        {
            packet.once = packet.once.max((stop - first) as u32);
        }
    }

    /// The packet of which a retransmission is, if that is up to date, and not acknowledged up to `una`.
    fn of_retransmission(&self, (end, before): (Seq, Seq), una: Seq) -> Option<usize> {
        let index = self.first_from(end).checked_sub(1)?;
        let packet = self.get(index)?;
        let is_it = packet.end_seq == end && packet.sent_before == before;
        (is_it && packet.has(RETRANS) && end.after(una)).then_some(index)
    }

    /// Whether `end` lies beyond what was next to send when any packet from `from` on was sent again.
    pub(crate) fn is_beyond_retransmission(&mut self, end: Seq, from: usize, una: Seq) -> bool {
        while let Some(first) = self.places.again.front().copied() {
            if !end.after(first.1) {
                return false;
            }
            match self.of_retransmission(first, una) {
                Some(index) if index >= from => return true,
                Some(_) => break,
                None => self.places.again.pop_front(),
            };
        }
        let mut later = self.places.again.iter().skip(1);
        later
            .by_ref()
            .take_while(|(_, before)| end.after(*before))
            .any(|entry| {
                self.of_retransmission(*entry, una)
                    .is_some_and(|i| i >= from)
            })
    }

    /// The packet of the first retransmission if that was sent while `is_old` says so of what was next to send; it
    /// is known no longer.
    pub(crate) fn take_retransmission(
        &mut self,
        una: Seq,
        is_old: impl Fn(Seq) -> bool,
    ) -> Option<usize> {
        while let Some(first) = self.places.again.front().copied() {
            if !is_old(first.1) {
                return None;
            }
            self.places.again.pop_front();
            let packet = self.of_retransmission(first, una);
            if packet.is_some() {
                return packet;
            }
        }
        None
    }

    /// Panics where what is kept here is not so.
    #[cfg(test)]
    pub(crate) fn check_places(&self) {
        use crate::queue::TAGS;
        let places = &self.places;
        let packets: Vec<Packet> = (0..self.len())
            .filter_map(|i| self.get(i).copied())
            .collect();
        let many = packets.iter().filter(|p| p.many).count();
        assert_eq!(many, places.many);
        assert!(packets.iter().all(|p| p.many || p.segments == 1));
        let waits = |p: &Packet| p.has(LOST) && !p.has(SACKED | RETRANS);
        for (index, packet) in packets.iter().enumerate() {
            let place = places.base + index;
            assert!(place >= places.tagged || packet.has(TAGS), "tagged");
            assert!(place >= places.resent || !waits(packet), "resent");
            assert!(place < places.lost_to || !packet.has(LOST), "lost");
            if packet.has(SACKED) {
                let mut run = packets.iter().skip(index).take(packet.run as usize);
                assert!(run.all(|p| p.has(SACKED)), "a run");
                assert!(index + packet.run as usize <= packets.len(), "its end");
                let mut once = packets.iter().skip(index).take(packet.once as usize);
                assert!(
                    packet.retransmitted() || once.all(|p| p.has(SACKED) && !p.retransmitted()),
                    "sent once"
                );
            }
            let entry = (packet.end_seq, packet.sent_before);
            assert!(!packet.has(RETRANS) || places.again.contains(&entry));
        }
        let mut order = places.again.iter().zip(places.again.iter().skip(1));
        assert!(order.all(|(a, b)| !a.1.after(b.1)), "in order");
    }
}
