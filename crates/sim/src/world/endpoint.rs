//! One end of a connection: TCP, the application on top of it, and when the calendar looks at them.

use tailback_net::frame::{EndpointId, HostId};
use tailback_tcp::Connection;
use tailback_units::Time;

use super::backlog::Backlog;
use super::lead::Lead;
use super::machines::NO_TASK;
use crate::event::{Calendar, Wait};
use crate::workload::Ending;

/// One end of a connection, with the application on top of it: two lines of the processor's cache, in the first of
/// which is what every packet needs.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Endpoint {
    pub(crate) connection: Option<Box<Connection>>,
    /// When the application wants to be woken.
    pub(crate) app_wake: Time,
    pub(crate) read_bytes: u64,
    /// When the calendar will look at this endpoint; no later than its true deadline.
    pub(crate) armed: Armed,
    pub(crate) peer: EndpointId,
    pub(crate) host: HostId,
    pub(crate) peer_host: HostId,
    /// The application does not read, or reads by a thread.
    pub(crate) holds: bool,
    /// The priority of the packets it sends: a switch's traffic class.
    pub(crate) priority: u8,
    /// It makes a connection of a SYN that comes.
    pub(crate) listens: bool,
    /// Its thread's lock of the socket is modelled.
    pub(crate) locks: bool,
    /// Its thread on the host's machine, if that is modelled.
    pub(crate) task: u32,
    // So far the first line.
    pub(crate) written_bytes: u64,
    /// What the application has to write and the send buffer has no room for.
    pub(crate) backlog: Backlog,
    /// How the application ends the connection once TCP has taken all it has to write.
    pub(crate) ending: Option<Ending>,
}

// Whoever fetches an endpoint ahead fetches its first line.
const _: () =
    assert!(size_of::<Endpoint>() == 128 && std::mem::offset_of!(Endpoint, written_bytes) == 64);

/// When the calendar will look at an endpoint: its event that comes soon and its event that comes
/// late. What the calendar holds beside these two is out of date.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Armed {
    near: Time,
    far: Time,
    /// The tick of the earlier of the two by the connection's clock, if that is known.
    first_tick: u32,
    is_known: bool,
}

impl Armed {
    /// No event.
    pub(crate) const NEVER: Armed = Armed {
        near: Time::NEVER,
        far: Time::NEVER,
        first_tick: 0,
        is_known: false,
    };

    /// The event at `at` has come; false if it is out of date.
    pub(super) fn fires(&mut self, at: Time) -> bool {
        let armed = if self.near == at {
            &mut self.near
        } else {
            &mut self.far
        };
        let fires = *armed == at;
        if fires {
            *armed = Time::NEVER;
            self.is_known = false;
        }
        fires
    }
}

impl Endpoint {
    /// The end number `id` of a connection between two hosts; it waits to be connected to.
    pub(crate) fn new(id: u32, host: usize, peer_host: usize) -> Endpoint {
        Endpoint {
            connection: None,
            host: HostId(host as u16),
            peer: EndpointId(id ^ 1),
            peer_host: HostId(peer_host as u16),
            backlog: Backlog::default(),
            written_bytes: 0,
            read_bytes: 0,
            listens: true,
            holds: false,
            priority: 0,
            task: NO_TASK,
            locks: false,
            ending: None,
            app_wake: Time::NEVER,
            armed: Armed::NEVER,
        }
    }

    /// Sees to it that the calendar looks at this endpoint by its deadline. A deadline that moved
    /// away is found out when the calendar looks; only one that came closer costs anything now.
    #[inline(always)]
    pub(super) fn arm(&mut self, rank: u32, calendar: &mut Calendar, lead: &mut Lead) {
        let Armed {
            near,
            far,
            first_tick,
            is_known,
        } = self.armed;
        let first = near.min(far);
        // Mostly none has come closer; then it need not be known when it is.
        let sooner = !is_known
            || self.app_wake < first
            || match &self.connection {
                Some(connection) => connection.may_time_out_before(first, first_tick),
                None => true,
            };
        if sooner {
            self.arm_sooner(rank, calendar, lead);
        }
        debug_assert!(
            self.deadline() >= self.armed.near.min(self.armed.far),
            "nobody looks in time"
        );
    }

    /// When somebody has to look at it.
    #[inline]
    fn deadline(&self) -> Time {
        match &self.connection {
            Some(connection) => self.app_wake.min(connection.poll_timeout()),
            None => self.app_wake,
        }
    }

    /// The same where it may be that a deadline has come closer.
    #[inline(never)]
    fn arm_sooner(&mut self, rank: u32, calendar: &mut Calendar, lead: &mut Lead) {
        let deadline = self.deadline();
        let armed = &mut self.armed;
        if deadline < armed.near.min(armed.far) {
            lead.will_look(self.host, deadline);
            match calendar.schedule(rank, deadline) {
                Wait::Near => armed.near = deadline,
                Wait::Far => armed.far = deadline,
            }
        }
        armed.is_known = false;
        let first = armed.near.min(armed.far);
        let tick = self.connection.as_ref().and_then(|c| c.first_tick(first));
        if let Some(tick) = tick {
            armed.first_tick = tick;
            armed.is_known = true;
        }
    }
}
