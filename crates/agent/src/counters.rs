//! The kernel's counters, from /proc/net.

use std::collections::BTreeMap;
use std::fs;

/// Counters by name: `Tcp.RetransSegs`, `TcpExt.TCPTimeouts`, `eth0.rx_packets`, …. What a kernel
/// does not have is absent, and so are negative values (a limit of -1 is none).
pub(crate) fn read() -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    for path in ["/proc/net/snmp", "/proc/net/netstat"] {
        if let Ok(text) = fs::read_to_string(path) {
            pairs(&text, &mut counters);
        }
    }
    if let Ok(text) = fs::read_to_string("/proc/net/dev") {
        devices(&text, &mut counters);
    }
    counters
}

/// The counters now, less those of before.
pub(crate) fn since(before: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut now = read();
    for (name, value) in &mut now {
        *value = value.saturating_sub(before.get(name).copied().unwrap_or(0));
    }
    now
}

/// Two lines for each protocol: `Tcp: NAME …`, then `Tcp: VALUE …`.
fn pairs(text: &str, counters: &mut BTreeMap<String, u64>) {
    let lines: Vec<&str> = text.lines().collect();
    for two in lines.chunks_exact(2) {
        let Some((protocol, names)) = two[0].split_once(':') else {
            continue;
        };
        let Some((_, values)) = two[1].split_once(':') else {
            continue;
        };
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            if let Ok(value) = value.parse() {
                counters.insert(format!("{protocol}.{name}"), value);
            }
        }
    }
}

/// Columns of /proc/net/dev (net/core/net-procfs.c).
const DEVICE_COLUMNS: [&str; 16] = [
    "rx_bytes",
    "rx_packets",
    "rx_errors",
    "rx_dropped",
    "rx_fifo",
    "rx_frame",
    "rx_compressed",
    "rx_multicast",
    "tx_bytes",
    "tx_packets",
    "tx_errors",
    "tx_dropped",
    "tx_fifo",
    "tx_collisions",
    "tx_carrier",
    "tx_compressed",
];

fn devices(text: &str, counters: &mut BTreeMap<String, u64>) {
    for line in text.lines().skip(2) {
        let Some((name, values)) = line.split_once(':') else {
            continue;
        };
        for (column, value) in DEVICE_COLUMNS.iter().zip(values.split_whitespace()) {
            if let Ok(value) = value.parse() {
                counters.insert(format!("{}.{column}", name.trim()), value);
            }
        }
    }
}

#[cfg(test)]
#[path = "counters_tests.rs"]
mod tests;
