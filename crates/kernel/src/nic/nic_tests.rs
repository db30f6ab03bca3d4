use virtio_queue::QueueT;
use virtio_queue::desc::{RawDescriptor, split::Descriptor};
use virtio_queue::mock::MockSplitQueue;
use vm_memory::{Bytes, GuestAddress};

use super::packet::tests::tcp_frame;
use super::*;

/// Descriptor flag: the device writes (VIRTQ_DESC_F_WRITE).
const WRITE: u16 = 2;
const MEMORY_BYTES: usize = 1 << 20;
/// Where rings and buffers lie.
const RECEIVE_RING: u64 = 0;
const TRANSMIT_RING: u64 = 0x2_0000;
const BUFFERS: u64 = 0x4_0000;

/// A link on which every frame takes a microsecond, and `more` than that.
#[derive(Default)]
struct Wire {
    free: Time,
    more: Duration,
    sent: Vec<(Time, Packet)>,
}

impl Uplink for Wire {
    fn transmit(&mut self, earliest: Time, packet: Packet) -> Time {
        self.free = self.free.max(earliest) + Duration::from_us(1) + self.more;
        self.sent.push((self.free, packet));
        self.free
    }

    fn buffer(&mut self) -> Vec<u8> {
        Vec::new()
    }
}

fn memory() -> GuestMemoryMmap {
    GuestMemoryMmap::from_ranges(&[(GuestAddress(0), MEMORY_BYTES)]).expect("memory can be had")
}

fn nic(gap_us: u64) -> Nic {
    Nic::new(&NicConfig {
        mac: [2, 0, 0, 0, 0, 1],
        mtu_bytes: 1500,
        segmentation_offload: true,
        checksum_offload: true,
        interrupt_gap: Duration::from_us(gap_us),
    })
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// Puts a packet of `payload` bytes, to be cut into segments of 1000, into the transmit ring at
/// descriptor `place`.
fn offer(
    memory: &GuestMemoryMmap,
    ring: &MockSplitQueue<'_, GuestMemoryMmap>,
    place: u16,
    payload: usize,
) {
    let mut bytes = vec![1, 1, 54, 0, 0xe8, 0x03, 34, 0, 16, 0, 0, 0];
    bytes.extend(tcp_frame(2, &vec![7; payload]));
    let at = BUFFERS + u64::from(place) * 0x4000;
    memory
        .write_slice(&bytes, GuestAddress(at))
        .expect("it fits the memory");
    let descriptor = Descriptor::new(at, bytes.len() as u32, 0, 0);
    ring.add_desc_chains(&[RawDescriptor::from(descriptor)], place)
        .expect("the ring has room");
}

fn rings(memory: &GuestMemoryMmap) -> [MockSplitQueue<'_, GuestMemoryMmap>; 2] {
    [RECEIVE_RING, TRANSMIT_RING].map(|at| MockSplitQueue::create(memory, GuestAddress(at), 16))
}

fn queues(rings: &[MockSplitQueue<'_, GuestMemoryMmap>; 2]) -> [Queue; 2] {
    [&rings[0], &rings[1]].map(|ring| {
        let mut queue: Queue = ring.create_queue().expect("the ring is in order");
        queue.set_event_idx(true);
        queue
    })
}

#[test]
fn a_large_packet_leaves_in_segments_and_is_given_back_with_its_last_bit() {
    let (memory, mut nic, mut wire) = (memory(), nic(0), Wire::default());
    let rings = rings(&memory);
    let mut queues = queues(&rings);
    offer(&memory, &rings[1], 0, 5000);
    nic.kicked(us(10), &mut queues[1], &memory, &mut wire)
        .expect("the packet is in order");
    let times: Vec<Time> = wire.sent.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [11, 12, 13, 14, 15].map(us));
    assert_eq!(nic.next_event(), us(15));
    assert_eq!(rings[1].used().idx().load(), 0);
    // Meanwhile another is put into the ring, without a kick: it follows without a gap.
    offer(&memory, &rings[1], 1, 900);
    let mut emptied = Vec::new();
    let wanted = nic
        .handle(us(15), &mut queues, &memory, &mut wire, &mut emptied)
        .expect("the rings are in order");
    assert!(wanted.transmit && !wanted.receive);
    assert_eq!(rings[1].used().idx().load(), 1);
    assert_eq!(wire.sent.last().map(|(at, _)| *at), Some(us(16)));
    assert_eq!(nic.counters.tx_packets, 2);
    assert_eq!(nic.counters.tx_frames, 6);
}

/// Gives the driver's buffers of `bytes` each to the receive ring.
fn give_buffers(ring: &MockSplitQueue<'_, GuestMemoryMmap>, count: u16, bytes: u32) {
    for place in 0..count {
        let at = BUFFERS + u64::from(place) * 0x1000;
        let descriptor = Descriptor::new(at, bytes, WRITE, 0);
        ring.add_desc_chains(&[RawDescriptor::from(descriptor)], place)
            .expect("the ring has room");
    }
}

#[test]
fn a_frame_may_span_buffers_and_needs_one() {
    let (memory, mut nic, mut wire) = (memory(), nic(0), Wire::default());
    nic.negotiated(feature::GUEST_CSUM);
    let rings = rings(&memory);
    let mut queues = queues(&rings);
    give_buffers(&rings[0], 3, 600);
    let frame = |byte| Packet {
        bytes: tcp_frame(0, &vec![byte; 1000]),
        checksum: Checksum::Partial {
            start: 34,
            offset: 16,
        },
    };
    nic.arrive(us(1), frame(5));
    nic.arrive(us(1), frame(6));
    let mut emptied = Vec::new();
    nic.handle(us(1), &mut queues, &memory, &mut wire, &mut emptied)
        .expect("the rings are in order");
    // 12 + 1054 bytes take two buffers of 600; for the second frame only one is left.
    assert_eq!(rings[0].used().idx().load(), 2);
    assert_eq!(nic.counters.rx_frames, 1);
    assert_eq!(nic.counters.rx_ring_drops, 1);
    assert_eq!(nic.counters.rx_ring_data_drops, 1);
    assert_eq!(nic.counters.rx_ring_payload_bytes, 1000);
    assert_eq!(emptied.len(), 2);
    let mut head = [0; 12];
    memory
        .read_slice(&mut head, GuestAddress(BUFFERS))
        .expect("it is there");
    assert_eq!(head, [1, 0, 0, 0, 0, 0, 34, 0, 16, 0, 2, 0]);
    let mut rest = [0; 466];
    memory
        .read_slice(&mut rest, GuestAddress(BUFFERS + 0x1000))
        .expect("it is there");
    assert_eq!(rest, [5; 466]);
}

#[test]
fn interrupts_keep_their_distance() {
    let (memory, mut nic, mut wire) = (memory(), nic(8), Wire::default());
    let rings = rings(&memory);
    let mut queues = queues(&rings);
    give_buffers(&rings[0], 8, 2048);
    let frame = || Packet {
        bytes: tcp_frame(0, &[1; 10]),
        checksum: Checksum::Complete,
    };
    nic.arrive(us(100), frame());
    assert_eq!(nic.next_event(), us(100), "after a pause at once");
    let mut emptied = Vec::new();
    let mut handle = |nic: &mut Nic, at| {
        nic.handle(at, &mut queues, &memory, &mut wire, &mut emptied)
            .expect("the rings are in order")
    };
    handle(&mut nic, us(100));
    nic.arrive(us(101), frame());
    nic.arrive(us(107), frame());
    assert_eq!(nic.next_event(), us(108));
    assert_eq!(nic.interrupt_for(us(104)), us(108));
    handle(&mut nic, us(108));
    assert_eq!(nic.counters.rx_frames, 3);
    assert_eq!(nic.next_event(), Time::NEVER);
}

/// The driver's queues as the card offers them: without EVENT_IDX.
fn plain_queues(rings: &[MockSplitQueue<'_, GuestMemoryMmap>; 2]) -> [Queue; 2] {
    [&rings[0], &rings[1]].map(|ring| ring.create_queue().expect("the ring is in order"))
}

#[test]
fn who_need_not_kick_is_told_so() {
    const NO_NOTIFY: u16 = 1;
    let (memory, mut nic, mut wire) = (memory(), nic(0), Wire::default());
    let rings = rings(&memory);
    let mut queues = plain_queues(&rings);
    let flags = || -> u16 {
        let at = rings[1].used_addr();
        memory.read_obj(at).expect("it is there")
    };
    // Five microseconds on the link: the ring is looked at when they are over.
    offer(&memory, &rings[1], 0, 5000);
    nic.kicked(us(10), &mut queues[1], &memory, &mut wire)
        .expect("the packet is in order");
    assert_eq!(flags(), NO_NOTIFY);
    // One microsecond: the next kick is as near.
    offer(&memory, &rings[1], 1, 900);
    nic.handle(us(15), &mut queues, &memory, &mut wire, &mut Vec::new())
        .expect("the rings are in order");
    assert_eq!(wire.sent.last().map(|(at, _)| *at), Some(us(16)));
    assert_eq!(flags(), 0);
}

#[test]
fn the_link_is_not_idle_for_part_of_a_nanosecond() {
    let (memory, mut nic) = (memory(), nic(0));
    let mut wire = Wire {
        more: Duration::from_ps(100),
        ..Wire::default()
    };
    let rings = rings(&memory);
    let mut queues = plain_queues(&rings);
    offer(&memory, &rings[1], 0, 5000);
    nic.kicked(us(10), &mut queues[1], &memory, &mut wire)
        .expect("the packet is in order");
    offer(&memory, &rings[1], 1, 900);
    assert_eq!(nic.next_event(), us(15));
    nic.handle(us(15), &mut queues, &memory, &mut wire, &mut Vec::new())
        .expect("the rings are in order");
    let left = wire.sent.last().map(|(at, _)| *at);
    assert_eq!(left, Some(us(16) + Duration::from_ps(600)));
}

#[test]
fn a_queue_with_nothing_to_tell_is_not_interrupted_for() {
    let (memory, mut nic, mut wire) = (memory(), nic(0), Wire::default());
    let rings = rings(&memory);
    let mut queues = plain_queues(&rings);
    give_buffers(&rings[0], 1, 2048);
    let frame = || Packet {
        bytes: tcp_frame(0, &[1; 10]),
        checksum: Checksum::Complete,
    };
    let mut handle = |nic: &mut Nic, at| {
        nic.handle(at, &mut queues, &memory, &mut wire, &mut Vec::new())
            .expect("the rings are in order")
    };
    nic.arrive(us(1), frame());
    let wanted = handle(&mut nic, us(1));
    assert!(wanted.receive && !wanted.transmit);
    // No buffer is left: it is dropped, and the driver has nothing to look at.
    nic.arrive(us(2), frame());
    assert_eq!(handle(&mut nic, us(2)), Interrupts::default());
    assert_eq!(nic.counters.rx_ring_drops, 1);
    assert_eq!(nic.counters.interrupts, 1);
}

#[test]
fn a_ring_that_cannot_be_is_an_error() {
    let (memory, mut nic, mut wire) = (memory(), nic(0), Wire::default());
    let rings = rings(&memory);
    let mut queues = plain_queues(&rings);
    // More packets at once than the ring has places.
    rings[1].avail().idx().store(17);
    let error = nic
        .kicked(us(1), &mut queues[1], &memory, &mut wire)
        .expect_err("it is refused");
    assert!(error.starts_with("its transmit ring: "), "{error}");
}

/// Lets the index of a ring go back by so much, as a driver does that takes back what it has not been given back.
fn take_back(ring: &MockSplitQueue<'_, GuestMemoryMmap>, count: u16) {
    let index = ring.avail().idx();
    index.store(index.load() - count);
}

#[test]
fn of_a_driver_that_has_taken_its_packets_back_nothing_is_asked() {
    let (memory, mut nic, mut wire) = (memory(), nic(0), Wire::default());
    let rings = rings(&memory);
    let mut queues = queues(&rings);
    offer(&memory, &rings[1], 0, 5000);
    offer(&memory, &rings[1], 1, 900);
    nic.kicked(us(10), &mut queues[1], &memory, &mut wire)
        .expect("the packets are in order");
    take_back(&rings[1], 2);
    let wanted = nic.handle(us(16), &mut queues, &memory, &mut wire, &mut Vec::new());
    assert_eq!(wanted, Ok(Interrupts::default()));
    assert_eq!(rings[1].used().idx().load(), 0);
    assert_eq!(nic.next_event(), Time::NEVER);
}

#[test]
fn what_comes_for_a_driver_that_has_let_go_is_no_drop_of_its_ring() {
    let (memory, mut wire) = (memory(), Wire::default());
    let frame = || Packet {
        bytes: tcp_frame(0, &[7; 100]),
        checksum: Checksum::Complete,
    };
    for disabled in [false, true] {
        let mut nic = nic(0);
        let rings = rings(&memory);
        let mut queues = queues(&rings);
        give_buffers(&rings[0], 3, 600);
        let mut emptied = Vec::new();
        nic.arrive(us(1), frame());
        nic.handle(us(1), &mut queues, &memory, &mut wire, &mut emptied)
            .expect("the rings are in order");
        if disabled {
            queues[0].set_ready(false);
        } else {
            take_back(&rings[0], 2);
        }
        nic.arrive(us(2), frame());
        let wanted = nic.handle(us(2), &mut queues, &memory, &mut wire, &mut emptied);
        assert_eq!(wanted, Ok(Interrupts::default()));
        assert_eq!((nic.counters.rx_frames, nic.counters.rx_ring_drops), (1, 0));
        assert_eq!((nic.waiting(), emptied.len()), (0, 2));
    }
}
