//! Frames of a flow that become one packet before TCP has them.
//!
//! Models generic receive offload of Linux 7.2 (net/core/gro.c, net/ipv4/tcp_offload.c): within one
//! poll frames of a flow that follow one another and are alike but for their place join; a packet
//! ends with a frame that is pushed, finishes or is short, and has fewer than 65 536 bytes. Fragments are
//! no limit: past 17 of them packets are chained (skb_gro_receive's frag_list).
//! Left out: holding packets beyond a poll (gro_flush_timeout), packets larger than 64 KiB (gro_max_size).

use super::FrameMemory;

/// Packet bytes are fewer than these (GRO_LEGACY_MAX_SIZE, include/linux/netdevice.h), with 40 to 60
/// bytes of headers.
const BYTES_MAX: u32 = 65_536 - 60;
/// Flows that are held at a time: GRO_HASH_BUCKETS of MAX_GRO_SKBS each (net/core/gro.c).
pub const HELD_MAX: usize = 64;
/// Fragments that one head serves (MAX_SKB_FRAGS, include/linux/skbuff.h).
const FRAGMENTS_MAX: u32 = 17;

/// What decides whether a frame joins those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joint {
    /// Sequence numbers of its first byte and of the one after its last.
    pub start: u32,
    /// See `start`.
    pub end: u32,
    /// Alike in frames that may be one packet: acknowledgement, window, flags, timestamps, mark.
    pub likeness: u64,
    /// The packet ends with it: it is pushed or finishes.
    pub ends: bool,
    /// It never joins: it carries nothing, or is no data of TCP.
    pub alone: bool,
}

/// How far a packet has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joining {
    frames: u32,
    bytes: u32,
    segment_bytes: u16,
    end: u32,
    likeness: u64,
}

impl Joining {
    /// A packet that begins with a frame of so much payload.
    #[must_use]
    pub fn new(payload_bytes: u16, joint: &Joint) -> Joining {
        Joining {
            frames: 1,
            bytes: u32::from(payload_bytes),
            segment_bytes: payload_bytes,
            end: joint.end,
            likeness: joint.likeness,
        }
    }

    /// Whether a frame may join; `alike`: only if it is like those before.
    #[inline]
    #[must_use]
    pub fn takes(&self, payload_bytes: u16, joint: &Joint, alike: bool) -> bool {
        !joint.alone
            && joint.start == self.end
            && (!alike || joint.likeness == self.likeness)
            && payload_bytes <= self.segment_bytes
            && self.bytes + u32::from(payload_bytes) < BYTES_MAX
    }

    /// A frame joins that may. True if the packet ends with it.
    #[inline]
    pub fn join(&mut self, payload_bytes: u16, joint: &Joint) -> bool {
        self.frames += 1;
        self.bytes += u32::from(payload_bytes);
        self.end = joint.end;
        joint.ends || payload_bytes < self.segment_bytes
    }

    /// Takes a frame that is known to be like the first in all but its place, and full as that is, if it is
    /// the next and there is room; says whether it did.
    #[inline(always)]
    pub fn goes_on(&mut self, start: u32) -> bool {
        let bytes = self.bytes + u32::from(self.segment_bytes);
        let goes_on = start == self.end && bytes < BYTES_MAX;
        if goes_on {
            self.frames += 1;
            self.bytes = bytes;
            self.end = start.wrapping_add(self.segment_bytes.into());
        }
        goes_on
    }

    /// Frames in it.
    #[inline]
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// Payload in it, bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Payload of its first frame, bytes: no other has more (gso_size).
    #[inline]
    #[must_use]
    pub fn segment_bytes(&self) -> u16 {
        self.segment_bytes
    }
}

/// What frames that have joined cost together (skb_gro_receive): each gives up its head while there is room
/// for its fragments; one that has none is chained, with its head, and others join that.
#[derive(Clone, Copy, Debug, Default)]
pub struct JoinedMemory {
    bytes: u32,
    /// Fragments of the last that is chained.
    fragments: u32,
    chained: bool,
    room: u8,
}

impl JoinedMemory {
    /// A frame joins, or is the first; `head_bytes` are given up where it needs no head of its own.
    #[inline]
    pub fn join(&mut self, frame: FrameMemory, head_bytes: u32) {
        let fragments = self.fragments + frame.fragments;
        self.room = if self.bytes == 0 { frame.room } else { 0 };
        if self.bytes == 0 || fragments > FRAGMENTS_MAX {
            self.chained = self.bytes > 0;
            self.bytes += frame.bytes;
            self.fragments = frame.fragments;
        } else {
            self.bytes += frame.bytes - head_bytes;
            self.fragments = fragments;
        }
    }

    /// What they are charged for, bytes.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// What more fits behind it: behind a single frame that was copied, bytes.
    #[must_use]
    pub fn room(&self) -> u8 {
        self.room
    }

    /// Their fragments. A chain never joins another packet: it has more than a packet may.
    #[must_use]
    pub fn fragments(&self) -> u32 {
        if self.chained {
            FRAGMENTS_MAX + 1
        } else {
            self.fragments
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_grows_to_64_kib() {
        let joint = |n: u32| Joint {
            start: n * 1448,
            end: (n + 1) * 1448,
            likeness: 3,
            ends: false,
            alone: false,
        };
        let mut packet = Joining::new(1448, &joint(0));
        for n in 1.. {
            if !packet.takes(1448, &joint(n), true) {
                break;
            }
            let mut likely = packet;
            assert!(!packet.join(1448, &joint(n)));
            assert!(likely.goes_on(joint(n).start));
            assert_eq!(format!("{likely:?}"), format!("{packet:?}"));
        }
        assert!(!packet.goes_on(joint(45).start), "it is full");
        assert!(!Joining::new(1448, &joint(0)).goes_on(1), "not the next");
        assert_eq!((packet.frames(), packet.segment_bytes()), (45, 1448));
    }

    #[test]
    fn a_head_serves_seventeen_fragments() {
        let joined = |frames: u32, fragments: u32| {
            let mut memory = JoinedMemory::default();
            for _ in 0..frames {
                let bytes = 1000 + fragments;
                let room = 0;
                memory.join(
                    FrameMemory {
                        bytes,
                        fragments,
                        room,
                    },
                    1000,
                );
            }
            (memory.bytes() / 1000, memory.fragments())
        };
        assert_eq!([1, 17, 18, 34, 35].map(|n| joined(n, 1).0), [1, 1, 2, 2, 3]);
        assert_eq!([1, 17, 18, 35].map(|n| joined(n, 1).1), [1, 17, 18, 18]);
        // Frames of three: five of them.
        assert_eq!([5, 6, 10, 11].map(|n| joined(n, 3).0), [1, 2, 2, 3]);
        assert_eq!((joined(5, 3).1, joined(6, 3).1), (15, 18));
    }
}
