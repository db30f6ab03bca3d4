//! What is wrong with a host is said with its place, its reason and what would be right.

use crate::common::{EXPLICIT, STAR, plan, problem};

#[test]
fn frames_join_in_polls_only() {
    let sets = [
        "host=xeon-e7330-ixgbe",
        "host.machine.softirq.napi=false",
        "host.machine.merging={kind=\"lro\"}",
    ];
    let found = problem(STAR, &sets);
    assert!(
        found.contains("host.machine.merging: frames join"),
        "{found}"
    );
}

#[test]
fn calls_take_something() {
    let sets = ["host=xeon-e7330-ixgbe", "host.machine.call_bytes=0B"];
    let found = problem(STAR, &sets);
    let wanted = "host.machine.call_bytes: a thread whose calls take nothing";
    assert!(found.contains(wanted), "{found}");
}

#[test]
fn frames_join_where_an_interrupt_brings_several() {
    let instant = [
        "host.rx_segment_cost=0s",
        "host.rx_kilobyte_cost=0s",
        "host.interrupt_delay=0s",
        "host.interrupt_jitter=0s",
        "host.gro=false",
        "host.rx_queues=1",
    ];
    let instant = [&["host=server-25g"], &instant[..]].concat();
    for (setting, wanted) in [
        ("host.gro=true", "host.gro: frames of one interrupt join"),
        (
            "host.rx_queues=4",
            "host.rx_queues: this host handles each frame as it arrives",
        ),
    ] {
        let found = problem(STAR, &[&instant[..], &[setting]].concat());
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn one_thing_says_when_a_card_interrupts() {
    let sets = ["host=rhel-5.4-x5540-ne020", "host.interrupt_gap=16us"];
    let found = problem(STAR, &sets);
    let wanted = "host.interrupt_gap: interrupt_moderation says when";
    assert!(found.contains(wanted), "{found}");
}

#[test]
fn a_host_with_a_machine_receives_by_that_alone() {
    for setting in [
        "rx_segment_cost=1us",
        "interrupt_delay=8us",
        "interrupt_gap=8us",
        "gro=true",
        "rx_queues=4",
    ] {
        let found = problem(STAR, &["host=xeon-e7330-ixgbe", &format!("host.{setting}")]);
        let wanted = "a host with a machine receives as its machine says";
        assert!(found.contains(wanted), "{setting}: {found}");
    }
}

#[test]
fn interrupts_are_bound_to_a_core_that_there_is() {
    let bound = |core| format!("host.machine.interrupts.affinity={{kind=\"bound\",core={core}}}");
    let found = problem(STAR, &["host=xeon-e7330-ixgbe", &bound(4)]);
    assert!(
        found.contains("affinity.core: there is no core 4") && found.contains("0 to 3"),
        "{found}"
    );
    plan(STAR, &["host=xeon-e7330-ixgbe", &bound(3)]);
}

#[test]
fn parts_of_what_packets_and_calls_cost_are_no_more_than_all_of_it() {
    for (set, wanted) in [
        (
            "host.machine.socket.protocol=1.6us",
            "TCP's part of a packet is more than all of it",
        ),
        (
            "host.machine.socket.unlocked=3us",
            "part of a call is more than all of it",
        ),
    ] {
        let found = problem(STAR, &["host=xeon-e7330-ixgbe", set]);
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn arrivals_are_recorded_where_a_receiver_has_a_machine() {
    let incast = "kind = \"incast\"\nservers = 2\nsize = \"1MB\"\niterations = 5\n";
    let udp = "kind = \"udp\"\npairs = { kind = \"listed\", list = [[\"a2\", \"a1\"]] }\nrate = \
               \"1Mbit\"\nduration = \"1s\"\nsocket_buffer = \"1MiB\"\nrecord_arrivals = 9\n";
    assert!(EXPLICIT.contains(incast));
    let text = EXPLICIT.replace(incast, udp);
    let with = |name: &str, more: &str| {
        let name = format!("name = \"{name}\"\n");
        assert!(text.contains(&name));
        text.replace(&name, &format!("{name}{more}\n"))
    };
    let machine = "host = \"xeon-e7330-ixgbe\"";
    plan(&with("a1", machine), &[]);
    // None has one; a kernel's would be none of ours; the sender's gets no datagrams.
    let kernel = format!("{machine}\nkind = \"kernel\"");
    for text in [&text, &with("a1", &kernel), &with("a2", machine)] {
        let found = problem(text, &[]);
        let wanted = "workload.record_arrivals: a machine's interrupt handler or poll stamps";
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn a_pacing_rate_is_one_that_anybody_keeps() {
    let set = |stack: &str, rate: &str| {
        let rate = format!("socket={{ SO_MAX_PACING_RATE = \"{rate}\" }}");
        problem(STAR, &[stack, &rate])
    };
    let old = set("stack=linux-2.6.18", "1Gbit");
    let told = "socket.SO_MAX_PACING_RATE: kernels before 3.13 do not have it";
    assert!(old.contains(told), "{old}");
    let none = set("stack=linux-7.2", "7bit");
    let told = "socket.SO_MAX_PACING_RATE: nothing would ever go";
    assert!(none.contains(told), "{none}");
}
