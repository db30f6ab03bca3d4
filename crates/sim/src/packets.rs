//! A capture's TCP segments as a table, with relative sequence numbers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;

use tailback_tcp::{Ecn, Flags, Segment, Seq};
use tailback_wire::Packet;
use tailback_wire::capture::{self, CaptureError, Captured};

use crate::tables::Table;

/// The table `packets` of a pcapng file: one row a TCP segment, in the order of the file. Sequence and
/// acknowledgement numbers count from the sender's SYN, which is 0.
///
/// # Errors
///
/// The bytes are no capture that can be read.
pub fn packets(pcapng: &[u8]) -> Result<Table, CaptureError> {
    let frames = capture::read(pcapng)?;
    let mut origins = Origins::default();
    let rows: Vec<(&Captured, &Packet, Relative)> = frames
        .iter()
        .filter_map(|frame| Some((frame, frame.packet.as_ref().ok()?)))
        .map(|(frame, packet)| (frame, packet, origins.relative(packet)))
        .collect();
    let count = |value: fn(&Segment) -> u64| rows.iter().map(move |(_, p, _)| value(&p.segment));
    Ok(Table::new("packets")
        .counts("time_ns", rows.iter().map(|(f, _, _)| f.time_ns))
        .names("link", rows.iter().map(|(f, _, _)| f.interface.clone()))
        .names("source", rows.iter().map(|(_, p, _)| p.from.to_string()))
        .names("destination", rows.iter().map(|(_, p, _)| p.to.to_string()))
        .names("flags", rows.iter().map(|(_, p, _)| flags(p.segment.flags)))
        .counts("seq", rows.iter().map(|(_, _, r)| u64::from(r.seq)))
        .counts("ack", rows.iter().map(|(_, _, r)| u64::from(r.ack)))
        .counts("payload_bytes", count(|s| u64::from(s.payload_bytes)))
        .counts("window", count(|s| u64::from(s.window)))
        .names("sack", rows.iter().map(|(_, _, r)| r.sack.clone()))
        .names("ecn", rows.iter().map(|(_, p, _)| ecn(p.segment.ecn)))
        .names(
            "ecn_counters",
            rows.iter().map(|(_, p, _)| ecn_counters(&p.segment)),
        )
        .flags(
            "timestamps",
            rows.iter().map(|(_, p, _)| p.segment.has_timestamps),
        )
        .counts("ts_val", count(|s| u64::from(stamp(s, s.ts_val))))
        .counts("ts_ecr", count(|s| u64::from(stamp(s, s.ts_ecr))))
        .names(
            "syn_options",
            rows.iter().map(|(_, p, _)| syn_options(&p.segment)),
        )
        .names("comment", rows.iter().map(|(f, _, _)| f.comment.clone())))
}

/// Where each direction's sequence numbers begin.
#[derive(Default)]
struct Origins(BTreeMap<(SocketAddr, SocketAddr), Seq>);

struct Relative {
    seq: u32,
    ack: u32,
    sack: String,
}

impl Origins {
    fn relative(&mut self, packet: &Packet) -> Relative {
        let segment = &packet.segment;
        let syn = segment.flags.contains(Flags::SYN);
        // A capture that begins later counts from the byte before the first it has.
        let first = if syn {
            segment.seq
        } else {
            Seq(segment.seq.0.wrapping_sub(1))
        };
        let (from, to) = (packet.from, packet.to);
        if syn {
            self.0.insert((from, to), first);
        }
        let own = *self.0.entry((from, to)).or_insert(first);
        let acks = segment.flags.contains(Flags::ACK);
        let before = Seq(segment.ack.0.wrapping_sub(1));
        let peer = *self.0.entry((to, from)).or_insert(before);
        let since = |seq: Seq, origin: Seq| seq.0.wrapping_sub(origin.0);
        let mut sack = String::new();
        for block in segment.sack_blocks().iter() {
            let blank = if sack.is_empty() { "" } else { " " };
            let (start, end) = (since(block.start, peer), since(block.end, peer));
            // Writing to a text cannot fail.
            let _ = write!(sack, "{blank}{start}:{end}");
        }
        Relative {
            seq: since(segment.seq, own),
            ack: if acks { since(segment.ack, peer) } else { 0 },
            sack,
        }
    }
}

/// Flags as tcpdump writes them.
fn flags(flags: Flags) -> String {
    const LETTERS: [(Flags, char); 8] = [
        (Flags::FIN, 'F'),
        (Flags::SYN, 'S'),
        (Flags::RST, 'R'),
        (Flags::PSH, 'P'),
        (Flags::ACK, '.'),
        (Flags::ECE, 'E'),
        (Flags::CWR, 'W'),
        (Flags::NS, 'e'),
    ];
    let set = |(flag, letter): &(Flags, char)| flags.contains(*flag).then_some(*letter);
    LETTERS.iter().filter_map(set).collect()
}

fn ecn(ecn: Ecn) -> String {
    match ecn {
        Ecn::NotEct => "",
        Ecn::Ect1 => "ECT(1)",
        Ecn::Ect0 => "ECT(0)",
        Ecn::Ce => "CE",
    }
    .to_owned()
}

/// Accurate ECN's option as packetdrill writes it, counters in the option's order; one without any is "none".
fn ecn_counters(segment: &Segment) -> String {
    let Some(told) = segment.ecn_counters() else {
        return String::new();
    };
    let names = if told.ect0_first {
        ["e0b", "ceb", "e1b"]
    } else {
        ["e1b", "ceb", "e0b"]
    };
    let counters = names.iter().zip(told.iter());
    let words: Vec<String> = counters.map(|(name, n)| format!("{name} {n}")).collect();
    if words.is_empty() {
        "none".to_owned()
    } else {
        words.join(" ")
    }
}

fn stamp(segment: &Segment, value: u32) -> u32 {
    if segment.has_timestamps { value } else { 0 }
}

fn syn_options(segment: &Segment) -> String {
    let Some(syn) = segment.syn_options() else {
        return String::new();
    };
    let mut text = format!("mss {}", syn.mss);
    if syn.sack_permitted {
        text += ", sackOK";
    }
    if let Some(scale) = syn.window_scale {
        let _ = write!(text, ", wscale {scale}");
    }
    text
}

#[cfg(test)]
#[path = "packets_tests.rs"]
mod tests;
