//! What the network has to be to kernels: a place to put packets, with events of its own.

use tailback_units::{Duration, Time};

use crate::nic::{Packet, Uplink};

/// The network between the hosts; a host is known by its number.
pub trait Network {
    /// Puts a packet on a host's link, behind those before it and not before `earliest`; says when
    /// its last bit has left, and gives a buffer that is no longer in use, if it has one (else an
    /// empty one).
    fn transmit(&mut self, host: usize, earliest: Time, packet: Packet) -> (Time, Vec<u8>);

    /// When the network's next event is; [`Time::NEVER`] if it has none. No frame reaches a host
    /// before.
    fn next_event(&mut self) -> Time;

    /// The least time from a host's beginning to send until an event of the network.
    fn transit_min(&self, host: usize) -> Duration;

    /// A packet that came to a host found its card's receive ring full.
    fn overrun(&mut self, _host: usize, _packet: &Packet) {}
}

/// One host's link into the network.
pub(crate) struct Port<'a, N> {
    network: &'a mut N,
    host: usize,
    spare: &'a mut Vec<Vec<u8>>,
}

impl<'a, N: Network> Port<'a, N> {
    pub(crate) fn new(network: &'a mut N, host: usize, spare: &'a mut Vec<Vec<u8>>) -> Port<'a, N> {
        Port {
            network,
            host,
            spare,
        }
    }
}

impl<N: Network> Uplink for Port<'_, N> {
    fn transmit(&mut self, earliest: Time, packet: Packet) -> Time {
        let (finish, buffer) = self.network.transmit(self.host, earliest, packet);
        if buffer.capacity() > 0 {
            self.spare.push(buffer);
        }
        finish
    }

    fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    fn overrun(&mut self, packet: &Packet) {
        self.network.overrun(self.host, packet);
    }
}
