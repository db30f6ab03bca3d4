//! What contradicts itself in how frames wait: a switch's queue discipline, and those that links have of their own.

use std::borrow::Cow;

use tailback_net::frame::ETHERNET_BYTES;
use tailback_net::link::LinkConfig;
use tailback_net::marking::Mark;
use tailback_net::queue::cake::CakeConfig;
use tailback_net::queue::codel::CodelConfig;
use tailback_net::queue::fq_codel::FqCodelConfig;
use tailback_net::queue::pie::PieConfig;
use tailback_net::queue::{LinkQdiscs, QueueConfig};
use tailback_net::switch::BufferConfig;
use tailback_tcp::Pacing;
use tailback_units::{Bytes, Duration, Rate};

use crate::meaning_switch;
use crate::meaning_way::{self, Unfit};
use crate::period;
use crate::problem::Finding;
use crate::topology::{Link, Node, Switch, Topology};

/// What contradicts itself in how a class's frames wait, by paths relative to the discipline.
pub(crate) fn findings(queue: &QueueConfig) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |key: &str, reason: String, remedy: &str| {
        found.push(Finding::new(key, reason, remedy));
    };
    let law = match queue {
        QueueConfig::Codel(codel) => Some((codel.target, codel.interval)),
        QueueConfig::FqCodel(codel) => Some((codel.target, codel.interval)),
        QueueConfig::Cobalt(cobalt) => Some((cobalt.target, cobalt.interval)),
        QueueConfig::Fifo {}
        | QueueConfig::Pie(_)
        | QueueConfig::Dualpi2(_)
        | QueueConfig::Cake(_)
        | QueueConfig::Python(_) => None,
    };
    if let Some((target, interval)) = law
        && (interval.is_zero() || target >= interval)
    {
        add(
            "interval",
            format!("a delay above {target} for {interval} says nothing of a standing queue"),
            "an interval longer than the target: about the longest round trip",
        );
    }
    let timer = match queue {
        QueueConfig::Pie(pie) => Some(pie.tupdate),
        QueueConfig::Dualpi2(queues) => Some(queues.tupdate),
        _ => None,
    };
    if let Some(short) = timer.and_then(|timer| period::too_short("tupdate", timer)) {
        add(&short.path, short.reason, &short.remedy);
    }
    let target = match queue {
        QueueConfig::Pie(pie) => Some(pie.target),
        QueueConfig::Dualpi2(queues) => Some(queues.target),
        _ => None,
    };
    if target.is_some_and(Duration::is_zero) {
        add(
            "target",
            "no queue is shorter than none: the probability only rises".to_owned(),
            "the delay that is aimed at, such as \"15ms\"",
        );
    }
    if let QueueConfig::FqCodel(codel) = queue {
        let (mask, selector) = (codel.ce_threshold_mask, codel.ce_threshold_selector);
        let chosen = mask > 0 || selector > 0;
        if chosen && codel.ce_threshold.is_none() {
            add(
                "ce_threshold_mask",
                "without ce_threshold nothing is marked for its delay".to_owned(),
                "ce_threshold, such as \"1ms\", or neither mask nor selector",
            );
        } else if selector & !mask != 0 {
            add(
                "ce_threshold_selector",
                format!(
                    "{selector} has bits that ce_threshold_mask = {mask} leaves out: nothing is meant"
                ),
                "bits of the mask alone: 1 under a mask of 3 is ECT(1)",
            );
        }
    }
    match queue {
        QueueConfig::Pie(pie) if pie.alpha == 0 && pie.beta == 0 => add(
            "alpha",
            "with beta = 0 as well the probability is never moved".to_owned(),
            "alpha or beta above zero",
        ),
        QueueConfig::Dualpi2(queues) if queues.alpha == 0.0 && queues.beta == 0.0 => add(
            "alpha",
            "with beta = 0 as well the probability is never moved".to_owned(),
            "alpha or beta above zero",
        ),
        QueueConfig::FqCodel(codel) if codel.quantum.is_some_and(|q| q.get() == 0) => add(
            "quantum",
            "a turn of no bytes serves nobody".to_owned(),
            "a frame's length, such as \"1518B\", or none",
        ),
        QueueConfig::Codel(CodelConfig {
            ecn: false, mark, ..
        })
        | QueueConfig::FqCodel(FqCodelConfig {
            ecn: false, mark, ..
        })
        | QueueConfig::Pie(PieConfig {
            ecn: false, mark, ..
        }) if *mark == Mark::Sce => add(
            "mark",
            "without ecn nothing is marked".to_owned(),
            "ecn = true, or without it",
        ),
        QueueConfig::Cobalt(cobalt) if cobalt.memlimit.get() == 0 => add(
            "memlimit",
            "a queue of no bytes drops every frame".to_owned(),
            "a size above zero, such as \"4MB\"",
        ),
        QueueConfig::Cake(cake) => found.extend(cake_findings(cake)),
        _ => {}
    }
    found
}

/// The least and the most that tc takes for CAKE's `overhead`, and the most for its `mpu`, bytes (iproute2, tc/q_cake.c).
const CAKE_OVERHEAD_BYTES: (i32, i32) = (-64, 256);
const CAKE_MPU_BYTES: u32 = 256;

fn cake_findings(cake: &CakeConfig) -> Vec<Finding> {
    let (least, most) = CAKE_OVERHEAD_BYTES;
    let found = [
        cake.memlimit.is_some_and(|most| most.get() == 0).then(|| {
            let reason = "a queue of no bytes drops every frame";
            Finding::new(
                "memlimit",
                reason,
                "a size above zero, such as \"4MB\", or none",
            )
        }),
        cake.rtt.is_zero().then(|| {
            let remedy = "the longest round trip, such as \"100ms\"";
            Finding::new("rtt", "every delay is too long", remedy)
        }),
        cake.bandwidth
            .is_some_and(|rate| rate == Rate::default())
            .then(|| {
                Finding::new(
                    "bandwidth",
                    "nothing would ever leave",
                    "more than zero, or none",
                )
            }),
        cake.overhead
            .is_some_and(|bytes| !(least..=most).contains(&bytes))
            .then(|| {
                let reason = "more than any link adds to a packet, or takes away";
                Finding::new("overhead", reason, format!("{least} to {most}"))
            }),
        (cake.mpu > CAKE_MPU_BYTES).then(|| {
            let reason = "more than any link makes of the smallest packet";
            Finding::new("mpu", reason, format!("0 to {CAKE_MPU_BYTES}"))
        }),
        (cake.ingress && cake.bandwidth.is_none()).then(|| {
            let reason = "without bandwidth nothing is counted";
            Finding::new("ingress", reason, "bandwidth, or without it")
        }),
    ];
    found.into_iter().flatten().collect()
}

/// The disciplines that a link has, by the names of their directions.
fn directions(link: &LinkConfig) -> impl Iterator<Item = (&'static str, &QueueConfig)> {
    let both = link.qdisc.iter().flat_map(|qdiscs| {
        let LinkQdiscs { forward, backward } = &**qdiscs;
        [("forward", forward), ("backward", backward)]
    });
    both.filter_map(|(direction, queue)| Some((direction, queue.as_ref()?)))
}

/// The same as a link has them in a topology, with the end that sends.
fn senders(link: &Link) -> impl Iterator<Item = (Node, &QueueConfig)> {
    directions(&link.config).map(|(direction, queue)| match direction {
        "forward" => (link.a, queue),
        _ => (link.b, queue),
    })
}

/// Every discipline that a switch has at any port.
pub(crate) fn of_switch<'a>(
    number: usize,
    switch: &'a Switch,
    links: &'a [Link],
) -> impl Iterator<Item = &'a QueueConfig> {
    let own = match &switch.config.buffer {
        BufferConfig::Queued(queued) => Some(&queued.queue),
        BufferConfig::Shared(_) | BufferConfig::Voq(_) => None,
    };
    let of_links = links.iter().flat_map(senders);
    let here = of_links.filter(move |(node, _)| *node == Node::Switch(number));
    own.into_iter().chain(here.map(|(_, queue)| queue))
}

/// What is wrong in a link's own disciplines, by paths relative to the link; some host uses ECN, or none does.
pub(crate) fn of_link(link: &LinkConfig, uses_ecn: bool) -> Vec<Finding> {
    let longest = link.mtu.get().saturating_add(ETHERNET_BYTES.into());
    let found = directions(link).flat_map(|(direction, queue)| {
        let limit = memlimit(queue).map_or(0, Bytes::get);
        let small = (0 < limit && limit < longest).then(|| {
            let reason = format!("there is no room for one frame of {longest} bytes");
            Finding::new("memlimit", reason, format!("at least {longest}B"))
        });
        let mark = meaning_switch::queue_mark(queue)
            .and_then(|key| meaning_switch::unanswered_sce(key, uses_ecn));
        let found = findings(queue).into_iter().chain(small).chain(mark);
        found.map(move |finding| finding.within(&format!("qdisc.{direction}")))
    });
    found.collect()
}

fn memlimit(queue: &QueueConfig) -> Option<Bytes> {
    match queue {
        QueueConfig::Cobalt(cobalt) => Some(cobalt.memlimit),
        QueueConfig::Cake(cake) => cake.memlimit,
        _ => None,
    }
}

/// Disciplines of links that no port with queues of its own sends over; `links` are the scenario's, by their paths.
pub(crate) fn network_findings(
    links: &[(String, Cow<'_, LinkConfig>)],
    topology: &Topology,
) -> Vec<Finding> {
    let own = |link: &LinkConfig| directions(link).map(|(direction, _)| direction).collect();
    let unfit = |from, _| match from {
        Node::Host(number) => unfit_host(topology, number),
        Node::Switch(number) => meaning_way::queues_of(topology, number).err(),
    };
    meaning_way::findings(links, topology, "qdisc", own, unfit)
}

/// Why the interface of a host can have no discipline of its own.
fn unfit_host(topology: &Topology, number: usize) -> Option<Unfit> {
    let host = &topology.hosts[number];
    let mut hosts = topology.hosts.iter();
    let why = if hosts.any(|host| host.config.machine.is_some()) {
        Some((
            "in its network is a host that is a machine with parts, whose interface has no queue but pfifo_fast",
            "hosts without host.machine, or the direction that a switch sends in",
        ))
    } else if host.config.dcqcn.is_some() {
        Some((
            "has a card that speaks DCQCN, which limits flows by itself",
            "host.dcqcn or a qdisc, not both",
        ))
    } else if host.stack.pacing == Pacing::Fq {
        Some((
            "has sch_fq at its interface already, which paces (stack.pacing = \"fq\")",
            "stack.pacing = \"internal\", or no qdisc of its own",
        ))
    } else if topology
        .switches
        .iter()
        .any(|switch| switch.config.pushes_back())
    {
        Some((
            "obeys switches that push back, and its card has no other queue before it",
            "switches without flow_control and congestion_management, or no qdisc of its own",
        ))
    } else {
        None
    };
    why.map(|(what, remedy)| {
        let name = topology.name(Node::Host(number));
        (format!("host {name:?} sends this way, and {what}"), remedy)
    })
}

/// Rates to which CAKE never has to hold anything back.
pub(crate) fn never_held_back(link: &LinkConfig) -> Vec<Finding> {
    let found = directions(link).filter_map(|(direction, queue)| {
        let rate = bandwidth(queue).filter(|rate| *rate > link.rate)?;
        Some(Finding::new(
            format!("qdisc.{direction}.bandwidth"),
            format!(
                "the link itself has {}: {rate} holds nothing back",
                link.rate
            ),
            "a rate up to the link's, or none",
        ))
    });
    found.collect()
}

/// The same of switches that have CAKE at all ports.
pub(crate) fn never_held_back_at(network: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    for (number, switch) in network.switches.iter().enumerate() {
        let BufferConfig::Queued(queued) = &switch.config.buffer else {
            continue;
        };
        let links = network.links_of(Node::Switch(number));
        let fastest = links.map(|link| network.links[link].config.rate).max();
        let (Some(rate), Some(fastest)) = (bandwidth(&queued.queue), fastest) else {
            continue;
        };
        if rate > fastest {
            found.push(Finding::new(
                "network",
                format!(
                    "no link of switch {:?} has more than {fastest}: CAKE's {rate} hold nothing back",
                    switch.name
                ),
                "bandwidth up to the rate of the link that is to be full",
            ));
        }
    }
    found
}

fn bandwidth(queue: &QueueConfig) -> Option<Rate> {
    match queue {
        QueueConfig::Cake(cake) => cake.bandwidth,
        _ => None,
    }
}
