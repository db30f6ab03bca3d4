//! iperf's reporter beside the threads that send and read datagrams, on hosts with a machine.
//!
//! Models iperf 2.0.2 to 2.0.4, src/Reporter.c: ReportPacket puts a record into the ring, and rests while that is
//! full; reporter_spawn takes all there are, and rests. What a record costs who writes it is in the call.
//! Left out: a process with several flows has one reporter for all; here each end of a flow has its own.

use tailback_net::frame::EndpointId;
use tailback_net::host::machine::TaskId;
use tailback_scenario::{Reporter, Rest};
use tailback_units::Duration;

use super::World;

/// Records that the reporter takes before others see that there is room again.
const BATCH: u32 = 16;
/// Places that stay empty: that of the record taken last, and the one before it.
const EMPTY: u32 = 2;
/// How often a reporter that does not rest is looked at.
const TURN: Duration = Duration::from_us(5);

/// The reporter of one end of a flow.
#[derive(Debug)]
pub(super) struct Reporting {
    spec: Reporter,
    task: TaskId,
    begun: bool,
    /// Records in the ring, and those of them that it is at.
    waiting: u32,
    taking: u32,
    /// The thread that has a record to put in rests.
    holds_up: bool,
}

impl Reporting {
    pub(super) fn new(spec: Reporter, task: TaskId) -> Reporting {
        Reporting {
            spec,
            task,
            begun: false,
            waiting: 0,
            taking: 0,
            holds_up: false,
        }
    }

    /// Puts a record into the ring, if there is room.
    fn put(&mut self) -> bool {
        self.holds_up = self.waiting + EMPTY >= self.spec.records;
        self.waiting += u32::from(!self.holds_up);
        !self.holds_up
    }

    /// The records before have been handled: how many are next.
    fn take(&mut self) -> u32 {
        self.waiting -= self.taking;
        self.taking = self.waiting.min(BATCH);
        self.taking
    }
}

impl World {
    fn reporting(&mut self, id: EndpointId) -> Option<&mut Reporting> {
        let flow = self.datagrams.get_mut((id.0 / 2) as usize)?;
        flow.reporting[(id.0 % 2) as usize].as_mut()
    }

    /// The thread of an endpoint rests until its reporter has made room.
    #[inline]
    pub(super) fn is_held_up(&mut self, id: EndpointId) -> bool {
        self.reporting(id).is_some_and(|r| r.holds_up)
    }

    /// A thread has sent or read a datagram and reports it. False if it rests instead.
    #[inline]
    pub(super) fn put_record(&mut self, id: EndpointId) -> bool {
        let Some(reporting) = self.reporting(id) else {
            return true;
        };
        let put = reporting.put();
        let (rest, reporter) = (reporting.spec.rest, reporting.task);
        let begins = put && !std::mem::replace(&mut reporting.begun, true);
        if begins {
            self.let_rest(id, reporter, rest, TURN);
        }
        if !put {
            let endpoint = &self.endpoints[id.0 as usize];
            let (task, host) = (TaskId(endpoint.task), usize::from(endpoint.host.0));
            let machine = self.hosts[host].machine.as_ref();
            let call = machine.map_or(Duration::ZERO, |m| m.machine.config().costs.call);
            self.let_rest(id, task, rest, call);
        }
        put
    }

    /// A thread of an endpoint's process rests; `turn` is what it takes one that only lets others before it.
    fn let_rest(&mut self, id: EndpointId, task: TaskId, rest: Rest, turn: Duration) {
        let now = self.now;
        let host = usize::from(self.endpoints[id.0 as usize].host.0);
        let Some(state) = &mut self.hosts[host].machine else {
            return;
        };
        match rest {
            Rest::Tick => {
                let at = state.machine.next_tick_of(now, task);
                state.machine.run_at(at, task, Duration::ZERO);
            }
            Rest::Yield => {
                state.machine.run(now, task, turn);
                state.machine.yield_core(task);
            }
        }
        self.arm_machine(host);
    }

    /// The reporter of an endpoint's process has rested, or handled some records.
    #[cold]
    pub(super) fn reporter_done(&mut self, id: EndpointId) {
        let now = self.now;
        let host = usize::from(self.endpoints[id.0 as usize].host.0);
        let Some(reporting) = self.reporting(id) else {
            return;
        };
        let (records, task, spec) = (reporting.take(), reporting.task, reporting.spec);
        let Some(state) = &mut self.hosts[host].machine else {
            return;
        };
        match (records, spec.rest) {
            (0, Rest::Tick) => self.let_rest(id, task, Rest::Tick, TURN),
            // It does not even yield.
            (0, Rest::Yield) => state.machine.run(now, task, TURN),
            _ => state
                .machine
                .run(now, task, spec.record * u64::from(records)),
        }
    }
}
