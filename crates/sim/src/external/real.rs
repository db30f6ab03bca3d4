//! From what the agents of real hosts told, and what their network counted, to the tables that every run
//! gives.
//!
//! Nobody looks into such a network while it runs: it is known which port lost how many frames, not
//! when, nor what was in them; nor how long its queues were. Columns that would say so are not there.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use tailback_agent::{Record, record, record::Flow};
use tailback_scenario::Run;
use tailback_units::Time;

use super::addresses::{Addresses, Elsewhere};
use super::results::{self, Records};
use super::{starts_in_the_world, told};
use crate::tables::{ColumnData, Table};
use crate::world::World;
use crate::{RunOutcome, SimError, build, outcome};

/// What the network of real hosts counted in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// Frames that crossed a link.
    pub frames: u64,
    /// Places that lost any.
    pub drops: Vec<CountedPort>,
}

/// A place that lost frames.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedPort {
    /// `switch:port`, the host or the link, as in every `drops` table.
    pub place: String,
    /// Why.
    pub cause: String,
    /// How many.
    pub frames: u64,
}

/// Columns of what is lost between hosts, by their beginnings.
const SWITCH_DROPS: &str = "switch_drops";
const LINK_LOSSES: &str = "link_losses";
const HOST_DROPS: &str = "host_drops";

/// Drop causes.
const SOCKET_FULL: &str = "socket-full";
const ON_LINK: &str = "link-loss";

/// Who saw what the network did.
#[derive(Clone, Debug)]
pub enum Seen {
    /// The network, which was made for the run.
    Network(Counted),
    /// Nobody but the hosts' interfaces.
    Hosts(Elsewhere),
}

/// The tables of a run that real hosts made: `told` is each host's results, by its number.
///
/// # Errors
/// [`SimError::RealHosts`] if a host failed, or if more bytes were read than written.
pub fn tables_of_real_hosts(
    run: &Run,
    told: &BTreeMap<usize, String>,
    seen: &Seen,
) -> Result<RunOutcome, SimError> {
    let at = match seen {
        Seen::Network(_) => Addresses::planned(),
        Seen::Hosts(elsewhere) => Addresses::elsewhere(run, elsewhere),
    };
    let mut records = Records::new();
    for (host, text) in told {
        let name = &run.network.hosts[*host].name;
        let failed = |why: String| SimError::RealHosts(format!("host {name} failed: {why}"));
        records.insert(*host, checked(text, &at).map_err(failed)?);
    }
    count_kernels_once(&mut records, &at);
    check_streams(&records).map_err(SimError::Conservation)?;
    let everyone = vec![true; run.network.hosts.len()];
    let mut world = build::world(run, &everyone);
    if starts_in_the_world(run, &everyone) {
        world.start();
        while !world.workload.is_done() && world.calendar.next_at().is_some() {
            world.step()?;
        }
    }
    let done = records
        .values()
        .flatten()
        .filter_map(|record| match record {
            Record::Done { time_ns } => Some(results::at(*time_ns)),
            _ => None,
        });
    world.now = done.fold(world.now, Time::max);
    results::fill(&mut world, run, &[], &records);
    let outcome = outcome::outcome(&world);
    let mut outcome = results::complete(outcome, run, &world, &records, &[]);
    let at_interfaces;
    let counted = match seen {
        Seen::Network(counted) => counted,
        Seen::Hosts(_) => {
            at_interfaces = interfaces(&world, &records, &at);
            &at_interfaces
        }
    };
    outcome.hops = counted.frames;
    for table in told::tables(&world, &records) {
        match outcome.tables.iter_mut().find(|t| t.name == table.name) {
            Some(known) => known.append(table),
            None => outcome.tables.push(table),
        }
    }
    let drops = all_drops(&world, &records, counted);
    known_only(&mut outcome.tables, &world, &drops);
    if !tell_timeouts(&records) {
        without_timeouts(&mut outcome.tables, &records);
    }
    if at.are_given() {
        seen_by_hosts(&mut outcome.tables, &records);
    }
    Ok(outcome)
}

/// A host's records; the text of what is wrong if it failed or died.
fn checked(text: &str, at: &Addresses) -> Result<Vec<Record>, String> {
    let mut records = record::parse(text)?;
    for record in &mut records {
        at.plan(record)?;
        if let Record::Error { message } = record {
            return Err(message.clone());
        }
    }
    if matches!(records.last(), Some(Record::Done { .. })) {
        Ok(records)
    } else {
        Err("it died before its tasks were done".to_owned())
    }
}

/// Of hosts that are one kernel, which counts what all of them do, the first tells its counters.
fn count_kernels_once(records: &mut Records, at: &Addresses) {
    let mut told = BTreeSet::new();
    for (number, records) in records {
        let kernel = at.host(*number).map_or("", |host| &host.kernel);
        if !kernel.is_empty() && !told.insert(kernel) {
            records.retain(|record| {
                !matches!(
                    record,
                    Record::Counters { .. } | Record::LookedCounters { .. }
                )
            });
        }
    }
}

/// Every byte that an application read was written at the other end.
fn check_streams(records: &Records) -> Result<(), String> {
    let flows = || {
        records
            .values()
            .flatten()
            .filter_map(|record| match record {
                Record::Flow(flow) => Some(flow),
                _ => None,
            })
    };
    let by_ends: BTreeMap<_, &Flow> = flows()
        .map(|flow| ((flow.local, flow.peer), flow))
        .collect();
    for flow in flows() {
        if let Some(other) = by_ends.get(&(flow.peer, flow.local))
            && flow.read_bytes > other.written_bytes
        {
            return Err(format!(
                "{} read {} bytes of the {} that {} wrote",
                flow.local, flow.read_bytes, other.written_bytes, flow.peer
            ));
        }
    }
    Ok(())
}

/// What the interfaces of somebody's own hosts counted, of whoever's frames: those sent, and those thrown
/// away by card and driver (Linux Documentation/networking/statistics.rst; /proc/net/dev has with
/// `rx_dropped` what found no place in the card's ring).
fn interfaces(world: &World, records: &Records, at: &Addresses) -> Counted {
    let mut counted = Counted::default();
    for (number, records) in records {
        let Some(host) = at.host(*number) else {
            continue;
        };
        let count = |name: &str| -> u64 {
            let name = format!("{}.{name}", host.interface);
            let counters = records.iter().filter_map(|record| match record {
                Record::Counters { counters, .. } => counters.get(&name),
                _ => None,
            });
            counters.sum()
        };
        counted.frames += count("tx_packets");
        for (cause, name) in [("rx-dropped", "rx_dropped"), ("tx-dropped", "tx_dropped")] {
            counted.drops.push(CountedPort {
                place: world.hosts[*number].name.clone(),
                cause: cause.to_owned(),
                frames: count(name),
            });
        }
    }
    counted
}

/// What the network counted, and what sockets threw away.
fn all_drops(world: &World, records: &Records, counted: &Counted) -> Vec<CountedPort> {
    let mut drops = counted.drops.clone();
    for (host, records) in records {
        let full = records.iter().filter_map(|record| match record {
            Record::Counters { counters, .. } => counters.get("Udp.RcvbufErrors"),
            _ => None,
        });
        drops.push(CountedPort {
            place: world.hosts[*host].name.clone(),
            cause: SOCKET_FULL.to_owned(),
            frames: full.sum(),
        });
    }
    drops.retain(|drop| drop.frames > 0);
    drops
}

/// Puts in what was counted, and takes out what nobody saw.
fn known_only(tables: &mut Vec<Table>, world: &World, drops: &[CountedPort]) {
    let mut totals = [(SWITCH_DROPS, 0), (HOST_DROPS, 0), (LINK_LOSSES, 0)];
    for drop in drops {
        let at_host = world.hosts.iter().any(|host| host.name == drop.place);
        let whose = match (drop.cause.as_str(), at_host) {
            (ON_LINK, _) => 2,
            (_, true) => 1,
            (_, false) => 0,
        };
        totals[whose].1 += drop.frames;
    }
    tables.retain(|table| !matches!(table.name, "queues" | "progress" | "network" | "interfaces"));
    let iterations = tables
        .iter()
        .find(|table| table.name == "transactions")
        .map_or(1, |table| table.rows().max(1));
    for table in tables {
        match table.name {
            "summary" => {
                for (name, frames) in totals {
                    table.set(name, frames as f64);
                    table.set(&format!("{name}_mean"), frames as f64 / iterations as f64);
                }
                table.without(|name| name.starts_with("queue_bytes") || name.starts_with("lost_"));
            }
            "transactions" if iterations == 1 => {
                for (name, frames) in totals {
                    table.set(name, frames as f64);
                }
            }
            "transactions" => table.without(|name| name.ends_with("_drops")),
            "intervals" => table.without(|name| matches!(name, SWITCH_DROPS | "queue_bytes")),
            "flows" => table.without(|name| name.starts_with("lost_")),
            "lost" => table.without(|name| name == "place"),
            "drops" => {
                *table = Table::new("drops")
                    .names("place", drops.iter().map(|drop| drop.place.clone()))
                    .names("cause", drops.iter().map(|drop| drop.cause.clone()))
                    .counts("frames", drops.iter().map(|drop| drop.frames));
            }
            _ => {}
        }
    }
}

/// Whether kernels tell of each connection how often it has timed out: Linux does from 6.7 on
/// (`tcpi_total_rto`, include/uapi/linux/tcp.h).
fn tell_timeouts(records: &Records) -> bool {
    results::flows(records).all(|flow| flow.tcp_info.contains_key("total_rto"))
}

/// Takes out what older kernels do not tell. Of an incast's iterations the mean is known, from the counters of
/// whole kernels; other workloads have it from there anyway.
fn without_timeouts(tables: &mut [Table], records: &Records) {
    let of_all = records
        .values()
        .flatten()
        .filter_map(|record| match record {
            Record::Counters { counters, .. } => counters.get("TcpExt.TCPTimeouts"),
            _ => None,
        });
    let all = of_all.sum::<u64>() as f64;
    // Each host of a collective tells of each.
    let told = |record: &Record| match record {
        Record::Transaction { iteration, .. } => Some(*iteration),
        _ => None,
    };
    let iterations: BTreeSet<u64> = records.values().flatten().filter_map(told).collect();
    let iterations = iterations.len();
    for table in tables {
        match table.name {
            "flows" | "background_flows" => table.without(|name| name == "timeouts"),
            "transactions" if iterations > 0 => table.without(|name| name == "timeouts"),
            "summary" if iterations > 0 => table.set("timeouts_mean", all / iterations as f64),
            _ => {}
        }
    }
}

/// Takes out what nobody saw between somebody's own hosts, and puts in the marks that they saw: packets
/// with CE, as their kernels counted them after GRO.
fn seen_by_hosts(tables: &mut [Table], records: &Records) {
    let marks = results::counted_since_begin(records, "IpExt.InCEPkts") as f64;
    let transactions = tables.iter().find(|table| table.name == "transactions");
    let iterations = transactions.map_or(1, |table| table.rows().max(1)) as f64;
    for table in tables {
        table.without(|name| name.starts_with(SWITCH_DROPS) || name.starts_with(LINK_LOSSES));
        match table.name {
            "summary" => {
                table.set("marks", marks);
                table.set("marks_mean", marks / iterations);
            }
            _ => table.without(|name| name == "marks"),
        }
    }
}

impl Table {
    /// Sets the only row's value, if there is such a column.
    fn set(&mut self, name: &str, value: f64) {
        let column = self.columns.iter_mut().find(|column| column.name == name);
        match column.map(|column| &mut column.data) {
            Some(ColumnData::U64(values)) => values.iter_mut().for_each(|v| *v = value as u64),
            Some(ColumnData::F64(values)) => values.iter_mut().for_each(|v| *v = value),
            _ => {}
        }
    }

    /// Takes columns out.
    pub(super) fn without(&mut self, is: impl Fn(&str) -> bool) {
        self.columns.retain(|column| !is(&column.name));
    }
}
