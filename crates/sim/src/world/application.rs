//! What applications ask of their host: to connect, write, read and end.

use std::sync::Arc;

use tailback_net::frame::EndpointId;
use tailback_tcp::{Connection, Shutdown};
use tailback_units::Time;

use super::World;
use super::backlog::Backlog;
use super::machines::NO_TASK;
use crate::workload::{Action, Ending, Notice, Workload};

impl World {
    /// An application begins to connect to its peer.
    pub(super) fn connect(&mut self, client: EndpointId) {
        let endpoint = &mut self.endpoints[client.0 as usize];
        let host = &self.hosts[usize::from(endpoint.host.0)];
        let mut config = host.config_for(self.seed, client, &self.beside);
        let asked = self.beside.congestion(client);
        if let Some(congestion) = asked.or(self.workload.congestion(client)) {
            Arc::make_mut(&mut config.options).congestion = Some(congestion);
        }
        let mut connection = Connection::connect(&config, self.now);
        connection.expect_host_queue();
        if let Some(known) = host.metrics.get(&endpoint.peer_host, self.now) {
            connection.recall(known);
        }
        endpoint.connection = Some(Box::new(connection));
        self.drive_and_arm(client);
    }

    /// An application writes; what the send buffer has no room for now follows when it has. A call that waits for
    /// room goes first: what is written meanwhile are calls behind it.
    pub(super) fn app_write(&mut self, id: EndpointId, bytes: u64) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        let Some(connection) = &mut endpoint.connection else {
            return;
        };
        let waits = !endpoint.backlog.is_empty();
        endpoint.backlog.push(bytes);
        if endpoint.task != NO_TASK {
            return self.begin_call(id);
        }
        if waits {
            return;
        }
        endpoint.written_bytes += endpoint.backlog.write_to(connection, self.now);
        self.drive(id);
    }

    /// An application reads what has come, and goes on reading; or so much at most, and holds.
    pub(super) fn app_read(&mut self, id: EndpointId, most: Option<u64>) {
        let now = self.now;
        let endpoint = &mut self.endpoints[id.0 as usize];
        endpoint.holds = most.is_some();
        let Some(connection) = &mut endpoint.connection else {
            return;
        };
        let bytes = connection.read(now, most.unwrap_or(u64::MAX));
        endpoint.read_bytes += bytes;
        if bytes > 0 {
            let notice = Notice::Received(bytes);
            self.beside
                .notice(&mut self.workload, now, id, notice, &mut self.actions);
        }
        self.drive_and_arm(id);
    }

    /// A server reads its next request, if it has no answer left to write.
    pub(super) fn read_on(&mut self, id: EndpointId) {
        let now = self.now;
        let endpoint = &mut self.endpoints[id.0 as usize];
        let Some(connection) = endpoint.connection.as_mut().filter(|_| !endpoint.holds) else {
            return;
        };
        let most = most_read(&self.workload, id, &endpoint.backlog);
        let bytes = connection.read(now, most);
        if bytes == 0 {
            return;
        }
        endpoint.read_bytes += bytes;
        let readable = connection.readable() > 0;
        let notice = Notice::Received(bytes);
        self.beside
            .notice(&mut self.workload, now, id, notice, &mut self.actions);
        if readable {
            self.actions.push_back(Action::ReadOn { endpoint: id });
        }
        self.drive_and_arm(id);
    }

    /// An application ends a connection.
    pub(super) fn app_finish(&mut self, id: EndpointId, ending: Ending) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        let Some(connection) = &mut endpoint.connection else {
            return;
        };
        if ending == Ending::Stop {
            endpoint.backlog.clear();
            endpoint.ending = None;
        }
        if !endpoint.backlog.is_empty() && ending != Ending::Abort {
            endpoint.ending = Some(ending);
            return;
        }
        ending.apply(connection, self.now);
        self.drive_and_arm(id);
    }

    /// The same for those who do so from outside of the host's machine: what is sent may be a reason for
    /// an interrupt there.
    fn drive_and_arm(&mut self, id: EndpointId) {
        self.drive(id);
        self.arm_machine(usize::from(self.endpoints[id.0 as usize].host.0));
    }

    /// An application asks to be woken.
    pub(crate) fn wake_app_at(&mut self, id: EndpointId, at: Time) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        endpoint.app_wake = at;
        endpoint.arm(self.first_timer + id.0, &mut self.calendar, &mut self.lead);
    }
}

/// How much a program's next read brings at most: a server's no more than its first request, and nothing while it still
/// writes an answer, since one thread does both (`crates/agent/src/traffic/incast.rs`).
pub(super) fn most_read(workload: &Workload, id: EndpointId, backlog: &Backlog) -> u64 {
    match workload.request_left(id) {
        None => u64::MAX,
        Some(_) if !backlog.is_empty() => 0,
        Some(bytes) => bytes,
    }
}

impl Ending {
    pub(super) fn apply(self, connection: &mut Connection, now: Time) {
        match self {
            Ending::Shutdown | Ending::Stop => connection.shutdown(now, Shutdown::Write),
            Ending::Close => connection.close(now),
            Ending::Abort | Ending::Reset => connection.close_hard(now),
        }
    }
}
