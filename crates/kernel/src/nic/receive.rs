//! The receive side: frames wait for the interrupt, then go into the driver's buffers.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use tailback_units::Time;
use virtio_queue::{Queue, QueueOwnedT, QueueT};
use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};

use super::packet::Packet;
use super::{NicCounters, Uplink, header};

#[derive(Debug)]
pub(super) struct Receiver {
    waiting: VecDeque<(Time, Packet)>,
    /// Buffers for the packet at hand: chain head, and pieces with address and length.
    heads: Vec<(u16, u32)>,
    pieces: Vec<(GuestAddress, usize)>,
    /// How far the driver had given buffers when that was last looked at.
    given_to: u16,
}

impl Receiver {
    pub(super) fn new() -> Receiver {
        Receiver {
            waiting: VecDeque::with_capacity(256),
            heads: Vec::new(),
            pieces: Vec::new(),
            given_to: 0,
        }
    }

    pub(super) fn arrive(&mut self, at: Time, packet: Packet) {
        self.waiting.push_back((at, packet));
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// A driver begins with its rings.
    pub(super) fn begin(&mut self) {
        self.given_to = 0;
    }

    /// Whether the driver has taken back buffers.
    pub(super) fn is_taken_back(
        &mut self,
        queue: &Queue,
        memory: &GuestMemoryMmap,
    ) -> Result<bool, String> {
        let available = queue.avail_idx(memory, Ordering::Acquire).map_err(ring)?.0;
        if available.wrapping_sub(self.given_to) > u16::MAX / 2 {
            return Ok(true);
        }
        self.given_to = available;
        Ok(false)
    }

    /// There is nobody any more who takes what has arrived.
    pub(super) fn forget(&mut self, recycle: &mut Vec<Vec<u8>>) {
        recycle.extend(self.waiting.drain(..).map(|(_, packet)| packet.bytes));
    }

    /// When there is something to tell the driver.
    pub(super) fn tells_at(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// Hands over what has arrived by `now`; says whether the driver wants an interrupt.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn deliver(
        &mut self,
        now: Time,
        queue: &mut Queue,
        memory: &GuestMemoryMmap,
        guest_checks: bool,
        counters: &mut NicCounters,
        recycle: &mut Vec<Vec<u8>>,
        uplink: &mut impl Uplink,
    ) -> Result<bool, String> {
        let mut given = false;
        while let Some((at, _)) = self.waiting.front()
            && *at <= now
        {
            let Some((_, mut packet)) = self.waiting.pop_front() else {
                break;
            };
            if !guest_checks {
                packet.complete_checksum();
            }
            if self.collect(queue, memory, header::BYTES + packet.bytes.len())? {
                self.fill(queue, memory, &packet)?;
                given = true;
                counters.rx_frames += 1;
                counters.rx_bytes += packet.bytes.len() as u64;
            } else {
                let payload_bytes = packet.payload_bytes();
                counters.rx_ring_drops += 1;
                uplink.overrun(&packet);
                counters.rx_ring_data_drops += u64::from(payload_bytes > 0);
                counters.rx_ring_payload_bytes += payload_bytes;
            }
            recycle.push(packet.bytes);
        }
        let wants = queue.needs_notification(memory);
        Ok(given && wants.map_err(ring)?)
    }

    /// Takes buffers for so many bytes from the ring; leaves the ring alone if there are not enough.
    fn collect(
        &mut self,
        queue: &mut Queue,
        memory: &GuestMemoryMmap,
        bytes: usize,
    ) -> Result<bool, String> {
        self.heads.clear();
        self.pieces.clear();
        let mut room = 0;
        let mut available = queue.iter(memory).map_err(ring)?;
        while room < bytes {
            let Some(chain) = available.next() else {
                for _ in 0..self.heads.len() {
                    available.go_to_previous_position();
                }
                return Ok(false);
            };
            let head = chain.head_index();
            let mut length = 0;
            for descriptor in chain.writable() {
                length += descriptor.len();
                self.pieces
                    .push((descriptor.addr(), descriptor.len() as usize));
            }
            let used = length.min((bytes - room) as u32);
            self.heads.push((head, used));
            room += length as usize;
        }
        Ok(true)
    }

    /// Writes a packet into the buffers collected and gives them to the driver.
    fn fill(
        &mut self,
        queue: &mut Queue,
        memory: &GuestMemoryMmap,
        packet: &Packet,
    ) -> Result<(), String> {
        let head = header::received(packet.checksum, self.heads.len() as u16);
        let mut parts = [&head[..], &packet.bytes[..]];
        for (address, length) in &self.pieces {
            let (mut at, mut room) = (*address, *length);
            for part in &mut parts {
                let count = room.min(part.len());
                if count > 0 {
                    memory
                        .write_slice(&part[..count], at)
                        .map_err(|error| format!("a buffer lies outside its memory: {error}"))?;
                    *part = &part[count..];
                    at = GuestAddress(at.0 + count as u64);
                    room -= count;
                }
            }
        }
        for (head, used) in &self.heads {
            queue.add_used(memory, *head, *used).map_err(ring)?;
        }
        Ok(())
    }
}

fn ring(error: virtio_queue::Error) -> String {
    format!("its receive ring: {error}")
}
