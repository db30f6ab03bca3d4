//! TCP options as bytes.
//!
//! MSS, window scale, SACK permitted, SACK blocks, timestamps (RFC 9293, 7323, 2018), accurate ECN's
//! counters (RFC 9768), in the order and with the padding that Linux uses (tcp_options_write,
//! net/ipv4/tcp_output.c, 7.2): SACK permitted shares the timestamps' padding where both are sent, and
//! the counters' last bytes stand where the next option would be padded. On reading, unknown options are
//! skipped and a malformed one ends the list, as tcp_parse_options does (tcp_input.c).

use tailback_tcp::{EcnCounters, Flags, SackBlock, Segment, Seq, SynOptions};

use crate::error::{be16, be32};

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// Accurate ECN, the counter of ECT(0) first or that of ECT(1).
const ECT0_FIRST: u8 = 172;
const ECT1_FIRST: u8 = 174;

/// The segment size of a peer that names none (RFC 9293 section 3.7.1), bytes.
const MSS_DEFAULT: u16 = 536;

/// Appends the options of `segment`.
pub(crate) fn write(out: &mut Vec<u8>, segment: &Segment) {
    let syn = segment.syn_options();
    if let Some(syn) = syn {
        out.extend([MSS, 4]);
        out.extend(syn.mss.to_be_bytes());
    }
    let permitted = syn.is_some_and(|syn| syn.sack_permitted);
    let blocks = segment.sack_blocks();
    if segment.has_timestamps {
        let lead = if permitted {
            [SACK_PERMITTED, 2]
        } else {
            [NOP, NOP]
        };
        out.extend(lead);
        out.extend([TIMESTAMPS, 10]);
        out.extend(segment.ts_val.to_be_bytes());
        out.extend(segment.ts_ecr.to_be_bytes());
    }
    let permitted = permitted && !segment.has_timestamps;
    // What stands in the place of the next option's padding: one byte or two, which comes first.
    let mut left = Left::default();
    if let Some(told) = segment.ecn_counters() {
        let next = if permitted || !blocks.is_empty() {
            2
        } else {
            usize::from(syn.is_some_and(|syn| syn.window_scale.is_some()))
        };
        left = write_counters(out, &told, next);
    }
    if permitted {
        out.extend(left.take());
        out.extend([SACK_PERMITTED, 2]);
    }
    if let Some(shift) = syn.and_then(|syn| syn.window_scale) {
        out.extend([left.take()[0], WINDOW_SCALE, 3, shift]);
    }
    if !blocks.is_empty() {
        out.extend(left.take());
        out.extend([SACK, 2 + 8 * blocks.len() as u8]);
        for block in blocks.iter() {
            out.extend(block.start.0.to_be_bytes());
            out.extend(block.end.0.to_be_bytes());
        }
    }
}

/// Bytes of an option that stand where the one behind it is padded.
struct Left([u8; 2]);

impl Default for Left {
    fn default() -> Left {
        Left([NOP; 2])
    }
}

impl Left {
    /// They are told once.
    fn take(&mut self) -> [u8; 2] {
        std::mem::take(self).0
    }
}

/// Appends accurate ECN's option up to what fits into the `room` bytes of the next one's padding.
fn write_counters(out: &mut Vec<u8>, told: &EcnCounters, room: usize) -> Left {
    let start = out.len();
    let kind = if told.ect0_first {
        ECT0_FIRST
    } else {
        ECT1_FIRST
    };
    out.extend([kind, 2 + 3 * told.len() as u8]);
    for counter in told.iter() {
        out.extend(&counter.to_be_bytes()[1..]);
    }
    let over = (out.len() - start) % 4;
    if over == 0 || over > room {
        out.resize(start + (out.len() - start).next_multiple_of(4), NOP);
        return Left::default();
    }
    let mut left = Left::default();
    let at = out.len() - over;
    left.0[..over].copy_from_slice(&out[at..]);
    out.truncate(at);
    left
}

/// Reads options into `segment`, whose flags are set already.
pub(crate) fn parse(mut bytes: &[u8], segment: &mut Segment) {
    let is_syn = segment.flags.intersects(Flags::SYN);
    let mut syn = SynOptions {
        mss: MSS_DEFAULT,
        window_scale: None,
        sack_permitted: false,
    };
    let mut sack: &[u8] = &[];
    let mut counters: Option<&[u8]> = None;
    while let [kind, rest @ ..] = bytes {
        match *kind {
            END => break,
            NOP => {
                bytes = rest;
                continue;
            }
            _ => {}
        }
        let length = rest.first().map_or(0, |length| usize::from(*length));
        let Some(option) = bytes.get(..length).filter(|option| option.len() >= 2) else {
            break;
        };
        bytes = &bytes[length..];
        match (*kind, length) {
            (MSS, 4) => syn.mss = be16(option, 2),
            (WINDOW_SCALE, 3) => syn.window_scale = Some(option[2]),
            (SACK_PERMITTED, 2) => syn.sack_permitted = true,
            (TIMESTAMPS, 10) => {
                segment.has_timestamps = true;
                segment.ts_val = be32(option, 2);
                segment.ts_ecr = be32(option, 6);
            }
            (SACK, _) if !is_syn && length >= 10 && (length - 2).is_multiple_of(8) => {
                sack = &option[2..];
            }
            (ECT0_FIRST | ECT1_FIRST, _) => counters = Some(option),
            _ => {}
        }
    }
    // Blocks go in last: with timestamps there is room for one fewer.
    for block in sack.chunks_exact(8) {
        segment.push_sack(SackBlock {
            start: Seq(be32(block, 0)),
            end: Seq(be32(block, 4)),
        });
    }
    if is_syn {
        segment.set_syn_options(syn);
    }
    if let Some(option) = counters {
        let mut told = [0; 3];
        let fields = option[2..].chunks_exact(3);
        let count = fields.len().min(told.len());
        for (slot, field) in told.iter_mut().zip(fields) {
            *slot = u32::from_be_bytes([0, field[0], field[1], field[2]]);
        }
        segment.set_ecn_counters(EcnCounters::new(option[0] == ECT0_FIRST, &told[..count]));
    }
}
