//! What switches tell those who send to them, and hosts that obey.
//!
//! A PAUSE frame (of 64 bytes) takes its line time and its link's delay; a congestion message goes
//! straight back to its frame's source and takes the line times, delays and switch latencies of
//! the way, but waits in no queue and is not stopped by PAUSE. A host's card
//! ([`tailback_net::host::HostPort`]) holds what may not be sent yet.
//! Left out: messages that are lost; a card's frames count as having left the host, for TCP's own
//! limits, when they would have without any pause.

use std::collections::BTreeMap;

use tailback_net::flow_control::{PauseFrame, quanta_time};
use tailback_net::frame::{EndpointId, FRAME_BYTES_MIN, GAP_BYTES, HostId};
use tailback_net::host::{HostPort, HostQdisc, Next};
use tailback_net::l2cm::dcqcn::DcqcnConfig;
use tailback_net::l2cm::{Feedback, L2cmConfig};
use tailback_net::pool::Flight;
use tailback_units::{Duration, Rate, Time};

use super::World;
use super::cut::Cut;
use super::dcqcn::Dcqcn;
use super::echo::Stray;
use super::host_qdisc::Interface;
use super::network::{Sink, SwitchBuffer};

/// Bytes of line time of a PAUSE frame or a switch's congestion message.
const MESSAGE_WIRE_BYTES: u64 = (FRAME_BYTES_MIN + GAP_BYTES) as u64;

/// Everything that pushes back, in a run in which anything does.
#[derive(Debug)]
pub(crate) struct PushBack {
    /// The hosts' cards.
    pub(crate) cards: Vec<Card>,
    /// Calendar rank of the first host's card.
    pub(super) first_card: u32,
    /// Messages on their way, by when they take effect and their number.
    messages: BTreeMap<(Time, u64), Message>,
    number: u64,
    config: Option<L2cmConfig>,
    /// Whether anybody stops cards or tells them to send less: else those alone hold packets that have a discipline
    /// before them.
    pub(crate) stops: bool,
    /// Congestion messages and PAUSE frames sent.
    pub(crate) notices: u64,
    pub(crate) pauses: u64,
    /// Links that have stopped one another for good.
    pub(crate) deadlock: Option<(String, bool)>,
    /// What looked like that when last looked at, with the frames each port had sent.
    pub(super) suspects: Vec<(u16, u16, u64)>,
}

/// A host's card.
#[derive(Debug)]
pub(crate) struct Card {
    pub(crate) port: HostPort,
    /// If it speaks DCQCN.
    pub(super) dcqcn: Option<Box<Dcqcn>>,
    /// What packets wait under before it has them, if the interface has a discipline of its own.
    pub(crate) qdisc: Option<Box<Interface>>,
    /// When the calendar will look at it.
    pub(super) armed: Time,
}

impl Card {
    /// A card that speaks DCQCN, or does not.
    pub(crate) fn new(port: HostPort, dcqcn: Option<&DcqcnConfig>) -> Card {
        Card {
            port,
            dcqcn: dcqcn.map(|config| Box::new(Dcqcn::new(config))),
            qdisc: None,
            armed: Time::NEVER,
        }
    }

    /// The same with a queue discipline before it.
    pub(crate) fn behind(self, qdisc: Option<HostQdisc>) -> Card {
        let qdisc = qdisc.map(|qdisc| Box::new(Interface::new(qdisc)));
        Card { qdisc, ..self }
    }

    /// Whether it does.
    pub(crate) fn speaks_dcqcn(&self) -> bool {
        self.dcqcn.is_some()
    }

    /// CNPs it has sent.
    pub(crate) fn cnps(&self) -> u64 {
        self.dcqcn.as_ref().map_or(0, |dcqcn| dcqcn.point.sent())
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Message {
    /// A PAUSE frame at the end of a link.
    Pause { link: u32, frame: PauseFrame },
    /// A congestion message at a host.
    Notice {
        host: HostId,
        point: u32,
        sampled: Flight,
        feedback: Feedback,
    },
    /// A CNP at a host, about the flow whose frames are for that endpoint.
    Cnp { host: HostId, flow: EndpointId },
    /// A switch is to say its PAUSE frames again.
    Refresh { switch: u16 },
}

impl PushBack {
    /// Cards from calendar rank `first_card` on; then comes the rank of messages.
    pub(crate) fn new(
        cards: Vec<Card>,
        first_card: u32,
        config: Option<L2cmConfig>,
        stops: bool,
    ) -> PushBack {
        PushBack {
            stops,
            cards,
            first_card,
            messages: BTreeMap::new(),
            number: 0,
            config,
            notices: 0,
            pauses: 0,
            deadlock: None,
            suspects: Vec::new(),
        }
    }

    /// Calendar ranks that it takes.
    pub(crate) fn ranks(&self) -> usize {
        self.cards.len() + 1
    }
}

impl World {
    /// The time of a card, or of messages, has come.
    #[cold]
    pub(super) fn handle_pushback(&mut self, rank: u32) {
        let Some(pushback) = &mut self.pushback else {
            return;
        };
        let card = (rank - pushback.first_card) as usize;
        if card < pushback.cards.len() {
            return self.serve_card(card);
        }
        while let Some(pushback) = &mut self.pushback
            && let Some(entry) = pushback.messages.first_entry()
            && entry.key().0 <= self.now
        {
            match entry.remove() {
                Message::Pause { link, frame } => self.pause(link, frame),
                Message::Notice {
                    host,
                    point,
                    sampled,
                    feedback,
                } => self.react(usize::from(host.0), point, &sampled, feedback),
                Message::Cnp { host, flow } => self.obey_cnp(usize::from(host.0), flow),
                Message::Refresh { switch } => {
                    self.refresh_pauses(switch);
                    self.look_for_deadlock();
                }
            }
        }
    }

    pub(super) fn send_message(&mut self, at: Time, message: Message) {
        let Some(pushback) = &mut self.pushback else {
            return;
        };
        pushback.number += 1;
        pushback.messages.insert((at, pushback.number), message);
        let rank = pushback.first_card + pushback.cards.len() as u32;
        self.calendar.schedule(rank, at);
    }

    /// A switch will be asked to say its PAUSE frames again.
    pub(super) fn refresh_at(&mut self, at: Time, switch: u16) {
        self.send_message(at, Message::Refresh { switch });
    }

    /// Sends a PAUSE frame over a link: as soon as its transmitter is free.
    pub(super) fn send_pause(&mut self, link: u32, frame: PauseFrame, reaction: Duration) {
        if let Some(pushback) = &mut self.pushback {
            pushback.pauses += 1;
        }
        let finish = self.links[link as usize]
            .link
            .occupy(self.now, MESSAGE_WIRE_BYTES);
        let at = self.links[link as usize].link.reaches(finish) + reaction;
        self.send_message(at, Message::Pause { link, frame });
    }

    /// A PAUSE frame has come over a link and takes effect.
    fn pause(&mut self, link: u32, frame: PauseFrame) {
        let time = quanta_time(frame.quanta, self.links[link as usize].link.rate());
        match self.end_of(link) {
            Sink::Switch { switch, port } => self.pause_port(switch, port, frame.classes, time),
            Sink::Host { host, .. }
            | Sink::Polled { host }
            | Sink::Spread { host }
            | Sink::Machine { host } => {
                let now = self.now;
                let host = usize::from(host.0);
                if let Some(pushback) = &mut self.pushback {
                    let paused = &mut pushback.cards[host].port.paused;
                    paused.pause(now, frame.classes, time);
                }
                self.serve_card(host);
            }
            Sink::Onward { .. } | Sink::Outside { .. } => {}
        }
    }

    /// What a link leads to in the end.
    pub(crate) fn end_of(&self, link: u32) -> Sink {
        match self.links[link as usize].sink {
            Sink::Onward { link } => self.links[link as usize].sink,
            sink => sink,
        }
    }

    /// The host that a frame comes from, if it may be limited: not a ping.
    pub(super) fn limited_source(&self, frame: &Flight) -> Option<HostId> {
        match Stray::of(frame.to) {
            Some(Stray::Background(_)) => {
                Some(HostId(self.frames.header(frame.frame).ack.0 as u16))
            }
            Some(_) => None,
            None => Some(self.endpoints.get(frame.to.0 as usize)?.peer_host),
        }
    }

    /// A congestion point tells the source of a frame, if it would obey: one above zero is only for a limiter
    /// that is associated with this point. Frames carry no tag that says so, so its host is asked.
    pub(super) fn notify(&mut self, switch: u16, port: u16, sampled: Flight, feedback: Feedback) {
        let Some(host) = self.limited_source(&sampled) else {
            return;
        };
        let point = self.switches[usize::from(switch)].first_rank + u32::from(port);
        let Some(pushback) = &mut self.pushback else {
            return;
        };
        let card = &pushback.cards[usize::from(host.0)].port;
        if feedback.fb > 0 && !card.is_associated(point, &sampled) {
            return;
        }
        pushback.notices += 1;
        if let SwitchBuffer::Queued(queues) = &mut self.switches[usize::from(switch)].buffer {
            queues.ports[usize::from(port)].notices += 1;
        }
        let bytes = MESSAGE_WIRE_BYTES;
        let at = self.now + self.way_back(switch, host, sampled.to, bytes);
        let message = Message::Notice {
            host,
            point,
            sampled,
            feedback,
        };
        self.send_message(at, message);
    }

    /// The time that a message takes from a switch to a host.
    pub(super) fn way_back(
        &self,
        switch: u16,
        host: HostId,
        flow: EndpointId,
        wire_bytes: u64,
    ) -> Duration {
        let mut time = Duration::ZERO;
        let mut at = switch;
        loop {
            let state = &self.switches[usize::from(at)];
            let port = state.routes.port(&self.attachments, host.0, flow.0);
            let number = state.ports[usize::from(port)].out_link;
            let link = &self.links[number as usize].link;
            let sent = Time::ZERO + link.rate().time_for(wire_bytes);
            time = time + state.latency + link.reaches(sent).since(Time::ZERO);
            match self.end_of(number) {
                Sink::Switch { switch, .. } => at = switch,
                _ => return time,
            }
        }
    }

    /// The slowest rate on the way from a host to another, and the time that bits take without it.
    pub(crate) fn way(&self, from: HostId, to: HostId, flow: u32) -> (Rate, Duration) {
        let mut number = self.hosts[usize::from(from.0)].uplink;
        let mut rate = self.links[number as usize].link.rate();
        let mut delay = Duration::ZERO;
        loop {
            let link = &self.links[number as usize].link;
            rate = rate.min(link.rate());
            delay += link.reaches(Time::ZERO).since(Time::ZERO);
            let Sink::Switch { switch, .. } = self.end_of(number) else {
                return (rate, delay);
            };
            let state = &self.switches[usize::from(switch)];
            delay += state.latency;
            let port = state.routes.port(&self.attachments, to.0, flow);
            number = state.ports[usize::from(port)].out_link;
        }
    }

    /// A congestion message has come to a host.
    fn react(&mut self, host: usize, point: u32, sampled: &Flight, feedback: Feedback) {
        let now = self.now;
        if let Some(PushBack {
            cards,
            config: Some(config),
            ..
        }) = &mut self.pushback.as_deref_mut()
        {
            let card = &mut cards[host].port;
            card.message(now, config, point, sampled, feedback);
        }
        self.serve_card(host);
    }

    /// What TCP gave waits at its host's card. Answers when it would have left if nothing stopped it.
    pub(super) fn queue_at_card(&mut self, host: usize, mut cut: Cut<'_>) -> Time {
        let now = self.now;
        let link = &self.links[self.hosts[host].uplink as usize].link;
        let mut left = link.free_at().max(now);
        let Some(pushback) = &mut self.pushback else {
            return left;
        };
        let card = &mut pushback.cards[host].port;
        loop {
            let last = cut.is_last();
            let flight = cut.put(&mut self.frames, now, last);
            self.ledger.sent.count(&flight);
            card.push(flight);
            left += link.serialisation(&flight);
            if last {
                return left;
            }
            cut.advance();
        }
    }

    /// Puts one frame at a host's card.
    pub(super) fn put_at_card(&mut self, host: usize, flight: Flight) {
        let Some(pushback) = &mut self.pushback else {
            return;
        };
        let card = &mut pushback.cards[host];
        match &mut card.qdisc {
            None => {
                self.ledger.sent.count(&flight);
                card.port.push(flight);
            }
            Some(interface) => interface.enqueue(self.now, flight, None, &mut self.frames),
        }
        self.serve_card(host);
    }

    /// Frames of a class that wait at a host's card, if any wait there.
    pub(super) fn waiting_at_card(&self, host: usize, class: u8) -> Option<usize> {
        let pushback = self.pushback.as_ref()?;
        let card = &pushback.cards[host];
        (pushback.stops || card.qdisc.is_some()).then(|| card.port.len_of(class))
    }

    /// Lets a card send what it may, and comes back when it may send more.
    pub(super) fn serve_card(&mut self, host: usize) {
        let now = self.now;
        let Some(pushback) = &mut self.pushback else {
            return;
        };
        if pushback.cards[host].qdisc.is_some() {
            return self.serve_qdisc(host);
        }
        let rank = pushback.first_card + host as u32;
        let card = &mut pushback.cards[host];
        if card.armed <= now {
            card.armed = Time::NEVER;
        }
        if card.port.poll_timeout() <= now {
            card.port.handle_timeout(now);
        }
        let uplink = self.hosts[host].uplink;
        let state = &mut self.links[uplink as usize];
        let mut due = card.port.poll_timeout();
        if state.link.free_at() > now {
            if !card.port.is_empty() {
                due = due.min(state.link.free_at());
            }
        } else {
            match card.port.next(now) {
                Next::Frame(frame) => {
                    let finish = state.link.transmit(now, &frame);
                    let frames = &mut self.frames;
                    let first =
                        state.launch(finish, frame, frames, &mut self.hosts, &mut self.ledger);
                    if let Some(at) = first {
                        self.calendar.schedule(uplink, at);
                    }
                    if !card.port.is_empty() {
                        due = due.min(finish);
                    }
                }
                Next::Wait(until) => due = due.min(until),
                Next::Idle => {}
            }
        }
        if due < card.armed {
            card.armed = due;
            self.calendar.schedule(rank, due);
        }
    }
}
