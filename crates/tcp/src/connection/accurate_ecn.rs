//! Which ECN a connection has, and accurate ECN: marks are counted, and the count is in every header.
//!
//! Models RFC 9768 as Linux 7.2 has it (include/net/tcp_ecn.h; net/ipv4/tcp_input.c: tcp_accecn_process; tcp_output.c:
//! tcp_ecn_send). The flags AE (RFC 3540's nonce sum), CWR and ECE are one field, ACE: on
//! SYNs it asks, on their answers, and on the acknowledgement that ends the handshake, it says which ECN field the
//! other's had, and from then on it is how many marked packets have come, modulo 8. So there is neither a latched echo nor
//! CWR; all packets are ECN-capable, acknowledgements and retransmissions too. The option with counters of bytes:
//! [`ecn_option`](super::ecn_option).

use super::ecn_option::{self, EcnOption, Seen};
use super::modern::Sender;
use super::predicted::Predicts;
use super::{CaState, Connection, Life};
use crate::congestion::{Congestion, CongestionKind};
use crate::segment::{Ecn, Flags, Header, Segment};
use crate::stack::Stack;

/// What the count begins with, so that a field of zeros is none (TCP_ACCECN_CEP_INIT_OFFSET).
const INITIAL: u32 = 5;
/// The field has three bits (TCP_ACCECN_CEP_ACE_MASK).
const MASK: u32 = 7;
/// From so many marks on that nobody was told of, an acknowledgement is sent at once (TCP_ACCECN_ACE_MAX_DELTA).
const PENDING_MANY: u32 = 6;
/// Where counting of marks to tell stops.
const PENDING_MOST: u32 = 15;
/// Segments an acknowledgement beyond which acknowledgements are taken to be thinned on their way, and the average's weight
/// and fraction as shifts (ACK_COMP_THRESH, PKTS_ACKED_WEIGHT, PKTS_ACKED_PREC).
const THINNED: u32 = 4;
const WEIGHT_SHIFT: u32 = 6;
const FRACTION_SHIFT: u32 = 6;
/// The second half of what can have been marked is taken for marked if so many bytes were (TCP_ACCECN_SAFETY_SHIFT).
const SAFETY_SHIFT: u32 = 1;
/// All three flags.
const ACE: Flags = Flags::NS.with(Flags::CWR).with(Flags::ECE);

/// What the ends of a connection make of marks; before it is established, what this end asks for or grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EcnMode {
    /// Nothing: packets are not ECN-capable.
    Off,
    /// RFC 3168's echo, or that of the congestion control.
    Classic,
    /// RFC 9768's count.
    Accurate,
}

/// What does not work on the path, or with the peer (accecn_fail_mode): bits as in the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fails(pub(super) u8);

impl Fails {
    /// The peer seems not to have had this end's field (TCP_ACCECN_ACE_FAIL_SEND).
    pub(super) const FIELD_SENT: Fails = Fails(1);
    /// The peer's field is not what it can have sent.
    pub(super) const FIELD_RECEIVED: Fails = Fails(2);
    /// Packets with the option seem to be lost for it.
    pub(super) const OPTION_SENT: Fails = Fails(4);
    /// The peer's option is not to be gone by.
    pub(super) const OPTION_RECEIVED: Fails = Fails(8);

    pub(super) fn has(self, fail: Fails) -> bool {
        self.0 & fail.0 != 0
    }

    pub(super) fn add(&mut self, fail: Fails) {
        self.0 |= fail.0;
    }

    fn add_if(&mut self, fails: bool, fail: Fails) {
        if fails {
            self.add(fail);
        }
    }
}

/// The books of accurate ECN.
#[derive(Clone, Debug)]
pub(super) struct AccurateEcn {
    /// Packets that came with CE (received_ce).
    pub(super) received_ce: u32,
    /// Those that no header has told of (received_ce_pending).
    pending: u32,
    /// Segments an acknowledgement, averaged, in 64ths (pkts_acked_ewma).
    acked_average: u32,
    /// The ECN field of the peer's SYN, or of its answer (syn_ect_rcv).
    syn: Ecn,
    /// The ECN field of the packet before (prev_ecnfield).
    before: Ecn,
    /// The next header says what the answer's ECN field was.
    reflects: bool,
    /// The segment at hand has a later timestamp than those before (FLAG_TS_PROGRESS).
    later: bool,
    /// While the field does not work, packets cannot be marked.
    pub(super) fails: Fails,
    /// The option.
    pub(super) option: EcnOption,
}

/// What an acknowledgement delivers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    pub(super) segments: u32,
    pub(super) bytes: u32,
    /// It delivers anything.
    pub(super) progress: bool,
}

impl AccurateEcn {
    /// Of a peer whose SYN, or its answer, is this.
    fn new(syn: &Segment, answer: bool) -> AccurateEcn {
        // The answer has delivered the SYN.
        let acked_average = u32::from(answer) << FRACTION_SHIFT;
        AccurateEcn {
            received_ce: 0,
            pending: 0,
            acked_average,
            syn: syn.ecn,
            before: if answer { Ecn::NotEct } else { syn.ecn },
            reflects: false,
            later: false,
            fails: Fails::default(),
            option: EcnOption::default(),
        }
    }

    /// What the option of a segment of the handshake is like, if it has one and none with counters was seen before.
    fn sees_option(&mut self, segment: &Segment) -> Option<Seen> {
        let told = segment.ecn_counters()?;
        (self.option.seen < Seen::Counters).then(|| Seen::first(&told))
    }

    /// Whether the peer can have got the packet that it tells of, with the ECN field that it tells; if not, its
    /// field is not to be gone by (tcp_accecn_validate_syn_feedback).
    fn believes(&mut self, field: u32, sent: Ecn, checks: bool) -> bool {
        let got = reflection_of(field);
        let stays = got == sent || !(sent == Ecn::NotEct || got == Ecn::NotEct || sent == Ecn::Ce);
        let believes = stays || !checks;
        self.fails.add_if(!believes, Fails::FIELD_RECEIVED);
        believes
    }

    /// As if so many segments had been acknowledged at a time.
    #[cfg(test)]
    pub(super) fn set_average(&mut self, segments: u32) {
        self.acked_average = segments << FRACTION_SHIFT;
    }

    /// An acknowledgement delivers so many segments: their average.
    fn average(&mut self, segments: u32) {
        if segments > 0 {
            let now = segments << FRACTION_SHIFT;
            self.acked_average = match self.acked_average {
                0 => now,
                average => ((average << WEIGHT_SHIFT) - average + now) >> WEIGHT_SHIFT,
            }
            .min(0xffff);
        }
    }

    /// Marks that the field of an acknowledgement tells of, `told` so far. The count may have wrapped: where bytes are
    /// told (`marked`), as many as those bear out; else as many as there can have been, unless acknowledgements are thin
    /// throughout. `by_rate`: many segments' share of marks is that of their bytes.
    fn news(
        &self,
        field: u32,
        told: u32,
        delivered: Delivered,
        (marked, mss, by_rate): (Option<u32>, u32, bool),
    ) -> u32 {
        let segments = delivered.segments;
        let least = field.wrapping_sub(INITIAL).wrapping_sub(told) & MASK;
        if segments <= MASK {
            return least;
        }
        let most = segments - (segments.wrapping_sub(least) & MASK);
        match marked {
            None if self.acked_average > THINNED << FRACTION_SHIFT => least,
            None => most,
            Some(0) => least,
            Some(bytes) if segments > 2 * MASK + 1 && by_rate => {
                if delivered.bytes <= bytes {
                    return most;
                }
                let share = u64::from(bytes) * u64::from(segments);
                let marks = share.div_ceil(u64::from(delivered.bytes)) as u32;
                most.min(least + (marks & !MASK))
            }
            Some(bytes) if bytes > least * mss => most,
            Some(bytes) if bytes < (most * mss) >> SAFETY_SHIFT => least,
            Some(_) => most,
        }
    }
}

/// The three flags as a number.
fn field_of(flags: Flags) -> u32 {
    let bit = |flag, value| if flags.intersects(flag) { value } else { 0 };
    bit(Flags::NS, 4) | bit(Flags::CWR, 2) | bit(Flags::ECE, 1)
}

/// A number as the three flags.
pub(super) fn flags_of(field: u32) -> Flags {
    let bit = |value, flag| {
        if field & value != 0 {
            flag
        } else {
            Flags::NONE
        }
    };
    bit(4, Flags::NS)
        .with(bit(2, Flags::CWR))
        .with(bit(1, Flags::ECE))
}

/// How the ECN field of a SYN is told (RFC 9768 table 2).
fn reflected(ecn: Ecn) -> Flags {
    flags_of(match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

/// The ECN field that is told so (tcp_accecn_extract_syn_ect).
fn reflection_of(field: u32) -> Ecn {
    match field & MASK {
        0b010 => Ecn::NotEct,
        0b000 | 0b100 => Ecn::Ect0,
        0b110 => Ecn::Ce,
        _ => Ecn::Ect1,
    }
}

impl EcnMode {
    /// What an end asks for, or grants at most.
    pub(super) fn wanted(stack: &Stack, life: Life, congestion: &Congestion) -> EcnMode {
        let accurate = stack.sender == Sender::Linux72;
        if accurate && congestion.needs_accurate_ecn() {
            return EcnMode::Accurate;
        }
        let opens = life == Life::SynSent;
        match stack.tcp_ecn {
            3 if accurate => EcnMode::Accurate,
            4 | 5 if accurate && !opens => EcnMode::Accurate,
            1 | 3 | 4 => EcnMode::Classic,
            2 | 5 if !opens => EcnMode::Classic,
            _ if congestion.wants_precise_echo() => EcnMode::Classic,
            _ => EcnMode::Off,
        }
    }
}

impl Connection {
    /// What the peer's SYN, or its answer, makes of what this end wants (tcp_ecn_rcv_syn, tcp_ecn_rcv_synack). A SYN that could
    /// be marked itself and asks for RFC 3168's echo comes from a network that plays with those bits, unless the congestion
    /// control wants it so.
    pub(super) fn agree_on_ecn(&mut self, syn: &Segment) {
        let answer = self.life == Life::SynSent && syn.flags.contains(Flags::ACK);
        let field = field_of(syn.flags);
        let accurate = match (self.ecn, answer) {
            (EcnMode::Accurate, true) => !matches!(field, 0 | 1 | 7),
            (EcnMode::Accurate, false) => !matches!(field, 0 | 3),
            _ => false,
        };
        if accurate {
            let mut accurate = AccurateEcn::new(syn, answer);
            let (sent, checks) = (self.syn_ecn(), self.stack.tcp_ecn_fallback);
            if answer && let Some(seen) = accurate.sees_option(syn) {
                accurate.option.see(seen, &mut accurate.fails);
                accurate.option.due = 2;
            }
            if answer
                && syn.ecn == Ecn::Ce
                && (field == 5 || accurate.believes(field, sent, checks))
            {
                accurate.received_ce = 1;
                accurate.pending = 1;
            }
            self.accurate = Some(Box::new(accurate));
            self.predicts = Predicts::Nothing;
            self.cut_packets();
            return;
        }
        let classic = if answer {
            field & 0b011 == 0b001
        } else {
            let plays = syn.ecn != Ecn::NotEct && !syn.flags.intersects(Flags::NS);
            field & 0b011 == 0b011 && (!plays || self.congestion.wants_precise_echo())
        };
        if !classic || self.congestion.needs_accurate_ecn() {
            self.ecn = EcnMode::Off;
        } else if self.ecn == EcnMode::Accurate {
            self.ecn = EcnMode::Classic;
        }
    }

    /// The ECN field of this end's SYN, or of its answer. A socket of some controls is ECN-capable whatever has been agreed
    /// on (tcp_assign_congestion_control).
    pub(super) fn syn_ecn(&self) -> Ecn {
        if self.congestion.needs_ecn() {
            self.congestion.ect()
        } else {
            Ecn::NotEct
        }
    }

    /// What an answer to a SYN has of the option: not one that is sent again, but one to a SYN that crossed this end's
    /// (tcp_synack_options, tcp_syn_options).
    pub(super) fn put_option_of_answer(&self, segment: &mut Segment, again: u32) {
        let often = if self.passive {
            again > 0
        } else {
            self.retransmits > 1
        };
        if self.accurate.is_some() && self.stack.tcp_ecn_option > 0 && !often {
            segment.set_ecn_counters(ecn_option::none_yet());
        }
    }

    /// The flags of this end's SYN, or of its answer, `again` as [`Connection::send_syn`] has it. A SYN
    /// that asks for accurate ECN still does when it is sent again for the first time (RFC 9768 section 3.1.4.1), and
    /// so does every answer of a kernel that knows accurate ECN, whatever it grants (tcp_ecn_make_synack).
    pub(super) fn syn_ecn_flags(&self, answering: bool, again: u32) -> Flags {
        let asked_in_vain = match self.ecn {
            EcnMode::Accurate => again > 1,
            _ => again > 0,
        };
        if answering && self.passive && self.stack.accurate_ecn && again > 1 {
            return Flags::NONE;
        }
        let asks = Flags::ECE.with(Flags::CWR);
        match (self.ecn, answering) {
            (EcnMode::Off, _) => Flags::NONE,
            (EcnMode::Classic, true) => Flags::ECE,
            (EcnMode::Accurate, true) => {
                let syn = self.accurate.as_ref().map_or(Ecn::NotEct, |a| a.syn);
                reflected(syn)
            }
            (_, false) if asked_in_vain && self.stack.tcp_ecn_fallback => Flags::NONE,
            (EcnMode::Classic, false) => asks,
            (EcnMode::Accurate, false) => ACE,
        }
    }

    /// A SYN that was answered comes again, and may ask no more (tcp_check_req).
    pub(super) fn syn_came_again(&mut self, syn: &Segment) {
        if let Some(accurate) = &mut self.accurate {
            (accurate.syn, accurate.before) = (syn.ecn, syn.ecn);
            let asks = field_of(syn.flags) != 0;
            accurate.fails.add_if(!asks, Fails::FIELD_RECEIVED);
        }
    }

    /// The answer to this end's answer has come: whether the peer seems to have heard what that grants, and what that
    /// answer's ECN field was on arrival (tcp_ecn_openreq_child, tcp_accecn_third_ack).
    pub(super) fn handshake_ends(&mut self, segment: &Segment) {
        let again = self.retransmits + u32::from(self.answered_again);
        let (sent, checks) = (self.syn_ecn(), self.stack.tcp_ecn_fallback);
        let Some(accurate) = &mut self.accurate else {
            return;
        };
        if self.passive {
            if let Some(seen) = accurate.sees_option(segment) {
                accurate.option.seen = seen;
            }
            accurate.option.due = 1;
            accurate.fails.add_if(again > 1, Fails::FIELD_SENT);
        }
        match field_of(segment.flags) {
            0 => {
                accurate.fails.add(Fails::FIELD_RECEIVED);
                accurate.fails.add(Fails::OPTION_RECEIVED);
            }
            1 | 5 | 7 => {}
            field => {
                let tells = segment.seq_len() == 0 && accurate.believes(field, sent, checks);
                if tells && reflection_of(field) == Ecn::Ce && self.delivered_ce == 0 {
                    self.delivered_ce = 1;
                }
            }
        }
    }

    /// A congestion control that cannot do without the count gives way where the peer has none.
    pub(super) fn give_way_without_count(&mut self) {
        if self.congestion.needs_accurate_ecn() && self.ecn != EcnMode::Accurate {
            self.congestion = Congestion::new(CongestionKind::Reno, &self.stack, 0);
        }
    }

    /// The acknowledgement that ends the handshake, or answers a SYN that comes again, says which ECN field that had
    /// (tcp_send_ack_reflect_ect).
    pub(super) fn reflect_answer(&mut self) {
        if let Some(accurate) = &mut self.accurate {
            accurate.reflects = true;
        }
    }

    /// A SYN or its answer has come again, or the answer to one that crossed: what its ECN field was, and whether it had the
    /// option (tcp_validate_incoming).
    pub(super) fn note_syn(&mut self, segment: &Segment) {
        if let Some(accurate) = &mut self.accurate {
            accurate.syn = segment.ecn;
            if let Some(seen) = accurate.sees_option(segment) {
                accurate.option.see(seen, &mut accurate.fails);
                accurate.option.demand(1);
            }
        }
    }

    /// No later acknowledgement says so.
    pub(super) fn reflect_no_more(&mut self) {
        if let Some(accurate) = &mut self.accurate {
            accurate.reflects = false;
        }
    }

    /// A header's count is of marks that have been told of before (__tcp_fast_path_on).
    pub(super) fn tells_no_mark(&self, segment: &Header) -> bool {
        field_of(segment.flags) == self.delivered_ce.wrapping_add(INITIAL) & MASK
    }

    /// Puts the count into a header, and makes its packet ECN-capable (tcp_ecn_send).
    #[inline(never)]
    pub(super) fn put_count(&mut self, segment: &mut Segment) {
        let Some(accurate) = &mut self.accurate else {
            return;
        };
        let fails = Fails(Fails::FIELD_SENT.0 | Fails::FIELD_RECEIVED.0);
        if !accurate.fails.has(fails) {
            segment.ecn = self.congestion.ect();
        }
        let field = if std::mem::take(&mut accurate.reflects) {
            reflected(accurate.syn)
        } else {
            accurate.pending = 0;
            flags_of(accurate.received_ce.wrapping_add(INITIAL) & MASK)
        };
        segment.flags = segment.flags.without(ACE).with(field);
    }

    /// A segment has come that is in order to be looked at (tcp_ecn_received_counters).
    pub(super) fn count_received_marks(&mut self, segment: &Segment) {
        let frame_mss = self.receive.frame_mss();
        let Some(accurate) = &mut self.accurate else {
            return;
        };
        let delta = segment.ts_val.wrapping_sub(self.ts_recent) as i32;
        accurate.later = segment.has_timestamps && delta > 0;
        if segment.ecn == Ecn::Ce {
            let packets = match frame_mss {
                0 => 1,
                mss => u32::from(segment.payload_bytes).div_ceil(mss).max(1),
            };
            accurate.received_ce = accurate.received_ce.wrapping_add(packets);
            accurate.pending = (accurate.pending + packets).min(PENDING_MOST);
        }
        accurate
            .option
            .count(segment.ecn, u32::from(segment.payload_bytes));
        self.ecn_seen |= segment.ecn != Ecn::NotEct;
        if accurate.before != segment.ecn {
            accurate.before = segment.ecn;
            self.receive.ack.now = true;
            accurate.option.due = 2;
        }
        if segment.ecn == Ecn::Ce {
            accurate.option.due = 2;
        }
    }

    /// An acknowledgement has come, and what it delivers is known: marks that it is first to tell of (tcp_accecn_process).
    #[inline(never)]
    pub(super) fn hear_count(&mut self, segment: &Segment, delivered: Delivered) -> u32 {
        let Some(accurate) = &mut self.accurate else {
            return 0;
        };
        // Acknowledgements may have come in another order than they were sent.
        if !delivered.progress && !accurate.later {
            return 0;
        }
        let marked = |accurate: &AccurateEcn| accurate.option.delivered[Ecn::Ce as usize - 1];
        let before = marked(accurate);
        let usable = accurate.option.hear(
            segment.ecn_counters(),
            delivered.bytes,
            self.stats.bytes_sent,
            &mut accurate.fails,
        );
        let bytes = usable.then(|| marked(accurate).wrapping_sub(before));
        accurate.average(delivered.segments);
        if accurate.pending >= PENDING_MANY {
            self.receive.ack.now = true;
        }
        let by_rate = self.sack || matches!(self.state, CaState::Open | CaState::Cwr);
        let field = field_of(segment.flags);
        let marks = accurate.news(
            field,
            self.delivered_ce,
            delivered,
            (bytes, self.mss, by_rate),
        );
        self.delivered_ce = self.delivered_ce.wrapping_add(marks);
        marks
    }
}
