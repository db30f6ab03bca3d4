//! Bytes of frames that have them, behind the handle that a frame carries through the network.
//!
//! Nobody tells when a frame is dropped, and a link may double one. So bytes stay until a sweep finds
//! that no frame has their handle, which happens when as many have come as the network has frames.

use tailback_kernel::Packet;
use tailback_net::frame::PayloadHandle;
use tailback_net::pool::FramePool;

/// Bytes kept before a sweep is worth its while.
const SWEEP_MIN: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct ByteStore {
    packets: Vec<Packet>,
    free: Vec<u32>,
    swept_at: usize,
}

impl ByteStore {
    /// Keeps a packet for a frame that is about to go into the pool: its handle, and a buffer that is
    /// no longer in use.
    pub(super) fn keep(&mut self, packet: Packet, frames: &FramePool) -> (PayloadHandle, Vec<u8>) {
        if self.free.is_empty() && self.packets.len() >= SWEEP_MIN.max(2 * self.swept_at) {
            self.sweep(frames);
        }
        match self.free.pop() {
            Some(place) => {
                let before = std::mem::replace(&mut self.packets[place as usize], packet);
                (PayloadHandle(place + 1), before.bytes)
            }
            None => {
                self.packets.push(packet);
                (PayloadHandle(self.packets.len() as u32), Vec::new())
            }
        }
    }

    /// Copies the bytes behind a handle of a frame that is in the pool.
    pub(super) fn read(&self, handle: PayloadHandle, into: &mut Packet) {
        let Some(place) = handle.0.checked_sub(1) else {
            return;
        };
        let packet = &self.packets[place as usize];
        into.bytes.clear();
        into.bytes.extend_from_slice(&packet.bytes);
        into.checksum = packet.checksum;
    }

    fn sweep(&mut self, frames: &FramePool) {
        let mut used = vec![false; self.packets.len() + 1];
        for payload in frames.payloads() {
            used[payload.0 as usize] = true;
        }
        let unused = used.iter().enumerate().skip(1).filter(|(_, used)| !**used);
        self.free = unused.map(|(handle, _)| handle as u32 - 1).collect();
        self.swept_at = self.packets.len() - self.free.len();
    }
}

#[cfg(test)]
mod tests {
    use tailback_net::frame::{EndpointId, Frame, HostId};
    use tailback_tcp::Segment;
    use tailback_units::Time;

    use super::*;

    fn packet(number: u32) -> Packet {
        Packet {
            bytes: number.to_be_bytes().to_vec(),
            ..Packet::default()
        }
    }

    #[test]
    fn what_is_on_its_way_is_kept_and_what_is_gone_is_not() {
        let mut store = ByteStore::default();
        let mut frames = FramePool::default();
        let mut flights = std::collections::VecDeque::new();
        for number in 0..100_000_u32 {
            let mut frame = Frame::new(Segment::EMPTY, EndpointId(0), HostId(0));
            frame.payload = store.keep(packet(number), &frames).0;
            flights.push_back((number, frames.put(Time::ZERO, &frame)));
            if flights.len() > 100
                && let Some((sent, flight)) = flights.pop_front()
            {
                let mut read = Packet::default();
                store.read(frames.frame(&flight).payload, &mut read);
                assert_eq!(read, packet(sent));
                frames.release(flight.frame);
            }
        }
        assert!(store.packets.len() <= SWEEP_MIN, "{}", store.packets.len());
    }
}
