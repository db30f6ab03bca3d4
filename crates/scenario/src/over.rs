//! What would begin after the run is over, and so never be.

use tailback_net::switch::{BufferConfig, SwitchConfig};
use tailback_units::{Duration, Rate};

use crate::meaning;
use crate::model::Scenario;
use crate::problem::Finding;

/// What of `scenario` begins when the run is over, where that is known before it is made.
pub(crate) fn findings(scenario: &Scenario) -> Vec<Finding> {
    let background = scenario.background.iter().enumerate();
    let background = background.map(|(i, b)| (format!("background[{i}].from"), b.from));
    let flows = scenario.background_flows.iter().enumerate();
    let flows = flows.map(|(i, f)| (format!("background_flows[{i}].from"), f.from));
    let pcap = scenario.record.pcap.iter();
    let pcap = pcap.map(|pcap| ("record.pcap.start".to_owned(), pcap.start));
    let mut found = too_late(scenario, background.chain(flows).chain(pcap));
    found.extend(partly_late(scenario));
    found
}

/// Flows beside the workload some of which may begin when the run is over.
fn partly_late(scenario: &Scenario) -> Vec<Finding> {
    let Some(end) = scenario.workload.latest_end() else {
        return Vec::new();
    };
    let flows = scenario.background_flows.iter().enumerate();
    let late = flows.filter(|(_, f)| f.from < end && f.from + f.start_within >= end);
    late.map(|(i, f)| {
        Finding::new(
            format!("background_flows[{i}].start_within"),
            format!(
                "connections begin up to {} after `from`, and the run ends at {end} at the latest: some never would",
                f.start_within
            ),
            format!("less than {}, or a longer run", end - f.from),
        )
    })
    .collect()
}

/// The same of ports that are served slowly for a time. A switch is what it is however short a run is, so
/// this is no error.
pub(crate) fn services(scenario: &Scenario) -> Vec<Finding> {
    let mut times = Vec::new();
    for (path, switch) in meaning::switches(&scenario.network) {
        if let BufferConfig::Queued(queued) = &switch.buffer {
            let services = queued.service.iter().enumerate();
            times.extend(
                services.map(|(i, s)| (format!("{path}.buffer.service[{i}].from"), s.from)),
            );
        }
    }
    too_late(scenario, times.into_iter())
}

fn too_late(scenario: &Scenario, times: impl Iterator<Item = (String, Duration)>) -> Vec<Finding> {
    let Some(end) = scenario.workload.latest_end() else {
        return Vec::new();
    };
    let late = times.filter(|(_, time)| *time >= end);
    late.map(|(at, _)| {
        let reason = format!("the run is over by then: it ends at {end} at the latest");
        Finding::new(at, reason, "an earlier time, or a longer run")
    })
    .collect()
}

/// Services of a switch that are none, being faster than `fastest`, the fastest link there is.
pub(crate) fn never_slow(switch: &SwitchConfig, fastest: Rate) -> Vec<Finding> {
    let BufferConfig::Queued(queued) = &switch.buffer else {
        return Vec::new();
    };
    let services = queued.service.iter().enumerate();
    let idle = services.filter(|(_, service)| service.rate > fastest);
    idle.map(|(i, service)| {
        Finding::new(
            format!("buffer.service[{i}].rate"),
            format!(
                "no link here carries {}, so that the port is not slower",
                service.rate
            ),
            format!("less than {fastest}"),
        )
    })
    .collect()
}
