//! Congestion controls that are made outside.

use std::sync::Arc;

use tailback_sim::{Control, SimError, real_hosts, simulate};
use tailback_tcp::congestion::own::{MakeControl, Needs, OwnControl, OwnControls};
use tailback_tcp::congestion::{Growth, View, Window};

use crate::support::{counts, plan};

/// Two flows from one host, over 20 ms there and back.
const TWO: &str = r#"
name = "own"
host = "plain"
network = { topology = "star", hosts = 2, switch = "plain", link = { rate = "1Gbit", delay = "5ms", mtu = "1500B" } }
[workload]
kind = "bulk"
pairs = { kind = "to-first" }
congestion = ["python:fixed"]
connections = 2
omit = "1s"
duration = "4s"
[python.fixed]
source = "whoever makes it knows"
"#;

/// A window of so many segments, whatever happens.
#[derive(Clone, Debug)]
struct Fixed(u32);

impl OwnControl for Fixed {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn init(&mut self, window: &mut Window, _view: &View) {
        window.cwnd = self.0;
    }

    fn grow(&mut self, _window: &mut Window, _view: &View, _growth: Growth) {}

    fn boxed_clone(&self) -> Box<dyn OwnControl> {
        Box::new(self.clone())
    }
}

impl MakeControl for Fixed {
    fn make(&self, name: &str, _seed: u64) -> Option<Box<dyn OwnControl>> {
        assert_eq!(name, "fixed");
        Some(Box::new(self.clone()))
    }
}

#[test]
fn a_fixed_window_goes_round_once_a_round_trip() {
    let run = &plan(TWO, &[]).runs[0];
    for segments in [20, 60] {
        let own = OwnControls(Some(Arc::new(Fixed(segments))));
        let outcome = simulate(&run.with_own_controls(&own), &Control::default()).expect("a run");
        for bytes in counts(&outcome, "flows", "received_bytes") {
            // Four seconds of 20 ms and some.
            let windows = bytes as f64 / f64::from(segments * 1448);
            assert!((195.0..=200.0).contains(&windows), "{windows}");
        }
    }
}

#[test]
fn without_anybody_who_makes_it_there_is_no_run() {
    let run = &plan(TWO, &[]).runs[0];
    let error = simulate(run, &Control::default()).expect_err("nobody makes it");
    assert_eq!(
        error,
        SimError::NotModelled(
            "nobody makes congestion control python:fixed for host host1".to_owned()
        )
    );
    let real = real_hosts(run)
        .expect_err("real hosts have no such")
        .to_string();
    assert!(
        real.contains("python:fixed is a program for modelled hosts"),
        "{real}"
    );
}
