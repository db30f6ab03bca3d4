//! Hosts far apart are worked off in turn, each for as long as no other can reach it.
//!
//! Two hosts with machines at the ends of one long link get nothing of one another for as long as a frame takes
//! to cross it. In the order of time they alternate, some frames each; here one does all it has to do in a window
//! of time, then the other: each has a calendar of its own, so that a machine goes on to the window's end
//! without looking at any other's. What belongs to no host (the workload's alarm) ends a window, and is handled in
//! the order of time among what is due then.
//!
//! Nothing of it shows in what a run gives (a property test holds that), with two exceptions: which of two hosts
//! lost a datagram of a flow first, and what ends at two hosts at about one time. A run in which such a thing
//! happens is made again, in the order of time.

use tailback_units::{Duration, Time};

use super::World;
use super::network::Sink;
use crate::event::Calendar;
use crate::workload::Workload;
use crate::{Control, SimError};

/// No window is longer: what a host sends in one stays in the processor's nearer caches.
const WINDOW_MAX: Duration = Duration::from_ms(5);
/// In shorter ones hosts have too little to do for what it costs to take turns.
const WINDOW_MIN: Duration = Duration::from_us(500);
/// Windows between two looks at whether the run is to be given up.
const WINDOWS_PER_CHECK: u32 = 256;

/// Hosts that take turns.
#[derive(Debug)]
pub(crate) struct Turns {
    /// By host. In a host's turn its calendar is the world's, and the world's is here.
    calendars: Vec<Calendar>,
    /// By link, the host it leads to.
    leads_to: Vec<usize>,
    /// So long a window is at most.
    window: Duration,
    /// Something has happened that shows in which order hosts were worked off.
    shown: bool,
}

impl Turns {
    /// A frame is on its way over a link: its host's calendar looks at the machine then.
    #[inline(never)]
    fn launched(&mut self, link: u32, at: Time) {
        self.calendars[self.leads_to[link as usize]].schedule(link, at);
    }
}

/// Puts the event of a link that a host has sent over into the calendar that is to have it.
#[inline(always)]
pub(super) fn schedule_launch(
    calendar: &mut Calendar,
    turns: &mut Option<Box<Turns>>,
    link: u32,
    at: Time,
) {
    match turns {
        None => {
            calendar.schedule(link, at);
        }
        Some(turns) => turns.launched(link, at),
    }
}

impl World {
    /// Hosts take turns from now on, if they can.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_turns(&mut self) {
        let window = self.window_of_turns().filter(|_| !self.in_order);
        let (Some(window), Some(leads_to)) = (window, self.machines_behind()) else {
            return;
        };
        let calendars = self.hosts.iter().map(|_| Calendar::new(2)).collect();
        self.turns = Some(Box::new(Turns {
            calendars,
            leads_to,
            window,
            shown: false,
        }));
    }

    /// How long a window may be; nothing if it is not worth while, or if there is what has to do with several
    /// hosts at once.
    fn window_of_turns(&self) -> Option<Duration> {
        let alone = match &self.workload {
            Workload::Flows(flows) => flows.are_endless(),
            Workload::Udp(_) => true,
            _ => false,
        };
        let plain = self.switches.is_empty()
            && self.pushback.is_none()
            && self.background.is_none()
            && self.beside.flows().is_empty()
            && self.ledger.outbox.is_none()
            && self.hosts.iter().all(|host| host.machine.is_some())
            && self.links.iter().all(|link| link.plain_to_machine);
        let least = self.links.iter().map(|link| link.link.arrival(Time::ZERO));
        let window = least.min()?.since(Time::ZERO).min(WINDOW_MAX);
        (alone && self.is_unseen() && plain && window >= WINDOW_MIN).then_some(window)
    }

    /// By link, the host with a machine that it leads to; nothing if one leads elsewhere.
    fn machines_behind(&self) -> Option<Vec<usize>> {
        let behind = |link: &super::LinkState| match link.sink {
            Sink::Machine { host } => Some(usize::from(host.0)),
            _ => None,
        };
        self.links.iter().map(behind).collect()
    }

    /// What must not depend on which host was worked off first has happened.
    #[cold]
    pub(super) fn show_order(&mut self) {
        if let Some(turns) = &mut self.turns {
            turns.shown = true;
        }
    }

    /// Something showed that hosts were not worked off in the order of time: it is to be run again, in that.
    pub(crate) fn has_shown_order(&self) -> bool {
        self.lead.is_shown() || self.turns.as_ref().is_some_and(|turns| turns.shown)
    }

    /// Runs until the workload is done, or something shows in which order hosts are worked off.
    #[inline(never)]
    pub(super) fn run_in_turns(&mut self, control: &Control) -> Result<(), SimError> {
        let mut windows = 0;
        while !self.done && !self.has_shown_order() {
            if windows == WINDOWS_PER_CHECK {
                control.check(self.workload.progress())?;
                windows = 0;
            }
            windows += 1;
            let alarm = self.hand_out();
            let Some(turns) = &mut self.turns else {
                return Ok(());
            };
            let hosts = turns.calendars.iter_mut().filter_map(Calendar::next_at);
            let first = hosts.min().unwrap_or(Time::NEVER);
            if first < alarm {
                let until = alarm.min(first + turns.window);
                for host in 0..self.hosts.len() {
                    self.take_turn(host, until);
                }
            } else {
                self.handle_in_order(alarm)?;
            }
        }
        Ok(())
    }

    /// Hands events that are hosts' over to their calendars. Answers when the first is that is nobody's.
    fn hand_out(&mut self) -> Time {
        loop {
            let Some(event) = self.calendar.pop() else {
                return Time::NEVER;
            };
            match (self.host_of(event.rank), &mut self.turns) {
                (Some(host), Some(turns)) => {
                    turns.calendars[host].schedule(event.rank, event.at);
                }
                _ => {
                    self.calendar.schedule(event.rank, event.at);
                    return event.at;
                }
            }
        }
    }

    /// The host that an event is for, if it is for one.
    fn host_of(&self, rank: u32) -> Option<usize> {
        if let Some(timer) = rank.checked_sub(self.first_timer) {
            let endpoint = self.endpoints.get(timer as usize)?;
            return Some(usize::from(endpoint.host.0));
        }
        let turns = self.turns.as_ref()?;
        if let Some(host) = turns.leads_to.get(rank as usize) {
            return Some(*host);
        }
        let place = rank.checked_sub(self.first_machine)? as usize;
        self.machine_hosts.get(place).map(|host| usize::from(*host))
    }

    /// Handles the first of what is due at a time at which something is that is nobody's.
    fn handle_in_order(&mut self, at: Time) -> Result<(), SimError> {
        let calendars = self.turns.iter_mut().flat_map(|turns| &mut turns.calendars);
        for calendar in calendars {
            while calendar.next_at() == Some(at)
                && let Some(event) = calendar.pop()
            {
                self.calendar.schedule(event.rank, at);
            }
        }
        self.events += 1;
        self.step()
    }

    /// A host does what it has to do before the end of a window.
    fn take_turn(&mut self, host: usize, until: Time) {
        self.swap_calendars(host);
        // A machine goes on as far as the calendar has nothing else: to the window's end. A look that is out of
        // date changes nothing.
        if let Some(machine) = &self.hosts[host].machine {
            self.calendar.schedule(machine.rank, until);
        }
        self.run_before(until);
        self.swap_calendars(host);
    }

    fn swap_calendars(&mut self, host: usize) {
        if let Some(turns) = &mut self.turns {
            std::mem::swap(&mut turns.calendars[host], &mut self.calendar);
        }
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
