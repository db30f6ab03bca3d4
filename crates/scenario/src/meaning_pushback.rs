//! What makes no sense of how a switch queues frames, stops its neighbours and tells sources.

use std::collections::BTreeSet;

use tailback_net::flow_control::{FlowControlConfig, Watched, quanta_time};
use tailback_net::l2cm::qcn::Sampling;
use tailback_net::l2cm::{L2cmConfig, PAGE_BYTES};
use tailback_net::switch::queued::{QueuedConfig, Service};
use tailback_net::switch::{BufferConfig, SwitchConfig};
use tailback_units::{Bytes, Rate};

use crate::kernel::HostKind;
use crate::meaning_qdisc;
use crate::period;
use crate::problem::Finding;
use crate::topology::{Node, Topology};

/// All of it that is one switch's matter, by paths relative to the switch.
pub(crate) fn findings(switch: &SwitchConfig) -> Vec<Finding> {
    let BufferConfig::Queued(queued) = &switch.buffer else {
        let fields = [
            ("flow_control", switch.flow_control.is_some()),
            (
                "congestion_management",
                switch.congestion_management.is_some(),
            ),
        ];
        let set = fields.into_iter().filter(|(_, set)| *set);
        return set
            .map(|(path, _)| {
                Finding::new(
                    path,
                    "when a frame leaves this kind of buffer is settled as it arrives",
                    "a buffer of kind \"queued\", as the preset plain-queued has",
                )
            })
            .collect();
    };
    let mut found = queue_findings(queued, switch.ports);
    if let Some(control) = &switch.flow_control {
        found.extend(control_findings(control, queued, switch.ports));
    }
    if let Some(config) = &switch.congestion_management {
        let within = |f: Finding| f.within("congestion_management");
        let sent = queued.memory.rx_private_bytes(switch.ports);
        let room = queued.port_capacity_bytes(switch.ports, sent);
        found.extend(management_findings(config, room).into_iter().map(within));
    }
    found
}

/// What several switches together do not make sense of.
pub(crate) fn network_findings(network: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    let switches = &network.switches;
    let mut schemes = switches
        .iter()
        .filter_map(|s| s.config.congestion_management.as_ref().map(|c| (s, c)));
    if let Some((first, config)) = schemes.next()
        && let Some((other, _)) = schemes.find(|(_, other)| *other != config)
    {
        found.push(Finding::new(
            "network",
            format!(
                "hosts can obey one congestion management, and switches {:?} and {:?} have two",
                first.name, other.name
            ),
            "the same congestion_management in all switches that have any",
        ));
    }
    for link in &network.links {
        let (Node::Switch(a), Node::Switch(b)) = (link.a, link.b) else {
            continue;
        };
        for (stops, stopped) in [(a, b), (b, a)] {
            let is_queued = matches!(switches[stopped].config.buffer, BufferConfig::Queued(_));
            if switches[stops].config.flow_control.is_some() && !is_queued {
                found.push(Finding::new(
                    "network",
                    format!(
                        "switch {:?} would stop switch {:?}, whose ports cannot be stopped",
                        switches[stops].name, switches[stopped].name
                    ),
                    "a buffer of kind \"queued\" in both",
                ));
            }
        }
    }
    found.extend(said_too_often(network));
    found.extend(never_slower(network));
    let pushes_back = switches.iter().any(|s| s.config.pushes_back());
    let kernel = network.hosts.iter().find(|h| h.kind == HostKind::Kernel);
    if let (true, Some(host)) = (pushes_back, kernel) {
        found.push(Finding::new(
            "network",
            format!(
                "host {:?} is a real kernel, whose card does not obey PAUSE or congestion messages",
                host.name
            ),
            "modelled hosts, or switches without flow_control and congestion_management",
        ));
    }
    found
}

/// Switches whose PAUSE frames would be said again faster than anything goes.
fn said_too_often(network: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    for (number, switch) in network.switches.iter().enumerate() {
        let Some(control) = &switch.config.flow_control else {
            continue;
        };
        let links = network.links_of(Node::Switch(number));
        let rates = links.map(|link| network.links[link].config.rate);
        let half = |rate: Rate| quanta_time(control.quanta(), rate) / 2;
        let Some(rate) = rates.max().filter(|rate| half(*rate) < period::SHORTEST) else {
            continue;
        };
        found.push(Finding::new(
            "network",
            format!(
                "switch {:?} says its PAUSE frames again when half of {} quanta are over: every {} at {rate}",
                switch.name,
                control.quanta(),
                half(rate),
            ),
            format!("flow_control.quanta of at least {} on each link", period::SHORTEST * 2),
        ));
    }
    found
}

/// A least rate of limiters at which every host may send all the time.
fn never_slower(network: &Topology) -> Option<Finding> {
    let mut configs = network.switches.iter();
    let config = configs.find_map(|s| s.config.congestion_management.as_deref())?;
    let least = match config {
        L2cmConfig::Ecm(ecm) => ecm.r_min,
        L2cmConfig::Qcn(qcn) => qcn.r_min,
    };
    let hosts = (network.links.iter())
        .filter(|link| matches!((link.a, link.b), (Node::Host(_), _) | (_, Node::Host(_))));
    let line = hosts.map(|link| link.config.rate).max()?;
    (least >= line).then(|| {
        Finding::new(
            "network",
            format!(
                "congestion_management.r_min, {least}, is no less than the line of any host, {line}: nobody is slowed down"
            ),
            "an r_min far below the hosts' links, such as \"10Mbit\"",
        )
    })
}

fn queue_findings(queued: &QueuedConfig, ports: u16) -> Vec<Finding> {
    let mut found = Vec::new();
    let bands = queued.scheduler.bands();
    if bands == 0 || bands > 8 {
        found.push(Finding::new(
            "buffer.scheduler",
            format!("{bands} bands: strict and weighted ones together are to be 1 to 8"),
            "strict = 1 for one band",
        ));
    }
    for (class, band) in queued.scheduler.priomap.iter().enumerate() {
        if usize::from(*band) >= bands {
            found.push(Finding::new(
                format!("buffer.scheduler.priomap[{class}]"),
                format!("there is no band {band}: there are {bands}, from 0"),
                "a band that there is",
            ));
        }
    }
    for (band, quantum) in queued.scheduler.quanta.iter().enumerate() {
        if quantum.get() == 0 {
            found.push(Finding::new(
                format!("buffer.scheduler.quanta[{band}]"),
                "a band with no bytes a turn is never served",
                "a frame's length, such as \"1518B\", or none",
            ));
        }
    }
    if queued.band_limits.len() > bands {
        found.push(Finding::new(
            "buffer.band_limits",
            format!("{} caps for {bands} bands", queued.band_limits.len()),
            "a cap for each band of buffer.scheduler at most",
        ));
    }
    let disciplined = meaning_qdisc::findings(&queued.queue);
    found.extend(disciplined.into_iter().map(|f| f.within("buffer.queue")));
    found.extend(overlapping(&queued.service));
    for (i, service) in queued.service.iter().enumerate() {
        let at = format!("buffer.service[{i}]");
        if service.port >= ports {
            found.push(Finding::new(
                format!("{at}.port"),
                format!("a switch of {ports} ports has no port {}", service.port),
                format!("0 to {}", ports.saturating_sub(1)),
            ));
        }
        if service.rate.as_bps() == 0 {
            found.push(Finding::new(
                format!("{at}.rate"),
                "a port that is not served at all would hold its frames for ever",
                "a rate above zero",
            ));
        }
        if service.from >= service.until {
            found.push(Finding::new(
                format!("{at}.until"),
                format!("from {} until {} is no time", service.from, service.until),
                "an end after the beginning",
            ));
        }
    }
    found
}

/// Times in which a port would be served at two rates.
fn overlapping(services: &[Service]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (i, service) in services.iter().enumerate() {
        let with = services[..i].iter().position(|other| {
            let both = service.from.max(other.from)..service.until.min(other.until);
            service.port == other.port && !both.is_empty()
        });
        if let Some(other) = with {
            found.push(Finding::new(
                format!("buffer.service[{i}].from"),
                format!(
                    "port {} is served at two rates: service[{other}] is at this time too",
                    service.port
                ),
                "one rate at a time",
            ));
        }
    }
    found
}

fn control_findings(
    control: &FlowControlConfig,
    queued: &QueuedConfig,
    ports: u16,
) -> Vec<Finding> {
    let mut found = Vec::new();
    // Where too much would wait, and the most bytes that can.
    let mut marks = |at: &str, (what, room): (&str, u64), high: Bytes, low: Bytes| {
        if low >= high {
            found.push(Finding::new(
                format!("{at}low_watermark"),
                format!("{low} is not below the high watermark, {high}"),
                "a low watermark below the high one",
            ));
        }
        if high.get() >= room {
            found.push(Finding::new(
                format!("{at}high_watermark"),
                format!("{what} {room}B at most, so none ever is above {high}"),
                "less than that, with room for what is on its way",
            ));
        }
    };
    let scheduler = &queued.scheduler;
    let memory = &queued.memory;
    // What is watched at an egress port has come by any of the others, or has come by one for any of the others.
    let room = |watched: Watched, queue_bytes: &dyn Fn(u64) -> u64| match watched {
        Watched::Egress => ("a queue holds", queue_bytes(memory.rx_private_bytes(ports))),
        Watched::Ingress => {
            let each = queue_bytes(memory.rx_private.get());
            (
                "what comes in by a port holds",
                memory.ingress_capacity_bytes(each, ports),
            )
        }
    };
    match control {
        FlowControlConfig::Pause(pause) => {
            let (high, low) = (pause.high_watermark, pause.low_watermark);
            let room = room(pause.watch, &|beyond| {
                queued.port_capacity_bytes(ports, beyond)
            });
            marks("flow_control.", room, high, low);
        }
        FlowControlConfig::Pfc(pfc) => {
            for (i, class) in pfc.classes.iter().enumerate() {
                let at = format!("flow_control.classes[{i}].");
                let band = scheduler.band(class.class);
                let room = room(pfc.watch, &|beyond| {
                    queued.band_capacity_bytes(band, ports, beyond)
                });
                marks(&at, room, class.high_watermark, class.low_watermark);
            }
            let mut seen = BTreeSet::new();
            for (i, class) in pfc.classes.iter().enumerate() {
                let path = format!("flow_control.classes[{i}].class");
                let defined = scheduler.priomap.len();
                if defined > 0 && usize::from(class.class) >= defined {
                    found.push(Finding::new(
                        path.clone(),
                        format!(
                            "class {} is not defined: priomap has {defined}",
                            class.class
                        ),
                        "a class of buffer.scheduler.priomap, or one more band there",
                    ));
                }
                if !seen.insert(class.class) {
                    found.push(Finding::new(
                        path,
                        format!("class {} has its watermarks twice", class.class),
                        "each class once",
                    ));
                }
            }
        }
    }
    found
}

/// A congestion point that samples after no bytes.
fn unsampled(path: &str) -> Finding {
    Finding::new(
        path,
        "after no bytes there is no sample",
        "bytes between samples, such as \"150KB\"",
    )
}

fn management_findings(config: &L2cmConfig, room: u64) -> Vec<Finding> {
    let mut found = Vec::new();
    let (qeq, gd) = match config {
        L2cmConfig::Ecm(ecm) => {
            found.extend(period::too_short("td", ecm.td));
            if ecm.sampling_interval.get() == 0 {
                found.push(unsampled("sampling_interval"));
            }
            (ecm.qeq, ecm.gd)
        }
        L2cmConfig::Qcn(qcn) => {
            found.extend(period::too_short("drift_interval", qcn.drift_interval));
            found.extend(period::too_short_but_zero("timer", qcn.timer));
            match qcn.sampling {
                Sampling::Probability { least, most, .. } if least > most => {
                    found.push(Finding::new(
                        "sampling.most",
                        format!("a probability from {least} up to {most} falls"),
                        "no less than sampling.least",
                    ));
                }
                Sampling::Probability { most: 0.0, .. } => found.push(Finding::new(
                    "sampling.most",
                    "no frame is ever sampled, and no source told",
                    "a probability above zero, such as 0.1",
                )),
                Sampling::Interval { bytes, .. } if bytes.get() == 0 => {
                    found.push(unsampled("sampling.bytes"));
                }
                _ => {}
            }
            if qcn.min_dec_factor >= 1.0 {
                found.push(Finding::new(
                    "min_dec_factor",
                    "messages that leave all of a rate slow nobody down",
                    "a part below one, such as 0.5",
                ));
            }
            (qcn.qeq, qcn.gd)
        }
    };
    if gd == 0.0 {
        found.push(Finding::new(
            "gd",
            "messages that take nothing off a rate slow nobody down",
            "a part above zero, such as 0.0078125, or no congestion_management",
        ));
    }
    if qeq.get() < PAGE_BYTES {
        found.push(Finding::new(
            "qeq",
            format!("queues are counted in pages of {PAGE_BYTES}B, and none is shorter than none: sources are never told of room"),
            "the queue that is aimed at, such as \"26KB\"",
        ));
    }
    if qeq.get() >= room {
        found.push(Finding::new(
            "qeq",
            format!("a queue holds {room}B at most and can never settle at {qeq}"),
            "less than a queue may hold",
        ));
    }
    found
}
