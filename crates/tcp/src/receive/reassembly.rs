//! Out-of-order data and what is said of it in SACK blocks.
//!
//! Models Linux 2.6.18 net/ipv4/tcp_input.c: the out-of-order queue of tcp_data_queue and
//! tcp_ofo_queue, up to four remembered blocks with the latest first (tcp_sack_new_ofo_skb,
//! tcp_sack_maybe_coalesce, tcp_sack_remove) and one duplicate (RFC 2883: tcp_dsack_set).

use super::collapse::Pages;
use super::memory::MAX_FRAGS;
use crate::segment::SackBlock;
use crate::seq::Seq;

/// Blocks remembered (the array in tcp_sock).
const BLOCKS: u8 = 4;
/// Blocks that a header has room for, without timestamps.
const BLOCKS_SENT: u8 = 4;

/// A run of out-of-order data, and the memory that holds it.
#[derive(Clone, Debug)]
struct Run {
    start: Seq,
    end: Seq,
    memory: u32,
    /// Packets it is in.
    packets: u32,
    /// These, in order, where one may join another.
    parts: Vec<Part>,
}

/// A packet of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Where it begins: before the end of the packet before it, if a retransmission was cut elsewhere.
    pub(crate) start: Seq,
    pub(crate) end: Seq,
    pub(crate) fragments: u32,
    pub(crate) memory: u32,
    /// Its first data lies in its head, which is not given up (skb_head_is_locked): it joins nothing, whatever joins it.
    pub(crate) in_head: bool,
}

impl Run {
    /// Cuts off what is beyond `end`.
    fn cut(&mut self, end: Seq) {
        self.end = end;
        let kept = self.parts.partition_point(|part| part.end.before(end)) + 1;
        self.parts.truncate(kept);
        if let Some(last) = self.parts.last_mut() {
            last.end = end;
        }
    }
}

/// What a segment lies in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lying {
    pub(crate) memory: u32,
    /// Of that, what is given up when it joins the packet before.
    pub(crate) head: u32,
    pub(crate) fragments: u32,
}

/// What became of out-of-order data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// It is kept.
    Kept,
    /// It is kept in the packet before, without the head of its memory.
    Joined,
    /// All of it was there.
    Duplicate,
}

/// The out-of-order queue and the blocks.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Reassembly {
    /// Blocks the next segment carries (eff_sacks): computed when blocks come and go, and one less
    /// once a duplicate has been told, though one more might have room then.
    effective: u8,
    block_count: u8,
    /// Blocks that a header has room for.
    room: u8,
    /// Blocks are counted anew whenever they are told.
    exact: bool,
    dsack: Option<SackBlock>,
    /// In sequence order, apart from each other.
    runs: Vec<Run>,
    blocks: [SackBlock; BLOCKS as usize],
}

impl Default for Reassembly {
    fn default() -> Reassembly {
        Reassembly {
            runs: Vec::new(),
            blocks: [SackBlock::default(); BLOCKS as usize],
            block_count: 0,
            dsack: None,
            effective: 0,
            room: BLOCKS_SENT - 1,
            exact: false,
        }
    }
}

impl Reassembly {
    /// What is known once the handshake is done: timestamps take the room of a block.
    pub(crate) fn settle(&mut self, timestamps: bool, exact: bool) {
        self.room = BLOCKS_SENT - u8::from(timestamps);
        self.exact = exact;
    }

    /// Where the last of what is out of order ends.
    pub(crate) fn last_end(&self) -> Option<Seq> {
        self.runs.last().map(|run| run.end)
    }

    /// Whether any of what is out of order ends at `seq`.
    pub(crate) fn reaches(&self, seq: Seq) -> bool {
        self.runs.iter().any(|run| run.end == seq)
    }

    /// Throws data away from the end, not before `from`, until `goal` bytes of memory are free;
    /// answers how many are (tcp_prune_ofo_queue). Of a run whole segments of `mss` bytes go, taken
    /// to need memory alike.
    pub(crate) fn prune(&mut self, from: Seq, goal: u32, mss: u32) -> u32 {
        let mut gone = 0;
        while gone < goal {
            let Some(run) = self.runs.last_mut() else {
                break;
            };
            if let Some(last) = run.parts.pop() {
                let begins = run.parts.last().map_or(run.start, |part| part.end);
                if from.after(begins) {
                    run.parts.push(last);
                    break;
                }
                gone += last.memory;
                run.end = begins;
                run.memory -= last.memory.min(run.memory);
                run.packets = run.packets.saturating_sub(1);
                if run.parts.is_empty() {
                    gone += run.memory;
                    self.runs.pop();
                }
                continue;
            }
            if from.after(run.start) {
                break;
            }
            let wanted = u64::from(goal - gone);
            let bytes = u64::from(run.end - run.start);
            let cut = (bytes * wanted).div_ceil(u64::from(run.memory.max(1))) as u32;
            let cut = cut.next_multiple_of(mss.max(1));
            if u64::from(cut) >= bytes {
                gone += run.memory;
                self.runs.pop();
                continue;
            }
            let memory = (u64::from(run.memory) * u64::from(cut) / bytes) as u32;
            run.cut(run.start + (bytes as u32 - cut));
            run.memory -= memory;
            gone += memory.max(1);
        }
        if gone > 0 {
            self.block_count = 0;
            self.dsack = None;
            self.count_effective();
        }
        gone
    }

    /// Copies what is out of order together: each run whose memory would be a larger window than it
    /// has data. Answers how much memory that frees and how many packets are gone; many small ones
    /// are left alone once they have more than an eighth of `rcvbuf` (tcp_collapse_ofo_queue).
    pub(super) fn collapse(
        &mut self,
        pages: Pages,
        rcvbuf: u32,
        window_of: impl Fn(u32) -> u32,
    ) -> (u32, u32, u32) {
        let (mut freed, mut packets, mut copied, mut small) = (0, 0, 0, 0);
        for run in &mut self.runs {
            let bytes = run.end - run.start;
            if pages.leaves(run.packets, bytes) {
                small += run.memory;
                if small > rcvbuf >> 3 {
                    break;
                }
                continue;
            }
            let packed = pages.memory(bytes);
            if window_of(run.memory) <= bytes || packed >= run.memory {
                continue;
            }
            freed += run.memory - packed;
            packets += run.packets;
            copied += bytes;
            run.memory = packed;
            run.packets = bytes.div_ceil(pages.payload());
            // What was copied has no pages of a card: nothing joins it.
            run.parts.truncate(1);
            if let Some(part) = run.parts.first_mut() {
                *part = Part {
                    start: run.start,
                    end: run.end,
                    fragments: MAX_FRAGS,
                    memory: packed,
                    in_head: true,
                };
            }
        }
        (freed, packets, copied)
    }

    /// Data held.
    pub(super) fn bytes(&self) -> u32 {
        self.runs.iter().map(|run| run.end - run.start).sum()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether there is nothing to tell of either.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.runs.is_empty() && self.dsack.is_none()
    }

    /// Whether no segment has blocks to carry.
    #[inline]
    pub(crate) fn tells_nothing(&self) -> bool {
        self.effective == 0 && self.dsack.is_none()
    }

    /// Memory held.
    #[inline]
    pub(crate) fn memory(&self) -> u32 {
        self.runs.iter().map(|r| r.memory).sum()
    }

    /// The blocks to send with the next segment, a duplicate first.
    #[inline]
    pub(crate) fn sack_blocks(&self) -> impl Iterator<Item = SackBlock> {
        self.dsack
            .into_iter()
            .chain(self.blocks[..self.block_count.into()].iter().copied())
            .take(self.effective.into())
    }

    /// How many blocks the next segment carries.
    #[inline]
    pub(crate) fn sack_count(&self) -> usize {
        self.effective.into()
    }

    /// Whether the rightmost of the blocks told ends at `seq`.
    pub(crate) fn ends_at(&self, seq: Seq) -> bool {
        self.blocks[..self.block_count.into()]
            .iter()
            .map(|block| block.end)
            .reduce(Seq::max)
            == Some(seq)
    }

    /// Where the duplicate begins that the next segment tells of.
    pub(crate) fn duplicate(&self) -> Option<Seq> {
        self.dsack.map(|block| block.start)
    }

    fn count_effective(&mut self) {
        let dsack = u8::from(self.dsack.is_some());
        self.effective = (self.block_count + dsack).min(self.room);
    }

    /// A segment has told the duplicate (tcp_build_and_update_options).
    #[inline]
    pub(crate) fn dsack_sent(&mut self) {
        if self.dsack.take().is_some() {
            if self.exact {
                self.count_effective();
            } else {
                self.effective = self.effective.saturating_sub(1);
            }
        }
    }

    /// New data has come before the duplicate was told.
    #[inline]
    pub(crate) fn forget_dsack(&mut self) {
        if self.dsack.take().is_some() {
            self.count_effective();
        }
    }

    /// Data that was there already.
    pub(crate) fn set_dsack(&mut self, start: Seq, end: Seq) {
        self.dsack = Some(SackBlock { start, end });
        self.count_effective();
    }

    fn extend_dsack(&mut self, start: Seq, end: Seq) {
        match &mut self.dsack {
            Some(block) => {
                extend(block, start, end);
            }
            None => self.set_dsack(start, end),
        }
    }

    /// Keeps out-of-order data, and remembers it in the blocks.
    #[cfg(test)]
    pub(crate) fn insert(&mut self, start: Seq, end: Seq, dsack: bool) -> Placed {
        let lying = Lying {
            memory: 1,
            head: 0,
            fragments: 1,
        };
        let placed = self.place(start, end, lying, dsack);
        let block = self.extend_block(start, end);
        self.promote_block(block, start, end);
        placed
    }

    /// Keeps out-of-order data, in the packet before if that has room for its fragments
    /// (tcp_ooo_try_coalesce); `dsack` if duplicates are to be told.
    pub(crate) fn place(&mut self, start: Seq, end: Seq, lying: Lying, dsack: bool) -> Placed {
        if self.runs.is_empty() {
            self.dsack = None;
        }
        // Data mostly comes at the end or in the order of the holes: look from the end.
        let mut at = self.runs.len();
        while at > 0 && start.before(self.runs[at - 1].start) {
            at -= 1;
        }
        let previous = at.checked_sub(1).map(|i| self.runs[i].end);
        if let Some(run_end) = previous.filter(|run_end| start.before(*run_end)) {
            if !end.after(run_end) {
                if dsack {
                    self.set_dsack(start, end);
                }
                return Placed::Duplicate;
            }
            if dsack {
                self.set_dsack(start, run_end);
            }
        }
        let Lying {
            memory,
            head,
            fragments,
        } = lying;
        let part = (head > 0).then_some(Part {
            start,
            end,
            fragments,
            memory,
            in_head: fragments == 0,
        });
        let mut joins = false;
        let slot = if previous.is_some_and(|run_end| !start.after(run_end)) {
            let run = &mut self.runs[at - 1];
            let last = run.parts.last_mut().filter(|_| start == run.end);
            match (last, part) {
                (Some(last), Some(part))
                    if fragments > 0 && last.fragments + fragments <= MAX_FRAGS =>
                {
                    joins = true;
                    last.fragments += part.fragments;
                    last.memory += memory - head;
                    last.end = end;
                }
                _ => {
                    run.packets += 1;
                    run.parts.extend(part);
                }
            }
            run.end = run.end.max(end);
            run.memory += memory - if joins { head } else { 0 };
            at - 1
        } else {
            let run = Run {
                start,
                end,
                memory,
                packets: 1,
                parts: Vec::from_iter(part),
            };
            self.runs.insert(at, run);
            at
        };
        self.join_following(slot, end, dsack);
        if joins { Placed::Joined } else { Placed::Kept }
    }

    /// Joins runs that the one at `slot` now reaches.
    fn join_following(&mut self, slot: usize, end: Seq, dsack: bool) {
        while self
            .runs
            .get(slot + 1)
            .is_some_and(|next| !end.before(next.start))
        {
            let mut next = self.runs.remove(slot + 1);
            if dsack && end.after(next.start) {
                self.extend_dsack(next.start, end.min(next.end));
            }
            let run = &mut self.runs[slot];
            run.end = run.end.max(next.end);
            run.memory += next.memory;
            run.packets += next.packets;
            run.parts.append(&mut next.parts);
        }
    }

    /// Remembers data in the blocks (tcp_sack_new_ofo_skb): the block that it touches.
    pub(crate) fn extend_block(&mut self, start: Seq, end: Seq) -> Option<usize> {
        self.blocks[..self.block_count.into()]
            .iter_mut()
            .position(|block| extend(block, start, end))
    }

    /// How many blocks are remembered.
    pub(crate) fn block_count(&self) -> usize {
        self.block_count.into()
    }

    /// Puts the block that was extended first, or a new one.
    pub(crate) fn promote_block(&mut self, extended: Option<usize>, start: Seq, end: Seq) {
        if let Some(index) = extended {
            self.blocks[..=index].rotate_right(1);
            self.coalesce();
            return;
        }
        self.block_count = (self.block_count + 1).min(BLOCKS);
        self.blocks[..self.block_count.into()].rotate_right(1);
        self.blocks[0] = SackBlock { start, end };
        self.count_effective();
    }

    /// Joins the first block with those it now touches (tcp_sack_maybe_coalesce).
    fn coalesce(&mut self) {
        let mut index = 1;
        while index < self.block_count() {
            let block = self.blocks[index];
            if extend(&mut self.blocks[0], block.start, block.end) {
                self.blocks
                    .copy_within(index + 1..self.block_count.into(), index);
                self.block_count -= 1;
                self.count_effective();
            } else {
                index += 1;
            }
        }
    }

    /// rcv_nxt has reached `next`: takes what is in order now, packet by packet, for `queue`; answers where it ends
    /// and how much memory of it was superfluous (tcp_ofo_queue). Its blocks are remembered until
    /// [`Reassembly::forget_blocks`]: what a FIN among it has sent at once still tells of them.
    pub(crate) fn advance(
        &mut self,
        mut next: Seq,
        dsack: bool,
        mut queue: impl FnMut(Part),
    ) -> (Seq, u32) {
        let reached = next;
        let mut superfluous = 0;
        while self.runs.first().is_some_and(|run| !run.start.after(next)) {
            let run = self.runs.remove(0);
            if dsack && run.start.before(reached) {
                self.extend_dsack(run.start, run.end.min(reached));
            }
            if run.end.after(next) {
                if run.parts.is_empty() {
                    queue(Part {
                        start: run.start,
                        end: run.end,
                        fragments: MAX_FRAGS,
                        memory: run.memory,
                        in_head: true,
                    });
                }
                for part in run.parts {
                    if part.end.after(next) {
                        next = part.end;
                        queue(part);
                    } else {
                        superfluous += part.memory;
                    }
                }
                next = run.end;
            } else {
                superfluous += run.memory;
            }
        }
        (next, superfluous)
    }

    /// Blocks that are in order now that all up to `next` is, are not told any more (tcp_sack_remove).
    pub(crate) fn forget_blocks(&mut self, next: Seq) {
        if self.runs.is_empty() {
            self.block_count = 0;
            self.count_effective();
            return;
        }
        let mut kept = 0;
        for index in 0..self.block_count() {
            if next.before(self.blocks[index].start) {
                self.blocks[kept] = self.blocks[index];
                kept += 1;
            }
        }
        if kept < self.block_count() {
            self.block_count = kept as u8;
            self.count_effective();
        }
    }

    /// Throws everything away; answers how much memory that frees.
    pub(crate) fn purge(&mut self) -> u32 {
        let memory = self.memory();
        self.runs.clear();
        self.block_count = 0;
        self.dsack = None;
        self.effective = 0;
        memory
    }
}

/// Extends a block by data that overlaps or touches it (tcp_sack_extend).
fn extend(block: &mut SackBlock, start: Seq, end: Seq) -> bool {
    if start.after(block.end) || block.start.after(end) {
        return false;
    }
    block.start = block.start.min(start);
    block.end = block.end.max(end);
    true
}

#[cfg(test)]
#[path = "reassembly_tests.rs"]
mod tests;
