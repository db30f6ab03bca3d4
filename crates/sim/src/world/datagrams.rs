//! UDP: senders at a constant rate and the sockets of their receivers.
//!
//! Models what `iperf -u` sees on Linux: a receive queue that is charged each datagram's true size
//! (net/core/sock.c of 2.6.24: one that would fill the buffer is refused), one
//! datagram a read; every datagram that is lost is known with its number and the place where it was
//! lost. A sender waits while its socket's buffer is full ([`super::send_buffer`]). How long each was on its way is
//! known to 4.29 s, beyond which that begins again at zero. Left out: checksums, fragments.

use std::collections::VecDeque;

use tailback_agent::Delays;
use tailback_net::frame::{EndpointId, Frame};
use tailback_net::host::machine::TaskId;
use tailback_net::pool::Flight;
use tailback_scenario::{Probe, Reporter};
use tailback_tcp::{Ecn, Sender};
use tailback_units::Time;

use super::World;
use super::background::ecn;
use super::machines::NO_TASK;
use super::reporter::Reporting;
use super::send_buffer::SendBuffer;
use crate::capture::Note;
use crate::workload::{Notice, QUEUES};

/// A datagram's number and time take so many bytes, at the agents': a shorter one has no time.
const TIMED_BYTES_MIN: u16 = 16;

/// When a datagram is sent, as its frame carries it: nanoseconds, of which 4.29 s are a turn.
pub(crate) fn sent_ns(at: Time) -> u32 {
    (at.as_ps() / 1000) as u32
}

/// A flow of datagrams: endpoint 2i sends, 2i + 1 receives.
#[derive(Debug)]
pub(crate) struct DatagramFlow {
    /// When its first is due, and of which round of measurements it is.
    pub(crate) start: Time,
    pub(crate) round: u32,
    pub(crate) payload_bytes: u16,
    ecn: Ecn,
    pub(crate) sent: u32,
    send_buffer: SendBuffer,
    /// Datagrams in the socket: number, and when it was sent ([`sent_ns`]).
    queue: VecDeque<(u32, u32)>,
    /// What they are charged, and may be.
    charged_bytes: u64,
    rcvbuf_bytes: u64,
    truesize_bytes: u64,
    pub(crate) received: u32,
    /// The highest number read so far, and one.
    expected: u32,
    /// Numbers read after a higher one.
    pub(crate) reordered: Vec<u32>,
    /// Time between arrivals, changed: RFC 3550 6.4.1.
    pub(crate) jitter_ps: u64,
    last_transit: Option<u64>,
    /// From its being sent to its being read, of datagrams with room for a time.
    pub(crate) delays: Delays,
    /// When the last was read.
    pub(crate) last_read: Time,
    reporter: Option<Reporter>,
    /// The sender's and the receiver's, where the host has a machine.
    pub(super) reporting: [Option<Reporting>; 2],
}

impl DatagramFlow {
    pub(crate) fn new(
        probe: &Probe,
        (payload_bytes, is_ecn_capable): (u16, bool),
        sender: Sender,
        rcvbuf_bytes: u64,
        truesize_bytes: u64,
    ) -> DatagramFlow {
        DatagramFlow {
            start: probe.start,
            round: probe.round,
            payload_bytes,
            ecn: ecn(is_ecn_capable),
            sent: 0,
            send_buffer: SendBuffer::new(sender, payload_bytes),
            queue: VecDeque::new(),
            charged_bytes: 0,
            rcvbuf_bytes,
            truesize_bytes,
            received: 0,
            expected: 0,
            reordered: Vec::new(),
            jitter_ps: 0,
            last_transit: None,
            delays: Delays::default(),
            last_read: probe.start,
            reporter: None,
            reporting: [None, None],
        }
    }

    /// Its processes have reporters.
    pub(crate) fn reported_by(mut self, reporter: Option<Reporter>) -> DatagramFlow {
        self.reporter = reporter;
        self
    }

    /// Puts a datagram into the socket, if there is room.
    fn enqueue(&mut self, number: u32, sent_ns: u32) -> bool {
        // Linux 2.6.24 net/core/sock.c, sock_queue_rcv_skb.
        if self.charged_bytes + self.truesize_bytes >= self.rcvbuf_bytes {
            return false;
        }
        self.charged_bytes += self.truesize_bytes;
        self.queue.push_back((number, sent_ns));
        true
    }

    /// Reads a datagram, sent at a multiple of the gap.
    fn read(&mut self, now: Time, gap_ps: u64) {
        let Some((number, sent)) = self.queue.pop_front() else {
            return;
        };
        self.charged_bytes -= self.truesize_bytes;
        self.received += 1;
        if number < self.expected {
            self.reordered.push(number);
        }
        self.expected = self.expected.max(number + 1);
        let transit = now.as_ps().saturating_sub(u64::from(number) * gap_ps);
        if let Some(last) = self.last_transit {
            let change = transit.abs_diff(last);
            self.jitter_ps = self.jitter_ps - self.jitter_ps / 16 + change / 16;
        }
        self.last_transit = Some(transit);
        if self.payload_bytes >= TIMED_BYTES_MIN {
            self.delays.add(sent_ns(now).wrapping_sub(sent).into());
        }
        self.last_read = now;
    }

    /// Bytes of the socket's buffer in use.
    fn buffered_bytes(&self) -> u64 {
        self.charged_bytes
    }
}

impl World {
    /// Whether an endpoint sends or receives datagrams. TCP's beside them come after these.
    #[inline(always)]
    pub(crate) fn is_of_datagrams(&self, id: EndpointId) -> bool {
        ((id.0 / 2) as usize) < self.datagrams.len()
    }

    /// A sender sends its next datagram; its thread has done so when the workload is told.
    pub(super) fn begin_datagram(&mut self, id: EndpointId) {
        let endpoint = &self.endpoints[id.0 as usize];
        let (host, task) = (usize::from(endpoint.host.0), endpoint.task);
        let bytes = self.datagrams[(id.0 / 2) as usize].payload_bytes;
        if task == NO_TASK {
            return self.send_datagram(id);
        }
        if let Some(state) = &mut self.hosts[host].machine {
            let cost = state.machine.config().costs.call_with(bytes.into(), 0);
            state.machine.run(self.now, TaskId(task), cost);
        }
        self.arm_machine(host);
    }

    /// It does so at a later time: of a thread that waits for the clock nothing else is known until then.
    pub(super) fn begin_datagram_at(&mut self, id: EndpointId, at: Time) {
        let endpoint = &self.endpoints[id.0 as usize];
        let (host, task) = (usize::from(endpoint.host.0), endpoint.task);
        if task == NO_TASK {
            return self.wake_app_at(id, at);
        }
        let bytes = self.datagrams[(id.0 / 2) as usize].payload_bytes;
        if let Some(state) = &mut self.hosts[host].machine {
            let cost = state.machine.config().costs.call_with(bytes.into(), 0);
            state.machine.run_at(at, TaskId(task), cost);
        }
        self.arm_machine(host);
    }

    /// Datagrams that go on coming are waited for, whatever the queues are that they waited in: until when, if that is
    /// later than `now`.
    #[inline(never)]
    pub(super) fn awaits_datagrams_until(&self, now: Time) -> Option<Time> {
        let read = self.datagrams.iter().filter(|flow| flow.received > 0);
        let last = read.map(|flow| flow.last_read).max()?;
        Some(last + QUEUES).filter(|until| *until > now)
    }

    /// Whether an endpoint's process has a reporter, if its host has a machine.
    pub(super) fn reporter_of(&self, id: EndpointId) -> Option<Reporter> {
        self.datagrams.get((id.0 / 2) as usize)?.reporter
    }

    /// A sender whose calls take no time sends its next datagram. What it does then is among the actions that are being
    /// done: in turn, not deeper and deeper.
    fn send_datagram(&mut self, id: EndpointId) {
        self.put_datagram(id);
        self.note_sent(id);
    }

    fn datagram_sent(&mut self, id: EndpointId) {
        self.note_sent(id);
        self.do_actions();
    }

    /// The workload is told that a datagram has been sent.
    fn note_sent(&mut self, id: EndpointId) {
        let flow = &mut self.datagrams[(id.0 / 2) as usize];
        let room = flow.send_buffer.room_at(self.now);
        self.workload
            .notice(self.now, id, Notice::Sent(room), &mut self.actions);
    }

    fn put_datagram(&mut self, id: EndpointId) {
        let flow = &mut self.datagrams[(id.0 / 2) as usize];
        let number = flow.sent;
        flow.sent += 1;
        let (bytes, ecn) = (flow.payload_bytes, flow.ecn);
        let endpoint = &mut self.endpoints[id.0 as usize];
        endpoint.written_bytes += u64::from(bytes);
        let host = usize::from(endpoint.host.0);
        let (to, at) = (endpoint.peer, endpoint.peer_host);
        let mut frame = Frame::datagram(number, ecn, bytes, to, at);
        frame.segment.ts_val = sent_ns(self.now);
        match self.send_held(host, bytes, &frame) {
            Some(left) => self.datagrams[(id.0 / 2) as usize].send_buffer.sent(left),
            None => {
                self.ledger.lose(id, number, "tx-queue");
                self.show_order();
            }
        }
    }

    /// A datagram has come through a host's receive path.
    #[inline(never)]
    pub(super) fn receive_datagram(&mut self, frame: Flight) {
        let Some(flow) = self.datagrams.get_mut((frame.to.0 / 2) as usize) else {
            // TCP beside the datagrams, or what is for no endpoint.
            return self.receive(frame);
        };
        let header = self.frames.header(frame.frame);
        let number = header.seq.0;
        let fits = flow.enqueue(number, header.ts_val);
        if !fits {
            self.note_socket_full(&frame);
        }
        self.note_delivery(&frame);
        self.frames.release(frame.frame);
        let endpoint = &self.endpoints[frame.to.0 as usize];
        let (host, task) = (usize::from(endpoint.host.0), endpoint.task);
        if !fits {
            self.ledger.lose(frame.to, number, "socket");
            return;
        }
        if task == NO_TASK {
            return self.read_datagram(frame.to);
        }
        if let Some(state) = &mut self.hosts[host].machine {
            state.note_brought(task);
        }
        self.begin_read(frame.to, host, task);
    }

    /// A datagram finds the buffer of its socket full, and somebody may look on.
    #[cold]
    fn note_socket_full(&mut self, frame: &Flight) {
        let link = self.link_to(frame.destination);
        let note = Note::SocketFull { link };
        self.links[link as usize].note(note, frame, &self.frames, &mut self.ledger);
    }

    fn begin_read(&mut self, id: EndpointId, host: usize, task: u32) {
        if self.is_held_up(id) {
            return;
        }
        let flow = &self.datagrams[(id.0 / 2) as usize];
        if flow.queue.is_empty() {
            return;
        }
        let (bytes, buffered) = (flow.payload_bytes, flow.buffered_bytes());
        // A reader that is at it goes on by itself.
        if let Some(state) = &mut self.hosts[host].machine
            && state.machine.awaits(TaskId(task))
        {
            let crossing = state.taking_cost(task);
            let costs = &state.machine.config().costs;
            let cost = costs.call_with(bytes.into(), buffered) + crossing;
            state.machine.run(self.now, TaskId(task), cost);
        }
        self.arm_machine(host);
    }

    fn read_datagram(&mut self, id: EndpointId) {
        let gap = self.workload.datagram_gap();
        let flow = &mut self.datagrams[(id.0 / 2) as usize];
        flow.read(self.now, gap.as_ps());
        let bytes = flow.payload_bytes;
        self.endpoints[id.0 as usize].read_bytes += u64::from(bytes);
    }

    /// A call of a datagram's thread is done.
    pub(super) fn datagram_call_done(&mut self, id: EndpointId) {
        let sends = id.0.is_multiple_of(2);
        if !self.is_held_up(id) {
            match sends {
                true => self.put_datagram(id),
                false => self.read_datagram(id),
            }
        }
        if !self.put_record(id) {
            return;
        }
        if sends {
            return self.datagram_sent(id);
        }
        let endpoint = &self.endpoints[id.0 as usize];
        let (host, task) = (usize::from(endpoint.host.0), endpoint.task);
        self.begin_read(id, host, task);
    }
}
