//! What several tests need.

use tailback_tcp::{Ecn, Segment};
use tailback_units::{Bytes, Duration, Time};

use crate::frame::{EndpointId, Frame, HostId};
use crate::host::HostConfig;
use crate::pool::{Flight, FramePool};
use crate::queue::Held;
use crate::switch::shared::Pool;

/// A frame with timestamps and `payload_bytes` of payload.
pub(crate) fn frame(payload_bytes: u16) -> Frame {
    let mut segment = Segment::EMPTY;
    segment.payload_bytes = payload_bytes;
    segment.has_timestamps = true;
    Frame::new(segment, EndpointId(0), HostId(0))
}

/// Such a frame on its way.
pub(crate) fn flight(payload_bytes: u16) -> Flight {
    FramePool::default().put(Time::ZERO, &frame(payload_bytes))
}

/// The same, ECN-capable.
pub(crate) fn ect_frame(payload_bytes: u16) -> Frame {
    let mut frame = frame(payload_bytes);
    frame.segment.ecn = Ecn::Ect0;
    frame
}

/// A host with round figures: 1 us a segment, 1 us a kilobyte, 10 us to an interrupt, a receive
/// ring of 4 and a transmit queue of 3 + 2.
pub(crate) fn host_config() -> HostConfig {
    HostConfig {
        tx_queue_packets: 3,
        tx_ring_descriptors: 2,
        rx_ring_descriptors: 4,
        rx_queues: 1,
        rx_segment_cost: Duration::from_us(1),
        rx_kilobyte_cost: Duration::from_us(1),
        interrupt_delay: Duration::from_us(10),
        interrupt_jitter: Duration::ZERO,
        interrupt_gap: Duration::ZERO,
        interrupt_moderation: None,
        skb_overhead: Bytes::new(256),
        rx_page: None,
        service_latency: Duration::ZERO,
        service_jitter: Duration::ZERO,
        client_latency: Duration::ZERO,
        send_call_cost: Duration::ZERO,
        clock_phase: None,
        gro: false,
        ce_to_ect1: false,
        dcqcn: None,
        machine: None,
        rx_buffer_sizes: Vec::new(),
    }
}

/// Such a frame with this ECN field, for endpoint `to`, waiting in a switch since `now`.
pub(crate) fn held(frames: &mut FramePool, now: Time, to: u32, bytes: u16, ecn: Ecn) -> Held {
    let mut frame = frame(bytes);
    frame.segment.ecn = ecn;
    frame.to = EndpointId(to);
    Held {
        frame: frames.put(now, &frame),
        in_port: 0,
        pool: Pool::Shared,
        since: now,
        marked: false,
    }
}
