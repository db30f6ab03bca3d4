//! The two hosts of that study, and what tables say of a run.

use tailback_scenario::Plan;
use tailback_sim::{Control, RunOutcome, simulate};

use crate::support::measure;

/// Two hosts of that study on a direct cable.
pub fn run(workload: &str, overrides: &[&str]) -> RunOutcome {
    let text = format!(
        r#"
        name = "machines"
        host = "xeon-e7330-ixgbe"
        [stack]
        preset = "linux-2.6.24"
        tso = false
        rmem_max = "16MiB"
        wmem_max = "16MiB"
        tcp_rmem = ["4096B", "87380B", "16MiB"]
        tcp_wmem = ["4096B", "65536B", "16MiB"]
        [network]
        topology = "explicit"
        host = [{{ name = "ingress" }}, {{ name = "egress" }}]
        switch = []
        link = [{{ ends = ["ingress", "egress"], rate = "10Gbit", delay = "1us", mtu = "1500B" }}]
        [workload]
        pairs = {{ kind = "listed", list = [["ingress", "egress"]] }}
        {workload}
        "#
    );
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let plan = Plan::from_toml(&text, "test", &overrides, None).expect("a good scenario");
    simulate(&plan.runs[0], &Control::default()).expect("a good run")
}

/// Datagrams; everything is on one core unless something else is said.
pub fn udp(rate: &str, overrides: &[&str]) -> RunOutcome {
    let workload = format!(
        "kind = \"udp\"\nrate = \"{rate}\"\nduration = \"500ms\"\nsocket_buffer = \"1MiB\"\n\
         record_arrivals = 300"
    );
    run(&workload, &[&[BOUND], overrides].concat())
}

pub fn tcp(overrides: &[&str]) -> f64 {
    let outcome = run("kind = \"bulk\"\nduration = \"500ms\"", overrides);
    measure(&outcome, "summary", "goodput_mbps_mean")[0]
}

pub const BOUND: &str = r#"host.machine.interrupts.affinity={ kind = "bound" }"#;
pub const BALANCED: &str =
    r#"host.machine.interrupts.affinity={ kind = "balanced", period = "10ms" }"#;

/// What crosses costs this, or nothing.
pub const CROSSING: &str = "host.machine.crossing={ line = \"88ns\", sent = 10, completed = 6, \
                        freed = 4, received = 6, socket = 8 }";
pub const FREE: &str = "host.machine.crossing={ line = \"0s\", sent = 10, completed = 6, \
                    freed = 4, received = 6, socket = 8 }";
