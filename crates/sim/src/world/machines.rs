//! Hosts with a modelled machine: what its cores do to connections and sockets.
//!
//! The machine ([`tailback_net::host::machine`]) says when a frame has been handled and when a system
//! call is done. Here that means: TCP or a UDP socket gets the frame; an application's thread (one
//! for each end of a connection, as iperf has them) has read or written at most `call_bytes`. What
//! TCP sends on such an occasion is charged to the core that caused it.

use tailback_net::frame::{EndpointId, HostId};
use tailback_net::host::Machine;
use tailback_net::host::joining::JoinedMemory;
use tailback_net::host::machine::{Done, Effect, Packet, TaskId};
use tailback_net::loss::Losses;
use tailback_net::pool::{Flight, FramePool};
use tailback_net::ring::{Blank, Ring};
use tailback_tcp::Arrival;
use tailback_units::{Duration, Time};

use super::World;
use super::gro::joint;
use super::network::Sink;
use super::reporter::Reporting;
use super::sockets::{Step, Thread};
use crate::capture::Note;
use crate::workload::Notice;

/// No task: the endpoint's host has no modelled machine.
pub(crate) const NO_TASK: u32 = u32::MAX;

/// A packet between a core and the end of its time on the line.
#[derive(Clone, Copy, Debug)]
struct Sending {
    /// When the core hands it to the card.
    handed: Time,
    /// Its time on the line.
    line: Duration,
    /// When it has left, by the link's books.
    leaves: Time,
}

impl Blank for Sending {
    const BLANK: Sending = Sending {
        handed: Time::NEVER,
        line: Duration::ZERO,
        leaves: Time::NEVER,
    };
}

/// A host's machine, and which endpoint each of its threads serves.
#[derive(Debug)]
pub(crate) struct MachineState {
    pub(crate) machine: Machine,
    /// Calendar rank.
    pub(crate) rank: u32,
    /// Its event in the calendar; others are out of date.
    armed: Time,
    /// It is doing what is due: the calendar is seen to afterwards.
    working: bool,
    /// By task, from the machine's first that is not its own.
    threads: Vec<Thread>,
    first_thread: u32,
    /// Packets sent that have not left the link's books, in their order. A core that sends many because
    /// of one acknowledgement hands the last of them over later than now, and than another core does
    /// what it sends meanwhile.
    sending: Ring<Sending>,
    /// Packets that may be sent before what waits at the card is reckoned anew.
    room: usize,
    /// What sockets' backlogs had no room for.
    pub(super) socket_dropped: Losses,
}

impl MachineState {
    pub(crate) fn new(machine: Machine, rank: u32) -> MachineState {
        MachineState {
            machine,
            rank,
            armed: Time::NEVER,
            working: false,
            threads: Vec::new(),
            first_thread: 0,
            sending: Ring::default(),
            room: 0,
            socket_dropped: Losses::default(),
        }
    }

    /// A frame is on its way to the card and arrives at its `at`. Answers when the machine is to be looked
    /// at, if that is new.
    #[inline(always)]
    pub(super) fn arrive(&mut self, frame: Flight, frames: &FramePool) -> Option<Time> {
        let joint = self.machine.merges().then(|| joint(frames, frame.frame));
        if !self.machine.arrive(frame, joint) || self.working {
            return None;
        }
        self.look_earlier()
    }

    /// The machine may have to be looked at earlier: answers when, if that is so.
    #[inline(never)]
    fn look_earlier(&mut self) -> Option<Time> {
        let at = self.machine.poll_timeout();
        if at >= self.armed {
            return None;
        }
        self.armed = at;
        Some(at)
    }

    /// Packets before the card or in its ring at `at`, where that may be `limit` or more; else fewer
    /// than that. They leave in the order in which they are handed over, whatever the link's books
    /// say; that is reckoned anew only when a quarter of the room there was has been sent into.
    #[inline]
    pub(super) fn waiting(&mut self, now: Time, at: Time, limit: usize) -> usize {
        while self.sending.pop_front_if(|s| s.leaves <= now).is_some() {}
        if self.sending.len() < limit {
            return self.sending.len();
        }
        self.waiting_of_many(now, at, limit)
    }

    /// The same where the link's books have `limit` or more.
    #[inline(never)]
    fn waiting_of_many(&mut self, now: Time, at: Time, limit: usize) -> usize {
        if self.room > 0 {
            self.room -= 1;
            return 0;
        }
        let handed = self.sending.iter().filter(|s| s.handed <= at);
        let mut there: Vec<(Time, Duration)> = handed.map(|s| (s.handed, s.line)).collect();
        there.sort_unstable();
        // The first in the books waited for those before it, which have left.
        let begins = |s: &Sending| Time::ZERO + s.leaves.since(Time::ZERO + s.line);
        let mut free = self.sending.iter().next().map_or(now, begins).min(now);
        let mut waiting = 0;
        for (handed, line) in there {
            free = free.max(handed) + line;
            waiting += usize::from(free > at);
        }
        self.room = limit.saturating_sub(waiting) / 4;
        waiting
    }

    /// A packet is handed to the card at `at` and leaves it at `leaves`.
    #[inline]
    pub(super) fn send(&mut self, now: Time, at: Time, leaves: Time) {
        let before = self.sending.back().map_or(at, |s| s.leaves.max(at));
        let sending = Sending {
            handed: at,
            line: leaves.since(before),
            leaves,
        };
        self.sending.push_back(sending);
        self.machine.send(now, leaves);
    }

    /// A thread, by its task.
    #[inline(always)]
    pub(super) fn thread_mut(&mut self, task: u32) -> &mut Thread {
        &mut self.threads[(task - self.first_thread) as usize]
    }

    /// Frames that have come and that TCP has not got.
    pub(super) fn waiting_frames(&self) -> impl Iterator<Item = &Flight> {
        let sockets = self.threads.iter().map(|thread| &thread.socket);
        self.machine
            .waiting()
            .chain(sockets.flat_map(|socket| socket.waiting()))
    }

    /// A thread for an endpoint.
    fn thread(&mut self, endpoint: EndpointId) -> u32 {
        let TaskId(task) = self.machine.add_task();
        if self.threads.is_empty() {
            self.first_thread = task;
        }
        self.threads.push(Thread::new(endpoint));
        task
    }
}

impl World {
    /// The calendar rank of a host's machine, or that behind them: background traffic's.
    #[cold]
    pub(super) fn handle_machine(&mut self, rank: u32) {
        let Some(host) = self.machine_hosts.get((rank - self.first_machine) as usize) else {
            return self.handle_background();
        };
        self.look_at_machine(usize::from(*host));
    }

    /// The event of a link on which no frame lands: of the host that polls it, or the machine behind it.
    #[cold]
    pub(super) fn handle_host_behind(&mut self, link: u32) {
        match self.links[link as usize].sink {
            Sink::Polled { host } => self.handle_poll(link, host),
            Sink::Machine { host } => self.look_at_machine(usize::from(host.0)),
            Sink::Spread { host } => self.serve_queues(link, host),
            _ => {}
        }
    }

    /// A machine has an event now, unless it is out of date.
    fn look_at_machine(&mut self, host: usize) {
        let now = self.now;
        if let Some(state) = &mut self.hosts[host].machine {
            if state.armed != now {
                return;
            }
            state.armed = Time::NEVER;
        }
        self.work_machine(host);
    }

    /// Lets a machine do what is due, and goes on with it as long as nothing else happens before: that
    /// need not go through the calendar. In the end the calendar looks again.
    fn work_machine(&mut self, host: usize) {
        self.set_working(host, true);
        loop {
            let limit = self.goes_on_until();
            let Some(state) = &mut self.hosts[host].machine else {
                return;
            };
            match state.machine.work_on(&mut self.now, limit) {
                Done::Frame => {
                    if let Some(frame) = state.machine.take_frame() {
                        self.receive_at_machine(Packet::Frame(frame));
                    }
                }
                Done::Task(task) => self.task_done(host, task),
                Done::Nothing => {
                    let at = state.machine.poll_timeout();
                    state.working = false;
                    if at < state.armed {
                        state.armed = at.max(self.now);
                        self.calendar.schedule(state.rank, state.armed);
                    }
                    return;
                }
                rare => self.act_on(host, rare),
            }
        }
    }

    /// Until when one component may go on without the calendar: something else happens then, or somebody
    /// looks. Not at all if somebody may look any time.
    #[inline(always)]
    fn goes_on_until(&mut self) -> Time {
        if !self.runs_alone || self.done {
            return Time::ZERO;
        }
        let next = self.calendar.next_at().unwrap_or(Time::ZERO);
        next.min(self.recorder.next().0)
    }

    /// A thread has done a step of a call.
    #[inline(always)]
    fn task_done(&mut self, host: usize, task: u32) {
        let Some(state) = &mut self.hosts[host].machine else {
            return;
        };
        let thread = state.thread_mut(task);
        let id = thread.endpoint;
        match thread.step {
            Step::Away => self.call_done(id),
            Step::Report => self.reporter_done(id),
            step => self.step_done(id, step),
        }
    }

    /// What a machine seldom gives.
    #[cold]
    fn act_on(&mut self, host: usize, done: Done) {
        let Some(state) = &mut self.hosts[host].machine else {
            return;
        };
        match state.machine.effect(done) {
            Some(Effect::Packet(packet)) => self.receive_at_machine(packet),
            Some(lost) => self.lose_at_machine(lost),
            None => {}
        }
    }

    /// The link over which a host gets frames.
    pub(super) fn link_to(&self, host: HostId) -> u32 {
        self.hosts[usize::from(host.0)].uplink ^ 1
    }

    /// A machine has lost a frame.
    #[cold]
    fn lose_at_machine(&mut self, effect: Effect) {
        let (Effect::RingFull(frame) | Effect::BacklogFull(frame)) = effect else {
            return;
        };
        let link = self.link_to(frame.destination);
        let (place, note) = match effect {
            Effect::RingFull(_) => ("rx-ring", Note::RingFull { link }),
            _ => ("backlog", Note::BacklogFull { link }),
        };
        self.links[link as usize].note(note, &frame, &self.frames, &mut self.ledger);
        self.ledger.lose_frame(&frame, &self.frames, place);
        self.frames.release(frame.frame);
    }

    /// Brings the books of every machine up to now. For those who look only.
    #[cold]
    pub(crate) fn settle_machines(&mut self) {
        for place in 0..self.machine_hosts.len() {
            let host = usize::from(self.machine_hosts[place]);
            let now = self.now;
            if let Some(state) = &mut self.hosts[host].machine {
                state.machine.settle(now);
            }
            while let Some(state) = &mut self.hosts[host].machine
                && let Some(lost) = state.machine.take_lost()
            {
                self.lose_at_machine(lost);
            }
        }
    }

    /// Frames that have crossed a link.
    pub(crate) fn hops(&self) -> u64 {
        let machines = self.hosts.iter().filter_map(|host| host.machine.as_ref());
        self.hops + machines.map(|state| state.machine.arrived()).sum::<u64>()
    }

    fn set_working(&mut self, host: usize, working: bool) {
        if let Some(state) = &mut self.hosts[host].machine {
            state.working = working;
        }
    }

    /// Sees to it that the calendar looks at a machine when it is to be looked at.
    #[inline(always)]
    pub(super) fn arm_machine(&mut self, host: usize) {
        let machine = &self.hosts[host].machine;
        if machine.as_ref().is_some_and(|state| !state.working) {
            self.arm_idle_machine(host);
        }
    }

    #[inline(never)]
    fn arm_idle_machine(&mut self, host: usize) {
        if let Some(state) = &mut self.hosts[host].machine {
            let at = state.machine.poll_timeout();
            if at < state.armed {
                state.armed = at.max(self.now);
                self.calendar.schedule(state.rank, state.armed);
            }
        }
    }

    /// TCP gets a frame.
    pub(super) fn receive_frame(&mut self, frame: Flight) {
        let host = &self.hosts[usize::from(frame.destination.0)];
        host.rewrite(&frame, &mut self.frames);
        let before = self.collapsed_bytes(frame.to);
        self.receive(frame);
        self.charge_collapsing(frame.to, before);
    }

    /// What an endpoint's kernel has copied together so far.
    #[inline(always)]
    pub(super) fn collapsed_bytes(&self, id: EndpointId) -> u64 {
        let connection = self.endpoints.get(id.0 as usize);
        let connection = connection.and_then(|endpoint| endpoint.connection.as_ref());
        connection.map_or(0, |c| c.collapsed_bytes())
    }

    /// The core that made room for a packet pays for what it copied since `before`.
    #[inline(always)]
    pub(super) fn charge_collapsing(&mut self, id: EndpointId, before: u64) {
        let bytes = self.collapsed_bytes(id) - before;
        if bytes > 0 {
            self.charge_copying(id, bytes);
        }
    }

    #[cold]
    pub(super) fn charge_copying(&mut self, id: EndpointId, bytes: u64) {
        let host = usize::from(self.endpoints[id.0 as usize].host.0);
        if let Some(state) = &mut self.hosts[host].machine {
            let cost = state.machine.config().costs.collapse(bytes);
            state.machine.charge(cost);
        }
    }

    /// TCP gets frames that have become one packet: their data, and the flags of the last.
    pub(super) fn receive_joined(&mut self, frames: &[Flight]) {
        let Some(first) = frames.first() else { return };
        // They are marked alike.
        let host = &self.hosts[usize::from(first.destination.0)];
        host.rewrite(first, &mut self.frames);
        let mut segment = self.frames.segment(first.frame);
        let mss = segment.payload_bytes;
        let mut payload_bytes = 0;
        for frame in frames {
            self.note_delivery(frame);
            payload_bytes += u32::from(frame.payload_bytes);
            let last = self.frames.header(frame.frame);
            segment.flags = segment.flags.with(last.flags);
            (segment.ack, segment.window) = (last.ack, last.window);
            (segment.ts_val, segment.ts_ecr) = (last.ts_val, last.ts_ecr);
            self.frames.release(frame.frame);
        }
        segment.payload_bytes = payload_bytes as u16;
        let endpoint = &mut self.endpoints[first.to.0 as usize];
        let host = &mut self.hosts[usize::from(endpoint.host.0)];
        let mut memory = JoinedMemory::default();
        for frame in frames {
            memory.join(
                host.frame_memory(frame.frame_bytes),
                host.config.rx_head_bytes,
            );
        }
        if let Some(buffers) = &mut host.buffers {
            buffers.polled();
        }
        let arrival = Arrival {
            mss,
            memory_bytes: memory.bytes(),
            fragments: memory.fragments() as u8,
            room: memory.room(),
        };
        let id = first.to;
        if let Some(connection) = &mut endpoint.connection {
            let before = connection.shortage().collapsed_bytes;
            connection.handle_aggregate(self.now, &segment, arrival);
            self.charge_collapsing(id, before);
        }
        self.drive_held(id);
    }

    /// An endpoint on a host with a machine gets a thread; its application does not read at once.
    pub(crate) fn give_thread(&mut self, id: EndpointId) {
        let host = usize::from(self.endpoints[id.0 as usize].host.0);
        if let Some(state) = &mut self.hosts[host].machine {
            let task = state.thread(id);
            let locks = state.machine.config().socket.is_some();
            let endpoint = &mut self.endpoints[id.0 as usize];
            endpoint.task = task;
            endpoint.holds = true;
            endpoint.locks = locks;
            if let Some(reporter) = self.reporter_of(id)
                && let Some(state) = &mut self.hosts[host].machine
            {
                let task = state.thread(id);
                state.thread_mut(task).step = Step::Report;
                let flow = &mut self.datagrams[(id.0 / 2) as usize];
                let reporting = Reporting::new(reporter, TaskId(task));
                flow.reporting[(id.0 % 2) as usize] = Some(reporting);
            }
        }
    }

    /// The thread of an endpoint begins the call that it has reason for.
    #[inline(never)]
    pub(super) fn begin_call(&mut self, id: EndpointId) {
        if self.locks(id) {
            return self.begin_locked_call(id);
        }
        let endpoint = &self.endpoints[id.0 as usize];
        let Some(connection) = &endpoint.connection else {
            return;
        };
        let readable = connection.readable();
        let host = usize::from(endpoint.host.0);
        let writes = !endpoint.backlog.is_empty();
        let Some(state) = &mut self.hosts[host].machine else {
            return;
        };
        if !state.machine.awaits(TaskId(endpoint.task)) {
            return;
        }
        let config = state.machine.config();
        let most = config.call_bytes.get();
        let (bytes, buffered) = if writes {
            (endpoint.backlog.call().min(most), 0)
        } else if readable > 0 {
            let request = self.workload.request_left(id).unwrap_or(u64::MAX);
            (readable.min(most).min(request), readable)
        } else {
            return;
        };
        let cost = config.costs.call_with(bytes, buffered);
        let cost = match writes {
            true => cost,
            false => cost + state.reading_cost(endpoint.task, bytes, buffered),
        };
        state.machine.run(self.now, TaskId(endpoint.task), cost);
        self.arm_machine(host);
    }

    /// A call of an endpoint's thread is done.
    pub(super) fn call_done(&mut self, id: EndpointId) {
        if self.is_of_datagrams(id) {
            return self.datagram_call_done(id);
        }
        if self.locks(id) {
            return;
        }
        let now = self.now;
        let endpoint = &mut self.endpoints[id.0 as usize];
        let host = usize::from(endpoint.host.0);
        let Some(connection) = &mut endpoint.connection else {
            return;
        };
        let Some(state) = &mut self.hosts[host].machine else {
            return;
        };
        state.machine.release_socket();
        let most = state.machine.config().call_bytes.get();
        // A write that found too little room waits for [`Event::Writable`](tailback_tcp::Event).
        let mut waits = false;
        if !endpoint.backlog.is_empty() {
            let asked = endpoint.backlog.call().min(most);
            let accepted = connection.write(now, asked);
            waits = accepted < asked;
            endpoint.backlog.taken(accepted);
            endpoint.written_bytes += accepted;
            if endpoint.backlog.is_empty()
                && let Some(ending) = endpoint.ending.take()
            {
                ending.apply(connection, now);
            }
        } else {
            let request = self.workload.request_left(id).unwrap_or(u64::MAX);
            let bytes = connection.read(now, most.min(request));
            endpoint.read_bytes += bytes;
            if bytes > 0 {
                let notice = Notice::Received(bytes);
                self.beside
                    .notice(&mut self.workload, now, id, notice, &mut self.actions);
            }
        }
        self.drive_held(id);
        // What the application does about what it has read, or has learnt of: nobody else may come by.
        if !self.actions.is_empty() {
            self.do_actions();
        }
        if !waits {
            self.begin_call(id);
        }
    }
}
