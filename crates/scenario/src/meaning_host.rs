//! What makes no sense of a host.

use tailback_net::host::HostConfig;
use tailback_net::host::machine::{Affinity, MachineConfig, Merging};
use tailback_units::Duration;

use crate::meaning_dcqcn;
use crate::period;
use crate::problem::Finding;

/// One that copies a megabyte a second.
const DEAREST_KILOBYTE: Duration = Duration::from_ms(1);

/// By paths relative to the host.
pub(crate) fn findings(host: &HostConfig) -> Vec<Finding> {
    let machine = host.machine.as_ref();
    let merges = |m: &&MachineConfig| m.merging != Merging::Off && !m.softirq.napi;
    let joins = machine.filter(merges).map(|_| {
        Finding::new(
            "machine.merging",
            "frames join in a poll of NAPI, and this machine's interrupts take each on its own",
            "merging = { kind = \"off\" }, or softirq.napi = true",
        )
    });
    let most = |m: &MachineConfig| m.costs.receive_frame.min(m.costs.receive_ack);
    let dear = machine.filter(|m| m.protocol_cost() > most(m)).map(|m| {
        Finding::new(
            "machine.socket.protocol",
            format!("TCP's part of a packet is more than all of it, {}", most(m)),
            "no more than costs.receive_frame and costs.receive_ack",
        )
    });
    let unlocked = |m: &MachineConfig| m.socket.as_ref().map_or(Duration::ZERO, |s| s.unlocked);
    let long = machine.filter(|m| unlocked(m) > m.costs.call).map(|m| {
        Finding::new(
            "machine.socket.unlocked",
            format!("part of a call is more than all of it, {}", m.costs.call),
            "no more than costs.call",
        )
    });
    let elsewhere = machine.and_then(|m| match m.interrupts.affinity {
        Affinity::Bound { core } if core >= m.cores => Some(Finding::new(
            "machine.interrupts.affinity.core",
            format!(
                "there is no core {core}: cores count from 0, and there are {}",
                m.cores
            ),
            format!("0 to {}, or more machine.cores", m.cores.saturating_sub(1)),
        )),
        _ => None,
    });
    let restless = machine.and_then(|m| match m.interrupts.affinity {
        Affinity::Balanced { period } => {
            period::too_short("machine.interrupts.affinity.period", period)
        }
        _ => None,
    });
    let idle_calls = machine.filter(|m| m.call_bytes.get() == 0).map(|_| {
        Finding::new(
            "machine.call_bytes",
            "a thread whose calls take nothing is never done",
            "bytes that one call reads or writes at most, 128KiB for instance",
        )
    });
    let slow = machine.into_iter().flat_map(|m| {
        [
            ("machine.costs.copy_kilobyte", m.costs.copy_kilobyte),
            (
                "machine.costs.copy_kilobyte_cold",
                m.costs.copy_kilobyte_cold,
            ),
        ]
    });
    let slow = slow.chain([("rx_kilobyte_cost", host.rx_kilobyte_cost)]);
    let slow = slow.filter(|(_, cost)| *cost > DEAREST_KILOBYTE);
    let slow = slow.map(|(path, cost)| {
        Finding::new(
            path,
            format!("no machine takes {cost} for a kilobyte"),
            format!("at most {DEAREST_KILOBYTE}"),
        )
    });
    let waits = (host.interrupt_jitter > host.interrupt_delay).then(|| {
        Finding::new(
            "interrupt_jitter",
            format!(
                "the wait of {} ± {} could be negative",
                host.interrupt_delay, host.interrupt_jitter
            ),
            "no more than interrupt_delay",
        )
    });
    let lone = (host.gro && machine.is_none() && takes_each_alone(host)).then(|| {
        Finding::new(
            "gro",
            "frames of one interrupt join, and this host handles each as it arrives",
            "false, or an interrupt_gap, interrupt_delay, interrupt_moderation, rx_segment_cost or rx_kilobyte_cost",
        )
    });
    let both = (!host.interrupt_gap.is_zero() && host.interrupt_moderation.is_some()).then(|| {
        Finding::new(
            "interrupt_gap",
            "interrupt_moderation says when a card interrupts, and this says it too",
            "one of the two",
        )
    });
    let idle = (host.rx_queues > 1 && machine.is_none() && takes_each_alone(host)).then(|| {
        Finding::new(
            "rx_queues",
            "this host handles each frame as it arrives, in whatever queue it is",
            "1, or an interrupt_gap, interrupt_delay, interrupt_moderation, rx_segment_cost or rx_kilobyte_cost",
        )
    });
    let twice = machine.into_iter().flat_map(|_| said_twice(host));
    let dcqcn = host.dcqcn.iter().flat_map(|d| meaning_dcqcn::findings(d));
    let dcqcn = dcqcn.map(|finding| finding.within("dcqcn"));
    waits
        .into_iter()
        .chain(lone)
        .chain(both)
        .chain(idle)
        .chain(dcqcn)
        .chain(joins)
        .chain(dear)
        .chain(long)
        .chain(elsewhere)
        .chain(idle_calls)
        .chain(restless)
        .chain(slow)
        .chain(twice)
        .collect()
}

/// Whether a host receives in no time, and so never has two frames at hand.
fn takes_each_alone(host: &HostConfig) -> bool {
    let costs = [
        host.rx_segment_cost,
        host.rx_kilobyte_cost,
        host.interrupt_delay,
        host.interrupt_gap,
    ];
    costs.into_iter().all(Duration::is_zero) && host.interrupt_moderation.is_none()
}

/// What says how a host receives, where its machine says that.
fn said_twice(host: &HostConfig) -> impl Iterator<Item = Finding> {
    let costs = [
        ("rx_segment_cost", host.rx_segment_cost),
        ("rx_kilobyte_cost", host.rx_kilobyte_cost),
        ("interrupt_delay", host.interrupt_delay),
        ("interrupt_jitter", host.interrupt_jitter),
        ("interrupt_gap", host.interrupt_gap),
    ];
    let costs = costs.into_iter().filter(|(_, cost)| !cost.is_zero());
    let moderation = host.interrupt_moderation.iter();
    let moderation = moderation.map(|_| ("interrupt_moderation", "leave it out, or the machine"));
    let costs = costs.map(|(path, _)| (path, "\"0s\", or leave the machine out"));
    let gro = host
        .gro
        .then_some(("gro", "machine.merging, or leave the machine out"));
    let queues = (host.rx_queues > 1).then_some((
        "rx_queues",
        "machine.interrupts.queues, or leave the machine out",
    ));
    let others = moderation.chain(gro).chain(queues);
    costs.chain(others).map(|(path, remedy)| {
        let reason =
            "a host with a machine receives as its machine says, which has costs of its own";
        Finding::new(path, reason, remedy)
    })
}
