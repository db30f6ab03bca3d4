//! The option of accurate ECN: bytes of payload by their code point, beside the count of packets in every header.
//!
//! Models RFC 9768 section 3.2.3 as Linux 7.2 has it (include/net/tcp_ecn.h; net/ipv4/tcp_input.c:
//! tcp_accecn_process_option; tcp_output.c: tcp_options_fit_accecn, tcp_options_write): with `tcp_ecn_option` 2 on every
//! packet where it fits, with 1 where something has changed and `tcp_ecn_option_beacon` times a round trip, and never before
//! the peer has shown that it knows the option. What an acknowledgement for many segments leaves open, whether its count
//! has wrapped, the bytes decide.

use super::Connection;
use super::accurate_ecn::Fails;
use crate::segment::{Ecn, EcnCounters, Segment, ecn_option_bytes};
use crate::seq::Seq;

/// Code points in the order in which Linux tells of them (option 174), and the other way round (172).
const ECT1_FIRST: [Ecn; 3] = [Ecn::Ect1, Ecn::Ce, Ecn::Ect0];
const ECT0_FIRST: [Ecn; 3] = [Ecn::Ect0, Ecn::Ce, Ecn::Ect1];
/// Counters in the option at most (TCP_ACCECN_NUMFIELDS).
const FIELDS: u8 = 3;
/// Bytes that all options may take (RFC 9293 section 3.1).
const ROOM_BYTES: u32 = 40;
/// Bytes after which a counter is told of whatever else has changed, as a shift.
const TELL_SHIFT: u32 = 22;
/// Bytes sent after which a peer's first option comes too late: a counter may have wrapped.
const LATE_BYTES: u64 = (1 << 23) - 1;

/// What a counter begins with, so that zeros are none (TCP_ACCECN_E0B_INIT_OFFSET and its like).
fn offset(ecn: Ecn) -> u32 {
    u32::from(matches!(ecn, Ecn::Ect0 | Ecn::Ect1))
}

/// Which of the three counters is a code point's.
fn index(ecn: Ecn) -> Option<usize> {
    (ecn as usize).checked_sub(1)
}

/// What was seen of the peer's option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Seen {
    #[default]
    Nothing,
    /// One without counters.
    Empty,
    Counters,
    /// A counter had been cleared on the way, or the first came too late.
    Failed,
}

impl Seen {
    /// What a peer's first option is like (tcp_accecn_option_init).
    pub(super) fn first(told: &EcnCounters) -> Seen {
        match (told.first(), told.get(2)) {
            (None, _) => Seen::Empty,
            (Some(0), _) | (_, Some(0)) => Seen::Failed,
            _ => Seen::Counters,
        }
    }
}

/// The books of the option.
#[derive(Clone, Debug, Default)]
pub(super) struct EcnOption {
    /// Payload bytes that came with ECT(1), ECT(0) and CE (received_ecn_bytes).
    pub(super) received: [u32; 3],
    /// Those that the peer has told of (delivered_ecn_bytes).
    pub(super) delivered: [u32; 3],
    /// Counters that the next option has at least (accecn_minlen).
    least: u8,
    /// Options that are due (accecn_opt_demand).
    pub(super) due: u8,
    pub(super) seen: Seen,
    /// The one code point whose counter has risen of late, if it is one (est_ecnfield).
    rising: Option<Ecn>,
    /// When the last was sent (accecn_opt_tstamp).
    sent_us: u64,
    /// The packet before had one and told of a duplicate that begins here (accecn_opt_sent_w_dsack).
    told_duplicate: Option<Seq>,
}

impl EcnOption {
    /// So many are due at least.
    pub(super) fn demand(&mut self, options: u8) {
        self.due = self.due.max(options);
    }

    /// Payload has come (tcp_ecn_received_counters).
    pub(super) fn count(&mut self, ecn: Ecn, bytes: u32) {
        let Some(at) = index(ecn).filter(|_| bytes > 0) else {
            return;
        };
        let place = ECT1_FIRST.iter().position(|point| *point == ecn);
        self.least = self.least.max(place.map_or(0, |place| place as u8 + 1));
        let before = self.received[at];
        self.received[at] = before.wrapping_add(bytes);
        if (self.received[at] ^ before) >> TELL_SHIFT != 0 {
            self.demand(1);
        }
    }

    /// What an acknowledgement's option tells, or that there is none; whether the bytes can be gone by
    /// (tcp_accecn_process_option).
    pub(super) fn hear(
        &mut self,
        told: Option<EcnCounters>,
        delivered_bytes: u32,
        bytes_sent: u64,
        fails: &mut Fails,
    ) -> bool {
        if fails.has(Fails::OPTION_RECEIVED) {
            return false;
        }
        let Some(told) = told else {
            if self.seen == Seen::Nothing {
                if bytes_sent >= LATE_BYTES {
                    self.see(Seen::Failed, fails);
                }
                return false;
            }
            let Some(at) = self.rising.and_then(index) else {
                return false;
            };
            self.delivered[at] = self.delivered[at].wrapping_add(delivered_bytes);
            return true;
        };
        if self.seen < Seen::Counters {
            self.see(Seen::first(&told), fails);
        }
        self.take(&told)
    }

    /// What the peer's option is like.
    pub(super) fn see(&mut self, seen: Seen, fails: &mut Fails) {
        self.seen = seen;
        if seen == Seen::Failed {
            fails.add(Fails::OPTION_RECEIVED);
        }
    }

    fn take(&mut self, told: &EcnCounters) -> bool {
        let order = if told.ect0_first {
            ECT0_FIRST
        } else {
            ECT1_FIRST
        };
        let before = self.rising;
        let mut usable = before.is_some();
        let (mut changed, mut unclear) = (false, false);
        for (ecn, counter) in order.into_iter().zip(told.iter()) {
            let Some(at) = index(ecn) else { continue };
            let now = counter.wrapping_sub(offset(ecn));
            // 24 bits, with a sign: counters can have been overtaken.
            let delta = (now.wrapping_sub(self.delivered[at]) << 8) as i32 >> 8;
            self.delivered[at] = self.delivered[at].wrapping_add(delta as u32);
            unclear |= delta < 0;
            if delta != 0 && before != Some(ecn) {
                if changed {
                    unclear = true;
                } else {
                    self.rising = Some(ecn);
                    changed = true;
                }
            }
        }
        if unclear {
            self.rising = None;
            usable = false;
        }
        usable
    }

    /// The counters, so many of them.
    fn told(&self, fields: u8) -> EcnCounters {
        let counters = ECT1_FIRST.map(|ecn| {
            let bytes = index(ecn).map_or(0, |at| self.received[at]);
            bytes.wrapping_add(offset(ecn))
        });
        EcnCounters::new(false, &counters[..usize::from(fields)])
    }
}

/// What an answer to a SYN tells: nothing has come yet.
pub(super) fn none_yet() -> EcnCounters {
    EcnOption::default().told(FIELDS)
}

/// How many counters and SACK blocks fit into `room` bytes beside those that so many blocks take
/// (tcp_options_fit_accecn): a block may have to go for `least` counters.
fn fit(least: u8, blocks: u8, room: u32) -> Option<(u8, u8)> {
    let shared = if blocks > 0 { 2 } else { 0 };
    let (mut fields, mut kept, mut room) = (FIELDS, blocks, room);
    loop {
        if ecn_option_bytes(fields, shared) <= room {
            return Some((fields, kept));
        }
        if fields > least {
            fields -= 1;
        } else if kept > 2 && least > 0 {
            (fields, kept, room) = (FIELDS, kept - 1, room + 8);
        } else {
            return None;
        }
    }
}

impl Connection {
    /// The counters and blocks that the next packet has, if it has the option (tcp_established_options).
    fn option_fits(&self) -> Option<(u8, u8)> {
        let accurate = self.accurate.as_ref()?;
        let option = &accurate.option;
        let wanted = match self.stack.tcp_ecn_option {
            0 => false,
            1 => option.due > 0 || self.option_is_beacon(option),
            _ => true,
        };
        let may = option.seen != Seen::Nothing
            && (self.stack.tcp_ecn_option > 2 || !accurate.fails.has(Fails::OPTION_SENT));
        if !wanted || !may {
            return None;
        }
        let blocks = if self.sack {
            self.receive.reassembly.sack_count() as u8
        } else {
            0
        };
        let stamps = if self.timestamps { 12 } else { 0 };
        fit(
            option.least,
            blocks,
            ROOM_BYTES - stamps - sack_bytes(blocks),
        )
    }

    /// It is time to tell the counters whether or not anything has changed (tcp_accecn_option_beacon_check).
    fn option_is_beacon(&self, option: &EcnOption) -> bool {
        let beacon = u64::from(self.stack.tcp_ecn_option_beacon);
        let since_us = self.now_us().saturating_sub(option.sent_us);
        beacon > 0 && since_us.saturating_mul(beacon) >= u64::from(self.srtt_us())
    }

    /// Payload of a full segment, where it is time to tell the counters: that is looked at once more when packets are made
    /// (tcp_write_xmit).
    #[inline]
    pub(super) fn mss_by_beacon(&self) -> Option<u32> {
        let accurate = self.accurate.as_ref()?;
        self.option_is_beacon(&accurate.option)
            .then(|| self.current_mss())
    }

    /// Bytes of SACK and of this option in a packet that is sent now.
    #[cold]
    pub(super) fn option_bytes(&self) -> u32 {
        match self.option_fits() {
            Some((fields, blocks)) => {
                let shared = if blocks > 0 { 2 } else { 0 };
                sack_bytes(blocks) + ecn_option_bytes(fields, shared)
            }
            None if self.sack => sack_bytes(self.receive.reassembly.sack_count() as u8),
            None => 0,
        }
    }

    /// Puts SACK blocks and the option into a packet (tcp_options_write).
    #[inline(never)]
    pub(super) fn put_option(&mut self, segment: &mut Segment) {
        let fits = self.option_fits();
        let duplicate = self.receive.reassembly.duplicate();
        if self.sack && !self.receive.reassembly.tells_nothing() {
            let most = fits.map_or(u8::MAX, |(_, blocks)| blocks);
            segment.adopt_sack(&self.tell_selectively(most.into()));
        }
        let now_us = self.now_us();
        let Some(accurate) = &mut self.accurate else {
            return;
        };
        let option = &mut accurate.option;
        option.told_duplicate = None;
        if let Some((fields, _)) = fits {
            segment.set_ecn_counters(option.told(fields));
            option.least = 0;
            option.sent_us = now_us;
            option.told_duplicate = duplicate;
            option.due = option.due.saturating_sub(1);
        }
    }

    /// Data has come that had come before. Where the packet before told of just that and had the option, it seems to be
    /// lost for the option's sake: no more of it (tcp_rcv_spurious_retrans).
    pub(super) fn suspect_option(&mut self, segment: &Segment) {
        let untold = self.receive.reassembly.duplicate();
        if let Some(accurate) = &mut self.accurate
            && let Some(told) = accurate.option.told_duplicate
            && untold.unwrap_or(told) == segment.seq
        {
            accurate.fails.add(Fails::OPTION_SENT);
        }
    }
}

/// Bytes of an option with so many SACK blocks.
fn sack_bytes(blocks: u8) -> u32 {
    match blocks {
        0 => 0,
        blocks => 4 + 8 * u32::from(blocks),
    }
}
