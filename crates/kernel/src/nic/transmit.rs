//! The transmit side: from the ring to the link, and back to the driver when the bits have left.
//!
//! While the link is busy for long the driver need not kick: the ring is looked at when the last
//! packet is about to have left, which is before the link can be idle. So frames leave as if every one had been
//! seen at once. After a short packet the driver may kick again at once, which is cheaper than
//! stopping the guest to look.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use tailback_units::{Duration, Time};
use virtio_queue::{DescriptorChain, Queue, QueueOwnedT, QueueT};
use vm_memory::{Bytes, GuestMemoryMmap};

use super::packet::Packet;
use super::{NicCounters, Uplink, header, segment};

/// Largest packet a driver may hand over: 64 KiB and the headers.
const PACKET_BYTES_MAX: usize = 65_536 + 256;

/// Link time beyond which kicks are not worth their while. A full-sized frame takes 1.2 us at
/// 10 Gbit/s, a packet of 64 KiB takes 21 us at 25 Gbit/s. No result depends on it.
const BUSY: Duration = Duration::from_us(2);

#[derive(Debug)]
pub(super) struct Transmitter {
    /// The driver does not kick: the ring must be looked at before the link falls idle.
    silent: bool,
    /// Heads of the descriptor chains that are on the link or wait for it, with the time their last
    /// bit leaves.
    sending: VecDeque<(u16, Time)>,
    /// Room for a packet as it comes out of the ring; always of the largest size.
    scratch: Vec<u8>,
}

impl Transmitter {
    pub(super) fn new() -> Transmitter {
        Transmitter {
            silent: false,
            sending: VecDeque::with_capacity(256),
            scratch: vec![0; PACKET_BYTES_MAX],
        }
    }

    /// When there is something to tell the driver.
    pub(super) fn tells_at(&self) -> Time {
        self.sending.front().map_or(Time::NEVER, |(_, left)| *left)
    }

    /// When the ring has to be looked at: in the last whole nanosecond before the link falls idle, for kernels know
    /// no part of one, and the next would leave it idle for the rest.
    pub(super) fn looks_at(&self) -> Time {
        match self.sending.back() {
            Some((_, left)) if self.silent => Time::from_ps(left.as_ps() / 1000 * 1000),
            _ => Time::NEVER,
        }
    }

    /// Puts all that is in the ring on the link, and decides whether the driver is to kick.
    pub(super) fn take(
        &mut self,
        now: Time,
        queue: &mut Queue,
        memory: &GuestMemoryMmap,
        uplink: &mut impl Uplink,
        counters: &mut NicCounters,
    ) -> Result<(), String> {
        loop {
            let before = queue.next_avail();
            while let Some(chain) = queue.iter(memory).map_err(ring)?.next() {
                let head = chain.head_index();
                let left = self.send(now, chain, memory, uplink, counters)?;
                self.sending.push_back((head, left));
            }
            self.silent = self
                .sending
                .back()
                .is_some_and(|(_, last)| *last > now + BUSY);
            if self.silent {
                return queue.disable_notification(memory).map_err(ring);
            }
            if !queue.enable_notification(memory).map_err(ring)? {
                return Ok(());
            }
            if queue.next_avail() == before {
                return Err(
                    "its transmit ring says that there is more, and there is not".to_owned(),
                );
            }
        }
    }

    /// Looks at the ring again if the driver does not kick and the link is about to fall idle.
    pub(super) fn look(
        &mut self,
        now: Time,
        queue: &mut Queue,
        memory: &GuestMemoryMmap,
        uplink: &mut impl Uplink,
        counters: &mut NicCounters,
    ) -> Result<(), String> {
        if self.looks_at() > now {
            return Ok(());
        }
        self.take(now, queue, memory, uplink, counters)
    }

    /// Whether the driver has taken back packets that it had not been given back.
    pub(super) fn is_taken_back(
        &self,
        queue: &Queue,
        memory: &GuestMemoryMmap,
    ) -> Result<bool, String> {
        if self.sending.is_empty() {
            return Ok(false);
        }
        let available = queue.avail_idx(memory, Ordering::Acquire).map_err(ring)?.0;
        let back = usize::from(queue.next_avail().wrapping_sub(available));
        Ok((1..=self.sending.len()).contains(&back))
    }

    /// There is nobody any more to give anything back to.
    pub(super) fn forget(&mut self) {
        self.sending.clear();
    }

    /// Gives back what has left by `now`, and says whether the driver wants an interrupt; it wants none for nothing.
    pub(super) fn complete(
        &mut self,
        now: Time,
        queue: &mut Queue,
        memory: &GuestMemoryMmap,
    ) -> Result<bool, String> {
        let mut given = false;
        while let Some((head, left)) = self.sending.front().copied()
            && left <= now
        {
            self.sending.pop_front();
            queue.add_used(memory, head, 0).map_err(ring)?;
            given = true;
        }
        Ok(given && queue.needs_notification(memory).map_err(ring)?)
    }

    /// Sends one packet, in segments if need be; says when its last bit leaves.
    fn send(
        &mut self,
        now: Time,
        chain: DescriptorChain<&GuestMemoryMmap>,
        memory: &GuestMemoryMmap,
        uplink: &mut impl Uplink,
        counters: &mut NicCounters,
    ) -> Result<Time, String> {
        let length = gather(chain, memory, &mut self.scratch)?;
        let Some((head, packet)) = self.scratch[..length].split_first_chunk::<{ header::BYTES }>()
        else {
            return Err("a packet is shorter than its header".to_owned());
        };
        let wish = header::parse(head)?;
        counters.tx_packets += 1;
        let mut left = now;
        let mut send = |uplink: &mut _, packet: Packet| {
            counters.tx_frames += 1;
            counters.tx_bytes += packet.bytes.len() as u64;
            left = Uplink::transmit(uplink, now, packet);
        };
        match wish.segment_bytes {
            None => {
                let mut bytes = uplink.buffer();
                bytes.clear();
                bytes.extend_from_slice(packet);
                let checksum = wish.checksum;
                send(uplink, Packet { bytes, checksum });
            }
            Some(segment_bytes) => {
                let mut spare = Vec::new();
                spare.resize_with(packet.len().div_ceil(usize::from(segment_bytes)), || {
                    uplink.buffer()
                });
                let buffer = || spare.pop().unwrap_or_default();
                segment::cut(packet, segment_bytes, buffer, |packet| send(uplink, packet))?;
            }
        }
        Ok(left)
    }
}

fn ring(error: virtio_queue::Error) -> String {
    format!("its transmit ring: {error}")
}

/// Reads all of a descriptor chain; says how many bytes that are.
fn gather(
    chain: DescriptorChain<&GuestMemoryMmap>,
    memory: &GuestMemoryMmap,
    into: &mut [u8],
) -> Result<usize, String> {
    let mut from = 0;
    for descriptor in chain.readable() {
        let to = from + descriptor.len() as usize;
        let part = into
            .get_mut(from..to)
            .ok_or_else(|| format!("a packet has more than {PACKET_BYTES_MAX} bytes"))?;
        memory
            .read_slice(part, descriptor.addr())
            .map_err(|error| format!("a packet lies outside its memory: {error}"))?;
        from = to;
    }
    Ok(from)
}
