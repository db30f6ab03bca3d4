//! TCP sockets of hosts with a machine: who handles a packet, and a thread's way through send and recv.
//!
//! Models Linux 2.6.24 net/ipv4/tcp.c (tcp_recvmsg, tcp_prequeue_process, tcp_sendmsg) and net/core/sock.c
//! (release_sock) as far as it matters which core spends when. A packet that a softirq brings goes to TCP
//! at once, to the socket's backlog or to its prequeue ([`tailback_net::host::machine::Socket`]). A reader
//! takes what there is; with room left it handles the prequeue and the backlog, copying what is next in
//! order as it comes; in the end it lets the socket go, and first handles what the backlog has. A
//! writer does so too. Packets of a prequeue or backlog are handled with softirqs disabled, but for
//! those that are copied on the spot (tcp_copy_to_iovec). Here a call spends `unlocked` before it takes the
//! lock, and none after it; a reader that waits has paid the rest of its call when it is woken.
//! Left out: timers that find the socket owned, a low-water mark, preemption between packets.

use tailback_net::frame::{EndpointId, HostId};
use tailback_net::host::machine::{Admission, Memory, Packet, Socket, TaskId, User, Whereabouts};
use tailback_net::pool::Flight;
use tailback_tcp::Life;
use tailback_units::Duration;

use super::{Endpoint, MachineState, World};
use crate::capture::Note;
use crate::workload::Notice;

/// Packets that are handled in one step of a thread: what they send is stamped with what was spent by
/// then, and frames of other cores are seen after it.
const STEP_PACKETS: usize = 8;

/// What a thread does in its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is in no call, or waits in one.
    Away,
    /// It is on its way to the socket's lock.
    Enter,
    /// It copies into the socket.
    Send,
    /// It copies out of the socket.
    Receive,
    /// It handles the prequeue.
    Prequeue,
    /// It handles the backlog and has room for more.
    Backlog,
    /// It handles the backlog as it lets the socket go.
    Release,
    /// It is no socket's, but counts what others send and read.
    Report,
}

/// A thread of a host with a machine, and the socket it uses.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) endpoint: EndpointId,
    pub(super) socket: Socket,
    pub(super) step: Step,
    /// Which core has what of the socket, where that costs.
    pub(super) whereabouts: Whereabouts,
    /// It owns the socket.
    owns: bool,
    /// It waits in recv, or has been woken there (ucopy.task).
    waits: bool,
    /// Bytes that the call may still read.
    room: u64,
    /// It has read some.
    copied: bool,
    /// Bytes whose copying the step has paid.
    paid: u64,
    /// The call reads no more.
    ending: bool,
    /// A write found the send buffer full, and nothing has become free since.
    full: bool,
}

impl Thread {
    pub(super) fn new(endpoint: EndpointId) -> Thread {
        Thread {
            endpoint,
            socket: Socket::default(),
            step: Step::Away,
            whereabouts: Whereabouts::default(),
            owns: false,
            waits: true,
            room: 0,
            copied: false,
            paid: 0,
            ending: false,
            full: false,
        }
    }

    /// If it is in a call, it looks again before it waits. False if it is in none.
    #[inline(always)]
    pub(super) fn looks_again(&mut self) -> bool {
        let calls = self.step != Step::Away;
        self.full &= !calls;
        calls
    }

    /// The packet that it would handle next.
    fn next(&self) -> Option<&Packet> {
        match self.step {
            Step::Prequeue => self.socket.prequeued(),
            Step::Backlog | Step::Release => self.socket.backlogged(),
            _ => None,
        }
    }

    fn take_next(&mut self) -> Option<Packet> {
        match self.step {
            Step::Prequeue => self.socket.next_prequeued(),
            Step::Backlog | Step::Release => self.socket.next_backlogged(),
            _ => None,
        }
    }
}

impl World {
    /// An endpoint and its host's machine, if that models its socket's lock.
    #[inline(always)]
    pub(super) fn socket(&mut self, id: EndpointId) -> Option<(&mut Endpoint, &mut MachineState)> {
        let endpoint = self.endpoints.get_mut(id.0 as usize)?;
        if !(endpoint.locks && endpoint.holds) {
            return None;
        }
        let state = self.hosts[usize::from(endpoint.host.0)].machine.as_mut()?;
        Some((endpoint, state))
    }

    /// Its thread.
    #[inline(always)]
    fn locking_thread(&mut self, id: EndpointId) -> Option<&mut Thread> {
        let (endpoint, state) = self.socket(id)?;
        Some(state.thread_mut(endpoint.task))
    }

    /// Whether the lock of an endpoint's socket is modelled.
    pub(super) fn locks(&self, id: EndpointId) -> bool {
        let endpoint = &self.endpoints[id.0 as usize];
        endpoint.locks && endpoint.holds
    }

    /// A softirq brings a packet.
    #[inline(always)]
    pub(super) fn receive_at_machine(&mut self, packet: Packet) {
        if let Packet::Frame(frame) = packet
            && self.is_of_datagrams(frame.to)
        {
            self.charge_protocol(frame.destination);
            return self.receive_datagram(frame);
        }
        let Some(first) = packet.frames().first() else {
            return;
        };
        let id = first.to;
        let Some((endpoint, state)) = self.socket(id) else {
            return self.handle_packet(packet, None);
        };
        let Some(connection) = &endpoint.connection else {
            return self.handle_packet(packet, None);
        };
        let config = state.machine.config().socket.as_ref();
        let prequeues = config.is_some_and(|socket| !socket.tcp_low_latency);
        let reads = endpoint.backlog.is_empty()
            && endpoint.ending.is_none()
            && !connection.is_orphan()
            && matches!(
                connection.life(),
                Life::Established | Life::FinWait1 | Life::FinWait2
            );
        let (sndbuf, rcvbuf) = connection.buffers();
        let limited = config.is_some_and(|socket| socket.backlog_limit);
        let memory = Memory {
            rcvbuf: rcvbuf.into(),
            sndbuf: sndbuf.into(),
            queued: limited.then(|| connection.received_memory().into()),
        };
        let host = usize::from(endpoint.host.0);
        let task = endpoint.task;
        // Of a field beside the machine.
        let buffers = &self.hosts[host].config;
        let frames = packet.frames().len() as u64;
        // Frames that have joined have given up their heads.
        let memory_bytes = u64::from(buffers.rx_truesize_bytes) * frames
            - u64::from(buffers.rx_head_bytes) * (frames - 1);
        let Some(state) = &mut self.hosts[host].machine else {
            return;
        };
        state.note_brought(task);
        // It has not been looked at since it was sent.
        if let Some(next) = state.machine.upcoming() {
            self.frames.prefetch(next.frame);
        }
        let thread = state.thread_mut(task);
        let user = if thread.owns {
            User::Owns
        } else if thread.socket.prequeued().is_some() || (prequeues && thread.waits && reads) {
            User::Reads
        } else {
            User::Away
        };
        match thread.socket.arrive(packet, user, memory_bytes, memory) {
            Admission::Now(packet) => self.handle_packet(packet, None),
            Admission::Kept => {}
            Admission::Full(packet) => self.lose_at_socket(host, &packet),
            Admission::Wakes => self.begin_locked_call(id),
            Admission::Overrun => self.handle_prequeue(id),
        }
    }

    /// A socket's backlog holds too much: a packet is dropped.
    #[cold]
    fn lose_at_socket(&mut self, host: usize, packet: &Packet) {
        for frame in packet.frames() {
            let link = self.link_to(frame.destination);
            let note = Note::SocketFull { link };
            self.links[link as usize].note(note, frame, &self.frames, &mut self.ledger);
            if let Some(state) = &mut self.hosts[host].machine {
                state.socket_dropped.count(frame.payload_bytes.into());
            }
            self.frames.release(frame.frame);
        }
    }

    /// A softirq handles all that waits for a reader.
    #[cold]
    fn handle_prequeue(&mut self, id: EndpointId) {
        while let Some(packet) = self
            .locking_thread(id)
            .and_then(|thread| thread.socket.next_prequeued())
        {
            self.handle_packet(packet, None);
        }
    }

    /// TCP gets a packet, at the cost of whoever is at work; `direct`: its reader copies it
    /// as it comes, and had so many bytes waiting.
    #[inline(always)]
    fn handle_packet(&mut self, packet: Packet, direct: Option<u64>) {
        match packet {
            Packet::Frame(frame) => self.handle_frame(frame, direct),
            Packet::Joined(frames) => self.handle_joined(&frames, direct),
        }
    }

    /// The same of one that frames have joined to.
    #[cold]
    fn handle_joined(&mut self, frames: &[Flight], direct: Option<u64>) {
        let Some(first) = frames.first() else {
            return;
        };
        let id = first.to;
        let bytes = frames.iter().map(|f| u64::from(f.payload_bytes)).sum();
        if let Some(state) = &mut self.hosts[usize::from(first.destination.0)].machine {
            let config = state.machine.config();
            let copying = direct.map(|buffered| config.costs.copying(bytes, buffered));
            let cost = config.protocol_cost() + copying.unwrap_or(Duration::ZERO);
            state.machine.charge(cost);
        }
        if let Some(state) = &mut self.hosts[usize::from(first.destination.0)].machine
            && state.crosses()
            && let Some(last) = frames.last()
            && let Some(endpoint) = self.endpoints.get(id.0 as usize)
        {
            let mut header = *self.frames.header(last.frame);
            header.payload_bytes = bytes as u16;
            state.charge_handling(endpoint.task, &header);
        }
        self.receive_joined(frames);
        if direct.is_some() {
            self.read_some(id, bytes);
            self.drive_held(id);
        }
    }

    /// Whoever is at work at a host pays UDP's part of receiving a packet.
    fn charge_protocol(&mut self, host: HostId) {
        if let Some(state) = &mut self.hosts[usize::from(host.0)].machine {
            let cost = state.machine.config().protocol_cost();
            state.machine.charge(cost);
        }
    }

    /// An application's thread has read up to `most` bytes; answers how many.
    pub(super) fn read_some(&mut self, id: EndpointId, most: u64) -> u64 {
        let now = self.now;
        let Some((endpoint, state)) = self.socket(id) else {
            return 0;
        };
        let Some(connection) = &mut endpoint.connection else {
            return 0;
        };
        let bytes = connection.read(now, most);
        if bytes == 0 {
            return 0;
        }
        endpoint.read_bytes += bytes;
        let thread = state.thread_mut(endpoint.task);
        thread.room = thread.room.saturating_sub(bytes);
        thread.copied = true;
        let notice = Notice::Received(bytes);
        self.beside
            .notice(&mut self.workload, now, id, notice, &mut self.actions);
        bytes
    }

    /// The thread of an endpoint begins the call that it has reason for, if it is in none.
    pub(super) fn begin_locked_call(&mut self, id: EndpointId) {
        let now = self.now;
        let Some((endpoint, state)) = self.socket(id) else {
            return;
        };
        let Some(connection) = &endpoint.connection else {
            return;
        };
        let thread = state.thread_mut(endpoint.task);
        if thread.looks_again() {
            return;
        }
        let writes = !endpoint.backlog.is_empty();
        if !writes && connection.readable() == 0 && thread.socket.prequeued().is_none() {
            return;
        }
        thread.step = Step::Enter;
        thread.waits &= !writes;
        thread.full = false;
        // One that waits is there already.
        let waits = thread.waits;
        let unlocked = state.machine.config().socket.as_ref().map(|s| s.unlocked);
        let cost = unlocked.filter(|_| !waits).unwrap_or(Duration::ZERO);
        state.machine.run(now, TaskId(endpoint.task), cost);
        let host = usize::from(endpoint.host.0);
        self.arm_machine(host);
    }

    /// A call takes the socket's lock and begins to copy.
    fn lock(&mut self, id: EndpointId) {
        let request = self.workload.request_left(id).unwrap_or(u64::MAX);
        let Some((endpoint, state)) = self.socket(id) else {
            return;
        };
        let connection = endpoint.connection.as_ref();
        let readable = connection.map_or(0, |c| c.readable());
        let writes = endpoint.backlog.call();
        let config = state.machine.config();
        let most = config.call_bytes.get();
        let (bytes, buffered) = if writes > 0 {
            (writes.min(most), 0)
        } else {
            (readable.min(most).min(request), readable)
        };
        let unlocked = config.socket.as_ref().map(|s| s.unlocked);
        let whole = config.costs.call_with(bytes, buffered);
        let cost = whole - unlocked.unwrap_or(Duration::ZERO).min(config.costs.call);
        let thread = state.thread_mut(endpoint.task);
        thread.owns = true;
        thread.waits = false;
        thread.copied = false;
        thread.ending = false;
        (thread.step, thread.room) = if writes > 0 {
            (Step::Send, 0)
        } else {
            (Step::Receive, most.min(request))
        };
        thread.paid = bytes;
        state.machine.charge(cost);
        state.charge_working(endpoint.task);
        if writes == 0 {
            state.charge_reading(endpoint.task, bytes, readable);
        }
        state.go_on(endpoint.task, false);
    }

    /// A step of a thread's call is done.
    #[inline(always)]
    pub(super) fn step_done(&mut self, id: EndpointId, step: Step) {
        let Some(thread) = self.locking_thread(id) else {
            // Its application reads at once since.
            return self.call_done(id);
        };
        match step {
            Step::Away | Step::Report => {}
            Step::Enter => self.lock(id),
            Step::Send => self.send_done(id),
            Step::Receive => {
                let (room, paid) = (thread.room, thread.paid);
                let bytes = self.read_some(id, room);
                if bytes > paid {
                    self.charge_copying_of(id, bytes - paid);
                }
                self.drive_held(id);
                self.receive_on(id);
            }
            Step::Prequeue | Step::Backlog | Step::Release => self.work_off(id),
        }
        if !self.actions.is_empty() {
            self.do_actions();
        }
    }

    /// A write has copied what there is room for.
    fn send_done(&mut self, id: EndpointId) {
        let now = self.now;
        let endpoint = &mut self.endpoints[id.0 as usize];
        if let Some(connection) = &mut endpoint.connection
            && let Some(state) = &mut self.hosts[usize::from(endpoint.host.0)].machine
        {
            let most = state.machine.config().call_bytes.get();
            let asked = endpoint.backlog.call().min(most);
            let accepted = connection.write(now, asked);
            endpoint.backlog.taken(accepted);
            endpoint.written_bytes += accepted;
            if endpoint.backlog.is_empty()
                && let Some(ending) = endpoint.ending.take()
            {
                ending.apply(connection, now);
            }
            state.thread_mut(endpoint.task).full = accepted < asked;
        }
        self.drive_held(id);
        if let Some(thread) = self.locking_thread(id) {
            thread.ending = true;
        }
        // What came while it waited to read is first.
        self.enter(id, Step::Prequeue);
    }

    /// A reader has done one thing and looks for the next.
    fn receive_on(&mut self, id: EndpointId) {
        let Some((endpoint, state)) = self.socket(id) else {
            return;
        };
        let connection = endpoint.connection.as_ref();
        let (gone, readable) = (connection.is_none(), connection.map_or(0, |c| c.readable()));
        let thread = state.thread_mut(endpoint.task);
        if gone {
            thread.room = 0;
        }
        let prequeued = thread.socket.prequeued().is_some();
        let backlogged = thread.socket.backlogged().is_some();
        if thread.ending {
            return self.enter(id, Step::Release);
        }
        if thread.room > 0 && readable > 0 {
            let bytes = thread.room.min(readable);
            thread.step = Step::Receive;
            thread.paid = bytes;
            let cost = state.machine.config().costs.copying(bytes, readable);
            state.machine.charge(cost);
            state.charge_reading(endpoint.task, bytes, readable);
            return state.go_on(endpoint.task, false);
        }
        let looks = thread.room > 0 && (!thread.copied || backlogged);
        if looks && !prequeued && !backlogged {
            // Nothing came: it waits.
            return self.leave(id);
        }
        thread.ending = !looks;
        if prequeued {
            self.enter(id, Step::Prequeue);
        } else if looks {
            self.enter(id, Step::Backlog);
        } else {
            self.enter(id, Step::Release);
        }
    }

    fn enter(&mut self, id: EndpointId, step: Step) {
        if let Some(thread) = self.locking_thread(id) {
            thread.step = step;
        }
        self.work_off(id);
    }

    /// A thread handles some packets of its prequeue or backlog, or goes on if there are none.
    fn work_off(&mut self, id: EndpointId) {
        let mut way: Option<bool> = None;
        let mut left = STEP_PACKETS;
        loop {
            let Some((endpoint, state)) = self.socket(id) else {
                return;
            };
            let config = state.machine.config().socket.as_ref();
            // Only a thread that may be left to handle packets itself is known to TCP as their reader.
            let prequeues = config.is_some_and(|socket| !socket.tcp_low_latency);
            let thread = state.thread_mut(endpoint.task);
            let step = thread.step;
            let packet = thread.next().filter(|_| left > 0);
            let Some(bytes) = packet.map(Packet::payload_bytes) else {
                if way.is_none() && step != Step::Prequeue {
                    thread.socket.worked_off();
                }
                return match way {
                    Some(direct) => state.go_on(endpoint.task, !direct),
                    None if step == Step::Release => self.leave(id),
                    None => self.receive_on(id),
                };
            };
            let fits = step != Step::Release && bytes > 0 && bytes <= thread.room;
            let readable = || endpoint.connection.as_ref().map_or(0, |c| c.readable());
            let direct = fits && prequeues && readable() == 0;
            if way.is_some_and(|before| before != direct) {
                left = 0;
                continue;
            }
            way = Some(direct);
            left -= 1;
            let buffered = thread.socket.waiting_packets() * bytes;
            let Some(packet) = thread.take_next() else {
                return;
            };
            state.charge_taking(endpoint.task);
            self.handle_packet(packet, direct.then_some(buffered));
        }
    }

    /// A thread has let its socket go. Unless there is reason for another call it waits.
    fn leave(&mut self, id: EndpointId) {
        let Some((endpoint, state)) = self.socket(id) else {
            return;
        };
        let writes = !endpoint.backlog.is_empty();
        state.machine.release_socket();
        let thread = state.thread_mut(endpoint.task);
        thread.step = Step::Away;
        thread.owns = false;
        thread.waits = !writes;
        if !(writes && thread.full) {
            self.begin_locked_call(id);
        }
    }

    /// The core at work at an endpoint's host copies so many bytes.
    #[cold]
    fn charge_copying_of(&mut self, id: EndpointId, bytes: u64) {
        if let Some((_, state)) = self.socket(id) {
            let cost = state.machine.config().costs.copying(bytes, 0);
            state.machine.charge(cost);
        }
    }
}

impl MachineState {
    /// The step of a thread's call goes on for what has been charged; `closed`: with softirqs disabled. If not,
    /// those that were left to ksoftirqd run first.
    #[inline]
    fn go_on(&mut self, task: u32, closed: bool) {
        if !closed {
            self.machine.release_socket();
        }
        self.machine.go_on(TaskId(task), Duration::ZERO, closed);
    }
}
