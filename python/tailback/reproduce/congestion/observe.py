"""What a run shows of its flows, and whether two backends' runs show the same."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import polars as pl

from tailback.analysis.chance import chance
from tailback.reproduce.congestion.cells import FRAME_BYTES, Cell
from tailback.results import Results

RECEIVER = "receiver"


@dataclass(frozen=True)
class Quantity:
    """One thing compared.

    Attributes:
        name: what it is, with its unit.
        relative: how far the two may be apart, as a part of the kernels'.
        absolute: how far they may be apart in any case.
    """

    name: str
    relative: float
    absolute: float = 0.0


GOODPUT = Quantity("goodput_mbps", 0.05)
COMPLETION = Quantity("completion_ms", 0.10)
# A few packets: as many as one loss episode of a small window costs.
RETRANSMISSIONS = Quantity("retransmissions", 0.20, 5.0)
TIMEOUTS = Quantity("timeouts", 0.20, 2.0)
QUEUE = Quantity("queue_frames", 0.15, 1.5)


@dataclass(frozen=True)
class Comparison:
    """One quantity as kernels and as models have it, a value a run.

    Attributes:
        quantity: which.
        kernel: of each run with kernels.
        model: of each run with modelled hosts.
    """

    quantity: Quantity
    kernel: list[float]
    model: list[float]

    @property
    def apart(self) -> float:
        """How far the means are apart, as a part of the kernels'."""
        kernel, model = fmean(self.kernel), fmean(self.model)
        return model / kernel - 1 if kernel else (math.inf if model else 0.0)

    @property
    def near(self) -> bool:
        """Whether the means are no further apart than the quantity's limits."""
        kernel, model = fmean(self.kernel), fmean(self.model)
        limit = max(self.quantity.relative * abs(kernel), self.quantity.absolute)
        return abs(model - kernel) <= limit

    @property
    def within(self) -> bool:
        """Whether they are as near as they should be.

        Where there are several runs, means may be further apart than the limits, as far as
        chance alone puts them in nineteen of twenty cells (Welch's t): that they are not alike
        cannot be told then.
        """
        apart = abs(fmean(self.model) - fmean(self.kernel))
        return self.near or apart <= chance(self.kernel, self.model)


def compare(cell: Cell, kernel: Results, model: Results) -> list[Comparison]:
    """Return what the cell's two results have in common."""
    if cell.until_s is not None:
        found = [_of_flows(cell, results) for results in (kernel, model)]
    else:
        found = [_of_transfers(results) for results in (kernel, model)]
    return [
        Comparison(quantity, kernels, models)
        for (quantity, kernels), (_, models) in zip(found[0], found[1], strict=True)
    ]


def cwnd_trace(results: Results, until_s: float | None) -> pl.DataFrame:
    """Return `time_s`, `flow`, `cwnd` of the first run's senders."""
    samples = _samples(results, until_s).filter(
        (pl.col("host") != RECEIVER) & (pl.col("run") == pl.col("run").min())
    )
    return samples.select(
        "time_s", pl.col("port").alias("flow"), pl.col("snd_cwnd").alias("cwnd")
    ).sort("flow", "time_s")


def _samples(results: Results, until_s: float | None) -> pl.DataFrame:
    """Samples before a time, with the receiver's port, which tells flows apart.

    Not those at the time itself: flows end then, and a kernel whose connection has ended has none.
    """
    samples = results.table("samples")
    port = pl.when(pl.col("host") == RECEIVER).then("local").otherwise("peer")
    samples = samples.with_columns(port.str.split(":").list.last().alias("port"))
    return samples if until_s is None else samples.filter(_before(until_s))


def _before(until_s: float) -> pl.Expr:
    """Looks before a time, by more than what a sum of seconds is off."""
    return pl.col("time_s") < until_s * (1 - 1e-9)


Look = list[tuple[Quantity, list[float]]]


def _of_flows(cell: Cell, results: Results) -> Look:
    """Flows that go on: what they had done by the last look before the end."""
    samples = _samples(results, cell.until_s).sort("time_s")
    ends = dict(samples.group_by("run").agg(pl.col("time_s").max()).iter_rows())
    last = samples.group_by("run", "host", "port").last()
    senders = last.filter(pl.col("host") != RECEIVER)
    receivers = last.filter(pl.col("host") == RECEIVER)

    def sums(frame: pl.DataFrame, column: str) -> dict[int, float]:
        return dict(frame.group_by("run").agg(pl.col(column).sum()).sort("run").iter_rows())

    received = sums(receivers, "bytes_received")
    return [
        (GOODPUT, [value * 8 / ends[run] / 1e6 for run, value in received.items()]),
        (RETRANSMISSIONS, list(map(float, sums(senders, "total_retrans").values()))),
        (TIMEOUTS, list(map(float, sums(senders, "total_rto").values()))),
        (QUEUE, _queue(results, cell.until_s)),
    ]


def _of_transfers(results: Results) -> Look:
    """Transfers that end: how long they took, from when they were asked for."""
    summary = results.table("summary").sort("run")
    if summary["iterations"].max() != 1:
        completion = summary["completion_ms_mean"].to_list()
    else:
        means = results.table("flows").group_by("run").agg(pl.col("completion_ms").mean())
        completion = means.sort("run")["completion_ms"].to_list()

    def totals(name: str) -> list[float]:
        rows = zip(summary[name], summary["iterations"], strict=True)
        return [float(mean * count) for mean, count in rows]

    return [
        (COMPLETION, completion),
        (RETRANSMISSIONS, totals("retransmissions_mean")),
        (TIMEOUTS, totals("timeouts_mean")),
    ]


def _queue(results: Results, until_s: float | None) -> list[float]:
    """Mean of the bottleneck's queue in each run, in full frames: port 0 leads to the receiver."""
    runs = results.table("summary").sort("run")["run"]
    if "queue_samples" not in results.tables:
        return [0.0] * len(runs)
    looks = results.table("queue_samples").filter(pl.col("place") == "switch:0")
    if until_s is not None:
        looks = looks.filter(_before(until_s))
    means = dict(looks.group_by("run").agg(pl.col("queue_bytes").mean()).iter_rows())
    return [means.get(run, 0.0) / FRAME_BYTES for run in runs]


def spread(values: Sequence[float]) -> str:
    """Return a value, or mean and range of several, as a text."""
    mean = fmean(values)
    if len(values) == 1 or min(values) == max(values):
        return f"{mean:.4g}"
    return f"{mean:.4g} ({min(values):.3g} to {max(values):.3g})"
