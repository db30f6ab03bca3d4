"""Names of columns in words, with their units."""

from dataclasses import dataclass, replace

_WORDS = {
    "completion_ms": ("Completion time", "ms"),
    "goodput_mbps": ("Goodput", "Mb/s"),
    "switch_drops": ("Drops at the switch", "frames per transaction"),
    "host_drops": ("Drops at the hosts", "frames per transaction"),
    "link_losses": ("Losses on links", "frames per transaction"),
    "marks": ("Congestion marks", "frames per transaction"),
    "retransmissions": ("Retransmissions", "segments per transaction"),
    "timeouts": ("Retransmission timeouts", "per transaction"),
    "fast_recoveries": ("Fast recoveries", "per transaction"),
    "queue_bytes": ("Longest queue", "kB"),
    "queue_bytes_mean": ("Mean queue of the fullest port", "kB"),
    "data_bytes_total": ("Data received", "MB"),
    "duration_s_total": ("Duration", "s"),
    "iterations": ("Transactions", ""),
    "bandwidth_gbps": ("Bandwidth of a measured sender", "Gb/s"),
    "jain_index": ("Jain's index of fairness", ""),
    "upload_gbps": ("Bandwidth of the uploads", "Gb/s"),
    "download_gbps": ("Bandwidth of the downloads", "Gb/s"),
    "utilisation": ("The flows' share of the receiver's link", ""),
    "ping_ms": ("Round trip of a ping", "ms"),
    "loss_percent": ("Packets lost", "%"),
    "asked_mbps": ("Payload asked of senders", "Mb/s"),
    "sent_mbps": ("Payload sent", "Mb/s"),
    "latency_us": ("Latency of a request", "us"),
    "delay_us": ("One-way delay of a datagram", "us"),
    "requests_per_s": ("Requests answered", "per second"),
    "slowdown": ("Slowdown", ""),
    "flows": ("Flows", ""),
    "flows_complete": ("Complete flows", ""),
    "queries": ("Queries", ""),
    "queries_complete": ("Complete queries", ""),
    "query_ms": ("Time to answer a query", "ms"),
    "query_slowdown": ("Slowdown of queries", ""),
}

_BYTES = {"kB": 10**3, "MB": 10**6}
"""Units that are not the column's own, which is bytes."""
_LEAST_GBPS = 0.1
"""Rates below are told in Mb/s."""

_STATISTICS = {
    "mean": "mean",
    "median": "median",
    "min": "least",
    "max": "longest",
    "p95": "95th percentile",
    "p99": "99th percentile",
}

_AXES = {
    "management": "Congestion management",
    "servers": "Servers sending at once",
    "switch": "Switch",
    "pairs": "Pairs of hosts",
    "connections": "Flows of each pair",
    "pair_window": "Window of each pair",
    "socket_buffer": "Socket buffer",
    "rate": "Rate",
    "interrupts": "Interrupts",
    "senders": "Senders",
    "marking": "Marking",
    "start_percent": "Marking begins at, % of the queue's memory",
    "duration_s": "Duration, s",
    "tcp_congestion_control": "Congestion control",
    "rto_min": "Least retransmission timeout",
    "rto_jitter": "Randomised share of the timeout",
    "congestion_control": "Congestion control",
    "operation": "Operation",
    "slices": "Slices of a part",
    "compute": "Computing between iterations",
}

MAIN = (
    "completion_ms_mean",
    "slowdown_median",
    "slowdown_p99",
    "query_ms_median",
    "query_ms_p99",
    "latency_us_mean",
    "latency_us_p99",
    "requests_per_s",
    "goodput_mbps_mean",
    "loss_percent",
    "delay_us_mean",
    "delay_us_p99",
    "bandwidth_gbps_mean",
    "upload_gbps",
    "download_gbps",
    "utilisation",
    "ping_ms_mean",
    "ping_ms_p99",
    "ping_ms_max",
    "queue_bytes_mean",
)
"""Metrics of `summary` that come first, where the runs have them."""
COUNTS = (
    "switch_drops_mean",
    "host_drops_mean",
    "link_losses_mean",
    "marks_mean",
    "retransmissions_mean",
    "timeouts_mean",
    "fast_recoveries_mean",
    # Of a whole run, where it is not made of transactions.
    "switch_drops",
    "host_drops",
    "link_losses",
    "marks",
    "retransmissions",
    "timeouts",
    "fast_recoveries",
)
"""Metrics that count events, per transaction or run: below 1 a relative error says nothing."""


@dataclass(frozen=True)
class Label:
    """A column in words.

    Attributes:
        text: what it is.
        unit: what its values are told in.
        statistic: of which draws or parts, if any.
        per_unit: how much of the column's own unit is one of these: values are divided by it.
    """

    text: str
    unit: str
    statistic: str = ""
    per_unit: float = 1

    def up_to(self, greatest: float) -> "Label":
        """The same in a unit that suits values of which this is the greatest, in the column's."""
        if self.unit == "Gb/s" and greatest < _LEAST_GBPS:
            return replace(self, unit="Mb/s", per_unit=1e-3)
        return self

    @property
    def axis(self) -> str:
        """As the title of a chart's axis: `Completion time (ms)`; a mean goes unsaid."""
        return f"{self.said} ({self.unit})" if self.unit else self.said

    @property
    def said(self) -> str:
        """To begin a sentence with: `Latency of a request, 99th percentile`; a mean goes unsaid."""
        plain = self.statistic in {"", "mean"}
        return self.text if plain else f"{self.text}, {self.statistic}"

    @property
    def full(self) -> str:
        """With its statistic, for the head of a table's column."""
        words = f"{self.text}, {self.statistic}" if self.statistic else self.text
        return f"{words} ({self.unit})" if self.unit else words


def label(column: str) -> Label:
    """Return the words for a metric's column; an unknown one keeps its own name."""
    if column in _WORDS:
        return _label(*_WORDS[column])
    stem, _, last = column.rpartition("_")
    if last in _STATISTICS and stem in _WORDS:
        text, unit = _WORDS[stem]
        # Counts are means already ("per transaction"), and the longest queue says so itself.
        said = unit.endswith("per transaction") or column == "queue_bytes_max"
        return _label(text, unit, "" if said else _STATISTICS[last])
    return Label(column.replace("_", " "), "")


def _label(text: str, unit: str, statistic: str = "") -> Label:
    return Label(text, unit, statistic, _BYTES.get(unit, 1))


def of_whole_run(counted: Label) -> Label:
    """Return the words for a metric of runs that last as long as they are told to."""
    whole = counted.unit.removesuffix("per transaction").strip()
    if whole == counted.unit:
        return counted
    return replace(counted, unit=f"{whole} per run".strip())


def axis_label(name: str) -> str:
    """Return the words for a sweep's axis; an unknown one keeps its own name."""
    return _AXES.get(name, name)
