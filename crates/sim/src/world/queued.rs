//! Switches whose queues are served when their port is free.
//!
//! Such a port takes a frame from its queues as its link falls free, so it can be stopped (PAUSE),
//! be served slower for a time, and serve classes by turns. Watermarks and congestion points look
//! at every frame that comes and goes; what they have to say goes out as messages
//! ([`super::pushback`]).

use std::sync::Arc;

use tailback_net::flow_control::{FlowControlConfig, Order, Paused, Watch};
use tailback_net::l2cm::CongestionPoint;
use tailback_net::marking::Verdict;
use tailback_net::pool::{Flight, FramePool};
use tailback_net::queue::{Held, QueueConfig};
use tailback_net::random::Stream;
use tailback_net::switch::queued::{QueuedBuffer, QueuedConfig, Service};
use tailback_net::switch::{DropCause, SwitchConfig};
use tailback_net::trace::{Pace, Trace};
use tailback_units::{Duration, Rate, Time};

use super::network::{PortState, SwitchBuffer};
use super::{Ledger, World};

/// The queues of one switch, and what it does to those who send to it.
#[derive(Debug)]
pub(crate) struct QueuedSwitch {
    pub(crate) buffer: QueuedBuffer,
    pub(crate) ports: Vec<QueuedPort>,
    pub(crate) watch: Option<Watch>,
    pub(crate) flow_control: Option<Box<FlowControlConfig>>,
    /// When a message comes to say its frames again, never if none is on its way.
    refresh_at: Time,
    orders: Vec<Order>,
}

/// One of its ports.
#[derive(Debug)]
pub(crate) struct QueuedPort {
    /// Who may stop it, and has.
    pub(crate) paused: Paused,
    /// Frames it has sent.
    pub(crate) sent: u64,
    /// Congestion messages sent about its queue.
    pub(crate) notices: u64,
    service: Vec<Service>,
    /// How its link's capacity changes.
    pace: Option<Box<Pace>>,
    /// Served slower than its link, it takes no frame before.
    rests_until: Time,
    /// When the calendar will look at it.
    armed: Time,
    point: Option<CongestionPoint>,
}

impl QueuedPort {
    /// Bytes that its link's trace has let go by `now`, and those that went; nothing if there is no trace.
    pub(crate) fn carried(&mut self, now: Time) -> Option<(u64, u64)> {
        self.pace.as_mut().map(|pace| pace.carried(now))
    }
}

impl QueuedSwitch {
    /// The empty queues of switch number `number` of a run with `seed`, whose ports send at these rates, and by these
    /// traces, frames of so many bytes at most, some of them under disciplines of their own.
    pub(crate) fn new(
        config: &SwitchConfig,
        queues: &QueuedConfig,
        (rates, traces): (&[Rate], &[Option<Arc<Trace>>]),
        of_ports: &[(u32, Option<&QueueConfig>)],
        (seed, number): (u64, usize),
    ) -> QueuedSwitch {
        let ports = rates.len() as u16;
        let port = |port: u16| QueuedPort {
            paused: Paused::default(),
            sent: 0,
            notices: 0,
            service: queues
                .service
                .iter()
                .copied()
                .filter(|s| s.port == port)
                .collect(),
            pace: traces[usize::from(port)]
                .as_ref()
                .map(|trace| Box::new(Pace::new(trace))),
            rests_until: Time::ZERO,
            armed: Time::NEVER,
            point: config.congestion_management.as_ref().map(|config| {
                let place = ((number as u64) << 16) | u64::from(port);
                CongestionPoint::new(config, Stream::new(seed, "congestion-point", place))
            }),
        };
        QueuedSwitch {
            buffer: QueuedBuffer::new(queues, of_ports, (seed, number)),
            ports: (0..ports).map(port).collect(),
            watch: config
                .flow_control
                .as_ref()
                .map(|config| Watch::new(config, rates)),
            flow_control: config.flow_control.clone(),
            refresh_at: Time::NEVER,
            orders: Vec::new(),
        }
    }

    fn left(&mut self, now: Time, out_port: u16, held: &Held) {
        if let Some(watch) = &mut self.watch {
            let frame = &held.frame;
            watch.left(
                now,
                (held.in_port, out_port),
                frame.class,
                frame.frame_bytes,
                &mut self.orders,
            );
        }
    }
}

/// Counts what the discipline of a port has just marked.
#[inline]
fn note_marks(
    buffer: &mut QueuedBuffer,
    port: &mut PortState,
    at: (Time, u16, u16),
    frames: &FramePool,
    ledger: &mut Ledger,
) {
    for frame in buffer.take_marked() {
        port.note_mark(at, &frame, frames, ledger);
    }
}

impl World {
    /// A frame has arrived whole at a switch with such queues.
    #[inline(never)]
    pub(super) fn forward_queued(
        &mut self,
        (switch, in_port, out_port): (u16, u16, u16),
        in_link: u32,
        frame: Flight,
    ) {
        let now = self.now;
        let state = &mut self.switches[usize::from(switch)];
        let SwitchBuffer::Queued(queues) = &mut state.buffer else {
            return;
        };
        let port = &mut state.ports[usize::from(out_port)];
        let admitted = queues.buffer.admit(now, in_port, out_port, frame);
        let mut held = match admitted {
            Ok(held) => held,
            Err(cause) => {
                self.drop_frame(switch, out_port, cause, &frame);
                return self.settle_queued(switch, out_port);
            }
        };
        if state.marker.is_on() {
            let free_at = self.links[port.out_link as usize].link.free_at();
            let look = queues.buffer.look(out_port, frame.class, free_at);
            let frames = &mut self.frames;
            let ledger = &mut self.ledger;
            let verdict = port.verdict(
                &mut state.marker,
                (now, switch),
                look,
                &frame,
                frames,
                ledger,
            );
            if verdict == Verdict::Drop {
                self.drop_frame(switch, out_port, DropCause::Early, &frame);
                return self.settle_queued(switch, out_port);
            }
            held.marked = verdict == Verdict::Marked;
        }
        let rests_until = queues.ports[usize::from(out_port)].rests_until;
        let free_at = self.links[port.out_link as usize].link.free_at();
        let times = (now, free_at.max(rests_until));
        queues
            .buffer
            .enqueue(times, out_port, held, &mut self.frames);
        // Before another port is served, which would have them to its account.
        let at = (now, switch, out_port);
        note_marks(&mut queues.buffer, port, at, &self.frames, &mut self.ledger);
        let queued_bytes = queues.buffer.queued_bytes(out_port);
        port.queued_bytes_max = port.queued_bytes_max.max(queued_bytes);
        if let Some(watch) = &mut queues.watch {
            let way = (in_port, out_port);
            watch.queued(now, way, frame.class, frame.frame_bytes, &mut queues.orders);
        }
        let own = &mut queues.ports[usize::from(out_port)];
        let feedback = own
            .point
            .as_mut()
            .and_then(|point| point.arrive(queued_bytes, frame.frame_bytes));
        if queued_bytes == u64::from(frame.frame_bytes)
            && let Some(pace) = &mut own.pace
        {
            pace.idle_until(now);
        }
        let is_free = own.rests_until <= now;
        let egress = &self.links[port.out_link as usize].link;
        // What has waited can leave from now on only.
        let cuts_through = state.cut_through && queued_bytes == u64::from(frame.frame_bytes);
        let ingress = &self.links[in_link as usize];
        let earliest = ingress.earliest_departure(now, cuts_through, egress, &frame);
        let is_free = is_free && egress.free_at() <= now;
        if let Some(feedback) = feedback {
            self.notify(switch, out_port, frame, feedback);
        }
        self.settle_queued(switch, out_port);
        if is_free {
            self.serve_queued(switch, out_port, earliest);
        } else {
            self.arm_queued(switch, out_port, self.now);
        }
    }

    /// Gives a port its next frame, which leaves no earlier than `earliest`, and comes back when
    /// the port may send again as long as anything waits for it.
    pub(super) fn serve_queued(&mut self, switch: u16, out_port: u16, earliest: Time) {
        let now = self.now;
        let state = &mut self.switches[usize::from(switch)];
        let SwitchBuffer::Queued(queues) = &mut state.buffer else {
            return;
        };
        let port = &mut state.ports[usize::from(out_port)];
        let own = &mut queues.ports[usize::from(out_port)];
        if own.armed <= now {
            own.armed = Time::NEVER;
        }
        let out_link = port.out_link;
        let egress = &mut self.links[out_link as usize];
        let free_at = egress.link.free_at().max(own.rests_until);
        let ready_at = own.pace.as_mut().map_or(now, |pace| pace.ready_at(now));
        let free_at = free_at.max(ready_at);
        if free_at > now {
            return self.arm_queued(switch, out_port, free_at);
        }
        let next = queues
            .buffer
            .next(now, out_port, &own.paused, &mut self.frames);
        let at = (now, switch, out_port);
        note_marks(&mut queues.buffer, port, at, &self.frames, &mut self.ledger);
        let Some(held) = next else {
            let end = own.paused.next_end(now);
            let held_until = queues.buffer.held_until(now, out_port);
            self.settle_queued(switch, out_port);
            return self.arm_queued(switch, out_port, end.min(held_until));
        };
        own.sent += 1;
        let mut earliest = earliest;
        if let Some(pace) = &mut own.pace {
            let frame_bytes = held.frame.frame_bytes;
            let wire_bytes = egress.link.wire_bytes(frame_bytes);
            let passage = pace.take(now, frame_bytes.into(), wire_bytes);
            own.rests_until = passage.rests_until;
            earliest = earliest.max(passage.leaves);
        }
        let finish = egress.link.transmit(earliest, &held.frame);
        if let Some(service) = own.service.iter().find(|s| s.holds(now)) {
            own.rests_until = now + service.rate.time_for(held.frame.wire_bytes());
        }
        let due = finish.max(own.rests_until);
        if let Some(at) = egress.launch(
            finish,
            held.frame,
            &mut self.frames,
            &mut self.hosts,
            &mut self.ledger,
        ) {
            self.calendar.schedule(out_link, at);
        }
        queues.left(now, out_port, &held);
        self.settle_queued(switch, out_port);
        self.arm_queued(switch, out_port, due);
    }

    /// Sees to it that the calendar looks at a port at `at`, if anything waits for it.
    fn arm_queued(&mut self, switch: u16, out_port: u16, at: Time) {
        let state = &mut self.switches[usize::from(switch)];
        let rank = state.first_rank + u32::from(out_port);
        let SwitchBuffer::Queued(queues) = &mut state.buffer else {
            return;
        };
        let own = &mut queues.ports[usize::from(out_port)];
        let link = &self.links[state.ports[usize::from(out_port)].out_link as usize].link;
        let at = at.max(link.free_at()).max(own.rests_until);
        if at < own.armed && !queues.buffer.is_empty(out_port) {
            own.armed = at;
            self.calendar.schedule(rank, at);
        }
    }

    /// Deals with what queues and watermarks had to say: frames dropped, neighbours to be stopped.
    fn settle_queued(&mut self, switch: u16, out_port: u16) {
        let now = self.now;
        loop {
            let SwitchBuffer::Queued(queues) = &mut self.switches[usize::from(switch)].buffer
            else {
                return;
            };
            if let Some((held, cause)) = queues.buffer.take_dropped() {
                queues.left(now, out_port, &held);
                self.drop_frame(switch, out_port, cause, &held.frame);
            } else {
                break;
            }
        }
        self.send_orders(switch);
    }

    /// Sends the PAUSE frames that a switch has decided on. Each goes out as soon as its port's
    /// transmitter is free, ahead of all that waits.
    fn send_orders(&mut self, switch: u16) {
        let state = &mut self.switches[usize::from(switch)];
        let SwitchBuffer::Queued(queues) = &mut state.buffer else {
            return;
        };
        if queues.orders.is_empty() {
            return;
        }
        let orders = std::mem::take(&mut queues.orders);
        let reaction = queues
            .flow_control
            .as_ref()
            .map_or(Duration::ZERO, |config| config.reaction());
        for order in &orders {
            let state = &self.switches[usize::from(switch)];
            let link = state.ports[usize::from(order.port)].out_link;
            self.send_pause(link, order.frame, reaction);
        }
        let state = &mut self.switches[usize::from(switch)];
        let SwitchBuffer::Queued(queues) = &mut state.buffer else {
            return;
        };
        queues.orders = orders;
        queues.orders.clear();
        self.arm_refresh(switch);
    }

    /// Sees to it that a message comes when the first of a switch's PAUSE frames is to be said again.
    fn arm_refresh(&mut self, switch: u16) {
        let SwitchBuffer::Queued(queues) = &mut self.switches[usize::from(switch)].buffer else {
            return;
        };
        let due = queues.watch.as_ref().map_or(Time::NEVER, Watch::due);
        if due < queues.refresh_at {
            queues.refresh_at = due;
            self.refresh_at(due, switch);
        }
    }

    /// The quanta of some of a switch's PAUSE frames may be half over: says again whom to stop.
    pub(super) fn refresh_pauses(&mut self, switch: u16) {
        let SwitchBuffer::Queued(queues) = &mut self.switches[usize::from(switch)].buffer else {
            return;
        };
        if queues.refresh_at <= self.now {
            queues.refresh_at = Time::NEVER;
        }
        if let Some(watch) = &mut queues.watch {
            watch.refresh(self.now, &mut queues.orders);
        }
        self.send_orders(switch);
        self.arm_refresh(switch);
    }

    /// A PAUSE frame has taken effect at a switch's port.
    pub(super) fn pause_port(&mut self, switch: u16, port: u16, classes: u8, time: Duration) {
        let now = self.now;
        if let SwitchBuffer::Queued(queues) = &mut self.switches[usize::from(switch)].buffer {
            queues.ports[usize::from(port)]
                .paused
                .pause(now, classes, time);
            self.serve_queued(switch, port, now);
        }
    }
}
