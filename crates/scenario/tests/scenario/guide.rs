//! The examples of the guide are sound.

use tailback_scenario::Workload;

use crate::common::{STAR, plan};

const GUIDE: &str = include_str!("../../../../docs/guide/scenario-files.md");

fn blocks() -> Vec<&'static str> {
    let parts = GUIDE.split("```toml\n").skip(1);
    parts.filter_map(|part| part.split("```").next()).collect()
}

#[test]
fn the_worked_example_is_twelve_runs() {
    assert_eq!(plan(blocks()[0], &[]).runs.len(), 12);
}

#[test]
fn the_own_network_is_six_runs_under_every_change_that_its_page_names() {
    let page = include_str!("../../../../docs/guide/own-network.md");
    let text = page
        .split("```toml\n")
        .nth(1)
        .and_then(|p| p.split("```").next());
    let office = text.expect("an example");
    let marking = "network.switch.marking={ kind = \"step\", threshold = \"60KB\" }";
    let limit = "network.switch.buffer.tx_limit={ kind = \"dynamic\", alpha = 1.0 }";
    let dctcp = "stack.tcp_congestion_control=dctcp";
    for changes in [vec![], vec![marking, dctcp], vec![limit]] {
        assert_eq!(plan(office, &changes).runs.len(), 6);
    }
    let paused = [
        "network.switch=plain-queued",
        "sweep.shared=[\"200KB\", \"500KB\"]",
        "sweep.flow_control=[{ kind = \"off\" }, { kind = \"pause\", high_watermark = \"130KB\", \
         low_watermark = \"110KB\" }]",
    ];
    assert_eq!(plan(office, &paused).runs.len(), 4);
    let controls = "sweep.tcp_congestion_control=[\"cubic\", \"bbr\"]";
    assert_eq!(plan(office, &[controls]).runs.len(), 12);
}

#[test]
fn the_elephants_of_their_page_are_five_runs() {
    let page = include_str!("../../../../docs/models/background-flows.md");
    let mut blocks = page.split("```toml\n").skip(1);
    let first = blocks.next().and_then(|part| part.split("```").next());
    let example = blocks.next().and_then(|part| part.split("```").next());
    let beside: Vec<usize> = plan(example.expect("an example"), &[])
        .runs
        .iter()
        .map(|run| run.flows_beside().len())
        .collect();
    assert_eq!(beside, [0, 2, 2, 2, 2]);
    let settings = plan(&format!("{STAR}{}", first.expect("settings")), &[]);
    assert_eq!(settings.runs[0].flows_beside().len(), 4);
}

#[test]
fn the_other_examples_fit_into_a_scenario() {
    let blocks = blocks();
    let [
        _,
        switches,
        socket,
        preset,
        fabric,
        explicit,
        parts,
        beside,
        capture,
    ] = blocks.as_slice()
    else {
        panic!("{} examples", blocks.len())
    };
    for switch in switches.lines() {
        let text = STAR.replace("switch = \"arista-7124s\"", switch);
        assert_eq!(plan(&text, &[]).runs.len(), 1);
    }
    let sockets = plan(&format!("{STAR}{socket}"), &[]);
    assert_eq!(sockets.scenario["socket"]["TCP_NODELAY"], true);
    let flows = plan(&format!("{STAR}{beside}"), &[]);
    assert_eq!(flows.runs[0].flows_beside().len(), 1);
    let own = plan(&format!("{STAR}{preset}"), &[]);
    assert_eq!(
        own.scenario["preset"]["switch"]["arista-7124s"]["buffer"]["shared"],
        "1.1MB"
    );
    let star = STAR.find("[network]").expect("a network")..STAR.find("[host]").expect("hosts");
    let racks = plan(&STAR.replace(&STAR[star.clone()], fabric), &[]);
    let network = &racks.runs[0].network;
    assert_eq!((network.hosts.len(), network.switches.len()), (48, 5));
    let text = STAR
        .replace(&STAR[star], explicit)
        .replace("servers = 3", "servers = 1");
    assert_eq!(plan(&text, &[]).runs[0].network.links.len(), 2);
    let across = plan(
        &format!("name = \"across\"\nhost = \"plain\"\n{parts}"),
        &[],
    );
    assert_eq!(across.runs.len(), 4);
    let Workload::Flent(flent) = &across.runs[0].workload else {
        panic!("{:?}", across.runs[0].workload)
    };
    assert_eq!(flent.order(&across.runs[0].network), [3, 0, 1]);
    let captured = plan(&format!("{STAR}{capture}"), &[]);
    assert_eq!(captured.scenario["record"]["pcap"]["snap"], "96B");
}
