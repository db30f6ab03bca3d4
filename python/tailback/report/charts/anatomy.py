"""One transaction: the switch's queue, every flow's bytes, and who waits for a timeout."""

from typing import Any

import altair as alt
import polars as pl

from tailback.analysis.anatomy import Anatomy
from tailback.report.charts.data import AnyChart, inline
from tailback.report.theme import MOVING, WAITING, WIDTH

_MOVING, _WAITING = "receiving", "waiting for its retransmission timeout"
_MARGIN = 52
"""Room for the labels of y, px: the same in all three panels, so that their times line up."""


def anatomy(one: Anatomy, *, until_us: float | None = None) -> AnyChart:
    """Return three panels over the same time: queue, received bytes, and a lane per flow.

    Args:
        one: the recorded transaction.
        until_us: end of the time axis, µs; by default the transaction's own. Give the longest
            of several transactions to set them beside each other.
    """
    scale = alt.Scale(domain=[0, max(until_us or one.end_us, 1.0) / 1e3], nice=False)
    panels: list[Any] = []
    if not one.queues.is_empty():
        panels.append(_queue(one.queues, scale))
    if not one.progress.is_empty():
        panels.append(_received(one.progress, one.waits, scale))
        panels.append(_lanes(one, scale))
    panels[-1] = panels[-1].encode(x=_time("time_ms", scale, title="Time since the request (ms)"))
    waited = one.waits.get_column("flow").n_unique() if not one.waits.is_empty() else 0
    return alt.vconcat(*panels, spacing=14).properties(
        title=f"One transaction, {one.title}",
        description=(
            f"One transaction of {one.title}, {one.end_us / 1e3:.4g} ms long: the switch's "
            "queue over time, bytes received by flow, and a lane per flow. "
            f"{waited} flow(s) waited for a retransmission timeout."
        ),
    )


def _time(column: str, scale: alt.Scale, *, title: str | None = None) -> alt.X:
    return alt.X(column, type="quantitative", scale=scale, title=title).axis(
        labels=title is not None, ticks=title is not None, tickCount=6, grid=True
    )


def _y(column: str, title: str, **axis: Any) -> alt.Y:  # noqa: ANN401 - passed on to Altair
    return alt.Y(column, type="quantitative", title=title).axis(
        minExtent=_MARGIN, maxExtent=_MARGIN, tickCount=4, titleX=-_MARGIN, **axis
    )


def _ms(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns((pl.col("time_us") / 1e3).alias("time_ms"))


def _queue(queues: pl.DataFrame, scale: alt.Scale) -> AnyChart:
    """One switch: the least and most in every moment. Several: stacked, so the top is all."""
    frame = _ms(queues).select(
        "time_ms",
        "switch",
        (pl.col("queue_bytes_min") / 1e3).alias("low_kb"),
        (pl.col("queue_bytes_max") / 1e3).alias("high_kb"),
    )
    y = _y("high_kb", "Queued in the switch (kB)")
    base = alt.Chart(inline(frame)).encode(
        x=_time("time_ms", scale),
        tooltip=[
            alt.Tooltip("time_ms", type="quantitative", format=",.4~r", title="Time (ms)"),
            alt.Tooltip("switch", type="nominal", title="Switch"),
            alt.Tooltip("low_kb", type="quantitative", format=",.4~r", title="Least (kB)"),
            alt.Tooltip("high_kb", type="quantitative", format=",.4~r", title="Most (kB)"),
        ],
    )
    if frame.get_column("switch").n_unique() > 1:
        stacked = base.mark_area(interpolate="step-after", color=MOVING, opacity=0.75)
        panel = alt.layer(stacked.encode(y=y.stack("zero"), detail="switch:N"))
    else:
        panel = alt.layer(
            base.mark_area(interpolate="step-after", opacity=0.3, color=MOVING).encode(y=y),
            base.mark_area(interpolate="step-after", opacity=0.9, color=MOVING).encode(
                y=y, y2="low_kb"
            ),
        )
    return panel.properties(width=WIDTH, height=120)


def _received(progress: pl.DataFrame, waits: pl.DataFrame, scale: alt.Scale) -> AnyChart:
    frame = _ms(progress).select(
        "time_ms", "flow", (pl.col("received_bytes") / 1e6).alias("received_mb")
    )
    tips = [
        alt.Tooltip("flow", type="ordinal", title="Flow"),
        alt.Tooltip("time_ms", type="quantitative", format=",.4~r", title="Time (ms)"),
        alt.Tooltip("received_mb", type="quantitative", format=",.4~r", title="Received (MB)"),
    ]
    y = _y("received_mb", "Received by flow (MB)")
    lines = (
        alt.Chart(inline(frame))
        .mark_line(strokeWidth=1.1, opacity=0.75, color=MOVING)
        .encode(x=_time("time_ms", scale), y=y, detail="flow:N", tooltip=tips)
    )
    if waits.is_empty():
        return alt.layer(lines).properties(width=WIDTH, height=150)
    # A flow that waits receives nothing: its wait is a level stretch of its line.
    reached = progress.select("flow", "received_bytes", pl.col("time_us").alias("start_us"))
    held = waits.sort("start_us").join_asof(
        reached.sort("start_us"), on="start_us", by="flow", check_sortedness=False
    )
    spans = held.select(
        (pl.col("start_us") / 1e3).alias("time_ms"),
        (pl.col("end_us") / 1e3).alias("end_ms"),
        (pl.col("received_bytes") / 1e6).alias("received_mb"),
        "flow",
    )
    waiting = (
        alt.Chart(inline(spans))
        .mark_rule(strokeWidth=2.4, opacity=0.8, color=WAITING)
        .encode(x=_time("time_ms", scale), x2="end_ms", y=y, tooltip=tips)
    )
    return alt.layer(lines, waiting).properties(width=WIDTH, height=150)


def _lanes(one: Anatomy, scale: alt.Scale) -> AnyChart:
    done = (
        _ms(one.progress)
        .group_by("flow", maintain_order=True)
        .agg(
            pl.col("time_ms").min(),
            pl.col("time_ms")
            .filter(pl.col("received_bytes").diff().fill_null(0) > 0)
            .max()
            .alias("end_ms"),
        )
        .with_columns(pl.lit(_MOVING).alias("state"))
        .drop_nulls("end_ms")
    )
    waits = (
        one.waits.select(
            "flow",
            (pl.col("start_us") / 1e3).alias("time_ms"),
            (pl.col("end_us") / 1e3).alias("end_ms"),
            pl.lit(_WAITING).alias("state"),
        )
        if not one.waits.is_empty()
        else done.clear()
    )
    flows = one.progress.get_column("flow").n_unique()
    lanes: alt.Chart = (
        alt.Chart(inline(pl.concat([done, waits], how="vertical_relaxed")))
        .mark_bar(height={"band": 0.72})
        .encode(
            x=_time("time_ms", scale),
            x2="end_ms",
            y=alt.Y("flow", type="ordinal", title="Flow").axis(
                minExtent=_MARGIN, maxExtent=_MARGIN, titleX=-_MARGIN, grid=False
            ),
            color=alt.Color(
                "state",
                type="nominal",
                scale=alt.Scale(domain=[_MOVING, _WAITING], range=[MOVING, WAITING]),
                title=None,
            ).legend(symbolType="square", columns=1, orient="bottom", offset=8),
            tooltip=[
                alt.Tooltip("flow", type="ordinal", title="Flow"),
                alt.Tooltip("state", type="nominal", title="State"),
                alt.Tooltip("time_ms", type="quantitative", format=",.4~r", title="From (ms)"),
                alt.Tooltip("end_ms", type="quantitative", format=",.4~r", title="Until (ms)"),
            ],
        )
        .properties(width=WIDTH, height=max(40, min(12 * flows, 280)))
    )
    return lanes
