//! Applications: they are told what happened and say what they want done.
//!
//! One file for each kind of workload of the scenario model. An application sees only its own
//! connections: it is told when one is up, when bytes have arrived, when it is awake.

mod incast;

use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_units::Time;

pub(crate) use incast::{IncastApp, Latencies, Server};

/// What an application wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Open the connection from this client endpoint to its peer.
    Connect { client: EndpointId },
    /// Write this many bytes.
    Write { endpoint: EndpointId, bytes: u64 },
    /// Wake the application at this endpoint, in place of any earlier wish.
    Wake { endpoint: EndpointId, at: Time },
    /// An iteration begins: count from here.
    Begin { iteration: u64 },
    /// The iteration that began at `started` is over.
    End { started: Time },
}

/// What an application is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The connection is up.
    Connected,
    /// So many bytes arrived in order and have been read.
    Received(u64),
    /// The time it asked to be woken at has come.
    Awake,
    /// The connection is gone, or the peer writes no more.
    Closed,
}

/// The workload of a run.
#[derive(Debug)]
pub(crate) enum Workload {
    Incast(IncastApp),
}

impl Workload {
    pub(crate) fn start(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        match self {
            Workload::Incast(app) => app.start(now, actions),
        }
    }

    #[inline]
    pub(crate) fn notice(
        &mut self,
        now: Time,
        id: EndpointId,
        notice: Notice,
        actions: &mut VecDeque<Action>,
    ) {
        match self {
            Workload::Incast(app) => app.notice(now, id, notice, actions),
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        match self {
            Workload::Incast(app) => app.is_done(),
        }
    }

    /// Iterations finished.
    pub(crate) fn progress(&self) -> u64 {
        match self {
            Workload::Incast(app) => app.progress(),
        }
    }

    /// Bytes that all finished iterations asked for.
    pub(crate) fn answer_bytes_total(&self) -> u64 {
        match self {
            Workload::Incast(app) => app.answer_bytes_total(),
        }
    }
}
