//! What somebody's own hosts are to do for a run, in a network that they have: its switches and links are
//! as they are, and nothing of a host is changed but sysctls, for as long as the run takes.

use tailback_scenario::Run;

use super::START;
use super::addresses::{Addresses, Elsewhere, last_port};
use super::real_plan::{self, RealHost, RealHosts};
use super::tasks::ns;
use crate::{SimError, ends};

/// The hosts of a run that have something to do, by their names, in the scenario's order.
#[must_use]
pub fn working_hosts(run: &Run) -> Vec<String> {
    let hosts = real_plan::by_host(run, &Addresses::planned());
    let name = |host: usize| run.network.hosts[host].name.clone();
    hosts.into_keys().map(name).collect()
}

/// What somebody's own hosts are to do in this run.
///
/// # Errors
/// [`SimError::RealHosts`] with all that they cannot do, and the hosts that are missing.
pub fn hosts_elsewhere(run: &Run, elsewhere: &Elsewhere) -> Result<RealHosts, SimError> {
    let mut refused = refused(run);
    let missing: Vec<String> = working_hosts(run)
        .into_iter()
        .filter(|name| !elsewhere.hosts.contains_key(name))
        .collect();
    if !missing.is_empty() {
        refused.push(format!("no machine for host {}", missing.join(", ")));
    }
    if !refused.is_empty() {
        return Err(SimError::RealHosts(refused.join("; ")));
    }
    let last_port = last_port(elsewhere.first_port, ends::all(run).len())?;
    let at = Addresses::elsewhere(run, elsewhere);
    let hosts = real_plan::by_host(run, &at)
        .into_iter()
        .map(|(number, tasks)| {
            let mut host = real_plan::real_host(run, number, tasks, &at);
            let others = elsewhere.hosts.values().map(|other| other.address);
            let config = &mut host.config;
            config.interface.offloads = Default::default();
            config.peers = others.filter(|one| *one != at.of(number)).collect();
            config.neighbours.clear();
            config.interface.name = at
                .host(number)
                .map(|host| host.interface.clone())
                .unwrap_or_default();
            host
        });
    let hosts: Vec<RealHost> = hosts.collect();
    Ok(RealHosts {
        hosts,
        switches: Vec::new(),
        links: Vec::new(),
        not_applied: not_applied(run),
        least_s: real_plan::least(run).as_secs_f64(),
        start_ns: ns(START),
        last_port: Some(last_port),
    })
}

/// All that somebody's own hosts are not asked to do, by its name in the scenario.
fn refused(run: &Run) -> Vec<String> {
    let mut refused = real_plan::refused_of_hosts(run);
    for host in &run.network.hosts {
        let kernel = &host.kernel;
        for (what, asks) in [("tc", !kernel.tc.is_empty()), ("ip", !kernel.ip.is_empty())] {
            if asks {
                refused.push(format!(
                    "host {}: kernel.{what}, for interfaces stay as they are (set them before the run)",
                    host.name
                ));
            }
        }
    }
    refused
}

/// What is not done, where the run says something all the same.
fn not_applied(run: &Run) -> Vec<String> {
    let mut said = vec![
        "network: topology, links, switches, their buffers, marking and flow control; the network is the \
         one between the hosts"
            .to_owned(),
        "host: costs, rings, interrupts and offloads; the hosts are as they are".to_owned(),
    ];
    if run.network.clock_ppm > 0 {
        said.push("network.clock_ppm: clocks go as they go".to_owned());
    }
    said.extend(real_plan::not_applied_of_hosts(run));
    said
}
