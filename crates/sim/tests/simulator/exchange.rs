//! The order of an exchange's actions and of what comes meanwhile.

use crate::support::{simulated, sum};

/// The handshake's last acknowledgement is lost, so that the first data opens the server's connection.
const OPENED_BY_DATA: &str = r#"
name = "opened-by-data"
[network]
topology = "explicit"
link = [{ ends = ["client", "server"], rate = "100Mbit", delay = "10ms", mtu = "1500B", impairment = { script = [
  { direction = "forward", of = "all", frames = [2], action = "drop" },
] } }]
host = [{ name = "client" }, { name = "server" }]
[host]
preset = "plain"
[stack]
preset = "linux-7.2"
[workload]
kind = "exchange"
hosts = ["client", "server"]
duration = "500ms"
action = [
  { end = "client", does = "write", size = "1000B" },
  { at = "5ms", end = "server", does = "hold" },
]
"#;

#[test]
fn who_held_back_before_a_connection_opened_reads_nothing_of_what_opened_it() {
    let read = |overrides: &[&str]| {
        let outcome = simulated(OPENED_BY_DATA, overrides);
        sum(&outcome, "flows", "received_bytes")
    };
    assert_eq!(read(&[]), 0.0);
    // Who holds back later has read it.
    let later = r#"workload.action=[{ end = "client", does = "write", size = "1000B" }, { at = "200ms", end = "server", does = "hold" }]"#;
    assert_eq!(read(&[later]), 1000.0);
}

#[test]
fn what_follows_a_delayed_frame_in_its_burst_overtakes_it() {
    // The second of two frames arrives in time, and its selective acknowledgement has the first sent again. Were it to
    // wait behind the first, a probe of the tail would be all that is sent again. (The link was idle before.)
    let scenario = OPENED_BY_DATA
        .replace(
            r#"direction = "forward", of = "all", frames = [2], action = "drop""#,
            r#"direction = "forward", of = "data", frames = [1], action = "delay", by = "250ms""#,
        )
        .replace(
            r#"{ end = "client", does = "write", size = "1000B" }"#,
            r#"{ at = "50ms", end = "client", does = "write", size = "2000B" }"#,
        );
    let outcome = simulated(&scenario, &[]);
    assert_eq!(sum(&outcome, "flows", "retransmissions"), 1.0);
    assert_eq!(sum(&outcome, "flows", "fast_recoveries"), 1.0);
}

#[test]
fn who_was_to_close_before_a_connection_opened_resets_what_it_has_not_read() {
    let shut_and_closed = r#"workload.action=[{ end = "client", does = "write", size = "1000B" }, { end = "server", does = "shutdown" }, { at = "5ms", end = "server", does = "close" }]"#;
    let outcome = simulated(OPENED_BY_DATA, &[shut_and_closed]);
    assert_eq!(sum(&outcome, "flows", "received_bytes"), 0.0);
}
