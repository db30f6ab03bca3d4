//! What tests ask of today's sender beyond what they ask of any.

use tailback_units::Time;

use super::super::{Connection, TimerKind};
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
        long.predicts = false;
        short.handle_segment(now, segment);
        long.handle_segment(now, segment);
        long.predicts = self.predicts;
        assert_eq!(format!("{short:?}"), format!("{long:?}"), "{segment:?}");
        self.is_predicted_data(segment) || self.is_predicted_ack(segment)
    }
}
