//! What contradicts itself in traces of links' capacity, and in the links that have them.

use std::borrow::Cow;

use tailback_net::link::LinkConfig;
use tailback_net::trace::opportunities::Opportunities;
use tailback_net::trace::rates::Rates;
use tailback_net::trace::{LinkTraces, Trace};
use tailback_units::{Duration, Rate};

use crate::meaning_bucket;
use crate::meaning_way;
use crate::model::Scenario;
use crate::nearest;
use crate::path;
use crate::period;
use crate::problem::Finding;
use crate::topology::{Node, Topology};

/// What is wrong in the traces themselves.
pub(crate) fn findings(scenario: &Scenario) -> Vec<Finding> {
    let mut found = Vec::new();
    for (name, trace) in &scenario.trace {
        let own = match trace {
            Trace::Opportunities(course) => opportunities(course),
            Trace::Rates(course) => rates(course),
            Trace::Shaper(bucket) => meaning_bucket::findings(bucket),
        };
        let at = path::join("trace", name);
        found.extend(own.into_iter().map(|finding| finding.within(&at)));
    }
    found
}

/// A file's name that stands there still, though files are read before the sweep.
fn unread(path: Option<&String>) -> Option<Finding> {
    path.map(|_| {
        Finding::new(
            "path",
            "a sweep does not vary a trace's file",
            "a [trace.NAME] for each file, and a sweep of the names that a link has in `trace`",
        )
    })
}

fn opportunities(course: &Opportunities) -> Vec<Finding> {
    if let Some(finding) = unread(course.path.as_ref()) {
        return vec![finding];
    }
    let mut found = Vec::new();
    let times = &course.times_ms;
    if let Some(back_ms) = times.out_of_order() {
        found.push(Finding::new(
            "times_ms",
            format!("{back_ms} ms comes after a later time"),
            "times in order",
        ));
    } else if times.period().is_zero() {
        found.push(Finding::new(
            "times_ms",
            "the course begins anew at its last time, and would last for no time",
            "`path`, or times of which the last is above 0",
        ));
    }
    if course.bytes.get() == 0 {
        found.push(Finding::new(
            "bytes",
            "nothing would ever go",
            "such as \"1500B\"",
        ));
    }
    found
}

fn rates(course: &Rates) -> Vec<Finding> {
    if let Some(finding) = unread(course.path.as_ref()) {
        return vec![finding];
    }
    let steps = &course.steps;
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        return vec![Finding::new(
            "steps",
            "there are none",
            "`path`, or a step at least",
        )];
    };
    let mut found = Vec::new();
    if !first.from.is_zero() {
        let reason = "what holds from the beginning is not said";
        found.push(Finding::new("steps[0].from", reason, "\"0s\""));
    }
    let from: Vec<Duration> = steps.iter().map(|step| step.from).collect();
    found.extend(period::course("steps", &from, course.period));
    match course.period {
        None if last.rate.as_bps() == 0 => found.push(Finding::new(
            format!("steps[{}].rate", steps.len() - 1),
            "the last rate stays, and frames would wait for ever",
            "a rate above zero, or a `period` after which the course begins anew",
        )),
        _ if steps.iter().all(|step| step.rate.as_bps() == 0) => {
            found.push(Finding::new(
                "steps",
                "nothing would ever go",
                "a rate above zero",
            ));
        }
        _ => {}
    }
    found
}

/// Shapers of a link that would never let its longest frame go.
pub(crate) fn too_shallow(link: &LinkConfig, scenario: &Scenario) -> Vec<Finding> {
    let named = link.trace.iter().flat_map(directions);
    let found = named.filter_map(|(direction, name)| match scenario.trace.get(name)? {
        Trace::Shaper(bucket) => {
            meaning_bucket::too_shallow(&format!("trace.{direction}"), bucket, link)
        }
        Trace::Opportunities(_) | Trace::Rates(_) => None,
    });
    found.collect()
}

/// Names of a link's traces that there are not.
pub(crate) fn unknown(link: &LinkConfig, scenario: &Scenario) -> Vec<Finding> {
    let named = link.trace.iter().flat_map(directions);
    let unknown = named.filter(|(_, name)| !scenario.trace.contains_key(*name));
    unknown
        .map(|(direction, name)| {
            Finding::new(
                format!("trace.{direction}"),
                format!("there is no trace {name:?}"),
                match scenario.trace.is_empty() {
                    true => format!("a table [trace.{name}]"),
                    false => nearest::suggest(name, scenario.trace.keys().map(String::as_str)),
                },
            )
        })
        .collect()
}

fn directions(traces: &LinkTraces) -> impl Iterator<Item = (&'static str, &str)> {
    let both = [("forward", &traces.forward), ("backward", &traces.backward)];
    both.into_iter()
        .filter_map(|(direction, name)| Some((direction, name.as_deref()?)))
}

/// Links that no port with queues of its own sends over in a direction that has a trace; `links` are the scenario's, by their paths.
pub(crate) fn network_findings(
    links: &[(String, Cow<'_, LinkConfig>)],
    topology: &Topology,
) -> Vec<Finding> {
    let traced = |link: &LinkConfig| {
        let named = link.trace.iter().flat_map(directions);
        named.map(|(direction, _)| direction).collect()
    };
    let unfit = |from, to| unfit(topology, from, to);
    meaning_way::findings(links, topology, "trace", traced, unfit)
}

/// Why a node's port to another cannot follow a trace, and what would be right.
fn unfit(topology: &Topology, from: Node, to: Node) -> Option<(String, &'static str)> {
    let name = topology.name(from);
    let Node::Switch(number) = from else {
        let reason = format!("host {name:?} sends this way, and its card has the link's rate");
        return Some((reason, "a trace in the direction that a switch sends in"));
    };
    let queued = match meaning_way::queues_of(topology, number) {
        Ok(queued) => queued,
        Err(unfit) => return Some(unfit),
    };
    if queued.service.is_empty() {
        return None;
    }
    let mut ports = topology.links_of(from);
    let here = ports.position(|link| {
        let link = &topology.links[link];
        (link.a == from && link.b == to) || (link.b == from && link.a == to)
    });
    let served = queued
        .service
        .iter()
        .any(|s| Some(usize::from(s.port)) == here);
    served.then(|| {
        let reason = format!("switch {name:?} serves this port at a rate of its own for a time");
        (reason, "the trace, or the switch's buffer.service")
    })
}

/// Traces that are faster than their link, milliseconds of whose course it cannot carry.
pub(crate) fn too_fast(link: &LinkConfig, scenario: &Scenario) -> Vec<Finding> {
    let named = link.trace.iter().flat_map(directions);
    let fast = named.filter_map(|(direction, name)| {
        let most = peak(scenario.trace.get(name)?);
        (most > link.rate).then_some((direction, name, most))
    });
    fast.map(|(direction, name, most)| {
        Finding::new(
            format!("trace.{direction}"),
            format!(
                "trace {name:?} has up to {most}, and the link {}: what it does not carry does not go",
                link.rate
            ),
            "a faster link",
        )
    })
    .collect()
}

/// The most that a trace lets go in a millisecond, or at a rate.
fn peak(trace: &Trace) -> Rate {
    match trace {
        Trace::Rates(course) => {
            let rates = course.steps.iter().map(|step| step.rate);
            rates.max().unwrap_or_default()
        }
        Trace::Shaper(bucket) => bucket.rate,
        Trace::Opportunities(course) => {
            let bytes = course
                .bytes
                .get()
                .saturating_mul(course.times_ms.most_at_once());
            Rate::from_bps(bytes.saturating_mul(8 * 1000)) // a millisecond's bytes
        }
    }
}
