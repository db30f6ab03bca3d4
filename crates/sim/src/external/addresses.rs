//! Which IPv4 address and ports hosts have: those of the address plan, or those of somebody's own hosts.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};

use serde::Deserialize;
use tailback_agent::Record;
use tailback_scenario::Run;
use tailback_wire::plan;

use crate::SimError;

/// Hosts that somebody has elsewhere, in a network of their own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Elsewhere {
    /// By their names in the scenario.
    pub hosts: BTreeMap<String, HostElsewhere>,
    /// The first port on which they listen; connections have every other one from there.
    pub first_port: u16,
}

/// A host that somebody has elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostElsewhere {
    /// Its address in the network that is to be measured.
    pub address: Ipv4Addr,
    /// The interface that has this address.
    pub interface: String,
    /// Which kernel it is: hosts that have the same have their counters together; empty: one of its own.
    #[serde(default)]
    pub kernel: String,
}

/// The addresses and ports of a run's hosts.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    given: Option<Given>,
}

#[derive(Clone, Debug)]
struct Given {
    /// By the hosts' numbers; of those that have nothing to do there may be none.
    hosts: Vec<Option<HostElsewhere>>,
    first_port: u16,
}

impl Addresses {
    /// As in the address plan.
    pub(super) fn planned() -> Addresses {
        Addresses { given: None }
    }

    /// As somebody's hosts have them.
    pub(super) fn elsewhere(run: &Run, elsewhere: &Elsewhere) -> Addresses {
        let hosts = run.network.hosts.iter();
        Addresses {
            given: Some(Given {
                hosts: hosts
                    .map(|host| elsewhere.hosts.get(&host.name).cloned())
                    .collect(),
                first_port: elsewhere.first_port,
            }),
        }
    }

    /// Whether hosts are somebody's own.
    pub(super) fn are_given(&self) -> bool {
        self.given.is_some()
    }

    /// The address of a host.
    pub(super) fn of(&self, host: usize) -> Ipv4Addr {
        let given = self.host(host);
        given.map_or_else(|| plan::ipv4(host as u16), |host| host.address)
    }

    /// What is known of a host that is somebody's own.
    pub(super) fn host(&self, host: usize) -> Option<&HostElsewhere> {
        self.given.as_ref()?.hosts.get(host)?.as_ref()
    }

    /// The port of an endpoint.
    pub(super) fn port(&self, endpoint: u32) -> u16 {
        plan::port(endpoint).wrapping_add(self.shift())
    }

    /// Writes what hosts told in the plan's addresses and ports.
    ///
    /// # Errors
    /// The text of what is wrong: a peer that is none of the run's hosts.
    pub(super) fn plan(&self, record: &mut Record) -> Result<(), String> {
        let Some(given) = &self.given else {
            return Ok(());
        };
        let planned = |address: &mut SocketAddrV4| {
            let is = |host: &Option<HostElsewhere>| {
                host.as_ref().is_some_and(|h| h.address == *address.ip())
            };
            let number = given.hosts.iter().position(is);
            let number = number.ok_or_else(|| format!("{address} is none of the run's hosts"))?;
            *address =
                SocketAddrV4::new(plan::ipv4(number as u16), self.planned_port(address.port()));
            Ok(())
        };
        match record {
            Record::Answered { peer, .. }
            | Record::Request { peer, .. }
            | Record::UdpSent { peer, .. } => planned(peer),
            Record::Sample { local, peer, .. } | Record::Look { local, peer, .. } => {
                planned(local).and_then(|()| planned(peer))
            }
            Record::Flow(flow) => planned(&mut flow.local).and_then(|()| planned(&mut flow.peer)),
            Record::UdpReceived { port, .. } => {
                *port = self.planned_port(*port);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn planned_port(&self, port: u16) -> u16 {
        port.wrapping_sub(self.shift())
    }

    fn shift(&self) -> u16 {
        let first = self
            .given
            .as_ref()
            .map_or(plan::FIRST_PORT, |g| g.first_port);
        first.wrapping_sub(plan::FIRST_PORT)
    }
}

/// The ports on which a run's hosts listen, if they were to begin at `first_port`: from that to this.
///
/// # Errors
/// [`SimError::RealHosts`] if there are not so many.
pub(super) fn last_port(first_port: u16, endpoints: usize) -> Result<u16, SimError> {
    u16::try_from(usize::from(first_port) + endpoints).map_err(|_| {
        SimError::RealHosts(format!(
            "{endpoints} ends of connections, one port each from {first_port} on, and the last port is 65535"
        ))
    })
}
