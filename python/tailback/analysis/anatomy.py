"""One transaction taken apart: the switch's queues, each flow's progress, its waits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from tailback.analysis.axes import in_words
from tailback.analysis.view import GROUP, View

ROWS_MAX = 80_000
"""Rows of time series in one report: about 2 MB."""


@dataclass(frozen=True)
class Anatomy:
    """Time series of the recorded transaction of one run.

    Attributes:
        run: the run's number.
        title: the run's parameters in words.
        group: label of the run's curve.
        x: the run's value on the x axis; `None` when nothing varies.
        queues: `time_us, switch, queue_bytes_min, queue_bytes_max`, per switch.
        progress: `time_us, flow, received_bytes, …, waiting_for_timeout`.
        waits: `flow, start_us, end_us`, spans in which a flow waits for its timeout.
    """

    run: int
    title: str
    group: str
    x: Any
    queues: pl.DataFrame
    progress: pl.DataFrame
    waits: pl.DataFrame

    @property
    def end_us(self) -> float:
        """When the last recorded byte arrived, in µs since the transaction's start."""
        ends = [
            float(frame.get_column("time_us").max() or 0)  # type: ignore[arg-type]
            for frame in (self.queues, self.progress)
            if not frame.is_empty()
        ]
        return max(ends, default=0.0)


def spans(progress: pl.DataFrame) -> pl.DataFrame:
    """Return where each flow waits for its retransmission timer: `flow, start_us, end_us`.

    A span runs from the first sample that waits to the first that does not.
    """
    flows = progress.sort("flow", "time_us").with_columns(
        pl.col("waiting_for_timeout").rle_id().over("flow").alias("span"),
        pl.col("time_us").shift(-1).over("flow").alias("next_us"),
    )
    return (
        flows.filter("waiting_for_timeout")
        .group_by("flow", "span", maintain_order=True)
        .agg(
            pl.col("time_us").first().alias("start_us"),
            # The last sample of a flow has no successor; its wait ends with the record.
            pl.coalesce(pl.col("next_us").last(), pl.col("time_us").last()).alias("end_us"),
        )
        .drop("span")
    )


def without_level(progress: pl.DataFrame) -> pl.DataFrame:
    """Return `progress` without the samples inside level stretches, which a line does not need."""
    received = pl.col("received_bytes")
    before, after = received.shift(1).over("flow"), received.shift(-1).over("flow")
    return progress.filter(received.ne_missing(before) | received.ne_missing(after))


def per_switch(queues: pl.DataFrame) -> pl.DataFrame:
    """Return what waits in each switch: its places (`SWITCH:PORT`) added up.

    The places are looked at together, so the sum of their least (most) in a moment bounds the
    least (most) of the sum.
    """
    return (
        queues.group_by(
            "time_us",
            pl.col("place").str.split(":").list.first().alias("switch"),
            maintain_order=True,
        )
        .agg(pl.col("queue_bytes_min").sum(), pl.col("queue_bytes_max").sum())
        .sort("switch", "time_us")
    )


def anatomies(view: View, *, rows_max: int | None = ROWS_MAX) -> list[Anatomy]:
    """Return the anatomy of runs spread over x: every group, first repetition.

    As many values of x as `rows_max` rows allow, evenly spaced, the last one included; `None`
    gives all.
    """
    queues = view.optional("queues")
    progress = view.optional("progress")
    if queues.is_empty() and progress.is_empty():
        return []
    recorded = {
        run
        for frame in (queues, progress)
        if not frame.is_empty()
        for run in frame.get_column("run").unique()
    }
    runs = view.summary.unique(
        subset=view.axes.names or ["run"], keep="first", maintain_order=True
    ).filter(pl.col("run").is_in(recorded))
    if view.axes.x is not None and rows_max is not None:
        moments = 0 if queues.is_empty() else queues.select("run", "time_us").n_unique()
        rows = moments + (0 if progress.is_empty() else without_level(progress).height)
        values = runs.get_column(view.axes.x.name).unique(maintain_order=True).to_list()
        kept = spread(values, max(1, len(values) * rows_max // max(rows, 1)))
        runs = runs.filter(pl.col(view.axes.x.name).is_in(kept))
    return [_anatomy(view, queues, progress, row) for row in runs.iter_rows(named=True)]


def spread(values: list[Any], count: int) -> list[Any]:
    """Return at most `count` of `values`, evenly spaced, the last one included."""
    if count >= len(values):
        return values
    if count == 1:
        return values[-1:]
    last = len(values) - 1
    return [values[round(i * last / (count - 1))] for i in range(count)]


def _anatomy(
    view: View, queues: pl.DataFrame, progress: pl.DataFrame, row: Mapping[str, Any]
) -> Anatomy:
    axes = view.axes
    of_run = pl.col("run") == row["run"]
    mine = progress if progress.is_empty() else progress.filter(of_run)
    return Anatomy(
        run=row["run"],
        title=", ".join(in_words(a, row[a.name]) for a in axes.varying) or "the run",
        group=row[GROUP],
        x=row[axes.x.name] if axes.x else None,
        queues=queues if queues.is_empty() else per_switch(queues.filter(of_run)),
        progress=mine if mine.is_empty() else without_level(mine),
        waits=mine if mine.is_empty() else spans(mine),
    )
