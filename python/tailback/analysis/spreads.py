"""What of a run a mean hides: times, slowdowns, queues and round trips, to be drawn whole."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from tailback.analysis.view import View


@dataclass(frozen=True)
class Spread:
    """A quantity that is many values at every point.

    Attributes:
        rows: the values of a view's runs, labelled; empty where there are none.
        column: where they are.
        axis: the title of their axis.
        share: what a share of them is.
        title: what the chart is called.
        description: what it shows, for those who do not see it.
        logarithmic: whether its axis is, so that none may be zero.
    """

    rows: Callable[[View], pl.DataFrame]
    column: str
    axis: str
    share: str
    title: str
    description: str
    logarithmic: bool = True


def _slowdowns(view: View) -> pl.DataFrame:
    """Of flows that had so much to send, and were over in time."""
    rows = view.optional("flows")
    if "slowdown" not in rows.columns:
        return pl.DataFrame()
    known = pl.col("slowdown").is_not_null() & pl.col("slowdown").is_not_nan()
    return view.labelled(rows.filter(known & (pl.col("slowdown") > 0)))


def _latencies(view: View) -> pl.DataFrame:
    """Of all requests, where they are told one by one."""
    rows = view.optional("requests")
    return pl.DataFrame() if rows.is_empty() else view.labelled(rows)


def _queues(view: View) -> pl.DataFrame:
    """At the port of each run where it was longest."""
    rows = view.optional("queue_samples")
    if rows.is_empty() or rows["queue_bytes"].max() == 0:
        return pl.DataFrame()
    fullest = rows.group_by("run").agg(
        pl.col("place").sort_by("queue_bytes", descending=True, maintain_order=True).first()
    )
    there = rows.join(fullest, on=["run", "place"], how="semi", maintain_order="left")
    return view.labelled(there.with_columns((pl.col("queue_bytes") / 1e3).alias("queue_kb")))


def _round_trips(view: View) -> pl.DataFrame:
    """Of the ends that send, once there is one."""
    rows = view.optional("samples")
    if rows.is_empty() or "rtt_us" not in rows.columns:
        return pl.DataFrame()
    ends = ["run", "host", "local", "peer"]
    sent = "bytes_sent" if "bytes_sent" in rows.columns else "bytes_acked"
    senders = (
        rows.group_by(ends)
        .agg(pl.col(sent).max().alias("sent"), pl.col("bytes_received").max())
        .filter(pl.col("sent") > 0, pl.col("sent") >= pl.col("bytes_received"))
    )
    seen = rows.filter(pl.col("rtt_us") > 0).join(senders, on=ends, how="semi")
    return view.labelled(seen.with_columns((pl.col("rtt_us") / 1e3).alias("srtt_ms")))


COMPLETION = Spread(
    rows=lambda view: view.transactions,
    column="completion_ms",
    axis="Completion time (ms)",
    share="Share of transactions done",
    title="Share of transactions done within a time",
    description="Empirical distribution function of the completion time per transaction, time on a "
    "logarithmic axis. Steps about one retransmission timeout apart are transactions that waited "
    "for timeouts.",
)
"""Times of transactions."""

SPREADS: Mapping[str, Spread] = {
    "slowdown": Spread(
        rows=_slowdowns,
        column="slowdown",
        axis="Slowdown",
        share="Share of flows",
        title="Share of flows slowed down by so much or less",
        description="Empirical distribution function of the flows' slowdown, on a logarithmic "
        "axis.",
    ),
    "latency": Spread(
        rows=_latencies,
        column="latency_us",
        axis="Latency of a request (us)",
        share="Share of requests",
        title="Share of requests answered within a time",
        description="Empirical distribution function of the time from a request to its answer, on "
        "a logarithmic axis.",
    ),
    "queue": Spread(
        rows=_queues,
        column="queue_kb",
        axis="Queue (kB)",
        share="Share of the time",
        title="Share of the time in which the queue was so long or shorter",
        description="Empirical distribution function of the queue at the port where it was "
        "longest, of looks at even intervals.",
        logarithmic=False,
    ),
    "round-trips": Spread(
        rows=_round_trips,
        column="srtt_ms",
        axis="Smoothed round-trip time (ms)",
        share="Share of looks",
        title="Share of looks at which the round-trip time was so long or shorter",
        description="Empirical distribution function of the smoothed round-trip times of all "
        "senders, on a logarithmic axis.",
    ),
}
"""Others, of runs that have them."""
