//! Runs that stand still: nothing is left to happen that the workload could wait for, and it is not done.

use tailback_net::frame::HostId;
use tailback_tcp::Failure;
use tailback_units::{Duration, Time};

use super::World;
use crate::SimError;
use crate::workload::Workload;

/// Longer than any time that a scenario can ask for, which is ten days.
const STILL: Duration = Duration::from_secs(11 * 86_400);

impl World {
    /// The error that this is.
    #[cold]
    pub(crate) fn stalled(&self) -> SimError {
        SimError::Stalled {
            at: self.now,
            done: self.workload.progress(),
            why: self.why_stalled(),
        }
    }

    /// Whether a workload that has no time of its own waits for a connection that is gone, while traffic
    /// beside it goes on for ever.
    pub(crate) fn waits_for_nothing(&self) -> bool {
        let goes_on = self.background.is_some() || !self.beside.flows().is_empty();
        let own = &self.endpoints[..self.begun_endpoints as usize];
        let mut connections = own.iter().filter_map(|end| end.connection.as_ref());
        goes_on
            && matches!(self.workload, Workload::Incast(_) | Workload::Collective(_))
            && connections.any(|tcp| tcp.failure().is_some())
    }

    /// Whether a workload that has no time of its own has stood still for so long that nothing but keepalives goes
    /// on: looked at now and then.
    pub(crate) fn stands_still(&mut self) -> bool {
        let read_bytes = match self.workload {
            Workload::Incast(_) | Workload::Collective(_) => self.quiet(),
            _ => None,
        };
        let before = self.still.filter(|(_, before)| Some(*before) == read_bytes);
        self.still = before.or(read_bytes.map(|bytes| (self.now, bytes)));
        before.is_some_and(|(since, _)| self.now.since(since) > STILL)
    }

    /// What the applications have read, if none of them is about to do anything and none of their connections has
    /// anything on its way or to send.
    fn quiet(&self) -> Option<u64> {
        let mut read_bytes = 0;
        for end in &self.endpoints[..self.begun_endpoints as usize] {
            if end.app_wake < Time::NEVER {
                return None;
            }
            read_bytes += end.read_bytes;
            let alive = end
                .connection
                .as_ref()
                .filter(|tcp| tcp.failure().is_none());
            if let Some(tcp) = alive {
                let info = tcp.tcp_info(self.now);
                if info.unacked > 0 || info.notsent_bytes > 0 {
                    return None;
                }
            }
        }
        Some(read_bytes)
    }

    /// What the workload waits for, as far as connections tell.
    fn why_stalled(&self) -> String {
        let name = |host: HostId| self.hosts[usize::from(host.0)].name.as_str();
        let connections = || {
            let ends = self.endpoints[..self.begun_endpoints as usize].iter();
            ends.filter_map(|end| Some((end, end.connection.as_ref()?)))
        };
        let failed = connections().find_map(|(end, tcp)| Some((end, tcp.failure()?)));
        if let Some((end, failure)) = failed {
            let how = match failure {
                Failure::Refused => "was refused",
                Failure::Reset | Failure::BrokenPipe => "was reset",
                Failure::TimedOut => "got no answer and gave up",
                Failure::Aborted => "was aborted",
            };
            return format!(
                "{}'s end of its connection with {} {how}, and the workload waits for it; \
                 less loss, more tcp_retries2 or tcp_syn_retries, or a longer TCP_USER_TIMEOUT",
                name(end.host),
                name(end.peer_host)
            );
        }
        let unread = connections().find(|(_, tcp)| tcp.readable() > 0);
        if let Some((end, tcp)) = unread {
            return format!(
                "{} bytes from {} wait at {} and nobody reads them; \
                 SO_RCVLOWAT no larger than what is sent at a time",
                tcp.readable(),
                name(end.peer_host),
                name(end.host)
            );
        }
        "a defect of the simulator".to_owned()
    }
}
