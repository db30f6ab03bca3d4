//! Links as the oscillators of those who send over them have it.

use tailback_scenario::{Plan, Run};

use crate::world::World;
use crate::{Control, build, simulate};

const STAR: &str = r#"
topology = "star"
hosts = 6
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }"#;
const STARS: &str = r#"
topology = "stars"
stars = 3
hosts = 2
core = "arista-7124s"
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }
uplink = { rate = "40Gbit", delay = "1us", mtu = "1500B" }"#;
const FAT_TREE: &str = r#"
topology = "fat-tree"
k = 4
link = { rate = "25Gbit", delay = "1us", mtu = "1500B" }"#;
const DUMBBELL: &str = r#"
topology = "dumbbell"
pairs = 3
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
trunk = [{ rate = "8Gbit", delay = "1us", mtu = "1500B" }, { rate = "9584.64Mbit", delay = "1us", mtu = "1500B" }]"#;
const EXPLICIT: &str = r#"
topology = "explicit"
host = [{ name = "a" }, { name = "b" }]
switch = []
link = [{ ends = ["a", "b"], rate = "10Gbit", delay = "2ms", mtu = "1500B", impairment = { jitter = "1us" } }]"#;

fn planned(network: &str, overrides: &[&str]) -> Run {
    let own = !network.contains("switch = ");
    let switch = if own { "switch = \"arista-7124s\"" } else { "" };
    let text = format!(
        r#"
name = "oscillators"
[network]
{network}
{switch}
[host]
preset = "rhel-5.4-x5540-ne020"
[workload]
kind = "bulk"
pairs = {{ kind = "listed", list = [] }}
duration = "1ms"
"#
    );
    let text = text.replace("list = []", &pair(network));
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let plan = Plan::from_toml(&text, "test", &overrides, None).expect("a good scenario");
    plan.runs[0].clone()
}

/// Who sends to whom.
fn pair(network: &str) -> String {
    let [from, to] = match network {
        STARS => ["star0-host0", "star1-host0"],
        DUMBBELL => ["left0", "right0"],
        EXPLICIT => ["a", "b"],
        _ => ["host0", "host1"],
    };
    format!("list = [[\"{from}\", \"{to}\"]]")
}

/// By node, hosts first, how far the links that it sends over are off, parts in a million.
fn deviations(run: &Run) -> Vec<Vec<f64>> {
    let world = build::world(run, &[]);
    let hosts = world.hosts.len();
    let mut nodes = vec![Vec::new(); hosts + world.switches.len()];
    let mut off = |node: usize, link: u32| {
        let nominal = run.network.links[link as usize / 2].config.rate.as_bps() as f64;
        let rate = world.links[link as usize].link.rate().as_bps() as f64;
        nodes[node].push((rate / nominal - 1.0) * 1e6);
    };
    for (host, state) in world.hosts.iter().enumerate() {
        off(host, state.uplink);
    }
    for (switch, state) in world.switches.iter().enumerate() {
        for port in &state.ports {
            off(hosts + switch, port.out_link);
        }
    }
    nodes
}

#[test]
fn every_node_of_every_topology_is_off_by_its_own_and_on_all_links_by_the_same() {
    for network in [STAR, STARS, FAT_TREE, DUMBBELL, EXPLICIT] {
        let nodes = deviations(&planned(network, &["network.clock_ppm=100"]));
        for own in &nodes {
            assert!(own[0].abs() <= 100.01 && own[0] != 0.0, "{nodes:?}");
            // Rounded to whole bits a second.
            assert!(
                own.iter().all(|ppm| (ppm - own[0]).abs() < 0.002),
                "{own:?}"
            );
        }
        let firsts: Vec<f64> = nodes.iter().map(|own| own[0]).collect();
        for (number, one) in firsts.iter().enumerate() {
            let others = firsts[..number].iter();
            // No two are alike, and no two further apart than the ends of what is allowed.
            assert!(
                others.clone().all(|other| (one - other).abs() > 0.002),
                "{firsts:?}"
            );
            assert!(
                others.clone().all(|other| (one - other).abs() <= 200.02),
                "{firsts:?}"
            );
        }
        let alike = deviations(&planned(network, &[]));
        assert!(alike.iter().flatten().all(|ppm| *ppm == 0.0));
    }
}

#[test]
fn a_seed_gives_the_same_deviations_and_another_gives_others() {
    let of = |seed: &str| deviations(&planned(STAR, &["network.clock_ppm=50", seed]));
    assert_eq!(of("run.seed=1"), of("run.seed=1"));
    assert_ne!(of("run.seed=1"), of("run.seed=2"));
}

#[test]
fn a_host_more_changes_no_others_clock() {
    let of = |hosts: &str| deviations(&planned(STAR, &["network.clock_ppm=50", hosts]));
    let (six, seven) = (of("network.hosts=6"), of("network.hosts=7"));
    assert_eq!(six[..6], seven[..6]);
    // The switch comes after the hosts.
    assert_eq!(six[6][0], seven[7][0]);
}

#[test]
fn the_last_stretch_of_an_impaired_link_has_its_senders_rate() {
    let world = build::world(&planned(EXPLICIT, &["network.clock_ppm=100"]), &[]);
    let rate = |link: usize| world.links[link].link.rate();
    assert_eq!(world.links.len(), 4);
    assert_eq!([rate(0), rate(1)], [rate(2), rate(3)]);
    assert_ne!(rate(0), rate(1));
}

#[test]
fn zero_is_as_if_it_were_not_there() {
    let plain = simulate(&planned(FAT_TREE, &[]), &Control::default());
    let zero = simulate(
        &planned(FAT_TREE, &["network.clock_ppm=0"]),
        &Control::default(),
    );
    assert_eq!(plain, zero);
    let off = simulate(
        &planned(FAT_TREE, &["network.clock_ppm=100"]),
        &Control::default(),
    );
    let trajectory = |run: &Result<crate::RunOutcome, _>| run.as_ref().map(|o| o.trajectory).ok();
    assert_ne!(trajectory(&plain), trajectory(&off));
}

/// Datagrams without end from one host to another, at more than its link takes.
fn saturated(seed: u32) -> World {
    let overrides = [
        "network.clock_ppm=1000".to_owned(),
        format!("run.seed={seed}"),
        "network.hosts=2".to_owned(),
        "network.switch.forwarding=\"store-and-forward\"".to_owned(),
        "network.switch.latency=\"0ns\"".to_owned(),
        "network.switch.buffer.shared=\"20MB\"".to_owned(),
        "network.switch.buffer.tx_limit={ kind = \"dynamic\", alpha = 16.0 }".to_owned(),
        "workload={ kind = \"udp\", rate = \"11Gbit\", datagram = \"1472B\", duration = \"100ms\", \
         socket_buffer = \"1MB\", pairs = { kind = \"listed\", list = [[\"host0\", \"host1\"]] } }"
            .to_owned(),
    ];
    let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
    let mut world = build::world(&planned(STAR, &overrides), &[]);
    world.start();
    world.run(&Control::default()).expect("a good run");
    world
}

#[test]
fn a_queue_between_two_clocks_grows_by_what_they_differ() {
    let (mut growing, mut empty) = (0, 0);
    for seed in 1..9 {
        let world = saturated(seed);
        let port = &world.switches[0].ports[1];
        let uplink = &world.links[world.hosts[0].uplink as usize].link;
        let egress = &world.links[port.out_link as usize].link;
        let line = uplink.rate().byte_time().time_for(1538);
        let waits = uplink.free_at().max(world.now).since(world.now);
        let sent = uplink.handed().1 - waits.as_ps() / line.as_ps();
        // While one frame comes in, this much of one goes out.
        let leaves = egress.rate().as_bps() as f64 / uplink.rate().as_bps() as f64;
        let frame = 1472.0 + 28.0 + 18.0;
        let expected = (sent as f64 * frame * (1.0 - leaves)).max(0.0);
        let most = port.queued_bytes_max as f64;
        // One frame is on its way out, one has just come.
        assert!(
            (most - expected).abs() <= 2.0 * frame,
            "seed {seed}: {most}, {expected}"
        );
        if expected > 0.0 {
            growing += 1;
        } else {
            empty += 1;
        }
    }
    assert!(growing > 0 && empty > 0, "{growing} {empty}");
}
