//! What makes no sense of a switch's marking, queues and ways of pushing back.

use std::ops::Range;

use tailback_net::marking::red::RedConfig;
use tailback_net::marking::{Mark, MarkingConfig};
use tailback_net::queue::QueueConfig;
use tailback_net::queue::ets::CLASSES;
use tailback_net::switch::shared::SharedConfig;
use tailback_net::switch::{BufferConfig, SwitchConfig};
use tailback_tcp::Stack;
use tailback_units::Bytes;

use crate::problem::Finding;

/// All of it, by paths relative to the switch.
pub(crate) fn findings(switch: &SwitchConfig) -> Vec<Finding> {
    let mut found = Vec::new();
    match &switch.marking {
        MarkingConfig::Red(red) => found.extend(red_findings(red, "marking")),
        MarkingConfig::Wred(wred) => {
            for (class, red) in wred.profiles.iter().enumerate() {
                found.extend(red_findings(red, &format!("marking.profiles[{class}]")));
            }
        }
        MarkingConfig::Linear(linear) if linear.probability_rise == 0.0 => {
            found.push(Finding::new(
                "marking.probability_rise",
                "a probability that does not rise marks nothing",
                "a rise above zero, or marking = { kind = \"off\" }",
            ));
        }
        MarkingConfig::Linear(linear) if linear.mem_start_point >= 100.0 => {
            found.push(Finding::new(
                "marking.mem_start_point",
                "no queue takes more than all of its memory, so nothing is marked",
                "less than 100, or marking = { kind = \"off\" }",
            ));
        }
        _ => {}
    }
    found.extend(out_of_reach(switch));
    found
}

/// Thresholds that no queue of the switch can come to.
fn out_of_reach(switch: &SwitchConfig) -> Vec<Finding> {
    // What any port has sent may be for one queue, beyond that queue's cap.
    let sent = |memory: &SharedConfig| memory.rx_private_bytes(switch.ports);
    // The most that a queue holds in which any of these classes waits.
    let room = |classes: Range<usize>| match &switch.buffer {
        BufferConfig::Shared(memory) => memory.queue_capacity_bytes(switch.ports) + sent(memory),
        BufferConfig::Queued(queued) => {
            let bands = classes.map(|class| queued.scheduler.band(class as u8));
            let rooms = bands
                .map(|band| queued.band_capacity_bytes(band, switch.ports, sent(&queued.memory)));
            rooms.max().unwrap_or(0)
        }
        BufferConfig::Voq(_) => switch.buffer.queue_capacity_bytes(switch.ports),
    };
    let all = || 0..CLASSES;
    let from: Vec<(String, Range<usize>, Bytes)> = match &switch.marking {
        MarkingConfig::Off(_) | MarkingConfig::Linear(_) => Vec::new(),
        MarkingConfig::Step(step) => vec![("marking.threshold".to_owned(), all(), step.threshold)],
        MarkingConfig::Red(red) => vec![("marking.min".to_owned(), all(), red.min)],
        MarkingConfig::Wred(wred) => (wred.profiles.iter().enumerate())
            .map(|(class, red)| {
                let is_last = class + 1 == wred.profiles.len();
                let classes = class..if is_last { CLASSES } else { class + 1 };
                (format!("marking.profiles[{class}].min"), classes, red.min)
            })
            .collect(),
    };
    let told = from
        .into_iter()
        .map(|(path, classes, from)| (path, room(classes), from));
    let beyond = told.filter(|(_, room, from)| from.get() >= *room);
    beyond
        .map(|(path, room, from)| {
            Finding::new(
                path,
                format!("a queue of this switch holds {room}B at most and never comes to {from}"),
                "less than a queue may hold, or marking = { kind = \"off\" }",
            )
        })
        .collect()
}

/// A switch that marks SCE where no host would have it, by a path relative to the switch.
pub(crate) fn unanswered<'a>(
    switch: &SwitchConfig,
    mut stacks: impl Iterator<Item = &'a Stack>,
) -> Option<Finding> {
    let marking = match &switch.marking {
        MarkingConfig::Off(_) => Mark::Ce,
        MarkingConfig::Step(step) => step.mark,
        MarkingConfig::Linear(linear) => linear.mark,
        MarkingConfig::Red(red) => red.mark,
        MarkingConfig::Wred(_) => Mark::Ce,
    };
    let profile = match &switch.marking {
        MarkingConfig::Wred(wred) => wred.profiles.iter().position(|red| red.mark == Mark::Sce),
        _ => None,
    };
    let queue = match &switch.buffer {
        BufferConfig::Queued(queued) => {
            queue_mark(&queued.queue).map(|key| format!("buffer.queue.{key}"))
        }
        _ => None,
    };
    let path = match (marking, profile, queue) {
        (Mark::Sce, _, _) => "marking.mark".to_owned(),
        (Mark::Ce, Some(class), _) => format!("marking.profiles[{class}].mark"),
        (Mark::Ce, None, Some(path)) => path,
        (Mark::Ce, None, None) => return None,
    };
    unanswered_sce(&path, stacks.any(|stack| stack.tcp_ecn > 0))
}

/// SCE's marks at `path`, which no host would have unless some host uses ECN.
pub(crate) fn unanswered_sce(path: &str, uses_ecn: bool) -> Option<Finding> {
    (!uses_ecn).then(|| {
        Finding::new(
            path,
            "SCE marks ECN-capable packets only, and no host sends any",
            "tcp_ecn = 1 in a stack, or another marking",
        )
    })
}

/// Which of its keys has a queue mark SCE, if it does.
pub(crate) fn queue_mark(queue: &QueueConfig) -> Option<&'static str> {
    let mark = match queue {
        QueueConfig::Codel(codel) => codel.mark,
        QueueConfig::FqCodel(codel) => codel.mark,
        QueueConfig::Pie(pie) => pie.mark,
        QueueConfig::Cobalt(cobalt) => return (cobalt.sce > 0).then_some("sce"),
        QueueConfig::Fifo {}
        | QueueConfig::Dualpi2(_)
        | QueueConfig::Cake(_)
        | QueueConfig::Python(_) => Mark::Ce,
    };
    (mark == Mark::Sce).then_some("mark")
}

fn red_findings(red: &RedConfig, at: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    if red.min >= red.max {
        found.push(Finding::new(
            "max",
            format!("marking from {} up to {} has no range", red.min, red.max),
            "a max above min",
        ));
    }
    if red.avpkt.get() == 0 {
        found.push(Finding::new(
            "avpkt",
            "packets of no bytes",
            "the mean size of a packet, such as \"1000B\"",
        ));
    }
    if red.bandwidth.as_bps() == 0 {
        found.push(Finding::new(
            "bandwidth",
            "the average never ages",
            "the rate of the link, such as \"10Gbit\"",
        ));
    }
    if red.avpkt.get() > 0 && red.min < red.max && red.wlog().is_none() {
        found.push(Finding::new(
            "burst",
            format!(
                "no weight of the average suits a burst of {} packets of {} with min at {}",
                red.burst, red.avpkt, red.min
            ),
            "a burst above min / avpkt, a min of avpkt at least, or burst = 0 for no averaging",
        ));
    }
    for (path, set, reason) in [
        (
            "harddrop",
            red.harddrop,
            "without ecn all are dropped anyway",
        ),
        (
            "nodrop",
            red.nodrop,
            "without ecn there is nothing but dropping",
        ),
    ] {
        if set && !red.ecn {
            found.push(Finding::new(path, reason, "ecn = true, or without it"));
        }
    }
    found.into_iter().map(|f| f.within(at)).collect()
}
