//! Queue disciplines of single links: CAKE in front of a slow line, and its filter of acknowledgements.

use tailback_sim::RunOutcome;

use crate::support::{counts, measure, names, simulated as run};

/// Eight uploads over a line of 20 Mb/s, whose modem has a long queue; the router before it does `{}`.
const HOME: &str = r#"name = "home"
[network]
topology = "explicit"
host = [{ name = "home" }, { name = "server" }]
switch = [
  { name = "router", model = { preset = "plain-queued" } },
  { name = "modem", model = { preset = "plain-queued", buffer = { shared = "500KB" } } },
]
link = [
  { ends = ["home", "router"], rate = "1Gbit", delay = "10us", mtu = "1500B" },
  { ends = ["modem", "router"], rate = "1Gbit", delay = "10us", mtu = "1500B", qdisc = { backward = {} } },
  { ends = ["modem", "server"], rate = "20Mbit", delay = "10ms", mtu = "1500B" },
]
[stack]
preset = "linux-7.2"
[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["home", "server"]] }
connections = 8
duration = "12s"
omit = "2s"
"#;

fn home(queue: &str) -> RunOutcome {
    run(&HOME.replace("{}", queue), &[])
}

/// The most that waited at a port.
fn longest(outcome: &RunOutcome, name: &str) -> u64 {
    let places = names(outcome, "ports", "place");
    let at = places.iter().position(|place| place == name);
    let at = at.unwrap_or_else(|| panic!("{name} of {places:?}"));
    counts(outcome, "ports", "queue_bytes_max")[at]
}

#[test]
fn cake_before_a_slow_line_keeps_its_queue_empty_and_fills_what_it_may() {
    let srtt_ms = |outcome: &RunOutcome| {
        let times = measure(outcome, "flows", "srtt_us");
        times.iter().sum::<f64>() / times.len() as f64 / 1000.0
    };
    let received = |outcome: &RunOutcome| {
        counts(outcome, "flows", "received_bytes")
            .iter()
            .sum::<u64>()
    };
    let plain = home(r#"{ kind = "fifo" }"#);
    let shaped = home(r#"{ kind = "cake", bandwidth = "19Mbit" }"#);
    assert!(srtt_ms(&plain) > 100.0, "{}", srtt_ms(&plain));
    assert!(srtt_ms(&shaped) < 40.0, "{}", srtt_ms(&shaped));
    // 1514 bytes count for 1448 of payload.
    let expected = 19e6 / 8.0 * 12.0 * 1448.0 / 1514.0;
    let got = received(&shaped) as f64;
    assert!((got / expected - 1.0).abs() < 0.02, "{got} for {expected}");
    // One that leaves and one that comes.
    assert!(
        longest(&shaped, "modem:1") <= 2 * 1518,
        "{:?}",
        longest(&shaped, "modem:1")
    );
    assert!(longest(&plain, "modem:1") > 400_000);
    assert_eq!(
        shaped,
        home(r#"{ kind = "cake", bandwidth = "19Mbit" }"#),
        "a run repeats"
    );
    // PPPoE and VDSL2's blocks: 1500 bytes count for 1534 and 24 more.
    let ptm = home(r#"{ kind = "cake", bandwidth = "19Mbit", overhead = 34, atm_mode = "ptm" }"#);
    let expected = expected * 1514.0 / 1558.0;
    let got = received(&ptm) as f64;
    assert!((got / expected - 1.0).abs() < 0.02, "{got} for {expected}");
}

#[test]
fn a_download_goes_on_though_its_acknowledgements_have_little_room() {
    let download = HOME.replace(r#"["home", "server"]"#, r#"["server", "home"]"#);
    let of = |filter: &str| {
        let queue = format!(
            r#"{{ kind = "cake", bandwidth = "200Kbit", diffserv_mode = "besteffort", ack_filter = "{filter}" }}"#
        );
        run(
            &download
                .replace("connections = 8\n", "")
                .replace("{}", &queue),
            &[],
        )
    };
    let received = |outcome: &RunOutcome| counts(outcome, "flows", "received_bytes")[0];
    let filtered = |outcome: &RunOutcome| -> u64 {
        let causes = names(outcome, "drops", "cause");
        let frames = counts(outcome, "drops", "frames");
        let of_filter = causes.iter().zip(frames);
        let of_filter = of_filter.filter(|(cause, _)| *cause == "ack-filter");
        of_filter.map(|(_, frames)| frames).sum()
    };
    let (without, with) = (of("no-ack-filter"), of("ack-filter"));
    assert_eq!(filtered(&without), 0);
    assert!(filtered(&with) > 4000, "{}", filtered(&with));
    let line = 20e6 / 8.0 * 12.0 * 1448.0 / 1538.0;
    assert!(
        received(&with) as f64 > 0.99 * line - 200_000.0,
        "{}",
        received(&with)
    );
    assert!(
        received(&without) < received(&with) * 7 / 10,
        "{}",
        received(&without)
    );
}
