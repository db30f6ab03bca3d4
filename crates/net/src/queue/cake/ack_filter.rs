//! CAKE's filter of acknowledgements: which of a queue is dropped, since a later one says it again.
//!
//! As cake_ack_filter of sch_cake.c (Linux 7.2): when a segment with an acknowledgement joins a queue, those before it of the
//! same flow that carry no data, no flag but ACK, ECE and CWR and no option but SACK and timestamps may go if it acknowledges
//! more, or reports more as received. What ECE and CWR tell is kept: one of a run goes only if the next has the same.
//! Unless `aggressive`, one goes only when there are two.
//! Linux walks the whole queue for each packet, and so does this.

use std::collections::VecDeque;

use tailback_tcp::{Flags, SackBlock, Segment};

use super::config::AckFilter;
use crate::pool::FramePool;
use crate::queue::Held;

/// Flags that are looked at one acknowledgement after the other.
const ECN: Flags = Flags::ECE.with(Flags::CWR);

/// The place of an acknowledgement that the last frame of the queue makes superfluous, the first if there are more.
pub(super) fn said_again(
    filter: AckFilter,
    queue: &VecDeque<Held>,
    frames: &FramePool,
) -> Option<usize> {
    if filter == AckFilter::NoAckFilter || queue.len() < 2 {
        return None;
    }
    let (last, before) = (queue.back()?, queue.len() - 1);
    let newest = frames.segment(last.frame.frame);
    if !newest.flags.contains(Flags::ACK) || newest.flags.intersects(Flags::SYN) {
        return None;
    }
    // The first that may go, its ECN flags, and how many there are.
    let mut eligible: Option<(usize, Flags)> = None;
    let mut found = 0;
    for (place, held) in queue.iter().take(before).enumerate() {
        if held.frame.to != last.frame.to || held.frame.destination != last.frame.destination {
            continue;
        }
        let earlier = frames.segment(held.frame.frame);
        let ecn = ecn_of(&earlier);
        if eligible.is_some_and(|(_, flags)| flags != ecn) {
            eligible = None;
            found -= 1;
        }
        if !may_go(&earlier, &newest) {
            continue;
        }
        let (first, _) = *eligible.get_or_insert((place, ecn));
        found += 1;
        if found > 1 {
            return Some(first);
        }
    }
    let is_next_alike =
        |(place, ecn): &(usize, Flags)| place + 1 == before && *ecn == ecn_of(&newest);
    (filter == AckFilter::AckFilterAggressive)
        .then_some(eligible)
        .flatten()
        .filter(is_next_alike)
        .map(|(place, _)| place)
}

fn ecn_of(segment: &Segment) -> Flags {
    Flags(segment.flags.0 & ECN.0)
}

/// Whether an acknowledgement tells nothing that a later segment does not tell too.
fn may_go(earlier: &Segment, newest: &Segment) -> bool {
    if earlier.flags.without(ECN) != Flags::ACK
        || earlier.payload_bytes > 0
        || earlier.ecn_counters().is_some()
        || newest.ack.before(earlier.ack)
    {
        return false;
    }
    if earlier.has_timestamps {
        // One without them counts as having zeros (tstamp and tsecr of cake_ack_filter).
        let (val, ecr) = match newest.has_timestamps {
            true => (newest.ts_val, newest.ts_ecr),
            false => (0, 0),
        };
        if is_after(earlier.ts_val, val) || is_after(earlier.ts_ecr, ecr) {
            return false;
        }
    }
    match covers(earlier, newest) {
        None => false,
        Some(reports_more) => reports_more || earlier.ack != newest.ack,
    }
}

/// Whether what `earlier` reports as received is within what `newest` does, and `newest` reports more
/// (cake_tcph_sack_compare).
fn covers(earlier: &Segment, newest: &Segment) -> Option<bool> {
    let (old, new) = (earlier.sack_blocks(), newest.sack_blocks());
    if old.is_empty() {
        return Some(!new.is_empty());
    }
    for block in old.iter() {
        // A duplicate's report is never dropped.
        if block.start.before(earlier.ack) {
            return None;
        }
        let is_within =
            |other: &SackBlock| !block.start.before(other.start) && !other.end.before(block.end);
        if !new.iter().any(is_within) {
            return None;
        }
    }
    let bytes = |blocks: &[SackBlock]| -> u32 {
        let lengths = blocks.iter().map(|block| block.end - block.start);
        lengths.fold(0, u32::wrapping_add)
    };
    Some(bytes(&new) > bytes(&old))
}

/// Whether one time stamp is after another, modulo 2^32.
fn is_after(one: u32, other: u32) -> bool {
    (other.wrapping_sub(one) as i32) < 0
}

#[cfg(test)]
#[path = "ack_filter_tests.rs"]
mod tests;
