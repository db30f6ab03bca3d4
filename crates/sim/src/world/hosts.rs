//! Hosts: between the wire, TCP and the application.

use std::sync::Arc;

use tailback_net::frame::{EndpointId, HostId};
use tailback_net::host::{PageBuffers, ReceiveRing, TransmitQueue};
use tailback_net::link::Link;
use tailback_net::loss::Losses;
use tailback_net::pool::{Flight, FramePool};
use tailback_net::random::Stream;
use tailback_tcp::{
    Arrival, Config, Connection, Ecn, Event, Flags, Header, MetricsCache, Shortage, SocketOptions,
    Told,
};
use tailback_units::Time;

use super::application::most_read;
use super::cut::{Whole, send, send_plainly};
use super::machines::NO_TASK;
use super::turns::schedule_launch;
use super::{Gro, MachineState, Spread, World};
use crate::workload::{Action, BackgroundFlowsApp, Notice};

/// One host.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct HostState {
    // In the order of memory: what every packet needs comes first, in one line of the processor's cache.
    pub(crate) uplink: u32,
    /// Its machine is not modelled here: a real kernel.
    pub(crate) outside: bool,
    /// CE becomes ECT(1) before TCP sees it.
    pub(crate) ce_to_ect1: bool,
    /// It has a machine, or a card with several receive queues.
    pub(crate) careful: bool,
    /// Its receive ring counts what is sent, too.
    pub(crate) counts_sent: bool,
    /// The machine with its parts, in place of `ring`, if it is modelled.
    pub(crate) machine: Option<Box<MachineState>>,
    pub(crate) queue: TransmitQueue,
    pub(crate) ring: ReceiveRing,
    /// Its kernel puts frames together.
    pub(crate) gro: Option<Box<Gro>>,
    /// What receive queues of connections that are gone did for want of memory.
    pub(crate) shortage: Shortage,
    /// Receive buffers, where they are not all alike.
    pub(crate) buffers: Option<PageBuffers>,
    /// What connections of this host are made with, but for their seed.
    pub(crate) config: Config,
    /// Options of the sockets of flows beside the workload, where the workload asks for others.
    pub(crate) beside_options: Option<Arc<SocketOptions>>,
    /// What its connections have left to those after them, by the peer.
    pub(crate) metrics: MetricsCache<HostId>,
    /// Draws interrupt delays.
    pub(crate) stream: Stream,
    /// The card's receive queues in place of `ring`, if it has several.
    pub(crate) spread: Option<Box<Spread>>,
    pub(crate) name: String,
    /// Its sysctl, if it is a kernel whose own is not its stack profile's.
    pub(crate) kernel_control: Option<String>,
}

impl HostState {
    /// What arrived at the card and was lost before TCP or a socket, by cause.
    pub(crate) fn received_in_vain(&self) -> [(&'static str, Losses); 3] {
        let mut ring = self.ring.dropped();
        if let Some(spread) = &self.spread {
            ring += spread.dropped();
        }
        let (mut backlog, mut sockets) = (Losses::default(), Losses::default());
        if let Some(state) = &self.machine {
            ring += state.machine.ring_dropped();
            backlog = state.machine.backlog_dropped();
            sockets = state.socket_dropped;
        }
        [
            ("rx-ring-full", ring),
            ("backlog-full", backlog),
            ("socket-backlog-full", sockets),
        ]
    }

    /// Frames lost at this host, those it was refused to send included.
    pub(crate) fn dropped(&self) -> u64 {
        let received = self.received_in_vain().map(|(_, lost)| lost.frames);
        received.into_iter().sum::<u64>() + self.queue.refused().frames
    }

    /// Rewrites the mark of a frame that has come, if the host does that before TCP sees it.
    #[inline]
    pub(crate) fn rewrite(&self, frame: &Flight, frames: &mut FramePool) {
        if self.ce_to_ect1 {
            let ecn = &mut frames.header_mut(frame.frame).ecn;
            if *ecn == Ecn::Ce {
                *ecn = Ecn::Ect1;
            }
        }
    }

    /// A frame arrives at `at` over the link: when TCP gets it, if the receive ring has room.
    #[inline(always)]
    pub(super) fn arrive(
        &mut self,
        at: Time,
        link: &Link,
        frame: &Flight,
        frames: &mut FramePool,
    ) -> Option<Time> {
        self.rewrite(frame, frames);
        let first = link.launched_before(self.ring.all_but_one());
        self.ring
            .arrive(at, frame.payload_bytes, first, &mut self.stream)
    }

    /// When the card gets a packet that is sent now, with so much payload.
    #[inline]
    pub(super) fn sending_at(&self, now: Time, payload_bytes: u32) -> Time {
        match &self.machine {
            None => now,
            Some(state) => {
                let machine = &state.machine;
                now + machine.charged() + machine.config().costs.send(payload_bytes)
            }
        }
    }

    /// Whether the card and the queue before it have room at `at` for one more packet, with so much
    /// payload; counts the frames of `mss` bytes that it would have been as refused if not.
    #[inline]
    pub(super) fn admits(&mut self, now: Time, at: Time, payload_bytes: u32, mss: u16) -> bool {
        match &mut self.machine {
            None => self.queue.admits(at, payload_bytes, mss),
            Some(state) => {
                let waiting = state.waiting(now, at, self.queue.limit());
                self.queue.admits_beside(waiting, payload_bytes, mss)
            }
        }
    }

    /// The packet just admitted is handed to the card at `at` and leaves it at `leaves`, no earlier
    /// than those before it.
    #[inline]
    pub(super) fn leaves(&mut self, now: Time, at: Time, leaves: Time) {
        match &mut self.machine {
            None => self.queue.leaves(leaves),
            Some(state) => state.send(now, at, leaves),
        }
    }

    /// The card was handed a packet at `now` by an endpoint, with so much payload, which leaves it at `leaves`.
    #[inline]
    pub(super) fn sent(&mut self, now: Time, by: EndpointId, leaves: Time, payload_bytes: u32) {
        match &mut self.machine {
            None => match &mut self.spread {
                None => self.ring.sent(now, leaves),
                Some(spread) => spread.ring_of(by).sent(now, leaves),
            },
            Some(state) => {
                let cost = state.machine.config().costs.send(payload_bytes);
                state.machine.charge(cost);
            }
        }
    }

    /// What the connection at an endpoint of this host is made with.
    pub(super) fn config_for(
        &self,
        seed: u64,
        id: EndpointId,
        beside: &BackgroundFlowsApp,
    ) -> Config {
        let mut config = Config {
            seed: Stream::new(seed, "connection", u64::from(id.0)).next_u64(),
            ..self.config.clone()
        };
        if let (Some(options), true) = (&self.beside_options, beside.has(id)) {
            config.options = Arc::clone(options);
        }
        config
    }
}

/// A hash of what is delivered and when: not linear, for hashes are added up.
#[inline]
pub(super) fn course(frame: &Flight, header: &Header, at: Time) -> u64 {
    let seen =
        (u64::from(header.seq.0) << 32) ^ u64::from(header.ack.0) ^ (u64::from(frame.to.0) << 16);
    // 2^64 over the golden ratio.
    let mixed = (seen ^ at.as_ps()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}

impl World {
    /// A frame is delivered: it goes into the books and into the hash of the run's course.
    #[inline]
    pub(crate) fn note_delivery(&mut self, frame: &Flight) {
        self.ledger.delivered.count(frame);
        let header = self.frames.header(frame.frame);
        // A sum: what happens at one time at several hosts is in no order.
        let course = course(frame, header, self.now);
        self.trajectory = self.trajectory.wrapping_add(course);
    }

    /// A frame has come through a host's receive path.
    #[inline(always)]
    pub(super) fn receive(&mut self, frame: Flight) {
        self.note_delivery(&frame);
        let endpoint = self.endpoints.get_mut(frame.to.0 as usize);
        let Some(endpoint) = endpoint.filter(|end| !end.holds && !self.page_buffers) else {
            return self.receive_with_care(frame);
        };
        let Some(connection) = &mut endpoint.connection else {
            return self.receive_with_care(frame);
        };
        let (header, whole) = (self.frames.header(frame.frame), || {
            self.frames.segment(frame.frame)
        });
        let told = connection.handle_segment_and_read(self.now, header, whole);
        self.frames.release(frame.frame);
        // The endpoint is at hand: what follows is `drive_on` without another look for it.
        let sends = connection.may_have_output();
        let noticed = match told {
            Told::Nothing => false,
            Told::Read(bytes) => {
                endpoint.read_bytes += bytes;
                let notice = Notice::Received(bytes);
                let (workload, actions) = (&mut self.workload, &mut self.actions);
                self.beside
                    .notice(workload, self.now, frame.to, notice, actions);
                true
            }
            Told::More => return self.drive(frame.to),
        };
        if self.pushback.is_some() {
            return self.drive_by_card(frame.to, noticed);
        }
        if sends {
            self.send_all(frame.to);
        } else {
            endpoint.arm(
                self.first_timer + frame.to.0,
                &mut self.calendar,
                &mut self.lead,
            );
        }
        if noticed && !self.actions.is_empty() {
            self.do_actions();
        }
    }

    /// The same where nobody listens yet, the application does not read at once, or the buffer that the
    /// frame is in counts.
    #[inline(never)]
    fn receive_with_care(&mut self, frame: Flight) {
        let Some(endpoint) = self.endpoints.get_mut(frame.to.0 as usize) else {
            return self.echo(frame);
        };
        let mut arrival = None;
        if self.page_buffers {
            let host = &mut self.hosts[usize::from(endpoint.host.0)];
            let polls = host.gro.is_some();
            arrival = host.buffers.as_mut().map(|buffers| {
                let memory = buffers.take(frame.frame_bytes);
                if !polls {
                    buffers.polled();
                }
                Arrival {
                    mss: 0,
                    memory_bytes: memory.bytes,
                    fragments: memory.fragments as u8,
                    room: memory.room,
                }
            });
        }
        let segment = self.frames.segment(frame.frame);
        match (&mut endpoint.connection, arrival) {
            (Some(connection), None) => connection.handle_segment(self.now, &segment),
            (Some(connection), Some(arrival)) => {
                connection.handle_aggregate(self.now, &segment, arrival);
            }
            (None, _) if endpoint.listens && segment.flags.contains(Flags::SYN) => {
                let host = &self.hosts[usize::from(endpoint.host.0)];
                let mut config = host.config_for(self.seed, frame.to, &self.beside);
                if let Some(congestion) = self.workload.congestion(frame.to) {
                    Arc::make_mut(&mut config.options).congestion = Some(congestion);
                }
                let mut accepted = Connection::accept(&config, self.now, &segment);
                accepted.expect_host_queue();
                if let Some(known) = host.metrics.get(&endpoint.peer_host, self.now) {
                    accepted.recall(known);
                }
                endpoint.connection = Some(Box::new(accepted));
            }
            (None, _) => return self.frames.release(frame.frame),
        }
        self.frames.release(frame.frame);
        self.drive(frame.to);
    }

    /// The calendar says it is time to look at an endpoint.
    #[inline(never)]
    pub(super) fn handle_timer(&mut self, id: EndpointId) {
        let now = self.now;
        self.looks_at(id);
        let endpoint = &mut self.endpoints[id.0 as usize];
        if !endpoint.armed.fires(now) {
            return;
        }
        if endpoint.app_wake <= now {
            endpoint.app_wake = Time::NEVER;
            let notice = Notice::Awake;
            self.beside
                .notice(&mut self.workload, now, id, notice, &mut self.actions);
            self.do_actions();
        }
        let endpoint = &mut self.endpoints[id.0 as usize];
        if let Some(connection) = &mut endpoint.connection
            && connection.poll_timeout() <= now
        {
            connection.handle_timeout(now);
        }
        self.drive(id);
        let endpoint = &self.endpoints[id.0 as usize];
        if endpoint.task != NO_TASK {
            self.arm_machine(usize::from(endpoint.host.0));
        }
    }

    /// Lets an endpoint do all it can: events to the application, segments to the wire, timers.
    #[inline(never)]
    pub(super) fn drive(&mut self, id: EndpointId) {
        let now = self.now;
        let endpoint = &mut self.endpoints[id.0 as usize];
        let Some(connection) = &mut endpoint.connection else {
            return endpoint.arm(self.first_timer + id.0, &mut self.calendar, &mut self.lead);
        };
        let mut noticed = false;
        let mut woken = false;
        while let Some(event) = connection.poll_event() {
            let notice = match event {
                Event::Readable => {
                    if endpoint.holds {
                        woken |= endpoint.task != NO_TASK;
                        continue;
                    }
                    let most = match self.by_request {
                        false => u64::MAX,
                        true => most_read(&self.workload, id, &endpoint.backlog),
                    };
                    if most == 0 {
                        continue;
                    }
                    let bytes = connection.read(now, most);
                    endpoint.read_bytes += bytes;
                    Notice::Received(bytes)
                }
                Event::Writable => {
                    if endpoint.task != NO_TASK {
                        woken = true;
                    } else if !endpoint.backlog.is_empty() {
                        endpoint.written_bytes += endpoint.backlog.write_to(connection, now);
                        if endpoint.backlog.is_empty()
                            && let Some(ending) = endpoint.ending.take()
                        {
                            ending.apply(connection, now);
                        }
                        if self.by_request
                            && endpoint.backlog.is_empty()
                            && connection.readable() > 0
                        {
                            self.actions.push_back(Action::ReadOn { endpoint: id });
                            noticed = true;
                        }
                    }
                    continue;
                }
                Event::Connected => Notice::Connected,
                Event::PeerClosed | Event::Closed => Notice::Closed,
                Event::Reset => Notice::Failed,
            };
            self.beside
                .notice(&mut self.workload, now, id, notice, &mut self.actions);
            noticed = true;
            if self.by_request && matches!(notice, Notice::Received(_)) && connection.readable() > 0
            {
                self.actions.push_back(Action::ReadOn { endpoint: id });
            }
            if notice == Notice::Connected && !self.actions.is_empty() {
                // What is due already comes before what the opening segment brought is read.
                let unread = connection.postpone_readable();
                self.drive_on(id, noticed, woken);
                let connection = &mut self.endpoints[id.0 as usize].connection;
                if let Some(connection) = connection.as_mut().filter(|_| unread) {
                    connection.tell_readable();
                }
                return self.drive(id);
            }
            if notice == Notice::Closed
                && let Some(learned) = connection.take_learned()
            {
                let host = &mut self.hosts[usize::from(endpoint.host.0)];
                host.metrics.learn(endpoint.peer_host, now, &learned);
            }
        }
        self.drive_on(id, noticed, woken);
    }

    /// The rest of [`World::drive`], once the application has been told of events: whether it has been
    /// `noticed` of any, and its thread `woken`.
    #[inline(always)]
    fn drive_on(&mut self, id: EndpointId, noticed: bool, woken: bool) {
        if self.pushback.is_some() {
            self.drive_by_card(id, noticed);
            if woken {
                self.begin_call(id);
            }
            return;
        }
        let endpoint = &mut self.endpoints[id.0 as usize];
        let Some(connection) = &endpoint.connection else {
            return;
        };
        if connection.may_have_output() {
            self.send_all(id);
        } else {
            endpoint.arm(self.first_timer + id.0, &mut self.calendar, &mut self.lead);
        }
        if woken {
            self.begin_call(id);
        }
        if noticed && !self.actions.is_empty() {
            self.do_actions();
        }
    }

    /// Puts all that an endpoint's connection has to send on the wire, and sees to its next event.
    #[inline(never)]
    fn send_all(&mut self, id: EndpointId) {
        let now = self.now;
        let endpoint = &mut self.endpoints[id.0 as usize];
        let Some(connection) = &mut endpoint.connection else {
            return;
        };
        let sender = &mut self.hosts[usize::from(endpoint.host.0)];
        let uplink = sender.uplink;
        let state = &mut self.links[uplink as usize];
        if !state.plain || sender.careful {
            return self.send_all_with_care(id);
        }
        let to = (endpoint.peer, endpoint.peer_host);
        let cuts = connection.cuts_packets();
        while let Some(transmit) = connection.peek_transmit(now) {
            let payload_bytes = transmit.segment.payload_bytes.into();
            if !sender.queue.admits(now, payload_bytes, transmit.mss) {
                connection.handed_over(now, None, None);
                continue;
            }
            let books = (&mut self.frames, &mut self.ledger);
            let whole = Whole {
                transmit,
                priority: endpoint.priority,
                to,
            };
            let pieces = cuts.then(|| whole.pieces(&state.link, now)).flatten();
            let (first, last) = send_plainly(&mut state.link, books, now, whole);
            sender.queue.leaves(last);
            if sender.counts_sent {
                sender.ring.sent(now, last);
            }
            connection.handed_over(now, Some(last), pieces);
            if let Some(first) = first {
                self.calendar.schedule(uplink, first);
            }
        }
        endpoint.arm(self.first_timer + id.0, &mut self.calendar, &mut self.lead);
    }

    /// The same on a host with a machine, or with a link on which something may happen to frames.
    #[inline(never)]
    fn send_all_with_care(&mut self, id: EndpointId) {
        let now = self.now;
        let endpoint = &mut self.endpoints[id.0 as usize];
        let Some(connection) = &mut endpoint.connection else {
            return;
        };
        let host = usize::from(endpoint.host.0);
        let cuts = connection.cuts_packets();
        while let Some(transmit) = connection.peek_transmit(now) {
            let payload_bytes = transmit.segment.payload_bytes.into();
            let sender = &mut self.hosts[host];
            let at = sender.sending_at(now, payload_bytes);
            if !sender.admits(now, at, payload_bytes, transmit.mss) {
                connection.handed_over(now, None, None);
                continue;
            }
            let uplink = sender.uplink;
            let state = &mut self.links[uplink as usize];
            let books = (&mut self.frames, &mut self.ledger);
            let to = (endpoint.peer, endpoint.peer_host);
            let whole = Whole {
                transmit,
                priority: endpoint.priority,
                to,
            };
            let pieces = cuts.then(|| whole.pieces(&state.link, at)).flatten();
            let (first, last) = send::<false>(state, &mut self.hosts, books, at, whole);
            let sender = &mut self.hosts[host];
            sender.leaves(now, at, last);
            sender.sent(now, id, last, payload_bytes);
            connection.handed_over(now, Some(last), pieces);
            if let Some(first) = first {
                schedule_launch(&mut self.calendar, &mut self.turns, uplink, first);
            }
        }
        endpoint.arm(self.first_timer + id.0, &mut self.calendar, &mut self.lead);
    }

    /// The rest of [`World::drive`] on a host whose card holds frames back.
    #[cold]
    fn drive_by_card(&mut self, id: EndpointId, noticed: bool) {
        let host = usize::from(self.endpoints[id.0 as usize].host.0);
        if self.queue_at_qdisc(host, id) {
            self.serve_card(host);
        } else if self
            .pushback
            .as_ref()
            .is_some_and(|pushback| pushback.stops)
        {
            self.queue_all_at_card(host, id);
            self.serve_card(host);
        } else {
            self.send_all(id);
        }
        self.endpoints[id.0 as usize].arm(
            self.first_timer + id.0,
            &mut self.calendar,
            &mut self.lead,
        );
        if noticed && !self.actions.is_empty() {
            self.do_actions();
        }
    }

    /// All that an endpoint's connection has to send waits at its host's card.
    fn queue_all_at_card(&mut self, host: usize, id: EndpointId) {
        let now = self.now;
        let endpoint = &self.endpoints[id.0 as usize];
        let to = (endpoint.peer, endpoint.peer_host);
        loop {
            let endpoint = &mut self.endpoints[id.0 as usize];
            let Some(connection) = &mut endpoint.connection else {
                break;
            };
            let cuts = connection.cuts_packets();
            let Some(transmit) = connection.poll_transmit(now) else {
                break;
            };
            let priority = endpoint.priority;
            let waiting = self.waiting_at_card(host, priority & 7).unwrap_or(0);
            let payload_bytes = transmit.segment.payload_bytes.into();
            let queue = &mut self.hosts[host].queue;
            let admitted = queue.admits_beside(waiting, payload_bytes, transmit.mss);
            let uplink = self.hosts[host].uplink as usize;
            let whole = Whole {
                transmit: &transmit,
                priority,
                to,
            };
            let pieces = cuts.then(|| whole.pieces(&self.links[uplink].link, now));
            let left = admitted.then(|| self.queue_at_card(host, whole.cut()));
            if let Some(connection) = &mut self.endpoints[id.0 as usize].connection {
                match left {
                    None => connection.refused(now, &transmit.segment),
                    Some(left) => connection.left_host(now, left, pieces.flatten(), &transmit),
                }
            }
            if let Some(left) = left {
                self.hosts[host].sent(now, id, left, payload_bytes);
            }
        }
    }
}
