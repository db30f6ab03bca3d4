//! Frames landing, switches forwarding.

use tailback_net::marking::QueueLook;
use tailback_net::pool::Flight;
use tailback_net::switch::DropCause;
use tailback_net::switch::voq::Grant;
use tailback_units::Time;

use super::World;
use super::network::{Sink, SwitchBuffer, cut_through_from};
use crate::capture::Note;

impl World {
    /// The first frame of a link is there.
    #[inline(always)]
    pub(super) fn handle_landing(&mut self, rank: u32) {
        let state = &mut self.links[rank as usize];
        // An event whose frame has been overtaken, and landed, is out of date; a link that is polled has none.
        if state.link.next_at() > self.now {
            return self.handle_host_behind(rank);
        }
        let frame = state.link.land();
        let sink = state.sink;
        if let Sink::Host {
            host,
            at_once: true,
        } = sink
            && self.lead.is_on()
        {
            self.hops += 1;
            return self.receive_run(rank, host, frame);
        }
        let next_at = state.link.next_at();
        if next_at != Time::NEVER {
            self.calendar.schedule(rank, next_at);
        }
        self.hops += 1;
        // One after the other, the most frequent first: cheaper than a table of all.
        if let Sink::Switch { switch, port } = sink {
            return self.forward(switch, port, rank, frame);
        }
        if let Sink::Host { .. } = sink {
            // The next comes a frame's line time later: what it needs may come from memory meanwhile. In a crowd
            // that is seen to for all events.
            if self.is_large() && !self.crowded {
                self.fetch_next(rank);
            }
            if self.datagrams.is_empty() {
                return self.receive(frame);
            }
        }
        self.land_elsewhere(sink, frame);
    }

    /// A frame has landed neither at a switch nor at a host with TCP.
    #[inline(never)]
    fn land_elsewhere(&mut self, sink: Sink, frame: Flight) {
        match sink {
            // What leads to a machine is handed over at once, what is polled is not handed over.
            Sink::Switch { .. }
            | Sink::Machine { .. }
            | Sink::Polled { .. }
            | Sink::Spread { .. } => {}
            Sink::Host { .. } => self.receive_datagram(frame),
            Sink::Onward { link } => self.go_onward(link, frame),
            Sink::Outside { host } => self.arrivals.push((host, frame)),
        }
    }

    /// A frame goes over the last stretch of its link.
    #[inline(never)]
    fn go_onward(&mut self, link: u32, frame: Flight) {
        self.hops -= 1; // it is one link
        if self.pushback.is_some() {
            self.look_for_mark(link, &frame);
        }
        let state = &mut self.links[link as usize];
        let first = state.launch(
            self.now,
            frame,
            &mut self.frames,
            &mut self.hosts,
            &mut self.ledger,
        );
        if let Some(at) = first {
            self.calendar.schedule(link, at);
        }
    }

    /// A frame has arrived whole at a switch, or is to be queued there.
    #[inline(always)]
    fn forward(&mut self, switch: u16, in_port: u16, in_link: u32, frame: Flight) {
        let now = self.now;
        let state = &mut self.switches[usize::from(switch)];
        let (mut out_port, has_others) =
            state
                .routes
                .port_of(&self.attachments, frame.destination.0, frame.to.0);
        if has_others && state.balancer.is_some() {
            out_port = state.balanced(now, out_port, &frame, &self.attachments, &self.links);
        }
        let port = &mut state.ports[usize::from(out_port)];
        match &mut state.buffer {
            SwitchBuffer::Shared(buffer) => {
                let admitted = match buffer.offer(now, in_port, out_port, frame.frame_bytes) {
                    Ok(admitted) => admitted,
                    Err(cause) => return self.drop_frame(switch, out_port, cause, &frame),
                };
                let out_link = port.out_link;
                let mut earliest = now + state.latency;
                if state.cut_through {
                    let egress = &self.links[out_link as usize].link;
                    let took = self.links[in_link as usize].link.serialisation(&frame);
                    earliest = cut_through_from(earliest, took, egress, &frame);
                }
                let egress = &mut self.links[out_link as usize];
                if state.marker.is_on() {
                    let look = QueueLook {
                        port: out_port,
                        band: 0,
                        queued_bytes: buffer.queued_bytes(out_port),
                        free_at: egress.link.free_at(),
                    };
                    let frames = &mut self.frames;
                    let ledger = &mut self.ledger;
                    if !port.judge(
                        &mut state.marker,
                        (now, switch),
                        look,
                        &frame,
                        frames,
                        ledger,
                    ) {
                        return self.drop_frame(switch, out_port, DropCause::Early, &frame);
                    }
                }
                let finish = egress.link.transmit(earliest, &frame);
                let queued_bytes =
                    buffer.leaves(in_port, out_port, frame.frame_bytes, admitted, finish);
                port.queued_bytes_max = port.queued_bytes_max.max(queued_bytes);
                let is_alone = queued_bytes == u64::from(frame.frame_bytes);
                if let Some(at) = egress.launch_from_switch(
                    finish,
                    &frame,
                    &mut self.frames,
                    &mut self.hosts,
                    &mut self.ledger,
                ) {
                    if self.lead.is_on() && is_alone {
                        let sink = egress.sink;
                        return self.receive_or_schedule(out_link, sink, at);
                    }
                    self.calendar.schedule(out_link, at);
                }
            }
            SwitchBuffer::Voq(_) => self.forward_voq((switch, in_port, out_port), in_link, frame),
            SwitchBuffer::Queued(_) => {
                self.forward_queued((switch, in_port, out_port), in_link, frame);
            }
        }
    }

    /// The same at a switch with virtual output queues.
    #[inline(never)]
    fn forward_voq(
        &mut self,
        (switch, in_port, out_port): (u16, u16, u16),
        in_link: u32,
        frame: Flight,
    ) {
        let now = self.now;
        let state = &mut self.switches[usize::from(switch)];
        // The ingress port's own: both directions have one rate.
        let own_link = state.ports[usize::from(in_port)].out_link;
        let port = &mut state.ports[usize::from(out_port)];
        let SwitchBuffer::Voq(buffer) = &mut state.buffer else {
            return;
        };
        let queued_bytes = buffer.queued_bytes(out_port);
        if state.marker.is_on() {
            // A marker is told of what joins the queue only.
            if let Err(cause) = buffer.admit(now, in_port, frame.frame_bytes) {
                return self.drop_frame(switch, out_port, cause, &frame);
            }
            let look = QueueLook {
                port: out_port,
                band: 0,
                queued_bytes,
                free_at: self.links[port.out_link as usize].link.free_at(),
            };
            let frames = &mut self.frames;
            let ledger = &mut self.ledger;
            if !port.judge(
                &mut state.marker,
                (now, switch),
                look,
                &frame,
                frames,
                ledger,
            ) {
                return self.drop_frame(switch, out_port, DropCause::Early, &frame);
            }
        }
        let egress = &mut self.links[port.out_link as usize];
        let free_at = egress.link.free_at();
        let offered = if queued_bytes == 0 && free_at <= now {
            let line_time = self.links[own_link as usize].link.serialisation(&frame);
            buffer.offer_to_idle(now, in_port, out_port, frame, line_time)
        } else {
            let queued = buffer.offer(now, in_port, out_port, frame);
            queued.map(|()| false)
        };
        let crosses = match offered {
            Ok(crosses) => crosses,
            Err(cause) => return self.drop_frame(switch, out_port, cause, &frame),
        };
        port.queued_bytes_max = port
            .queued_bytes_max
            .max(queued_bytes + u64::from(frame.frame_bytes));
        let egress = &self.links[port.out_link as usize].link;
        let ingress = &self.links[in_link as usize];
        let earliest = ingress.earliest_departure(now, state.cut_through, egress, &frame);
        if crosses {
            let out_link = port.out_link;
            self.send_from(out_link, earliest, frame);
            return;
        }
        // A port that waits for busy ingress ports takes what comes by another.
        let looked_at = buffer.looked_at(out_port);
        let ready_at = match looked_at {
            Time::NEVER => free_at,
            _ => free_at.max(buffer.ready_at(in_port)),
        };
        if ready_at > now || looked_at == now {
            self.look_again(switch, out_port, ready_at.max(now));
        } else {
            self.serve(switch, out_port, earliest);
        }
    }

    /// A port sends a frame over its link, which is free, but not before `earliest`; answers when it will have
    /// left.
    #[inline(always)]
    fn send_from(&mut self, out_link: u32, earliest: Time, frame: Flight) -> Time {
        let egress = &mut self.links[out_link as usize];
        let finish = egress.link.transmit(earliest, &frame);
        if let Some(at) = egress.launch_from_switch(
            finish,
            &frame,
            &mut self.frames,
            &mut self.hosts,
            &mut self.ledger,
        ) {
            self.calendar.schedule(out_link, at);
        }
        finish
    }

    /// A port that schedules is free, or an ingress port it waited for is; or a host's card is.
    #[inline(never)]
    pub(super) fn handle_port(&mut self, rank: u32) {
        if rank >= self.first_card {
            return self.handle_pushback(rank);
        }
        let Some((switch, port)) = self.port_of_rank(rank) else {
            return;
        };
        match &mut self.switches[usize::from(switch)].buffer {
            SwitchBuffer::Queued(_) => self.serve_queued(switch, port, self.now),
            SwitchBuffer::Voq(buffer) => {
                // It may have been served since, for a frame that came.
                if buffer.looks(self.now, port) {
                    self.serve(switch, port, self.now);
                }
            }
            SwitchBuffer::Shared(_) => {}
        }
    }

    /// Gives a port its next frame, which leaves no earlier than `earliest`, and comes back when
    /// the port, or an ingress port that it waits for, is free again as long as anything waits for it.
    fn serve(&mut self, switch: u16, out_port: u16, earliest: Time) {
        let state = &mut self.switches[usize::from(switch)];
        let SwitchBuffer::Voq(buffer) = &mut state.buffer else {
            return;
        };
        let out_link = state.ports[usize::from(out_port)].out_link;
        let link = &self.links[out_link as usize].link;
        if link.free_at() > self.now {
            let free_at = link.free_at();
            return self.look_again(switch, out_port, free_at);
        }
        let line_time = |in_port: u16, frame: &Flight| {
            let own_link = state.ports[usize::from(in_port)].out_link;
            self.links[own_link as usize].link.serialisation(frame)
        };
        match buffer.grant(self.now, out_port, line_time) {
            Grant::Frame { frame, .. } => {
                let is_last = buffer.queued_bytes(out_port) == 0;
                let finish = self.send_from(out_link, earliest, frame);
                if !is_last {
                    self.look_again(switch, out_port, finish);
                }
            }
            Grant::Wait(until) => self.look_again(switch, out_port, until),
            Grant::Empty => {}
        }
    }

    /// Sees to it that the calendar looks at a port with virtual output queues at `at`.
    #[inline(always)]
    fn look_again(&mut self, switch: u16, out_port: u16, at: Time) {
        let state = &mut self.switches[usize::from(switch)];
        if let SwitchBuffer::Voq(buffer) = &mut state.buffer
            && buffer.look_again(out_port, at)
        {
            let rank = state.first_rank + u32::from(out_port);
            self.calendar.schedule(rank, at);
        }
    }

    fn port_of_rank(&self, rank: u32) -> Option<(u16, u16)> {
        let switch = self
            .switches
            .partition_point(|s| s.first_rank <= rank)
            .checked_sub(1)?;
        Some((
            switch as u16,
            (rank - self.switches[switch].first_rank) as u16,
        ))
    }

    /// A switch drops a frame on the way to a port.
    #[cold]
    pub(super) fn drop_frame(&mut self, switch: u16, port: u16, cause: DropCause, frame: &Flight) {
        let state = &mut self.switches[usize::from(switch)].ports[usize::from(port)];
        state.drops[cause as usize].count(frame.payload_bytes.into());
        if let Some(capture) = &mut self.ledger.capture {
            let note = Note::Dropped {
                switch,
                port,
                cause,
            };
            capture.note(self.now, state.out_link, frame, &self.frames, note);
        }
        self.ledger.lose_frame(frame, &self.frames, "switch");
        self.frames.release(frame.frame);
    }
}
