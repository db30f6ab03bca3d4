//! Between kernels' cards and the world's links: frames with bytes, segments as bytes and back.

use tailback_kernel::{Kernels, Network, Packet};
use tailback_net::frame::{EndpointId, FRAME_BYTES_MIN, Frame, HostId};
use tailback_tcp::{Ecn, Segment, Seq};
use tailback_units::{Duration, Time};
use tailback_wire::ethernet::HEADER_BYTES;
use tailback_wire::{ip, plan};

use super::bytes::ByteStore;
use super::datagram::{self, Datagram};
use super::{to_kernels, to_world};
use crate::capture;
use crate::world::{Totals, World, sent_ns};

/// Bytes of a frame's check sequence, which kernels' frames do not have.
const FCS_BYTES: usize = 4;

/// The world, with what kernels need at its edge.
pub(super) struct Cable {
    pub(super) world: World,
    /// The host of each kernel, and the kernel of each host.
    hosts: Vec<usize>,
    kernels: Vec<Option<usize>>,
    /// Bytes of frames in the world that have them.
    bytes: ByteStore,
    /// The host of each endpoint that there is or will be: a kernel may be ahead of the world.
    ends: Vec<usize>,
    /// What was counted, each time that it changed, if somebody outside tells of iterations.
    pub(super) log: Option<Vec<(Time, Totals)>>,
    /// Of each flow of datagrams, one more than the highest number that a kernel has sent.
    datagrams_sent: Vec<u32>,
    /// The workload has begun: until then nothing of the world is on its way.
    pub(super) begun: bool,
    /// When payload last came to a kernel or left one, on the world's clock.
    pub(super) moved: Time,
}

impl Cable {
    /// The edge of `world` with kernels on `hosts`; `ends` are the hosts of all its endpoints.
    pub(super) fn new(mut world: World, hosts: Vec<usize>, ends: Vec<usize>) -> Cable {
        let mut kernels = vec![None; world.hosts.len()];
        for (kernel, host) in hosts.iter().enumerate() {
            kernels[*host] = Some(kernel);
        }
        world.peer_ports = vec![0; ends.len()];
        Cable {
            datagrams_sent: vec![0; world.datagrams.len()],
            world,
            hosts,
            kernels,
            bytes: ByteStore::default(),
            ends,
            log: None,
            begun: false,
            moved: Time::ZERO,
        }
    }

    /// Hands the kernels all frames that have come to them.
    pub(super) fn deliver(&mut self, kernels: &mut Kernels) {
        let mut arrivals = std::mem::take(&mut self.world.arrivals);
        for (host, flight) in arrivals.drain(..) {
            self.world.hosts[usize::from(host.0)].rewrite(&flight, &mut self.world.frames);
            let frame = self.world.frames.frame(&flight);
            if frame.segment.payload_bytes > 0 {
                self.moved = self.world.now;
            }
            self.world.note_delivery(&flight);
            self.world.frames.release(flight.frame);
            let mut packet = Packet {
                bytes: kernels.buffer(),
                ..Packet::default()
            };
            if frame.payload.0 == 0 && self.world.is_of_datagrams(frame.to) {
                let now = self.world.now;
                let way_ns = sent_ns(now).wrapping_sub(frame.segment.ts_val);
                let sent = (to_kernels(now).as_ps() / 1000).saturating_sub(way_ns.into());
                let ends = self.world.endpoints.as_slice();
                datagram::write(&mut packet.bytes, &frame, sent, ends);
            } else if frame.payload.0 == 0 {
                capture::segment_bytes(&self.world, &frame, &mut packet.bytes);
            } else {
                self.bytes.read(frame.payload, &mut packet);
                // It may have been marked, or written anew, on its way.
                ip::set_ecn(&mut packet.bytes[HEADER_BYTES..], frame.segment.ecn);
            }
            if let Some(kernel) = self.kernels[usize::from(host.0)] {
                kernels.receive(kernel, to_kernels(self.world.now), packet);
            }
        }
        self.world.arrivals = arrivals;
    }

    /// What the world makes of a kernel's packet: host, endpoint and segment. None: it is for nobody
    /// here.
    fn address(&mut self, packet: &Packet) -> Option<(HostId, EndpointId, Segment)> {
        let to = packet.bytes.first_chunk().copied()?;
        let host = plan::host_of_mac(to).filter(|host| usize::from(*host) < self.kernels.len())?;
        let after_header = packet.bytes.get(HEADER_BYTES..)?;
        if let Some((flow, datagram)) = self.datagram(&packet.bytes) {
            let mut segment = no_segment(&packet.bytes);
            segment.seq = Seq(datagram.number);
            segment.payload_bytes = datagram.payload_bytes;
            segment.ts_val = sent_ns(to_world(Time::from_ps(datagram.sent_ns * 1000)));
            return Some((HostId(host), EndpointId(2 * flow as u32 + 1), segment));
        }
        let mut read = ip::parse_offloaded(after_header);
        if let Ok(read) = &mut read {
            read.segment.priority = read.fields.dscp >> 3;
        }
        if self.kernels[usize::from(host)].is_some() {
            let Ok(read) = read else {
                return Some((HostId(host), EndpointId(0), no_segment(&packet.bytes)));
            };
            // Only routes look at it, to spread flows; hosts they know already.
            let [from, to] = [read.from, read.to].map(|end| u32::from(end.port()));
            let flow = EndpointId(from << 16 | to);
            return Some((HostId(host), flow, read.segment));
        }
        let read = read.ok()?;
        let number = usize::from(read.to.port().checked_sub(plan::FIRST_PORT)?);
        if self.ends.get(number) != Some(&usize::from(host)) {
            return None;
        }
        self.world.peer_ports[number] = read.from.port();
        Some((HostId(host), EndpointId(number as u32), read.segment))
    }

    /// A datagram of the workload, with its flow.
    fn datagram(&self, frame: &[u8]) -> Option<(usize, Datagram)> {
        let read = datagram::read(frame)?;
        let flow = usize::from(read.port.checked_sub(plan::FIRST_PORT)?) / 2;
        (flow < self.world.datagrams.len()).then_some((flow, read))
    }

    /// A kernel sends a datagram: those before it that it has not sent, in order as they are given,
    /// were lost in its queue.
    fn note_datagram(&mut self, packet: &Packet) {
        let Some((flow, Datagram { number, .. })) = self.datagram(&packet.bytes) else {
            return;
        };
        let sent = &mut self.datagrams_sent[flow];
        for lost in *sent..number {
            let ledger = &mut self.world.ledger;
            ledger.lose(EndpointId(2 * flow as u32 + 1), lost, "tx-queue");
        }
        *sent = (*sent).max(number + 1);
    }

    /// Notes what has been counted if it has changed.
    pub(super) fn note_totals(&mut self) {
        let Some(log) = &mut self.log else {
            return;
        };
        let counted = Totals {
            // Nobody asks for it, and it changes all the time.
            read_bytes: 0,
            ..self.world.totals()
        };
        if log.last().map_or(Totals::default(), |(_, last)| *last) != counted {
            log.push((self.world.now, counted));
        }
    }
}

/// What stands for a packet that is not TCP: nothing but its ECN field and its class.
fn no_segment(frame: &[u8]) -> Segment {
    let tos = match frame.get(HEADER_BYTES..HEADER_BYTES + 2) {
        Some([first, tos]) if first >> 4 == 4 => *tos,
        _ => 0,
    };
    let mut segment = Segment::EMPTY;
    segment.ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(tos & 3)];
    segment.priority = tos >> 5;
    segment
}

impl Network for Cable {
    fn transmit(&mut self, kernel: usize, earliest: Time, packet: Packet) -> (Time, Vec<u8>) {
        let host = self.hosts[kernel];
        let uplink = self.world.hosts[host].uplink;
        let length = (packet.bytes.len() + FCS_BYTES).max(FRAME_BYTES_MIN as usize);
        let address = self.address(&packet);
        self.note_datagram(&packet);
        let is_known = address.is_some();
        let (destination, to, segment) =
            address.unwrap_or((HostId(0), EndpointId(0), Segment::EMPTY));
        let mut frame = Frame::new(segment, to, destination);
        frame.frame_bytes = length as u16;
        let world = &mut self.world;
        let mut spare = Vec::new();
        // What a card would have to put in before it sends.
        let captured = (is_known && world.ledger.capture.is_some()).then(|| {
            let mut whole = packet.clone();
            whole.complete_checksum();
            whole.bytes
        });
        if is_known && self.kernels[usize::from(destination.0)].is_some() {
            (frame.payload, spare) = self.bytes.keep(packet, &world.frames);
        }
        let earliest = to_world(earliest);
        if segment.payload_bytes > 0 {
            self.moved = self.moved.max(earliest);
        }
        let flight = world.frames.put(earliest, &frame);
        if let (Some(capture), Some(bytes)) = (&mut world.ledger.capture, captured) {
            capture.sent_by_kernel(&flight, &world.frames, bytes);
        }
        let link = &mut world.links[uplink as usize];
        let finish = link.link.transmit(earliest, &flight);
        if is_known {
            world.ledger.sent.count(&flight);
            let (frames, hosts) = (&mut world.frames, &mut world.hosts);
            if let Some(at) = link.launch(finish, flight, frames, hosts, &mut world.ledger) {
                world.calendar.schedule(uplink, at);
            }
        } else {
            // It takes its time on the link and ends there.
            world.frames.release(flight.frame);
        }
        (to_kernels(finish), spare)
    }

    fn next_event(&mut self) -> Time {
        if !self.begun {
            return to_kernels(Time::ZERO);
        }
        match self.world.calendar.next_at() {
            Some(at) => to_kernels(at),
            None => Time::NEVER,
        }
    }

    fn overrun(&mut self, _kernel: usize, packet: &Packet) {
        if let Some((flow, datagram)) = self.datagram(&packet.bytes) {
            let end = EndpointId(2 * flow as u32 + 1);
            self.world.ledger.lose(end, datagram.number, "rx-ring");
        }
    }

    fn transit_min(&self, kernel: usize) -> Duration {
        let uplink = self.world.hosts[self.hosts[kernel]].uplink;
        self.world.links[uplink as usize].link.least_transit()
    }
}
