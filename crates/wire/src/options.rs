//! TCP options as bytes.
//!
//! MSS, window scale, SACK permitted, SACK blocks, timestamps (RFC 9293, 7323, 2018), in the order
//! and with the padding that Linux uses (tcp_options_write, net/ipv4/tcp_output.c, 7.2): SACK
//! permitted shares the timestamps' padding where both are sent. On reading, unknown options are
//! skipped and a malformed one ends the list, as tcp_parse_options does (tcp_input.c).

use tailback_tcp::{Flags, SackBlock, Segment, Seq, SynOptions};

use crate::error::{be16, be32};

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

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
    } else if permitted {
        out.extend([NOP, NOP, SACK_PERMITTED, 2]);
    }
    if let Some(shift) = syn.and_then(|syn| syn.window_scale) {
        out.extend([NOP, WINDOW_SCALE, 3, shift]);
    }
    let blocks = segment.sack_blocks();
    if !blocks.is_empty() {
        out.extend([NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
        for block in blocks.iter() {
            out.extend(block.start.0.to_be_bytes());
            out.extend(block.end.0.to_be_bytes());
        }
    }
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
}
