//! What is wrong with a scenario is said with its place, its reason and what would be right.

use crate::common::{STAR, explicit, plan, problem, problems};

/// `STAR` with one text replaced by another.
#[track_caller]
fn star(from: &str, to: &str) -> String {
    assert!(STAR.contains(from), "{from}");
    STAR.replacen(from, to, 1)
}

#[test]
fn an_unknown_key_is_named_with_the_nearest_right_one() {
    assert_eq!(
        problem(&star("hosts = 4", "hosts = 4\nnamse = []"), &[]),
        "s.toml:7:1: network.namse: there is no key \"namse\" here; did you mean \"names\"?"
    );
    assert_eq!(
        problem(&star("servers = 3", "servers = 3\ncolour = 20"), &[]),
        "s.toml:18:1: workload.colour: there is no key \"colour\" here; the keys here are kind, \
         servers, size, striped, iterations, request, hosts"
    );
    // Of the hundred of a stack not all are listed.
    let said = problem(&star("[stack]", "[stack]\ncolour = 1"), &[]);
    let begin = "there is no key \"colour\" here; of the ";
    assert!(said.contains(begin), "{said}");
    assert!(
        said.ends_with("(`tailback schema` has all, with what they mean)"),
        "{said}"
    );
}

#[test]
fn a_key_in_the_wrong_place_is_told_the_right_one() {
    for (from, to, right) in [
        (
            "[workload]",
            "[workload]\ntcp_congestion_control = \"reno\"",
            "stack.tcp_congestion_control",
        ),
        (
            "hosts = 4",
            "hosts = 4\nrate = \"1Gbit\"",
            "network.link.rate",
        ),
        // Nearer in letters is `sweep`.
        ("name = ", "seed = 3\nname = ", "run.seed"),
    ] {
        let said = problem(&star(from, to), &[]);
        let end = format!("here; it belongs at {right}");
        assert!(said.ends_with(&end), "{said}");
    }
    let said = problem(STAR, &["network.rate=1Gbit"]);
    assert!(said.ends_with("it belongs at network.link.rate"), "{said}");
}

#[test]
fn what_stands_for_a_table_is_told_the_tables_keys() {
    for (set, right) in [
        ("record.series=fast", "a table: { interval = \"500ns\" }"),
        (
            "run=3",
            "a table with some of the keys repetitions, seed, common_random_numbers",
        ),
        // Nobody reads a hundred.
        ("socket=1", "here; a table"),
    ] {
        let said = problem(STAR, &[set]);
        assert!(said.ends_with(right), "{said}");
    }
}

#[test]
fn a_misspelt_key_that_is_required_is_told_once_as_such() {
    let found = problems(&star("iterations", "itterations"), &[]);
    assert_eq!(
        found,
        [
            "s.toml:19:1: workload.itterations: there is no key \"itterations\" here; did you mean \
             \"iterations\"?",
        ]
    );
}

#[test]
fn a_key_of_another_kind_is_said_to_belong_there() {
    let text = star(
        "switch = \"arista-7124s\"",
        "switch = { preset = \"arista-7124s\", buffer = { port_buffer = \"1MB\" } }",
    );
    assert_eq!(
        problem(&text, &[]),
        "s.toml:5:48: network.switch.buffer.port_buffer: there is no key \"port_buffer\" here; it \
         belongs to kind = \"voq\""
    );
}

#[test]
fn a_missing_key_is_said_with_what_it_is_for() {
    assert_eq!(
        problem(&star("size = \"8MB\"\n", ""), &[]),
        "s.toml:15:2: workload.size: the key \"size\" is missing; it says: Bytes that each server \
         sends; with `striped`, that all servers send together, for instance \"8MB\""
    );
    let mtu = problem(&star(", mtu = \"9000B\"", ""), &[]);
    assert!(
        mtu.ends_with("576 B to 9216 B, for instance \"1500B\""),
        "{mtu}"
    );
    let iperf3 = star(
        "kind = \"incast\"\nservers = 3\nsize = \"8MB\"\niterations = 10",
        "kind = \"iperf3\"\nsenders = 3\nduration = \"1s\"",
    );
    let measured = problem(&iperf3, &[]);
    assert!(
        measured.ends_with("throughput is measured; one of \"first\", \"all\""),
        "{measured}"
    );
}

#[test]
fn wrong_units_and_numbers_without_one_are_told() {
    assert_eq!(
        problem(&star("\"10Gbit\"", "\"10GB\""), &[]),
        "s.toml:7:17: network.link.rate: \"10GB\" is not a rate in decimal bits per second with its \
         unit, such as \"10Gbit\" or \"2.5Gbit\" (bit, Kbit, Mbit, Gbit, Tbit): \"GB\" is not a \
         unit it knows; for instance \"10Gbit\""
    );
    assert_eq!(
        problem(&star("\"8MB\"", "8000000"), &[]),
        "s.toml:18:8: workload.size: the number 8000000 does not fit here; a text with its unit in \
         quotes, for instance \"8MB\""
    );
}

#[test]
fn negative_sizes_are_told() {
    assert!(problem(&star("8MB", "-8MB"), &[]).contains("it cannot be negative"));
    let found = problem(&star("\"8MB\"", "-8"), &[]);
    assert!(found.contains("the number -8 does not fit here"), "{found}");
}

#[test]
fn zero_hosts_servers_sizes_and_rates_are_told_all_at_once() {
    let text = star("hosts = 4", "hosts = 0").replace("servers = 3", "servers = 0");
    assert_eq!(
        problems(&text, &[]),
        [
            "s.toml:6:9: network.hosts: 0 is out of range; 2 to 1024",
            "s.toml:17:11: workload.servers: 0 is out of range; 1 to 1023",
        ]
    );
    let text = star("8MB", "0B").replace("10Gbit", "0bit");
    let found = problems(&text, &[]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("network.link.rate: nothing ever crosses"));
    assert!(found[1].contains("workload.size: no bytes to send"));
}

#[test]
fn clocks_that_no_hardware_has_are_told() {
    for (text, at) in [
        (
            star("hosts = 4", "hosts = 4\nclock_ppm = 1001"),
            "s.toml:7:13",
        ),
        (
            explicit("[network]", "[network]\nclock_ppm = 1001"),
            "s.toml:6:13",
        ),
    ] {
        let found = problem(&text, &[]);
        assert_eq!(
            found,
            format!("{at}: network.clock_ppm: 1001 is out of range; 0 to 1000")
        );
    }
    for wrong in ["-1", "2.5", "\"100\""] {
        let found = problem(
            &star("hosts = 4", "hosts = 4"),
            &[&format!("network.clock_ppm={wrong}")],
        );
        assert!(found.contains("network.clock_ppm: "), "{found}");
    }
    let plain = plan(STAR, &[]);
    assert_eq!(plain.runs[0].network.clock_ppm, 0);
    assert!(plain.scenario["network"].get("clock_ppm").is_none());
    let off = plan(STAR, &["network.clock_ppm=100"]);
    assert_eq!(off.runs[0].network.clock_ppm, 100);
    assert_ne!(plain.hash, off.hash);
}

#[test]
fn a_switch_with_fewer_ports_than_hosts_is_told() {
    assert_eq!(
        problem(&star("hosts = 4", "hosts = 25"), &[]),
        "s.toml:6:9: network.hosts: 25 hosts do not fit a switch with 24 ports; at most 24 hosts, or \
         a larger network.switch.ports"
    );
}

#[test]
fn more_servers_than_hosts_beside_the_client_are_told() {
    assert_eq!(
        problem(&star("servers = 3", "servers = 4"), &[]),
        "s.toml:17:11: workload.servers: 4 servers and the client need 5 hosts, and the network has \
         4; at most 3 servers, or more hosts"
    );
}

#[test]
fn hosts_that_are_none_or_too_few_for_the_parts_are_told() {
    let named = |hosts: &str| {
        let set = format!("workload.hosts={hosts}");
        let said = problem(&star("servers = 3", "servers = 3"), &[&set]);
        said.replace(&format!("--set {set}: "), "")
    };
    assert_eq!(
        named(r#"["host2", "hots1", "host1", "host0"]"#),
        "workload.hosts[1]: there is no host \"hots1\"; did you mean \"host1\"?"
    );
    assert_eq!(
        named(r#"["host2", "host1", "host2", "host0"]"#),
        "workload.hosts[2]: \"host2\" is named twice; each host once"
    );
    assert_eq!(
        named(r#"["host2", "host0"]"#),
        "s.toml:17:11: workload.servers: 3 servers and the client need 4 hosts, and `hosts` names 2; \
         at most 1 servers, or more hosts"
    );
}

#[test]
fn a_frame_script_that_says_too_little_or_too_much_is_told() {
    let script = |rule: &str| {
        let set = format!("network.link.impairment={{ script = [{rule}] }}");
        problem(&star("8MB", "8MB"), &[&set])
    };
    let found = script(r#"{ direction = "forward", frames = [3], action = "delay" }"#);
    assert!(found.contains("the frames would not be delayed"), "{found}");
    let found = script(r#"{ direction = "forward", frames = [3], action = "drop", by = "1ms" }"#);
    assert!(
        found.contains("only an action \"delay\" takes a time"),
        "{found}"
    );
    let found = script(r#"{ direction = "up", frames = [3], action = "drop" }"#);
    assert!(found.contains("\"up\" is not a choice here"), "{found}");
}

#[test]
fn actions_of_an_exchange_that_cannot_be_done_are_told() {
    let exchange = |action: &str| {
        let set =
            format!(r#"workload={{ kind = "exchange", duration = "1s", action = [{action}] }}"#);
        let text = star("8MB", "8MB");
        let text = &text[..text.find("[workload]").expect("it has one")];
        problem(text, &[&set])
    };
    let found = exchange(r#"{ end = "client", does = "write" }"#);
    assert!(
        found.contains("workload.action[0].size: no bytes to write"),
        "{found}"
    );
    let found = exchange(r#"{ end = "client", does = "close", size = "1kB" }"#);
    assert!(
        found.contains("only does = \"write\" and \"read\" take a size"),
        "{found}"
    );
    let found = exchange(r#"{ at = "1s", end = "client", does = "close" }"#);
    assert!(found.contains("the run is over by then"), "{found}");
}

#[test]
fn an_mtu_out_of_range_is_told() {
    for mtu in ["575B", "9217B"] {
        let found = problem(&star("9000B", mtu), &[]);
        assert!(found.contains("network.link.mtu: an MTU of"), "{found}");
        assert!(found.ends_with("576B to 9216B"), "{found}");
    }
}

#[test]
fn a_buffer_that_holds_no_frame_is_told() {
    let found = problem(
        STAR,
        &[
            "network.switch.buffer.shared=8KB",
            "network.switch.buffer.tx_private=0B",
        ],
    );
    assert!(
        found.contains("network.switch.buffer.shared: there is no room for one frame of 9018"),
        "{found}"
    );
    let found = problem(STAR, &["network.switch.buffer.segment=0B"]);
    assert!(found.contains("buffer.segment"), "{found}");
}

#[test]
fn an_unknown_preset_is_told_with_the_nearest_and_all() {
    assert_eq!(
        problem(&star("arista-7124s", "arista-7142s"), &[]),
        "s.toml:5:10: network.switch: there is no switch preset \"arista-7142s\"; did you mean \
         \"arista-7124s\"? There are arista-7124s, aruba-25g, cisco-nexus-5010, plain, \
         plain-queued"
    );
    let found = problem(&star("linux-2.6.18", "beos"), &[]);
    assert!(
        found.starts_with("s.toml:13:10: stack.preset: there is no stack preset \"beos\"; one of"),
        "{found}"
    );
}

#[test]
fn a_stripe_smaller_than_a_byte_a_server_is_told() {
    let text = star("size = \"8MB\"", "size = \"2B\"\nstriped = true");
    assert!(problem(&text, &[]).contains("2B divided among 3 servers leaves some with nothing"));
}

#[test]
fn what_is_not_toml_is_told_by_line_and_column() {
    let found = problem(&star("hosts = 4", "hosts = four"), &[]);
    assert!(
        found.starts_with("s.toml:6:9: this is not TOML: "),
        "{found}"
    );
    let found = problems("name = \n[network\n", &[]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].starts_with("s.toml:2:"), "{found:?}");
    let found = problems("\u{0}\u{fffd}PNG", &[]);
    assert!(!found.is_empty());
    let found = problem(&star("hosts = 4", "hosts = 4\nhosts = 5"), &[]);
    assert!(
        found.starts_with("s.toml:7:1: this is not TOML: "),
        "{found}"
    );
}

#[test]
fn an_empty_file_lacks_everything() {
    let found = problems("", &[]);
    let keys = ["name", "network", "workload"];
    assert_eq!(found.len(), keys.len());
    for key in keys {
        assert!(
            found
                .iter()
                .any(|f| f.starts_with(&format!("s.toml: {key}: the key"))),
            "{key}"
        );
    }
}

#[test]
fn infinite_and_huge_numbers_are_told() {
    assert!(problem(&star("servers = 3", "servers = inf"), &[]).contains("inf is not a number"));
    let huge = star("servers = 3", "servers = 99999999999999999999");
    assert!(problem(&huge, &[]).contains("larger than any number"));
    assert!(problem(&star("servers = 3", "servers = 5000000000"), &[]).contains("out of range"));
    assert!(problem(&star("servers = 3", "servers = 2.5"), &[]).contains("a whole number, 1 to "));
    let text = problem(&star("servers = 3", "servers = \"3\""), &[]);
    assert!(text.contains("the text \"3\" does not fit here"), "{text}");
    let seed = problem(STAR, &["run.seed=99999999999999999999999"]);
    assert!(
        seed.contains("999 is out of range; a whole number, 0 to 9007199254740991"),
        "{seed}"
    );
}

#[test]
fn a_name_that_is_none_is_told() {
    for name in ["Small", "a b", "", "-a", "a--b"] {
        let text = STAR.replace("\"small\"", &format!("{name:?}"));
        assert!(
            problem(&text, &[]).contains("cannot name a scenario"),
            "{name}"
        );
    }
}

#[test]
fn problems_of_every_sort_come_at_once_in_the_order_of_the_file() {
    let text = STAR
        .replace("\"25ns\"", "\"25m\"")
        .replace("hosts = 4", "hosts = 4\ncolour = \"red\"")
        .replace("rhel-5.4-x5540-ne020", "rhel-6")
        .replace("incast", "outcast")
        + "[sweep]\nserver = [1]\nmtu = []\n[run]\nrepetitions = 0\n";
    let found = problems(&text, &["network.shape=blue", "sweeep.x=1"]);
    let wanted = [
        "network.colour: there is no key",
        "network.link.delay: \"25m\"",
        "host.preset: there is no host preset",
        "workload.kind: \"outcast\" is not a choice",
        "sweep.server: no value is named \"server\"",
        "sweep.mtu: the axis is empty",
        "run.repetitions: 0 is out of range",
        "--set sweeep.x=1: there is no key \"sweeep\" in a scenario; did you mean \"sweep\"?",
        "--set network.shape=blue: network.shape: there is no key",
    ];
    assert_eq!(found.len(), wanted.len(), "{}", found.join("\n"));
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(found.contains(wanted), "{found}\n{wanted}");
    }
}

#[test]
fn timers_and_buffers_that_contradict_one_another_are_told() {
    let cases = [
        (
            "stack.rto_min=200us",
            "stack.rto_min: 200us is shorter than a tick of this clock; at least 1ms",
        ),
        (
            "stack.rto_max=1ms",
            "stack.rto_max: 1ms is less than rto_min, 200ms",
        ),
        (
            "stack.delack_max=1ms",
            "stack.delack_max: 1ms is less than delack_min, 40ms",
        ),
        (
            "stack.tcp_rmem=[\"8KB\", \"5KB\", \"4MB\"]",
            "stack.tcp_rmem: least, initial and most",
        ),
        (
            "host.interrupt_jitter=1s",
            "host.interrupt_jitter: the wait of",
        ),
    ];
    for (set, wanted) in cases {
        let found = problem(STAR, &[set]);
        assert!(found.contains(wanted), "{set}: {found}");
    }
}

#[test]
fn socket_options_are_held_to_their_names_and_ranges() {
    let text = star("[workload]", "[socket]\nTCP_NODELY = true\n\n[workload]");
    assert_eq!(
        problem(&text, &[]),
        "s.toml:16:1: socket.TCP_NODELY: there is no key \"TCP_NODELY\" here; did you mean \
         \"TCP_NODELAY\"?"
    );
    let text = star("[workload]", "[socket]\nTCP_MAXSEG = \"40B\"\n\n[workload]");
    assert_eq!(
        problem(&text, &[]),
        "s.toml:16:14: socket.TCP_MAXSEG: Linux does not take this value (EINVAL); 88B to 32767B"
    );
}

#[test]
fn quantities_that_no_network_has_are_out_of_range() {
    for (set, most) in [
        ("network.link.delay=9000000s", "at most 864000s, ten days"),
        ("workload.size=18446744073709551615B", "at most 1000TB"),
        (
            "network.link.rate=18446744073709551615bit",
            "at most 10Tbit",
        ),
    ] {
        let found = problem(STAR, &[set]);
        assert!(
            found.contains("is out of range") && found.ends_with(most),
            "{found}"
        );
    }
}

#[test]
fn looks_at_cores_without_time_between_them_are_told() {
    let set = r#"host.machine.interrupts.affinity={ kind = "balanced", period = "0s" }"#;
    let text = star("rhel-5.4-x5540-ne020", "das2-p3-gbe");
    let found = problem(&text, &[set]);
    assert!(
        found.contains(
            "host.machine.interrupts.affinity.period: every 0s there is time for nothing else"
        ),
        "{found}"
    );
}

#[test]
fn times_that_no_machine_takes_are_told() {
    assert!(
        problem(STAR, &["host.rx_kilobyte_cost=2ms"])
            .contains("no machine takes 2ms for a kilobyte")
    );
    assert!(problem(STAR, &["stack.rto_initial=0s"]).contains("stack.rto_initial: 0s is shorter"));
}

#[test]
fn records_that_leave_time_for_nothing_else_are_told() {
    for set in [
        "record.sample_interval=1ps",
        "record.interfaces=999ns",
        "record.series.interval=1ps",
        "kernel.sample_interval=1ps",
        "host.machine.interrupts.affinity.period=0s",
    ] {
        let balanced = r#"host.machine.interrupts.affinity={ kind = "balanced", period = "1s" }"#;
        let text = star("rhel-5.4-x5540-ne020", "das2-p3-gbe");
        let found = problem(&text, &[balanced, set]);
        let path = set.split('=').next().unwrap_or_default();
        assert!(
            found.contains(&format!("{path}: every ")) && found.ends_with("at least 1us"),
            "{found}"
        );
    }
}

#[test]
fn late_frames_that_are_not_late_are_told() {
    let found = problem(
        STAR,
        &[r#"network.link.impairment={ reorder = { probability = 0.1, delay = "0s" } }"#],
    );
    assert!(
        found.contains("link.impairment.reorder.delay: frames that are not late overtake nobody"),
        "{found}"
    );
}

#[test]
fn a_file_of_sizes_that_cannot_be_read_is_told_once() {
    let workload = r#"workload={ kind = "flows", load = 0.5, duration = "1ms", sizes = { kind = "file", path = "nowhere.txt" } }"#;
    let found = problem(STAR, &[workload]);
    assert!(found.contains("nowhere.txt cannot be read"), "{found}");
}

#[test]
fn what_the_sender_of_today_does_not_know_is_told() {
    let today = "stack.preset=linux-7.2";
    for (set, expected) in [
        (
            "stack.fast_recovery=reno",
            "stack.fast_recovery: the sender linux-7.2 knows no",
        ),
        (
            "stack.cwnd_reduction=rate-halving",
            "stack.cwnd_reduction: the sender linux-7.2 reduces its window by PRR alone",
        ),
        (
            "stack.rto_jitter=0.5",
            "stack.rto_jitter: the sender linux-7.2 has timeouts that are not randomised",
        ),
    ] {
        let found = problem(STAR, &[today, set]);
        assert!(found.contains(expected), "{found}");
        assert_eq!(plan(STAR, &[set]).runs.len(), 1);
    }
}

#[test]
fn what_linux_takes_as_no_sysctl_is_told() {
    for (set, expected) in [
        (
            "stack.tcp_rmem=[\"2KB\", \"4MB\", \"4MB\"]",
            "stack.tcp_rmem: Linux takes no size below 4096B",
        ),
        (
            "stack.tcp_min_tso_segs=256",
            "stack.tcp_min_tso_segs: 256 is out of range",
        ),
        (
            "stack.tcp_syn_retries=0",
            "stack.tcp_syn_retries: 0 is out of range",
        ),
        (
            "stack.tcp_reordering=301",
            "stack.tcp_reordering: it is more than tcp_max_reordering, 300",
        ),
        (
            "stack.tcp_notsent_lowat=0",
            "stack.tcp_notsent_lowat: nobody could ever write",
        ),
    ] {
        let found = problem(STAR, &["stack.preset=linux-7.2", set]);
        assert!(found.contains(expected), "{found}");
    }
    let sound = ["stack.preset=linux-7.2", "stack.tcp_min_rtt_wlen=0"];
    assert_eq!(plan(STAR, &sound).runs.len(), 1);
}

#[test]
fn of_swept_values_without_places_of_their_own_each_wrong_way_is_told() {
    let many = "workload.servers: 100 servers and the client need 101 hosts, and the network has 4";
    let none = "workload.servers: 0 is out of range";
    let found = problems(STAR, &["sweep.servers=[100, 400, 0, 2]"]);
    assert_eq!(found.len(), 2, "{}", found.join("\n"));
    assert!(found[0].contains(many), "{}", found[0]);
    assert!(found[1].contains(none), "{}", found[1]);
    let range = format!("{STAR}[sweep]\nservers = {{ from = 0, to = 9 }}\n");
    let found = problems(&range, &[]);
    assert_eq!(found.len(), 2, "{}", found.join("\n"));
}
