//! The columns of the tables `summary` and `transactions`, which labels of a sweep cannot have.
//!
//! The simulator's tests hold them against what it writes.

/// Columns whose name a sweep may have: it varies what they count, and says the same.
const VARIED: &[&str] = &["flows", "iterations"];

/// All others.
const TOLD: &[&str] = &[
    // Of every workload.
    "data_bytes_total",
    "duration_s_total",
    "queue_bytes_max",
    // Of workloads that transfer.
    "completion_ms_mean",
    "completion_ms_min",
    "completion_ms_median",
    "completion_ms_p95",
    "completion_ms_p99",
    "completion_ms_max",
    "goodput_mbps_mean",
    "switch_drops_mean",
    "host_drops_mean",
    "link_losses_mean",
    "marks_mean",
    "retransmissions_mean",
    "timeouts_mean",
    "fast_recoveries_mean",
    // Of flows that last as long as the run.
    "jain_index",
    // Of `bulk` and `flows`.
    "flows_complete",
    "slowdown_mean",
    "slowdown_median",
    "slowdown_p95",
    "slowdown_p99",
    // Of `request-response`.
    "requests_due",
    "requests",
    "requests_per_s",
    "latency_us_mean",
    "latency_us_min",
    "latency_us_median",
    "latency_us_p95",
    "latency_us_p99",
    "latency_us_max",
    // Of `udp`.
    "datagrams_due",
    "datagrams_sent",
    "datagrams_received",
    "datagrams_reordered",
    "datagrams_lost",
    "asked_mbps",
    "sent_mbps",
    "loss_percent",
    "delay_us_mean",
    "delay_us_min",
    "delay_us_median",
    "delay_us_p95",
    "delay_us_p99",
    "delay_us_max",
    "lost_tx_queue",
    "lost_switch",
    "lost_link",
    "lost_rx_ring",
    "lost_backlog",
    "lost_socket",
    "marks",
    // Of `ping`.
    "pings",
    "pings_lost",
    "ping_ms_min",
    "ping_ms_mean",
    "ping_ms_median",
    "ping_ms_p95",
    "ping_ms_p99",
    "ping_ms_max",
    "switch_drops",
    "host_drops",
    "link_losses",
    // Of `iperf3` and `flent`.
    "bandwidth_gbps_mean",
    "upload_gbps",
    "download_gbps",
    "retransmissions",
    "timeouts",
    "fast_recoveries",
    "utilisation",
    "queue_bytes_mean",
    // Of the table `transactions` alone.
    "iteration",
    "start_s",
    "completion_ms",
];

/// Whether it is a column of `summary` or `transactions` that a sweep does not vary.
#[must_use]
pub fn is_told(column: &str) -> bool {
    TOLD.contains(&column)
}

/// Whether it is any column of theirs.
#[must_use]
pub fn is_column(column: &str) -> bool {
    is_told(column) || VARIED.contains(&column)
}
