//! A simulated network card behind a guest's virtio driver.
//!
//! Models a card with one transmit and one receive queue, segmentation and checksum offload, and
//! interrupt moderation (a least gap between interrupts; one vector for both queues). A transmit descriptor stays in the ring
//! until its last bit has left, so that byte queue limits, TCP small queues and queueing disciplines
//! feel the real link. Received frames reach memory when the interrupt does.
//! Sources: virtio 1.2, sections 2.7 (split virtqueues) and 5.1 (network device); behaviour of Linux
//! 7.2 drivers/net/virtio_net.c. Left out: several queue pairs, receive offload (LRO), a control
//! queue, hashes.

mod header;
mod packet;
mod receive;
mod segment;
mod transmit;

use tailback_units::{Duration, Time};
use virtio_queue::{Queue, QueueT};
use vm_memory::GuestMemoryMmap;

pub use packet::{Checksum, Packet};

use receive::Receiver;
use transmit::Transmitter;

/// Virtio features (virtio 1.2, sections 5.1.3 and 6).
mod feature {
    pub(super) const CSUM: u64 = 1;
    pub(super) const GUEST_CSUM: u64 = 1 << 1;
    pub(super) const MTU: u64 = 1 << 3;
    pub(super) const MAC: u64 = 1 << 5;
    pub(super) const HOST_TSO4: u64 = 1 << 11;
    pub(super) const HOST_TSO6: u64 = 1 << 12;
    pub(super) const HOST_ECN: u64 = 1 << 13;
    pub(super) const MRG_RXBUF: u64 = 1 << 15;
    pub(super) const INDIRECT_DESC: u64 = 1 << 28;
    pub(super) const VERSION_1: u64 = 1 << 32;
}

/// What kind of card a host has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NicConfig {
    /// Its Ethernet address.
    pub mac: [u8; 6],
    /// Largest IP packet, bytes.
    pub mtu_bytes: u16,
    /// The card cuts TCP packets into segments (TSO).
    pub segmentation_offload: bool,
    /// The card computes and checks transport checksums. Without it there is no segmentation either.
    pub checksum_offload: bool,
    /// Least time from one interrupt to the next, as interrupt throttling (ITR) of common cards has
    /// it: what comes after a pause interrupts at once, what comes in the meantime waits. Both
    /// queues share one interrupt: when one is due, both are seen to.
    pub interrupt_gap: Duration,
}

/// What a card has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicCounters {
    /// Frames sent, after segmentation.
    pub tx_frames: u64,
    /// Their bytes without FCS.
    pub tx_bytes: u64,
    /// Descriptor chains they came in.
    pub tx_packets: u64,
    /// Frames that reached the guest.
    pub rx_frames: u64,
    /// Their bytes without FCS.
    pub rx_bytes: u64,
    /// Frames dropped because the guest had no buffer for them.
    pub rx_ring_drops: u64,
    /// Those of them that carried payload.
    pub rx_ring_data_drops: u64,
    /// Payload of the frames dropped, bytes.
    pub rx_ring_payload_bytes: u64,
    /// Interrupts.
    pub interrupts: u64,
}

/// Where a card's frames go.
pub(crate) trait Uplink {
    /// Puts a packet on the link, not before `earliest`; says when its last bit has left.
    fn transmit(&mut self, earliest: Time, packet: Packet) -> Time;
    /// An empty buffer for a packet.
    fn buffer(&mut self) -> Vec<u8>;
    /// A packet that came found no buffer in the receive ring.
    fn overrun(&mut self, _packet: &Packet) {}
}

/// The card.
#[derive(Debug)]
pub(crate) struct Nic {
    config: NicConfig,
    pub(crate) counters: NicCounters,
    transmitter: Transmitter,
    receiver: Receiver,
    /// No interrupt before.
    quiet_until: Time,
    /// The guest takes packets whose checksum is not complete (GUEST_CSUM).
    guest_checks: bool,
}

/// Which of a card's queues want an interrupt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interrupts {
    pub(crate) receive: bool,
    pub(crate) transmit: bool,
}

/// Number of the receive queue.
pub(crate) const RECEIVE: u32 = 0;
/// Number of the transmit queue.
pub(crate) const TRANSMIT: u32 = 1;

impl Nic {
    pub(crate) fn new(config: &NicConfig) -> Nic {
        Nic {
            config: config.clone(),
            counters: NicCounters::default(),
            transmitter: Transmitter::new(),
            receiver: Receiver::new(),
            quiet_until: Time::ZERO,
            guest_checks: false,
        }
    }

    /// Virtio features the card offers.
    pub(crate) fn features(&self) -> u64 {
        // No EVENT_IDX: with it the driver asks to be told of what was sent only when three quarters of it have left
        // (virtqueue_enable_cb_delayed), and TCP's small queues, which wait for that, let go later than with a
        // card that tells of each packet.
        let mut features = feature::VERSION_1
            | feature::INDIRECT_DESC
            | feature::MRG_RXBUF
            | feature::MAC
            | feature::MTU;
        if self.config.checksum_offload {
            features |= feature::CSUM | feature::GUEST_CSUM;
            if self.config.segmentation_offload {
                features |= feature::HOST_TSO4 | feature::HOST_TSO6 | feature::HOST_ECN;
            }
        }
        features
    }

    /// Its configuration space (virtio 1.2, 5.1.4): address, status, queue pairs, MTU.
    pub(crate) fn config_space(&self) -> Vec<u8> {
        const LINK_UP: u16 = 1;
        const QUEUE_PAIRS: u16 = 1;
        let mut space = self.config.mac.to_vec();
        for field in [LINK_UP, QUEUE_PAIRS, self.config.mtu_bytes] {
            space.extend_from_slice(&field.to_le_bytes());
        }
        space
    }

    /// What the driver took of the features.
    pub(crate) fn negotiated(&mut self, features: u64) {
        self.guest_checks = features & feature::GUEST_CSUM != 0;
        self.receiver.begin();
    }

    /// Whether the driver has let go of its rings, as that of a kernel does that powers off: it takes back what it has
    /// not been given back, whereby the index of a ring goes back (virtqueue_detach_unused_buf), and then disables them.
    /// That it resets the card before is something that User-Mode Linux keeps to itself (vu_reset).
    fn is_let_go(&mut self, queues: &[Queue; 2], memory: &GuestMemoryMmap) -> Result<bool, String> {
        let [receive, transmit] = queues;
        Ok(!receive.ready()
            || !transmit.ready()
            || self.receiver.is_taken_back(receive, memory)?
            || self.transmitter.is_taken_back(transmit, memory)?)
    }

    /// The earliest time at which the card has something to do.
    pub(crate) fn next_event(&self) -> Time {
        let tells_at = self.tells_at();
        self.transmitter.looks_at().min(tells_at)
    }

    /// When the driver is next to be interrupted.
    fn tells_at(&self) -> Time {
        let first = self.transmitter.tells_at().min(self.receiver.tells_at());
        first.max(self.quiet_until)
    }

    /// When the driver would be interrupted for a frame that arrives at `at`.
    pub(crate) fn interrupt_for(&self, at: Time) -> Time {
        at.max(self.quiet_until)
    }

    /// The driver has put packets into the transmit ring and says so at `now`.
    pub(crate) fn kicked(
        &mut self,
        now: Time,
        queue: &mut Queue,
        memory: &GuestMemoryMmap,
        uplink: &mut impl Uplink,
    ) -> Result<(), String> {
        self.transmitter
            .take(now, queue, memory, uplink, &mut self.counters)
    }

    /// A frame arrives at `at`.
    pub(crate) fn arrive(&mut self, at: Time, packet: Packet) {
        self.receiver.arrive(at, packet);
    }

    /// Does what is due at `now`; says which queues want an interrupt. Emptied buffers go to
    /// `recycle`.
    pub(crate) fn handle(
        &mut self,
        now: Time,
        queues: &mut [Queue; 2],
        memory: &GuestMemoryMmap,
        uplink: &mut impl Uplink,
        recycle: &mut Vec<Vec<u8>>,
    ) -> Result<Interrupts, String> {
        let mut wanted = Interrupts::default();
        if self.is_let_go(queues, memory)? {
            self.transmitter.forget();
            self.receiver.forget(recycle);
            return Ok(wanted);
        }
        let [receive, transmit] = queues;
        self.transmitter
            .look(now, transmit, memory, uplink, &mut self.counters)?;
        if self.tells_at() <= now {
            self.quiet_until = now + self.config.interrupt_gap;
            wanted.transmit = self.transmitter.complete(now, transmit, memory)?;
            wanted.receive = self.receiver.deliver(
                now,
                receive,
                memory,
                self.guest_checks,
                &mut self.counters,
                recycle,
                uplink,
            )?;
        }
        self.counters.interrupts += u64::from(wanted.receive || wanted.transmit);
        Ok(wanted)
    }

    /// As if it had interrupted, and may not again before.
    #[cfg(test)]
    pub(crate) fn quiet_until(&mut self, until: Time) {
        self.quiet_until = until;
    }

    /// Frames that have arrived and not reached the guest.
    pub(crate) fn waiting(&self) -> usize {
        self.receiver.waiting()
    }
}

#[cfg(test)]
#[path = "nic_tests.rs"]
mod tests;
