//! iperf's reporter: the thread that counts what its others send and read.
//!
//! Models iperf 2.0.2 to 2.0.4 (https://github.com/esnet/iperf: src/Reporter.c, include/Reporter.h, compat/Thread.c).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Duration;

/// A thread at either end of a flow of datagrams that gets a record of each, through a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reporter {
    /// Places of the ring (NUM_REPORT_STRUCTS); two stay empty.
    #[serde(default = "records")]
    #[schemars(range(min = 3, max = 1_000_000), default = "records")]
    pub records: u32,
    /// What a record takes the reporter.
    #[serde(default = "record")]
    #[schemars(default = "record")]
    pub record: Duration,
    /// How a thread waits that finds the ring full, and the reporter that finds it empty.
    pub rest: Rest,
}

/// How iperf's threads wait (thread_rest).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rest {
    /// By usleep(0), on a kernel whose timers have the tick's resolution: to the core's next tick (2.0.2).
    Tick,
    /// By sched_yield; the reporter itself turns round without (2.0.4).
    Yield,
}

fn records() -> u32 {
    700
}

/// Some 100 instructions, and a line of the cache that another core wrote.
fn record() -> Duration {
    Duration::from_ns(100)
}
