//! A TCP segment as it is on the wire, with its payload as a length.
//!
//! Models RFC 9293 headers with the timestamp, SACK, MSS, window-scale and SACK-permitted
//! options (RFC 7323, RFC 2018, RFC 2883), accurate ECN's (RFC 9768) and the two ECN bits of the IP header (RFC 3168).
//! Left out: urgent data, other options, and the payload's bytes (its length stands for them;
//! they are made up where a file or a real kernel needs them).
//!
//! A header is plain and takes 28 bytes, so that a frame's place in a network has half a cache line; what few segments
//! carry beside it lies elsewhere there.

use std::ops::{Deref, DerefMut};

use crate::Seq;

/// The flags of a TCP header, as the bits of its 13th and 14th byte.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Flags(pub u16);

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push: the sender had nothing more queued behind this segment.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Flags = Flags(0x10);
    /// ECN echo (RFC 3168).
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Flags = Flags(0x80);
    /// The former nonce-sum bit: AE under accurate ECN (RFC 9768), ESCE under SCE.
    pub const NS: Flags = Flags(0x100);

    /// True if every flag of `other` is set.
    #[inline]
    #[must_use]
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// True if any flag of `other` is set.
    #[inline]
    #[must_use]
    pub const fn intersects(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets of flags.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// These flags without those of `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
}

/// The ECN field of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not take part in ECN.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, ECT(1); "some congestion experienced" under SCE.
    Ect1 = 0b01,
    /// ECN-capable, ECT(0).
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

/// One block of a SACK option: the bytes from `start` up to, but not with, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub start: Seq,
    /// The sequence number after its last.
    pub end: Seq,
}

/// The blocks of a SACK option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SackBlocks {
    blocks: [SackBlock; 4],
    count: u8,
}

impl Deref for SackBlocks {
    type Target = [SackBlock];
    #[inline]
    fn deref(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// What a SYN negotiates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SynOptions {
    /// Largest payload the sender of the SYN takes, bytes.
    pub mss: u16,
    /// Window-scale shift, if offered.
    pub window_scale: Option<u8>,
    /// SACK-permitted option present.
    pub sack_permitted: bool,
}

/// What an option of accurate ECN tells (RFC 9768 section 3.2.3): bytes of payload that came with each code point,
/// modulo 2^24 and from where each begins.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct EcnCounters {
    /// The first counter is of ECT(0) and the third of ECT(1) (option 172), not the other way round (174).
    pub ect0_first: bool,
    counters: [u32; 3],
    count: u8,
}

impl EcnCounters {
    /// The first few counters, three at most, of 24 bits each.
    #[must_use]
    pub fn new(ect0_first: bool, counters: &[u32]) -> EcnCounters {
        let mut told = EcnCounters {
            ect0_first,
            ..EcnCounters::default()
        };
        for (slot, counter) in told.counters.iter_mut().zip(counters) {
            *slot = counter & 0xff_ffff;
            told.count += 1;
        }
        told
    }
}

impl Deref for EcnCounters {
    type Target = [u32];
    fn deref(&self) -> &[u32] {
        &self.counters[..usize::from(self.count)]
    }
}

/// One TCP segment without its SACK blocks, a SYN's options or accurate ECN's counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Header {
    /// Sequence number of the first byte (or of the SYN or FIN).
    pub seq: Seq,
    /// Acknowledgement number; valid with [`Flags::ACK`].
    pub ack: Seq,
    /// Timestamp value; valid with `has_timestamps`.
    pub ts_val: u32,
    /// Timestamp echo reply; valid with `has_timestamps`.
    pub ts_ecr: u32,
    /// Payload bytes. Up to 65 535 before segmentation offload cuts it to size.
    pub payload_bytes: u16,
    /// The window field as sent (unscaled).
    pub window: u16,
    /// Header flags.
    pub flags: Flags,
    /// ECN field of the IP header around this segment.
    pub ecn: Ecn,
    /// SACK blocks, what options a SYN has, and accurate ECN's counters.
    carries: u8,
    /// The timestamp option is present.
    pub has_timestamps: bool,
    /// Priority of the packet, 0 to 7: its DSCP's class selector and its frame's 802.1p priority.
    pub priority: u8,
}

impl Header {
    /// A header without payload, options or flags.
    pub const EMPTY: Header = Header {
        seq: Seq(0),
        ack: Seq(0),
        ts_val: 0,
        ts_ecr: 0,
        payload_bytes: 0,
        window: 0,
        flags: Flags::NONE,
        ecn: Ecn::NotEct,
        carries: 0,
        has_timestamps: false,
        priority: 0,
    };

    /// The traffic class of its packet, 0 to 7: the three bits that 802.1p has for the priority.
    #[inline]
    #[must_use]
    pub fn class(&self) -> u8 {
        self.priority & 7
    }

    /// Whether there are SACK blocks.
    #[inline]
    #[must_use]
    pub fn has_sack(&self) -> bool {
        self.sack_count() > 0 && !self.flags.intersects(Flags::SYN)
    }

    /// Whether [`Blocks`] belong to it: SACK blocks, a SYN's options or accurate ECN's counters.
    #[inline]
    #[must_use]
    pub fn has_blocks(&self) -> bool {
        self.carries > 0
    }

    #[inline]
    fn sack_count(&self) -> u8 {
        self.carries & SACK_COUNT
    }

    /// Whether there is an option of accurate ECN.
    #[inline]
    #[must_use]
    pub fn has_ecn_counters(&self) -> bool {
        self.carries & ECN_COUNTERS != 0
    }

    /// Counters of accurate ECN's option, if there is one.
    #[cold]
    fn ecn_count(&self) -> Option<u8> {
        let count = if self.flags.intersects(Flags::SYN) {
            self.carries & ECN_COUNT_OF_SYN
        } else {
            (self.carries & ECN_COUNT) >> ECN_COUNT_SHIFT
        };
        self.has_ecn_counters().then_some(count)
    }

    /// Bytes of the TCP header with its options, padded as Linux pads them.
    #[inline]
    #[must_use]
    pub fn header_bytes(&self) -> u32 {
        let timestamps = if self.has_timestamps { 12 } else { 0 };
        if self.flags.intersects(Flags::SYN) {
            return 20 + timestamps + self.syn_option_bytes();
        }
        if self.has_ecn_counters() {
            return 20 + timestamps + self.option_bytes_with_ecn();
        }
        let sack = match self.sack_count() {
            0 => 0,
            count => 4 + 8 * u32::from(count),
        };
        20 + timestamps + sack
    }

    /// Bytes of the SACK option and accurate ECN's; one or two of the latter fit into the former's padding.
    #[cold]
    fn option_bytes_with_ecn(&self) -> u32 {
        let blocks = u32::from(self.sack_count());
        let room = if blocks > 0 { 2 } else { 0 };
        let ecn = ecn_option_bytes(self.ecn_count().unwrap_or(0), room);
        if blocks > 0 {
            ecn + 4 + 8 * blocks
        } else {
            ecn
        }
    }

    /// Bytes of a SYN's options beside timestamps.
    #[cold]
    fn syn_option_bytes(&self) -> u32 {
        let scale = if self.carries & SYN_WITHOUT_SCALE == 0 {
            4
        } else {
            0
        };
        // SACK-permitted shares the timestamp option's padding where both are sent.
        let sack = if self.carries & SYN_WITH_SACK != 0 && !self.has_timestamps {
            4
        } else {
            0
        };
        // Accurate ECN's uses up the padding that either has.
        let room = match (sack, scale) {
            (4, _) => 2,
            (_, 4) => 1,
            _ => 0,
        };
        let ecn = self
            .ecn_count()
            .map_or(0, |count| ecn_option_bytes(count, room));
        4 + scale + sack + ecn
    }

    /// What is alike in segments of a stream that differ in their sequence numbers only: all of the header
    /// but those, what it acknowledges and its priority, and the payload's length. SACK blocks are counted
    /// only.
    #[inline]
    #[must_use]
    pub fn likeness(&self) -> (u64, u64) {
        // In the order of memory: two words.
        let stamps = u64::from(self.ts_val) | u64::from(self.ts_ecr) << 32;
        let rest = u64::from(self.payload_bytes)
            | u64::from(self.window) << 16
            | u64::from(self.flags.0) << 32
            | (self.ecn as u64) << 48
            | u64::from(self.carries) << 56;
        (stamps, rest)
    }

    /// Sequence space this segment takes: its payload, and one each for SYN and FIN.
    #[inline]
    #[must_use]
    pub fn seq_len(&self) -> u32 {
        u32::from(self.payload_bytes)
            + u32::from(self.flags.intersects(Flags::SYN))
            + u32::from(self.flags.intersects(Flags::FIN))
    }

    /// The sequence number after this segment.
    #[inline]
    #[must_use]
    pub fn end_seq(&self) -> Seq {
        self.seq + self.seq_len()
    }
}

/// Bytes that accurate ECN's option adds where others leave it so many bytes of their padding
/// (tcp_options_fit_accecn, net/ipv4/tcp_output.c).
pub(crate) fn ecn_option_bytes(count: u8, room: u32) -> u32 {
    let bytes = 2 + 3 * u32::from(count);
    if bytes % 4 > room {
        bytes.next_multiple_of(4)
    } else {
        bytes / 4 * 4
    }
}

/// What some segments carry beside their header: SACK blocks or a SYN's options, and accurate ECN's counters.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Blocks {
    sack: [SackBlock; 3],
    ecn: [u32; 3],
}

impl Blocks {
    /// None at all.
    pub const NONE: Blocks = Blocks {
        sack: [SackBlock {
            start: Seq(0),
            end: Seq(0),
        }; 3],
        ecn: [0; 3],
    };
}

/// One TCP segment. A SYN carries [`SynOptions`] where others carry SACK blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Segment {
    header: Header,
    /// As many of them as the header says are valid; private to keep the SYN's use apart.
    /// A fourth, for which there is room without timestamps only, is in their place.
    blocks: Blocks,
}

impl Deref for Segment {
    type Target = Header;
    #[inline(always)]
    fn deref(&self) -> &Header {
        &self.header
    }
}

impl DerefMut for Segment {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Header {
        &mut self.header
    }
}

/// The window-scale byte of a SYN that offers none.
const NO_SCALE: u32 = 0xff;

/// What [`Header`] knows of its blocks: how many are of SACK …
const SACK_COUNT: u8 = 0x07;
/// … or that they are a SYN's options, and what of these its length depends on.
const SYN_OPTIONS: u8 = 0x10;
const SYN_WITHOUT_SCALE: u8 = 0x20;
const SYN_WITH_SACK: u8 = 0x40;
/// Accurate ECN's option is there, …
const ECN_COUNTERS: u8 = 0x08;
/// … the counter of ECT(0) first, …
const ECN_ECT0_FIRST: u8 = 0x80;
/// … with so many counters; a SYN has that where others count SACK blocks.
const ECN_COUNT: u8 = 0x30;
const ECN_COUNT_SHIFT: u32 = 4;
const ECN_COUNT_OF_SYN: u8 = 0x03;

impl Segment {
    /// A segment without payload, options or flags.
    pub const EMPTY: Segment = Segment::plain(Header::EMPTY);

    /// The segment with this header, which has no blocks.
    #[inline(always)]
    #[must_use]
    pub const fn plain(header: Header) -> Segment {
        Segment {
            header,
            blocks: Blocks::NONE,
        }
    }

    /// The segment with this header and the blocks that belong to it.
    #[must_use]
    pub fn with_blocks(header: Header, blocks: Blocks) -> Segment {
        Segment { header, blocks }
    }

    /// The blocks that belong to its header.
    #[must_use]
    pub fn blocks(&self) -> Blocks {
        self.blocks
    }

    /// The SACK blocks, most recent first; empty on a SYN.
    #[inline]
    #[must_use]
    pub fn sack_blocks(&self) -> SackBlocks {
        let [first, second, third] = self.blocks.sack;
        let fourth = SackBlock {
            start: Seq(self.ts_val),
            end: Seq(self.ts_ecr),
        };
        SackBlocks {
            blocks: [first, second, third, fourth],
            count: if self.has_sack() {
                self.sack_count()
            } else {
                0
            },
        }
    }

    /// Adds a SACK block, after timestamps are settled; one for which the header has no room (a
    /// fourth with timestamps, a fifth without) is left out.
    #[inline]
    pub fn push_sack(&mut self, block: SackBlock) {
        let count = self.sack_count();
        if let Some(slot) = self.blocks.sack.get_mut(usize::from(count)) {
            *slot = block;
            self.carries += 1;
        } else if count == 3 && !self.has_timestamps {
            self.ts_val = block.start.0;
            self.ts_ecr = block.end.0;
            self.carries += 1;
        }
    }

    /// Takes over the SACK blocks of another, with timestamps or without as this one; it has none so far.
    #[inline(always)]
    pub(crate) fn adopt_sack(&mut self, other: &Segment) {
        self.blocks = other.blocks;
        self.carries = other.carries;
        if other.sack_count() == 4 {
            (self.ts_val, self.ts_ecr) = (other.ts_val, other.ts_ecr);
        }
    }

    /// What accurate ECN's option tells, if there is one.
    #[must_use]
    pub fn ecn_counters(&self) -> Option<EcnCounters> {
        self.ecn_count().map(|count| EcnCounters {
            ect0_first: self.carries & ECN_ECT0_FIRST != 0,
            counters: self.blocks.ecn,
            count,
        })
    }

    /// Adds an option of accurate ECN, after a SYN's options and SACK blocks are settled.
    pub fn set_ecn_counters(&mut self, told: EcnCounters) {
        self.blocks.ecn = [0; 3];
        self.blocks.ecn[..told.len()].copy_from_slice(&told);
        self.carries |= ECN_COUNTERS;
        if told.ect0_first {
            self.carries |= ECN_ECT0_FIRST;
        }
        self.carries |= if self.flags.intersects(Flags::SYN) {
            told.count
        } else {
            told.count << ECN_COUNT_SHIFT
        };
    }

    /// What this SYN negotiates; `None` on any other segment.
    #[must_use]
    pub fn syn_options(&self) -> Option<SynOptions> {
        self.flags.intersects(Flags::SYN).then(|| SynOptions {
            mss: self.blocks.sack[0].start.0 as u16,
            window_scale: u8::try_from(self.blocks.sack[0].end.0)
                .ok()
                .filter(|s| u32::from(*s) != NO_SCALE),
            sack_permitted: self.blocks.sack[1].start.0 != 0,
        })
    }

    /// Makes this segment a SYN that carries `options`.
    pub fn set_syn_options(&mut self, options: SynOptions) {
        self.flags = self.flags.with(Flags::SYN);
        self.blocks.sack[0].start = Seq(u32::from(options.mss));
        self.blocks.sack[0].end = Seq(options.window_scale.map_or(NO_SCALE, u32::from));
        self.blocks.sack[1].start = Seq(u32::from(options.sack_permitted));
        self.carries = SYN_OPTIONS;
        if options.window_scale.is_none() {
            self.carries |= SYN_WITHOUT_SCALE;
        }
        if options.sack_permitted {
            self.carries |= SYN_WITH_SACK;
        }
    }
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
