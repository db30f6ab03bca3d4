//! Links and switches as the world holds them.

use prefetch_index::prefetch_index;
use tailback_net::frame::HostId;
use tailback_net::impairment::Fate;
use tailback_net::link::Link;
use tailback_net::loss::Losses;
use tailback_net::marking::{Mark, Marker, QueueLook, Verdict};
use tailback_net::multipath::{Balancer, Load};
use tailback_net::pool::{Flight, FramePool};
use tailback_net::switch::DropCause;
use tailback_net::switch::shared::SharedBuffer;
use tailback_net::switch::voq::VoqBuffer;
use tailback_units::{Duration, Time};

use super::interfaces::Unsent;
use super::queued::QueuedSwitch;
use super::{HostState, Ledger};
use crate::capture::Note;
use crate::route::{Attachments, Port, Routes};

/// One direction of a link and what is at its end: two cache lines, which belong together.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct LinkState {
    /// Its place among the links.
    pub(crate) number: u32,
    pub(crate) link: Link,
    pub(crate) sink: Sink,
    /// Nothing can happen to a frame on it, nobody looks on, and it is handled as it arrives.
    pub(crate) plain: bool,
    /// The same, but that a receive ring says when it is handled.
    pub(crate) plain_to_ring: bool,
    /// The same, but that it leads to a modelled machine.
    pub(crate) plain_to_machine: bool,
    pub(crate) label: Box<Label>,
}

/// What a link is called, and what is polled of it: apart, for it is needed when all is over, or seldom.
#[derive(Debug)]
pub(crate) struct Label {
    pub(crate) name: Box<str>,
    /// What the next poll is not to count, if its interface is polled.
    pub(crate) unsent: Option<Unsent>,
}

// Whoever fetches a link ahead fetches two lines.
const _: () = assert!(size_of::<LinkState>() == 128, "a link is two cache lines");

/// What a link leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sink {
    /// A port of a switch.
    Switch { switch: u16, port: u16 },
    /// A host: its receive ring is fed by this link alone, so when TCP gets a frame is known as
    /// soon as the frame is on its way, and needs no event of its own.
    Host {
        host: HostId,
        /// Its receive path takes no time and holds nothing.
        at_once: bool,
    },
    /// A host that puts frames of a poll together: its receive ring is fed by this link alone, and takes
    /// what has come when a poll is over ([`super::gro`]).
    Polled { host: HostId },
    /// A host whose card has several receive queues, each fed by this link alone ([`super::spread`]).
    Spread { host: HostId },
    /// Another stretch of the same link, which begins where this one ends and takes no time: what
    /// an impaired link may deliver out of order a host can be told of only as it comes.
    Onward { link: u32 },
    /// A host with a modelled machine: its card has the frame as soon as it is on its way, and needs no
    /// event for its arrival.
    Machine { host: HostId },
    /// A host whose machine is not modelled here: it gets the frame as it arrives.
    Outside { host: HostId },
}

/// A switch's packet memory.
// Its kind is a byte, which is looked at faster than a niche in one of its lengths.
#[derive(Debug)]
#[repr(u8)]
pub(crate) enum SwitchBuffer {
    Shared(SharedBuffer),
    Voq(VoqBuffer),
    Queued(Box<QueuedSwitch>),
}

/// One switch.
#[derive(Debug)]
pub(crate) struct SwitchState {
    pub(crate) name: String,
    pub(crate) buffer: SwitchBuffer,
    pub(crate) marker: Marker,
    pub(crate) cut_through: bool,
    pub(crate) latency: Duration,
    pub(crate) routes: Routes,
    /// What chooses between equal paths, where flows do not keep to one.
    pub(crate) balancer: Option<Box<Balancer>>,
    pub(crate) ports: Vec<PortState>,
    /// Calendar rank of port 0.
    pub(crate) first_rank: u32,
}

/// One port of a switch: half a line of the processor's cache.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(crate) struct PortState {
    /// The link that leaves from here.
    pub(crate) out_link: u32,
    /// Most bytes that waited for this port.
    pub(crate) queued_bytes_max: u64,
    /// What was dropped on the way to this port, by [`DropCause`].
    pub(crate) drops: Box<[Losses; DropCause::ALL.len()]>,
    pub(crate) marked: u64,
}

impl PortState {
    /// Frames dropped on the way to this port.
    pub(crate) fn dropped(&self) -> u64 {
        self.drops.iter().map(|losses| losses.frames).sum()
    }
}

impl SwitchState {
    pub(crate) fn drops(&self) -> u64 {
        self.ports.iter().map(PortState::dropped).sum()
    }

    pub(crate) fn marked(&self) -> u64 {
        self.ports.iter().map(|p| p.marked).sum()
    }

    /// Brings the books of every port up to `now`. For those who look only: apart, so that the
    /// buffer's own `settle` stays where every frame needs it.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle(&mut self, now: Time) {
        if let SwitchBuffer::Shared(buffer) = &mut self.buffer {
            for port in 0..self.ports.len() as u16 {
                buffer.settle(now, port);
            }
        }
    }

    /// Bytes that wait for each port.
    pub(crate) fn queues(&self) -> impl Iterator<Item = u64> {
        (0..self.ports.len() as u16).map(|port| self.queued_bytes(port))
    }

    /// Bytes that wait for a port.
    pub(crate) fn queued_bytes(&self, port: u16) -> u64 {
        self.buffer.queued_bytes(port)
    }
}

impl SwitchBuffer {
    /// Bytes that wait for a port, as of the last time its books were brought up.
    fn queued_bytes(&self, port: u16) -> u64 {
        match self {
            SwitchBuffer::Shared(buffer) => buffer.queued_bytes(port),
            SwitchBuffer::Voq(buffer) => buffer.queued_bytes(port),
            SwitchBuffer::Queued(queues) => queues.buffer.queued_bytes(port),
        }
    }
}

impl SwitchState {
    /// The port by which a frame leaves where flows do not keep to one path; `only` if there is nothing to choose.
    #[cold]
    #[inline(never)]
    pub(super) fn balanced(
        &mut self,
        now: Time,
        only: Port,
        frame: &Flight,
        attachments: &Attachments,
        links: &[LinkState],
    ) -> Port {
        let equal = self.routes.equal(attachments, frame.destination.0);
        let (Some(balancer), Some(equal)) = (&mut self.balancer, equal) else {
            return only;
        };
        let (buffer, ports) = (&mut self.buffer, &self.ports);
        balancer.port(now, frame.to.0, equal, |port| {
            if let SwitchBuffer::Shared(buffer) = buffer {
                buffer.settle(now, port);
            }
            let out_link = ports[usize::from(port)].out_link;
            Load {
                queued_bytes: buffer.queued_bytes(port),
                is_sending: links[out_link as usize].link.free_at() > now,
            }
        })
    }
}

impl PortState {
    /// Asks the switch's marker about a frame that joins this port's queue; says whether it may.
    #[inline(always)]
    pub(super) fn judge(
        &mut self,
        marker: &mut Marker,
        at: (Time, u16),
        look: QueueLook,
        frame: &Flight,
        frames: &mut FramePool,
        ledger: &mut Ledger,
    ) -> bool {
        self.verdict(marker, at, look, frame, frames, ledger) != Verdict::Drop
    }

    /// The same, and whether it marked the frame.
    #[inline(always)]
    pub(super) fn verdict(
        &mut self,
        marker: &mut Marker,
        (now, switch): (Time, u16),
        look: QueueLook,
        frame: &Flight,
        frames: &mut FramePool,
        ledger: &mut Ledger,
    ) -> Verdict {
        let verdict = marker.arrive(now, look, frames.header_mut(frame.frame));
        if verdict == Verdict::Marked {
            self.note_mark((now, switch, look.port), frame, frames, ledger);
        }
        verdict
    }

    /// A frame of this port's queue has been marked.
    #[inline(always)]
    pub(super) fn note_mark(
        &mut self,
        at: (Time, u16, u16),
        frame: &Flight,
        frames: &FramePool,
        ledger: &mut Ledger,
    ) {
        self.marked += 1;
        if ledger.capture.is_some() {
            self.note_marked(at, frame, frames, ledger);
        }
    }

    /// A frame has been marked, and somebody looks on.
    #[cold]
    fn note_marked(
        &self,
        (now, switch, port): (Time, u16, u16),
        frame: &Flight,
        frames: &FramePool,
        ledger: &mut Ledger,
    ) {
        if let Some(capture) = &mut ledger.capture {
            let note = Note::Marked { switch, port };
            capture.note(now, self.out_link, frame, frames, note);
        }
    }
}

impl LinkState {
    /// What it is called.
    pub(crate) fn name(&self) -> &str {
        &self.label.name
    }

    /// It will be used soon: brings it into the processor's cache.
    #[inline]
    pub(super) fn prefetch(&self) {
        // From a field's place to each of the two lines, in steps of the field's own size.
        let field = std::slice::from_ref(&self.number);
        let offset = std::mem::offset_of!(LinkState, number);
        for line in [0, 64] {
            let step = (line - offset as isize) / size_of::<u32>() as isize;
            prefetch_index(field, step as usize);
        }
    }

    /// The earliest that a switch may begin to send a frame that came over this link, and that it would send at
    /// `now` had it to be whole. A cut-through switch may have begun before that, as long as the last bit does not
    /// leave before it arrived; where the egress link is faster than this one that bound rules.
    #[inline]
    pub(super) fn earliest_departure(
        &self,
        now: Time,
        cut_through: bool,
        egress: &Link,
        frame: &Flight,
    ) -> Time {
        if cut_through {
            let took = self.link.serialisation(frame);
            cut_through_from(now, took, egress, frame)
        } else {
            now
        }
    }

    /// A frame's last bit has left onto this link at `finish`: it is lost, dropped by a receive
    /// ring, or on its way. Answers with the time of the link's next event if that is new: one that
    /// leads to a machine has those that make the calendar look at the machine.
    #[inline(always)]
    pub(crate) fn launch(
        &mut self,
        finish: Time,
        mut frame: Flight,
        frames: &mut FramePool,
        hosts: &mut [HostState],
        ledger: &mut Ledger,
    ) -> Option<Time> {
        if !self.plain {
            return self.launch_with_care(finish, frame, frames, hosts, ledger);
        }
        frame.at = self.link.arrival(finish);
        self.link.launch(frame).then_some(frame.at)
    }

    /// The same where a host with a machine sends, perhaps to another.
    #[inline(always)]
    pub(super) fn launch_from_machine(
        &mut self,
        finish: Time,
        frame: Flight,
        frames: &mut FramePool,
        hosts: &mut [HostState],
        ledger: &mut Ledger,
    ) -> Option<Time> {
        match self.plain_machine(ledger) {
            Some(host) => self.launch_to_machine(finish, frame, frames, &mut hosts[host]),
            None => self.launch(finish, frame, frames, hosts, ledger),
        }
    }

    /// The host with a machine that it leads to, if nothing can happen on the way.
    #[inline(always)]
    fn plain_machine(&self, ledger: &Ledger) -> Option<usize> {
        match self.sink {
            Sink::Machine { host } if self.plain_to_machine && ledger.outbox.is_none() => {
                Some(usize::from(host.0))
            }
            _ => None,
        }
    }

    /// A frame is on its way to a machine, whose card has it at once.
    #[inline(always)]
    fn launch_to_machine(
        &self,
        finish: Time,
        mut frame: Flight,
        frames: &FramePool,
        host: &mut HostState,
    ) -> Option<Time> {
        frame.at = self.link.arrival(finish);
        host.machine.as_mut()?.arrive(frame, frames)
    }

    /// The same where a switch sends, which many of its frames do to hosts.
    // By reference: a frame that is handed on by value is copied at each step.
    #[inline(always)]
    pub(super) fn launch_from_switch(
        &mut self,
        finish: Time,
        frame: &Flight,
        frames: &mut FramePool,
        hosts: &mut [HostState],
        ledger: &mut Ledger,
    ) -> Option<Time> {
        if self.plain_to_ring {
            let arrival = self.link.arrival(finish);
            let (Sink::Host { host, .. } | Sink::Polled { host }) = self.sink else {
                let frame = frame.due(arrival);
                return self.launch_to_queue(frame, frames, hosts, ledger);
            };
            let host = &mut hosts[usize::from(host.0)];
            let Some(handled) = host.arrive(arrival, &self.link, frame, frames) else {
                self.overrun(frame, frames, ledger);
                return None;
            };
            return self.launch_to_ring(frame, handled).then_some(handled);
        }
        if self.plain {
            let arrival = self.link.arrival(finish);
            return self.link.launch_for(frame, arrival).then_some(arrival);
        }
        self.launch_with_care(finish, *frame, frames, hosts, ledger)
    }

    /// A frame will be handled at `at`, as a receive ring has said. True if that is the link's next
    /// event, or that of a host that polls.
    #[inline(always)]
    fn launch_to_ring(&mut self, frame: &Flight, at: Time) -> bool {
        match self.sink {
            Sink::Polled { .. } => self.link.launch_for_poll(frame.due(at)),
            _ => self.link.launch_for(frame, at),
        }
    }

    /// A frame comes at its `at` to a card with several receive queues.
    #[inline(always)]
    fn launch_to_queue(
        &self,
        frame: Flight,
        frames: &mut FramePool,
        hosts: &mut [HostState],
        ledger: &mut Ledger,
    ) -> Option<Time> {
        let Sink::Spread { host } = self.sink else {
            return None;
        };
        let (taken, first) = hosts[usize::from(host.0)].come(&frame, frames);
        if !taken {
            self.overrun(&frame, frames, ledger);
        }
        first
    }

    /// A frame that has come finds the receive ring full.
    #[cold]
    fn overrun(&self, frame: &Flight, frames: &mut FramePool, ledger: &mut Ledger) {
        let note = Note::RingFull { link: self.number };
        self.note(note, frame, frames, ledger);
        ledger.lose_frame(frame, frames, "rx-ring");
        frames.release(frame.frame);
    }

    /// The same on a link where more than that may happen.
    #[inline(never)]
    fn launch_with_care(
        &mut self,
        finish: Time,
        mut frame: Flight,
        frames: &mut FramePool,
        hosts: &mut [HostState],
        ledger: &mut Ledger,
    ) -> Option<Time> {
        if let Some(host) = self.plain_machine(ledger) {
            return self.launch_to_machine(finish, frame, frames, &mut hosts[host]);
        }
        if let Some(unsent) = &mut self.label.unsent {
            unsent.note(finish, frame.frame_bytes);
        }
        if let Some(capture) = &mut ledger.capture {
            capture.carried(self.number, finish, &frame, frames);
        }
        if self.link.is_impaired() {
            return self.launch_impaired(finish, frame, frames, ledger);
        }
        if self.link.loses(&frame) {
            self.lose(&frame, frames, ledger, Note::Lost { link: self.number });
            return None;
        }
        let arrival = self.link.arrival(finish);
        if let Some(outbox) = &mut ledger.outbox
            && outbox.take(self.number, arrival, &frame, frames)
        {
            frames.release(frame.frame);
            return None;
        }
        frame.at = match self.sink {
            Sink::Switch { .. }
            | Sink::Onward { .. }
            | Sink::Outside { .. }
            | Sink::Host { at_once: true, .. } => arrival,
            Sink::Machine { host } => {
                let host = &mut hosts[usize::from(host.0)];
                return self.launch_to_machine(finish, frame, frames, host);
            }
            Sink::Spread { .. } => {
                frame.at = arrival;
                return self.launch_to_queue(frame, frames, hosts, ledger);
            }
            Sink::Host { host, .. } | Sink::Polled { host } => {
                let host = &mut hosts[usize::from(host.0)];
                let Some(handled) = host.arrive(arrival, &self.link, &frame, frames) else {
                    self.overrun(&frame, frames, ledger);
                    return None;
                };
                handled
            }
        };
        self.launch_to_ring(&frame, frame.at).then_some(frame.at)
    }

    /// Something happens to a frame on this link.
    #[cold]
    pub(super) fn note(&self, note: Note, frame: &Flight, frames: &FramePool, ledger: &mut Ledger) {
        if let Some(capture) = &mut ledger.capture {
            capture.note(frame.at, self.number, frame, frames, note);
        }
    }

    /// A frame is lost on this link, which has counted it.
    #[cold]
    fn lose(&self, frame: &Flight, frames: &mut FramePool, ledger: &mut Ledger, note: Note) {
        self.note(note, frame, frames, ledger);
        ledger.lose_frame(frame, frames, "link");
        frames.release(frame.frame);
    }

    /// The same on a link with impairments, which does not end at a host.
    #[cold]
    fn launch_impaired(
        &mut self,
        finish: Time,
        mut frame: Flight,
        frames: &mut FramePool,
        ledger: &mut Ledger,
    ) -> Option<Time> {
        let arrival = self.link.arrival(finish);
        let reaches = self.link.reaches(finish);
        frame.at = arrival + self.link.hold(reaches, &frame);
        let mut first = false;
        let fate = self.link.fate(reaches, &frame);
        // What impairments count is every frame: the link's own chance has its say after them.
        if fate == Fate::Policed {
            self.lose(&frame, frames, ledger, Note::Policed { link: self.number });
            return None;
        }
        if fate == Fate::Lost || self.link.loses(&frame) {
            self.lose(&frame, frames, ledger, Note::Lost { link: self.number });
            return None;
        }
        if let Some(field) = self.link.ecn_field() {
            field.write(frames.header_mut(frame.frame));
        }
        match fate {
            Fate::Late(by) => frame.at += by,
            Fate::Doubled => {
                ledger.sent.count(&frame);
                ledger.doubled.count(&frame);
                let copy = frames.frame(&frame);
                let double = frames.put(frame.at, &copy);
                if let Some(capture) = &mut ledger.capture {
                    capture.doubled(&frame, &double);
                }
                first = self.link.launch_out_of_order(double);
            }
            Fate::Marked => {
                Mark::Ce.set(frames.header_mut(frame.frame));
            }
            Fate::Pass | Fate::Lost | Fate::Policed => {}
        }
        first |= self.link.launch_out_of_order(frame);
        first.then_some(frame.at)
    }
}

/// The earliest that a switch which cuts through may begin to send a frame that `took` so long to arrive, and
/// that it would else send at `whole`.
#[inline]
pub(super) fn cut_through_from(whole: Time, took: Duration, egress: &Link, frame: &Flight) -> Time {
    whole.before(took.min(egress.serialisation(frame)))
}
