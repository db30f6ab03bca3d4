"""Flent's totals plot: throughput of all flows and ping over time."""

from collections.abc import Iterator

import altair as alt
import polars as pl

from tailback.analysis.axes import in_words
from tailback.analysis.columns import Label, axis_label
from tailback.analysis.view import View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import WIDTH

_PANELS = (("gbps", Label("Throughput", "Gb/s")), ("ping_ms", Label("Ping", "ms")))
_POINTS = 200
"""Points of a line at most: what is closer together is averaged."""
_MARGIN = 52


def over_time(view: View) -> Iterator[tuple[str, AnyChart]]:
    """Yield a chart for each combination of the axes but the last, with its name in words.

    Raises:
        NothingToDrawError: the runs recorded no intervals.
    """
    table = view.optional("intervals")
    if table.is_empty():
        raise NothingToDrawError("no run has looks at its flows over time")
    order = [a for p in view.results.parameters for a in view.axes.varying if a.name == p]
    line = order[-1] if order else None
    keys = [a.name for a in order[:-1]]
    data = _series(view, table)
    if not keys:
        yield "all runs", _chart(data, line.name if line else None)
        return
    by_name = {a.name: a for a in order}
    for values, rows in data.group_by(keys, maintain_order=True):
        words = [in_words(by_name[k], v) for k, v in zip(keys, values, strict=True)]
        yield ", ".join(words), _chart(rows, line.name if line else None)


def _series(view: View, table: pl.DataFrame) -> pl.DataFrame:
    """Of the first repetition: all flows' bandwidth together, and the mean ping, a row a step."""
    first = pl.col("repetition") == pl.col("repetition").min()
    keys = ["run", *view.results.parameters]
    step = (
        table.group_by("run")
        .agg((pl.col("time_s").max() / _POINTS).alias("least_s"))
        .get_column("least_s")
        .max()
    )
    width = max(float(str(step)), 0.001)
    bucket = ((pl.col("time_s") / width).ceil() * width).alias("time_s")
    flows = (
        table.filter(first)
        .group_by([*keys, "time_s"], maintain_order=True)
        .agg(pl.col("bandwidth_gbps").sum().alias("gbps"))
        .with_columns(bucket)
        .group_by([*keys, "time_s"], maintain_order=True)
        .agg(pl.col("gbps").mean())
    )
    pings = view.optional("pings")
    if pings.is_empty():
        return flows.with_columns(pl.lit(None, dtype=pl.Float64).alias("ping_ms"))
    mean = (
        pings.filter(first)
        .with_columns(bucket)
        .group_by([*keys, "time_s"], maintain_order=True)
        .agg(pl.col("rtt_ms").mean().alias("ping_ms"))
    )
    return flows.join(mean, on=[*keys, "time_s"], how="full", coalesce=True).sort("run", "time_s")


def _chart(rows: pl.DataFrame, line: str | None) -> AnyChart:
    name = "run of"
    label = pl.col(line).cast(pl.String) if line else pl.lit("the run")
    frame = rows.select("time_s", label.alias(name), *(column for column, _ in _PANELS))
    names = frame.get_column(name).unique(maintain_order=True).to_list()
    end = float(str(frame.get_column("time_s").max()))
    x = alt.X(
        "time_s",
        type="quantitative",
        title="Time (s)",
        scale=alt.Scale(domain=[0, end], nice=False),
    )
    legend = axis_label(line) if line else None
    panels = []
    for column, words in _PANELS:
        known = frame.select("time_s", name, column).drop_nulls(column)
        if known.is_empty():
            continue
        told = words.up_to(float(str(known.get_column(column).max())))
        known, title = known.with_columns(pl.col(column) / told.per_unit), told.axis
        y = alt.Y(column, type="quantitative", title=title).axis(minExtent=_MARGIN, tickCount=4)
        panels.append(
            alt.Chart(inline(known))
            .mark_line(strokeWidth=1.3, opacity=0.85)
            .encode(
                x=x,
                y=y,
                color=alt.Color(name, type="nominal", sort=names, title=legend),
                tooltip=[
                    alt.Tooltip(name, type="nominal", title=legend or "Run"),
                    alt.Tooltip("time_s", type="quantitative", title="Time (s)"),
                    alt.Tooltip(column, type="quantitative", format=",.4~r", title=title),
                ],
            )
            .properties(width=WIDTH, height=150)
        )
    return alt.vconcat(*panels, spacing=18).properties(
        title=alt.TitleParams("All flows' throughput, and ping"),
        description=f"Throughput and ping over {end:g} s, a line for each of {len(names)} runs.",
    )
