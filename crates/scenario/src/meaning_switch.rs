//! What makes no sense of a switch's marking, queues and ways of pushing back.

use tailback_net::marking::MarkingConfig;
use tailback_net::marking::red::RedConfig;
use tailback_net::switch::SwitchConfig;

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
        _ => {}
    }
    found
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
