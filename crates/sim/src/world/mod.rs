//! The simulated world: components, and the loop that hands each its next event.
//!
//! A packet's way: an application writes, TCP gives segments ([`hosts`]), the host's link carries
//! frames, a switch admits, marks or drops them ([`switching`]) and sends them on, and the last
//! link hands them to the host's receive path and TCP.

use std::collections::VecDeque;

mod ahead;
mod application;
mod background;
mod backlog;
mod count;
mod crossing;
mod cut;
mod datagrams;
mod dcqcn;
mod deadlock;
mod echo;
mod endpoint;
mod flow;
mod gro;
mod held;
mod host_qdisc;
mod hosts;
mod interfaces;
mod lead;
mod ledger;
mod machines;
mod network;
mod pushback;
mod queued;
mod reporter;
mod rerouting;
mod send_buffer;
mod series;
mod sockets;
mod spread;
mod stalled;
mod switching;
mod turns;
mod window;

use tailback_net::frame::{EndpointId, HostId};
use tailback_net::pool::{Flight, FramePool};
use tailback_units::Time;

use crate::event::{Calendar, Event};
use crate::record::Recorder;
use crate::reroute::Reroute;
use crate::route::Attachments;
use crate::traces::Traces;
use crate::workload::{Action, BackgroundFlowsApp, Workload};
use crate::{Control, SimError};

pub(crate) use background::Background;
pub(crate) use count::{Totals, Transaction};
pub(crate) use datagrams::{DatagramFlow, sent_ns};
pub(crate) use echo::Stray;
pub(crate) use endpoint::Endpoint;
pub(crate) use flow::{FlowRecord, Retired, ToldBySender};
pub(crate) use gro::Gro;
pub(crate) use hosts::HostState;
pub(crate) use interfaces::{Interfaces, Unsent};
pub(crate) use lead::Lead;
pub(crate) use ledger::Ledger;
pub(crate) use machines::MachineState;
pub(crate) use network::{Label, LinkState, PortState, Sink, SwitchBuffer, SwitchState};
pub(crate) use pushback::{Card, PushBack};
pub(crate) use queued::QueuedSwitch;
pub(crate) use series::Series;
pub(crate) use spread::Spread;
pub(crate) use window::{IntervalLook, Told};

/// Everything there is in a run.
pub(crate) struct World {
    pub(crate) now: Time,
    /// Links first, by number; then every switch's ports; then cards, if any switch pushes back; then
    /// machines; then background traffic; then the workload's alarm; from
    /// `first_timer` on the timers of TCP and applications, by endpoint.
    pub(crate) calendar: Calendar,
    pub(crate) first_timer: u32,
    /// From here to there cards of hosts that obey switches, and messages to them.
    pub(crate) first_card: u32,
    /// Calendar rank of the first host with a machine, and which hosts those are.
    pub(crate) first_machine: u32,
    pub(crate) machine_hosts: Vec<u16>,
    /// For each endpoint whose peer is on a kernel: the port it was last heard from, 0 before. Empty without kernels.
    pub(crate) peer_ports: Vec<u16>,
    /// Flows of datagrams, if the workload is those.
    pub(crate) datagrams: Vec<DatagramFlow>,
    /// Traffic beside the workload, if there is any; its calendar rank is before the alarm's.
    pub(crate) background: Option<Box<Background>>,
    /// Which switch each host is on.
    pub(crate) attachments: Attachments,
    /// Every frame in the network; links and switches hold its place in here.
    pub(crate) frames: FramePool,
    pub(crate) links: Vec<LinkState>,
    pub(crate) switches: Vec<SwitchState>,
    /// What switches know of links that are down, if they take other ways then.
    pub(crate) reroute: Option<Box<Reroute>>,
    /// What switches tell those who send to them, if any of them does.
    pub(crate) pushback: Option<Box<PushBack>>,
    pub(crate) hosts: Vec<HostState>,
    /// Some host's receive buffers are not all alike.
    pub(crate) page_buffers: bool,
    /// Servers read one request at a time.
    pub(crate) by_request: bool,
    pub(crate) endpoints: Vec<Endpoint>,
    /// How many of them the workload has begun to use: all, but for those that flows beside it need.
    pub(crate) begun_endpoints: u32,
    /// What endpoints that are gone have counted.
    pub(crate) retired: Retired,
    /// Flows whose destination's end is gone; and those whose source's is, for what it counted.
    pub(crate) flows: Vec<FlowRecord>,
    pub(crate) sources: Vec<FlowRecord>,
    /// The run's seed: endpoints that come later derive theirs from it.
    pub(crate) seed: u64,
    pub(crate) workload: Workload,
    /// The TCP flows beside it.
    pub(crate) beside: BackgroundFlowsApp,
    pub(crate) recorder: Recorder,
    /// The network as a whole over time, if it is wanted.
    pub(crate) series: Option<Series>,
    /// Interface counters over time, if they are wanted.
    pub(crate) interfaces: Option<Interfaces>,
    /// What traces of links have let go, if any has one.
    pub(crate) traces: Option<Box<Traces>>,
    /// Since when nothing has been on its way, and what had been read by then, as far as that has been looked at.
    pub(crate) still: Option<(Time, u64)>,
    /// What a measured window of time has shown.
    pub(crate) window: window::Window,
    pub(crate) ledger: Ledger,
    /// Counters at the beginning of the current iteration, and all iterations so far.
    pub(crate) iteration_start: Totals,
    pub(crate) transactions: Vec<Transaction>,
    /// Frames that have come to hosts outside and have not been handed to them.
    pub(crate) arrivals: Vec<(HostId, Flight)>,
    /// Hosts far apart that are worked off in turn.
    pub(crate) turns: Option<Box<turns::Turns>>,
    /// Hosts that are ahead of the others.
    pub(crate) lead: Lead,
    /// No host is worked off but in the order of time.
    pub(crate) in_order: bool,
    /// What the workload asked for and has not been done yet.
    pub(crate) actions: VecDeque<Action>,
    /// The workload is done.
    pub(crate) done: bool,
    /// Nobody from outside looks on between two events.
    pub(crate) runs_alone: bool,
    /// The world is too large for the processor's cache: it pays to look ahead.
    pub(crate) crowded: bool,
    /// Frames that have crossed a link, but for those that lead to hosts with a machine.
    pub(crate) hops: u64,
    pub(crate) events: u64,
    /// A hash of every delivery and its time: two runs with the same one took the same course.
    pub(crate) trajectory: u64,
}

/// Rows of `interfaces`, or of `network`, that a run keeps: as many as a check allows where the run's end is known.
pub(super) const ROWS_MAX: usize = 10_000_000;

/// Between two looks at whether the run is to be given up.
const EVENTS_PER_CHECK: u32 = 1 << 16;

impl World {
    /// Runs until the workload is done, or [`World::has_shown_order`]; the applications have begun.
    pub(crate) fn run(&mut self, control: &Control) -> Result<(), SimError> {
        self.runs_alone = true;
        self.begin_turns();
        if self.turns.is_some() {
            self.run_in_turns(control)?;
            if self.has_shown_order() {
                return Ok(());
            }
        }
        while !self.done {
            self.run_some()?;
            if !self.done {
                control.check(self.workload.progress())?;
                self.check_rows()?;
                if self.waits_for_nothing() || self.stands_still() {
                    return Err(self.stalled());
                }
            }
        }
        control.check(self.workload.progress())?;
        self.lead.end(self.now);
        self.settle_machines();
        self.check_deadlock()
    }

    /// Handles as many events as there are between two looks, or until the workload is done.
    #[inline(always)]
    fn run_some(&mut self) -> Result<(), SimError> {
        // Counted down here: that costs less than counting the world's own up and looking whether it is time.
        let mut left = EVENTS_PER_CHECK;
        while left > 0 && !self.done {
            if !self.handle_next() {
                return Err(self.stalled());
            }
            left -= 1;
        }
        self.events += u64::from(EVENTS_PER_CHECK - left);
        Ok(())
    }

    /// The error that too many rows of what is recorded at an interval are.
    pub(crate) fn check_rows(&self) -> Result<(), SimError> {
        let looks = |too_many, key, each, most| {
            let (at, interval) = too_many?;
            Some(SimError::TooManyRows {
                key,
                interval,
                each,
                most,
                at,
            })
        };
        let sampled = "ends of connections, or ports";
        let samples = looks(
            self.recorder.too_many(),
            "record.sample_interval",
            sampled,
            crate::samples::LOOKS_MAX,
        );
        let polls = self.interfaces.as_ref().and_then(Interfaces::too_many);
        let polls = looks(polls, "record.interfaces", "links' directions", ROWS_MAX);
        let series = self.series.as_ref().and_then(Series::too_many);
        let series = looks(series, "record.series.interval", "the network", ROWS_MAX);
        samples.or(polls).or(series).map_or(Ok(()), Err)
    }

    /// The error that a deadlock is, if there is one.
    fn check_deadlock(&mut self) -> Result<(), SimError> {
        match self.pushback.as_mut().and_then(|p| p.deadlock.take()) {
            Some((cycle, classes)) => Err(SimError::Deadlock {
                at: self.now,
                cycle,
                classes,
            }),
            None => Ok(()),
        }
    }

    /// Nobody looks at the whole at times of their own: no series, samples, polls of interfaces or captures.
    fn is_unseen(&self) -> bool {
        self.series.is_none()
            && self.interfaces.is_none()
            && self.ledger.capture.is_none()
            && self.recorder.next().0 == Time::NEVER
    }

    /// Lets the applications begin.
    pub(crate) fn start(&mut self) {
        self.begin_lead();
        self.workload.start(self.now, &mut self.actions);
        self.do_actions();
        self.start_beside();
    }

    /// Lets what is beside the workload begin.
    pub(crate) fn start_beside(&mut self) {
        let outside = |host: usize| self.hosts[host].outside;
        self.beside.start(outside, &mut self.actions);
        self.do_actions();
        self.start_background();
    }

    /// All hosts outside have ended.
    pub(crate) fn outside_ended(&mut self) {
        self.workload.outside_ended(self.now, &mut self.actions);
        self.do_actions();
    }

    /// Handles the earliest event.
    #[inline(never)]
    pub(crate) fn step(&mut self) -> Result<(), SimError> {
        if self.handle_next() {
            return Ok(());
        }
        Err(self.stalled())
    }

    /// Handles the earliest event: frames and ports before timers, then by rank. False if there is
    /// none. Part of the loop of [`World::run`], which calls it for every event there is.
    #[inline(always)]
    fn handle_next(&mut self) -> bool {
        let Some(event) = self.calendar.take_first() else {
            return false;
        };
        self.handle(event);
        true
    }

    /// Handles all events before `horizon`.
    #[inline(never)]
    pub(crate) fn run_before(&mut self, horizon: Time) {
        loop {
            let event = self.calendar.take_before(horizon);
            if event.at == Time::NEVER {
                return;
            }
            self.events += 1;
            self.handle(event);
        }
    }

    /// Handles an event that is the earliest.
    #[inline(always)]
    fn handle(&mut self, Event { at, rank }: Event) {
        if self.crowded {
            self.fetch_ahead();
        }
        if self.recorder.due(at) {
            self.sample_until(at);
        }
        self.now = at;
        if (rank as usize) < self.links.len() {
            self.handle_landing(rank);
        } else if rank >= self.first_timer {
            self.handle_timer(EndpointId(rank - self.first_timer));
        } else if rank + 1 == self.first_timer {
            match self.awaits_datagrams_until(at) {
                Some(at) => self.actions.push_back(Action::Alarm { at }),
                None => self.workload.alarm(at, &mut self.actions),
            }
            self.do_actions();
        } else if rank >= self.first_machine {
            self.handle_machine(rank);
        } else {
            self.handle_port(rank);
        }
    }

    /// Does what the workload asked for, and what it asks for in turn.
    #[inline(never)]
    pub(crate) fn do_actions(&mut self) {
        self.lead.show();
        while let Some(action) = self.actions.pop_front() {
            match action {
                Action::Connect { client } => self.connect(client),
                Action::Open {
                    source,
                    destination,
                    priority,
                } => self.open(source, destination, priority),
                Action::Retire { endpoint, complete } => {
                    self.show_order();
                    self.show_lead(endpoint);
                    self.retire(endpoint, complete);
                }
                Action::Complete { endpoint } => {
                    self.show_order();
                    self.remember(endpoint, true);
                }
                Action::TakeAway { endpoint } => self.take_away(endpoint),
                Action::Tell { endpoint } => self.tell_peer(endpoint),
                Action::Alarm { at } => {
                    self.calendar.schedule(self.first_timer - 1, at);
                    self.lead.alarm_at(at);
                }
                Action::Write { endpoint, bytes } => self.app_write(endpoint, bytes),
                Action::Hold { endpoint } => self.endpoints[endpoint.0 as usize].holds = true,
                Action::Read { endpoint, most } => self.app_read(endpoint, most),
                Action::ReadOn { endpoint } => self.read_on(endpoint),
                Action::Finish { endpoint, ending } => self.app_finish(endpoint, ending),
                Action::Wake { endpoint, at } => self.wake_app_at(endpoint, at),
                Action::Ping {
                    source,
                    destination,
                    priority,
                    number,
                    data_bytes,
                } => self.ping((source, destination), priority, number, data_bytes),
                Action::Datagram { endpoint } => self.begin_datagram(endpoint),
                Action::DatagramAt { endpoint, at } => self.begin_datagram_at(endpoint, at),
                Action::LookAtQueues => self.look_at_queues(),
                Action::LookAtFlows => self.look_at_flows(),
                Action::CloseWindow => self.close_window(),
                Action::Begin { iteration } => self.begin_iteration(iteration),
                Action::End { started } => self.end_iteration(started),
            }
        }
        self.done = self.workload.is_done();
    }
}
