//! What tests ask of today's sender beyond what they ask of any.

use tailback_units::Time;

use super::super::predicted::Predicts;
use super::super::{Connection, Event, TimerKind, Told};
use crate::segment::Segment;
use crate::seq::Seq;

impl Connection {
    /// From, to, segments, tags of what is out.
    pub(in crate::connection) fn outstanding_today(&self) -> Vec<(Seq, Seq, u16, u8)> {
        (0..self.modern.sent.len())
            .filter_map(|index| self.modern.sent.get(index))
            .map(|p| (p.seq, p.end_seq, p.segments, p.tags))
            .collect()
    }

    pub(in crate::connection) fn check_modern_invariants(&self) {
        let timer = self.timer.map(|(kind, _)| kind);
        let held = self.sender_deadline() != tailback_units::Time::NEVER;
        if self.packets_out > 0 {
            assert!(
                timer.is_some_and(|k| k != TimerKind::ZeroWindowProbe),
                "{timer:?}"
            );
        } else if self.has_unsent() {
            assert!(timer.is_some() || held, "data waits and no timer runs");
        }
        let chunks: u64 = self.modern.unsent.iter().map(|c| u64::from(c.bytes)).sum();
        assert_eq!(chunks, self.unsent, "what is written and not sent");
        let highest = self.modern.highest_sack;
        assert!(!highest.after(self.snd_nxt));
    }

    /// Both ways in lead to the same state. True if a segment may take the short one.
    pub(crate) fn check_prediction(&self, now: Time, segment: &Segment) -> bool {
        let [mut short, mut long] = [self.clone(), self.clone()];
        long.predicts = Predicts::Nothing;
        short.handle_segment(now, segment);
        long.handle_segment(now, segment);
        long.predicts = self.predicts;
        assert_eq!(format!("{short:?}"), format!("{long:?}"), "{segment:?}");
        self.check_reading_at_once(now, segment);
        self.is_predicted_data(segment)
            || match self.predicts {
                Predicts::Nothing => false,
                Predicts::Once => self.is_predicted_ack_once(segment),
                Predicts::Today => self.predicted_ack(segment).is_some(),
            }
    }

    /// That an application which reads at once is told, and leaves the connection, as one that is told
    /// of events and then reads.
    fn check_reading_at_once(&self, now: Time, segment: &Segment) {
        let [mut at_once, mut asked] = [self.clone(), self.clone()];
        let told = at_once.handle_segment_and_read(now, segment, || *segment);
        asked.handle_segment(now, segment);
        match told {
            Told::Nothing => assert_eq!(asked.poll_event(), None),
            Told::Read(bytes) => {
                assert_eq!(asked.poll_event(), Some(Event::Readable));
                assert_eq!(asked.read(now, u64::MAX), bytes);
                assert_eq!(asked.poll_event(), None);
            }
            Told::More => assert!(!asked.events.is_empty()),
        }
        assert_eq!(format!("{at_once:?}"), format!("{asked:?}"), "{segment:?}");
    }
}
