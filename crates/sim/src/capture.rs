//! What links carry, as a pcapng file.
//!
//! A frame is noted when its last bit has left onto a captured link, with its headers as they are
//! there. Drops and marks come later, elsewhere: they become comments on every copy of the frame
//! that was noted, so that a capture at the sender says which of its segments were lost, and where.
//! Frames of real kernels are written with their own bytes.
//! A frame that no captured link has carried and that is dropped before one is noted there, with a
//! comment that says so. Bytes are made at the end: headers true, payload zeros, addresses by
//! [`tailback_wire::plan`].

use std::collections::BTreeMap;
use std::sync::Arc;

use tailback_net::frame::Frame;
use tailback_net::pool::{Flight, FrameId, FramePool};
use tailback_net::switch::DropCause;
use tailback_scenario::{PcapConfig, Run};
use tailback_units::Time;
use tailback_wire::ip::{self, IpFields, Payload};
use tailback_wire::pcapng::{Direction, Writer};
use tailback_wire::{datagram, ethernet, plan};

use crate::world::{Stray, World, sent_ns};

/// Something that happened to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// A switch dropped it on the way to a port.
    Dropped {
        switch: u16,
        port: u16,
        cause: DropCause,
    },
    /// A switch marked it on the way to a port.
    Marked { switch: u16, port: u16 },
    /// It was lost on the link, by number.
    Lost { link: u32 },
    /// The policer at the end of the link dropped it.
    Policed { link: u32 },
    /// The receive ring of the host at the end of the link was full.
    RingFull { link: u32 },
    /// The backlog of a core of that host was full.
    BacklogFull { link: u32 },
    /// The buffer of the socket that it was for was full.
    SocketFull { link: u32 },
}

#[derive(Debug)]
struct Record {
    at: Time,
    link: u32,
    frame: Frame,
    /// The frame's own bytes, if a kernel sent it.
    bytes: Option<Arc<[u8]>>,
    /// The link has not carried it: it was dropped before.
    unsent: bool,
    /// The record of the same frame on the captured link before.
    before: Option<u32>,
    notes: Vec<Note>,
}

/// The frames that a run has captured so far.
#[derive(Debug)]
pub(crate) struct Capture {
    /// By link number.
    selected: Vec<bool>,
    start: Time,
    end: Time,
    frames_max: usize,
    snap_bytes: usize,
    records: Vec<Record>,
    /// The last record of each frame in the pool.
    latest: BTreeMap<FrameId, u32>,
    /// Bytes of frames that kernels have sent, with the frame: places in the pool are used again.
    real: BTreeMap<FrameId, (Frame, Arc<[u8]>)>,
    /// Frames that came after the capture was full.
    missed: u64,
}

impl Capture {
    /// The capture that a run asks for; `names` are its links' ends.
    pub(crate) fn new<'a>(
        config: &PcapConfig,
        names: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Capture {
        Capture {
            selected: names.map(|(from, to)| config.selects(from, to)).collect(),
            start: Time::ZERO + config.start,
            end: config.end.map_or(Time::NEVER, |end| Time::ZERO + end),
            frames_max: config.frames_max as usize,
            snap_bytes: config.snap.map_or(usize::MAX, |snap| snap.get() as usize),
            records: Vec::new(),
            latest: BTreeMap::new(),
            real: BTreeMap::new(),
            missed: 0,
        }
    }

    /// A kernel sends a frame with these bytes.
    pub(crate) fn sent_by_kernel(&mut self, flight: &Flight, frames: &FramePool, bytes: Vec<u8>) {
        let frame = frames.frame(flight);
        self.real.insert(flight.frame, (frame, bytes.into()));
    }

    /// A link has doubled a frame: the copy has its bytes.
    pub(crate) fn doubled(&mut self, flight: &Flight, copy: &Flight) {
        if let Some(real) = self.real.get(&flight.frame).cloned() {
            self.real.insert(copy.frame, real);
        }
    }

    /// A frame's last bit leaves onto a link at `at`.
    #[cold]
    pub(crate) fn carried(&mut self, link: u32, at: Time, flight: &Flight, frames: &FramePool) {
        self.record(link, at, flight, frames, false);
    }

    fn record(&mut self, link: u32, at: Time, flight: &Flight, frames: &FramePool, unsent: bool) {
        let selected = self.selected.get(link as usize) == Some(&true);
        if !selected || at < self.start || at > self.end {
            return;
        }
        if self.records.len() >= self.frames_max {
            self.missed += 1;
            return;
        }
        let frame = frames.frame(flight);
        let before = self.record_of(flight.frame, &frame);
        let number = self.records.len() as u32;
        let bytes = self.real.get(&flight.frame);
        let bytes = bytes.and_then(|(sent, bytes)| is_same(sent, &frame).then(|| bytes.clone()));
        self.latest.insert(flight.frame, number);
        self.records.push(Record {
            at,
            link,
            frame,
            bytes,
            unsent,
            before,
            notes: Vec::new(),
        });
    }

    /// The last record of this very frame; places in the pool are used again.
    fn record_of(&self, id: FrameId, frame: &Frame) -> Option<u32> {
        let number = *self.latest.get(&id)?;
        let known = &self.records[number as usize].frame;
        is_same(known, frame).then_some(number)
    }

    /// Something happens to a frame at `now`, on the way to a link.
    #[cold]
    pub(crate) fn note(
        &mut self,
        now: Time,
        to_link: u32,
        flight: &Flight,
        frames: &FramePool,
        note: Note,
    ) {
        let dropped = matches!(note, Note::Dropped { .. });
        let mut next = self.record_of(flight.frame, &frames.frame(flight));
        if next.is_none() && dropped {
            self.record(to_link, now, flight, frames, true);
            next = self.record_of(flight.frame, &frames.frame(flight));
        }
        while let Some(number) = next {
            let record = &mut self.records[number as usize];
            record.notes.push(note);
            next = record.before;
        }
        if dropped {
            self.latest.remove(&flight.frame);
        }
    }
}

/// The pcapng file of a finished world, if it was to make one.
pub(crate) fn file(world: &World, run: &Run) -> Option<Vec<u8>> {
    let capture = world.ledger.capture.as_deref()?;
    // Nothing fails: the file is in memory.
    write(world, run, capture).ok()
}

fn write(world: &World, run: &Run, capture: &Capture) -> std::io::Result<Vec<u8>> {
    let mut writer = Writer::new(Vec::new(), concat!("Tailback ", env!("CARGO_PKG_VERSION")))?;
    let mut interfaces = Vec::with_capacity(capture.selected.len());
    for (number, selected) in capture.selected.iter().enumerate() {
        let config = run.network.links.get(number / 2).map(|link| &link.config);
        interfaces.push(match config {
            Some(config) if *selected => {
                let name = world.links[number].name();
                Some(writer.interface(name, config.rate.as_bps())?)
            }
            _ => None,
        });
    }
    let mut order: Vec<&Record> = capture.records.iter().collect();
    order.sort_by_key(|record| record.at);
    let mut bytes = Vec::new();
    for (index, record) in order.iter().enumerate() {
        let Some(interface) = interfaces[record.link as usize] else {
            continue;
        };
        bytes.clear();
        match &record.bytes {
            Some(real) => {
                bytes.extend_from_slice(real);
                ip::set_ecn(
                    &mut bytes[ethernet::HEADER_BYTES..],
                    record.frame.segment.ecn,
                );
            }
            None => frame_bytes(world, record.at, &record.frame, &mut bytes),
        }
        let mut said: Vec<String> = Vec::new();
        if record.unsent {
            said.push("not on this link:".into());
        }
        said.extend(record.notes.iter().map(|note| note.said(world)));
        if index + 1 == order.len() && capture.missed > 0 {
            let missed = capture.missed;
            said.push(format!(
                "the capture is full: {missed} frames after this one are not in it"
            ));
        }
        let comment = (!said.is_empty()).then(|| said.join(" "));
        let kept = bytes.len().min(capture.snap_bytes);
        writer.cut_packet(
            interface,
            record.at,
            (&bytes[..kept], bytes.len()),
            Direction::Outbound,
            comment.as_deref(),
        )?;
    }
    writer.finish()
}

impl Note {
    fn said(self, world: &World) -> String {
        let port = |switch: u16, port: u16| {
            let state = &world.switches[usize::from(switch)];
            let link = state.ports[usize::from(port)].out_link;
            format!(
                "{} (port {port}, {})",
                state.name,
                world.links[link as usize].name()
            )
        };
        let after = |link: u32, why| {
            format!(
                "dropped after {}: {why}.",
                world.links[link as usize].name()
            )
        };
        match self {
            Note::Dropped {
                switch,
                port: at,
                cause,
            } => format!("dropped at {}: {}.", port(switch, at), cause.name()),
            Note::Marked { switch, port: at } => format!("marked at {}.", port(switch, at)),
            Note::Lost { link } => format!("lost on {}.", world.links[link as usize].name()),
            Note::Policed { link } => after(link, "policer"),
            Note::RingFull { link } => after(link, "receive ring full"),
            Note::BacklogFull { link } => after(link, "backlog full"),
            Note::SocketFull { link } => after(link, "socket's buffer full"),
        }
    }
}

/// Whether two looks at one place of the pool saw the same frame.
fn is_same(a: &Frame, b: &Frame) -> bool {
    a.to == b.to
        && a.payload == b.payload
        && a.segment.seq == b.segment.seq
        && a.segment.ack == b.segment.ack
        && a.segment.flags == b.segment.flags
        && a.segment.ts_val == b.segment.ts_val
}

/// The frame as it is on the wire at `at`, without FCS.
fn frame_bytes(world: &World, at: Time, frame: &Frame, out: &mut Vec<u8>) {
    let stray = Stray::of(frame.to);
    if stray.is_some() || world.is_of_datagrams(frame.to) {
        return datagram_bytes(world, at, (frame, stray), out);
    }
    segment_bytes(world, frame, out);
}

/// The frame of a modelled endpoint as it is on the wire, without FCS. A kernel's port is its own choice.
pub(crate) fn segment_bytes(world: &World, frame: &Frame, out: &mut Vec<u8>) {
    let to = &world.endpoints[frame.to.0 as usize];
    let hosts = [to.peer_host.0, frame.destination.0];
    // The class is the class selector, as on kernels.
    let fields = IpFields {
        dscp: frame.segment.priority << 3,
        ..IpFields::default()
    };
    let heard = world.peer_ports.get(to.peer.0 as usize).copied();
    let port = heard.filter(|port| *port != 0);
    let ports = [
        plan::port(to.peer.0),
        port.unwrap_or(plan::port(frame.to.0)),
    ];
    let from = (plan::ipv4(hosts[0]), ports[0]).into();
    let to = (plan::ipv4(hosts[1]), ports[1]).into();
    ethernet::write(out, plan::mac(hosts[0]), plan::mac(hosts[1]), |out| {
        ip::write(out, &frame.segment, from, to, fields, Payload::Zeros);
    });
}

/// The same of a frame that carries no TCP: a datagram or a ping.
fn datagram_bytes(
    world: &World,
    at: Time,
    (frame, stray): (&Frame, Option<Stray>),
    out: &mut Vec<u8>,
) {
    let segment = &frame.segment;
    let end = world.endpoints.get(frame.to.0 as usize);
    // A stray says who sent it where TCP says what it has got.
    let from = end.map_or(segment.ack.0 as u16, |to| to.peer_host.0);
    let hosts = [from, frame.destination.0];
    let [from, to] = hosts.map(plan::ipv4);
    ethernet::write(out, plan::mac(hosts[0]), plan::mac(hosts[1]), |out| {
        if let Some(Stray::Request | Stray::Answer) = stray {
            let number = segment.seq.0 as u16;
            let is_answer = stray == Some(Stray::Answer);
            let data_bytes = World::ping_data_bytes(frame);
            return datagram::echo(out, is_answer, (from, to), number, data_bytes);
        }
        let ports = end.map_or([frame.to.0; 2], |to| [to.peer.0, frame.to.0]);
        let [source, destination] = ports.map(plan::port);
        // Background traffic carries no time.
        let way_ns = end.map(|_| sent_ns(at).wrapping_sub(segment.ts_val));
        let sent = way_ns.map_or(0, |way| (at.as_ps() / 1000).saturating_sub(way.into()));
        datagram::udp(
            out,
            segment.priority << 5 | segment.ecn as u8,
            (from, source),
            (to, destination),
            (segment.seq.0.into(), sent),
            segment.payload_bytes,
        );
    });
}
