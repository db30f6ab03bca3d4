//! Applications: they are told what happened and say what they want done.
//!
//! One file for each kind of workload of the scenario model. An application sees only its own
//! connections: it is told when one is up, when bytes have arrived, when it is awake.

mod background_flows;
mod bernoulli;
mod collective;
mod exchange;
mod flows;
mod incast;
mod measured;
mod ping;
mod request_response;
mod udp;

use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Duration, Time};

pub(crate) use background_flows::BackgroundFlowsApp;
pub(crate) use bernoulli::BernoulliApp;
pub(crate) use collective::CollectiveApp;
pub(crate) use exchange::ExchangeApp;
pub(crate) use flows::{FlowsApp, Program, Source};
pub(crate) use incast::{IncastApp, Latencies, Server};
pub(crate) use measured::MeasuredApp;
pub(crate) use ping::{PingApp, Request};
pub(crate) use request_response::{Answer, RequestResponseApp};
pub(crate) use udp::{QUEUES, UdpApp, drain as udp_drain};

/// What an application wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Open the connection from this client endpoint to its peer.
    Connect { client: EndpointId },
    /// All of a flow has been read at this end, which stays until its connection is over.
    Complete { endpoint: EndpointId },
    /// Take this end away; what is to be remembered of its flow is.
    TakeAway { endpoint: EndpointId },
    /// Make the two ends of a flow from one host to another, the next two endpoints, and open the
    /// connection.
    Open {
        source: usize,
        destination: usize,
        priority: u8,
    },
    /// A flow is over at this end: take the end away.
    Retire {
        endpoint: EndpointId,
        complete: bool,
    },
    /// Wake the application at the other end of this endpoint's flow, as soon as word can be there.
    Tell { endpoint: EndpointId },
    /// Call the workload's alarm, in place of any earlier wish that has not come true.
    Alarm { at: Time },
    /// Send a ping; its answer comes as [`Workload::ping_answered`].
    Ping {
        source: usize,
        destination: usize,
        priority: u8,
        number: u32,
        data_bytes: u16,
    },
    /// A sender of datagrams sends its next; [`Notice::Sent`] says when it has.
    Datagram { endpoint: EndpointId },
    /// It begins to do so at that time: is woken then, where its thread is not modelled.
    DatagramAt { endpoint: EndpointId, at: Time },
    /// Look at what waits in the switches.
    LookAtQueues,
    /// Look at every flow.
    LookAtFlows,
    /// The time in which flows are measured is over.
    CloseWindow,
    /// Write this many bytes.
    Write { endpoint: EndpointId, bytes: u64 },
    /// Stop reading at this endpoint.
    Hold { endpoint: EndpointId },
    /// Read what has come, and go on reading; or so much at most, and hold.
    Read {
        endpoint: EndpointId,
        most: Option<u64>,
    },
    /// A server that reads one request at a time reads on.
    ReadOn { endpoint: EndpointId },
    /// End the connection of this endpoint.
    Finish {
        endpoint: EndpointId,
        ending: Ending,
    },
    /// Wake the application at this endpoint, in place of any earlier wish.
    Wake { endpoint: EndpointId, at: Time },
    /// An iteration begins: count from here.
    Begin { iteration: u64 },
    /// The iteration that began at `started` is over.
    End { started: Time },
}

/// How an application ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It writes no more, once TCP has taken all it has to write.
    Shutdown,
    /// It closes the socket, once TCP has taken all it has to write.
    Close,
    /// It resets the connection at once.
    Abort,
    /// It resets the connection, once TCP has taken all it has to write.
    Reset,
    /// It writes no more, from now on: what TCP has taken is still sent.
    Stop,
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
    /// The datagram has been handed to the card; when the socket has room for the next.
    Sent(Time),
    /// The peer writes no more, or the connection has ended in order.
    Closed,
    /// The connection is gone: reset, or given up.
    Failed,
}

/// The workload of a run.
#[derive(Debug)]
pub(crate) enum Workload {
    Incast(IncastApp),
    Flows(FlowsApp),
    Exchange(ExchangeApp),
    Measured(MeasuredApp),
    Bernoulli(BernoulliApp),
    Udp(UdpApp),
    RequestResponse(RequestResponseApp),
    Ping(PingApp),
    Collective(CollectiveApp),
}

impl Workload {
    #[inline(never)]
    pub(crate) fn start(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        match self {
            Workload::Incast(app) => app.start(now, actions),
            Workload::Flows(app) => app.start(now, actions),
            Workload::Exchange(app) => app.start(now, actions),
            Workload::Measured(app) => app.alarm(now, actions),
            Workload::Bernoulli(app) => app.start(now, actions),
            Workload::Udp(app) => app.start(actions),
            Workload::RequestResponse(app) => app.start(now, actions),
            Workload::Ping(app) => app.start(now, actions),
            Workload::Collective(app) => app.start(actions),
        }
    }

    /// Applications outside had read so many bytes of flows before these were counted.
    pub(crate) fn omitted_outside(&mut self, bytes: u64) {
        if let Workload::Flows(app) = self {
            app.omit_outside(bytes);
        }
    }

    /// Applications outside have been through so many iterations.
    pub(crate) fn iterated_outside(&mut self, iterations: u64) {
        match self {
            Workload::Incast(app) => app.iterated_outside(iterations),
            Workload::Collective(app) => app.iterated_outside(iterations),
            _ => {}
        }
    }

    /// Applications outside have read so many bytes of flows.
    pub(crate) fn read_outside(&mut self, bytes: u64) {
        match self {
            Workload::Flows(app) => app.read_outside(bytes),
            Workload::Exchange(app) => app.read_outside(bytes),
            _ => {}
        }
    }

    /// All hosts outside have ended.
    pub(crate) fn outside_ended(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        if let Workload::Flows(app) = self {
            app.outside_ended(now, actions);
        }
    }

    /// The time of its alarm has come.
    #[inline(never)]
    pub(crate) fn alarm(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        match self {
            Workload::Incast(_) | Workload::Collective(_) => {}
            Workload::Flows(app) => app.alarm(now, actions),
            Workload::Exchange(app) => app.alarm(now, actions),
            Workload::Measured(app) => app.alarm(now, actions),
            Workload::Bernoulli(app) => app.alarm(now, actions),
            Workload::Udp(app) => app.alarm(actions),
            Workload::RequestResponse(app) => app.alarm(now, actions),
            Workload::Ping(app) => app.alarm(now, actions),
        }
    }

    /// The senders of datagrams, if it is those.
    pub(crate) fn udp(&self) -> Option<&UdpApp> {
        match self {
            Workload::Udp(app) => Some(app),
            _ => None,
        }
    }

    /// Time between two datagrams of a sender.
    pub(crate) fn datagram_gap(&self) -> Duration {
        self.udp().map_or(Duration::ZERO, UdpApp::gap)
    }

    /// Bytes of a server's first request that it has not read yet; none of who reads all that is there.
    pub(crate) fn request_left(&self, id: EndpointId) -> Option<u64> {
        match self {
            Workload::RequestResponse(app) => app.request_left(id),
            _ => None,
        }
    }

    /// The questions and answers, if it is those.
    pub(crate) fn request_response(&self) -> Option<&RequestResponseApp> {
        match self {
            Workload::RequestResponse(app) => Some(app),
            _ => None,
        }
    }

    /// What the socket at an endpoint asks for by TCP_CONGESTION: a source of flows, or either end of questions and
    /// answers.
    pub(crate) fn congestion(&self, id: EndpointId) -> Option<CongestionKind> {
        match self {
            Workload::Flows(app) if id.0.is_multiple_of(2) => {
                app.flow(id.0 as usize / 2)?.congestion
            }
            Workload::RequestResponse(app) => app.congestion(id),
            _ => None,
        }
    }

    /// The flows, if it is a list of flows.
    pub(crate) fn flows(&self) -> Option<&FlowsApp> {
        match self {
            Workload::Flows(app) => Some(app),
            _ => None,
        }
    }

    /// The measured senders, if it is those.
    pub(crate) fn measured(&self) -> Option<&MeasuredApp> {
        match self {
            Workload::Measured(app) => Some(app),
            _ => None,
        }
    }

    /// The clients of questions and answers.
    pub(crate) fn request_response_mut(&mut self) -> Option<&mut RequestResponseApp> {
        match self {
            Workload::RequestResponse(app) => Some(app),
            _ => None,
        }
    }

    /// A host outside has sent these pings.
    pub(crate) fn pinged_outside(&mut self, pings: Vec<Request>) {
        if let Workload::Measured(app) = self {
            app.pinged_outside(pings);
        }
    }

    /// The answer to a ping has come.
    pub(crate) fn ping_answered(&mut self, now: Time, number: u32, actions: &mut VecDeque<Action>) {
        match self {
            Workload::Measured(app) => app.ping_answered(now, number),
            Workload::Ping(app) => app.ping_answered(now, number, actions),
            _ => {}
        }
    }

    /// Hosts outside have sent these requests of workload `ping`.
    pub(crate) fn requested_outside(&mut self, requests: impl Iterator<Item = Request>) {
        if let Workload::Ping(app) = self {
            app.pinged_outside(requests);
        }
    }

    /// The hosts that ping, if it is those.
    pub(crate) fn ping(&self) -> Option<&PingApp> {
        match self {
            Workload::Ping(app) => Some(app),
            _ => None,
        }
    }

    /// Which endpoint of a pair sends what the table `flows` is about: 0 or 1.
    pub(crate) fn sender(&self) -> u32 {
        match self {
            Workload::Incast(_) => 1,
            Workload::Flows(_)
            | Workload::Measured(_)
            | Workload::Bernoulli(_)
            | Workload::Ping(_)
            | Workload::Collective(_)
            | Workload::Udp(_) => 0,
            Workload::Exchange(app) => app.sender(),
            Workload::RequestResponse(app) => app.sender(),
        }
    }

    #[inline(always)]
    pub(crate) fn notice(
        &mut self,
        now: Time,
        id: EndpointId,
        notice: Notice,
        actions: &mut VecDeque<Action>,
    ) {
        if let Workload::Flows(app) = self {
            return app.notice(now, id, notice, actions);
        }
        self.notice_others(now, id, notice, actions);
    }

    /// The same of workloads that are no list of flows.
    #[inline(never)]
    fn notice_others(
        &mut self,
        now: Time,
        id: EndpointId,
        notice: Notice,
        actions: &mut VecDeque<Action>,
    ) {
        match self {
            Workload::Flows(_) | Workload::Ping(_) => {}
            Workload::Incast(app) => app.notice(now, id, notice, actions),
            Workload::Exchange(app) => app.notice(id, notice, actions),
            Workload::Measured(app) => app.notice(id, notice, actions),
            Workload::Bernoulli(app) => app.notice(id, notice, actions),
            Workload::Udp(app) => app.notice(now, id, notice, actions),
            Workload::RequestResponse(app) => app.notice(now, id, notice, actions),
            Workload::Collective(app) => app.notice(now, id, notice, actions),
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        match self {
            Workload::Incast(app) => app.is_done(),
            Workload::Flows(app) => app.is_done(),
            Workload::Exchange(app) => app.is_done(),
            Workload::Measured(app) => app.is_done(),
            Workload::Bernoulli(app) => app.is_done(),
            Workload::Udp(app) => app.is_done(),
            Workload::RequestResponse(app) => app.is_done(),
            Workload::Ping(app) => app.is_done(),
            Workload::Collective(app) => app.is_done(),
        }
    }

    /// Iterations finished.
    #[inline(never)]
    pub(crate) fn progress(&self) -> u64 {
        match self {
            Workload::Incast(app) => app.progress(),
            Workload::Flows(app) => app.progress(),
            Workload::Exchange(app) => u64::from(app.is_done()),
            Workload::Measured(app) => u64::from(app.is_done()),
            Workload::Bernoulli(app) => u64::from(app.is_done()),
            Workload::Udp(app) => u64::from(app.is_done()),
            Workload::RequestResponse(app) => u64::from(app.is_done()),
            Workload::Ping(app) => u64::from(app.is_done()),
            Workload::Collective(app) => app.progress(),
        }
    }

    /// Whether flows are there before anything is counted, or may be.
    pub(crate) fn is_counted_late(&self) -> bool {
        match self {
            Workload::Measured(_) => true,
            Workload::Flows(app) => app.counted_since() > Time::ZERO,
            Workload::RequestResponse(app) => app.counted_since() > Time::ZERO,
            _ => false,
        }
    }

    /// Bytes that all finished iterations asked for; of flows, what has been read of them.
    pub(crate) fn answer_bytes_total(&self) -> u64 {
        match self {
            Workload::Incast(app) => app.answer_bytes_total(),
            Workload::Flows(app) => app.read_bytes(),
            Workload::Exchange(app) => app.read_bytes(),
            Workload::Measured(app) => app.read_bytes(),
            Workload::Bernoulli(app) => app.read_bytes(),
            Workload::RequestResponse(app) => app.read_bytes(),
            Workload::Ping(app) => app.read_bytes(),
            Workload::Collective(app) => app.exchanged_bytes_total(),
            Workload::Udp(_) => 0,
        }
    }
}
