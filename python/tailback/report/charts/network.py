"""The network over time: throughput in all, to one host, and the queue before it."""

from collections.abc import Iterator
from typing import Any

import altair as alt
import polars as pl

from tailback.analysis.outages import outages
from tailback.analysis.times import seconds
from tailback.analysis.view import View
from tailback.report.charts.bands import bands, said_of
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import WIDTH

_PANELS = (
    ("goodput_gbps", "All hosts (Gb/s)"),
    ("host_goodput_gbps", "To the host watched (Gb/s)"),
    ("queue_kb", "Queue to it (kB)"),
)
_RUN = "run of"
_MARGIN = 52


def network(view: View) -> AnyChart:
    """Return three panels over the same time, a line a run; slow service and outages are shaded."""
    table = view.optional("network")
    if table.is_empty():
        raise NothingToDrawError("no run recorded the network over time; set record.series")
    parameters = view.results.parameters
    # Of several repetitions the first.
    frame = table.filter(pl.col("repetition") == pl.col("repetition").min()).select(
        "time_ms",
        "goodput_gbps",
        "host_goodput_gbps",
        (pl.col("queue_bytes") / 1e3).alias("queue_kb"),
        _label(parameters).alias(_RUN),
    )
    names = frame.get_column(_RUN).unique(maintain_order=True).to_list()
    end = float(str(frame.get_column("time_ms").max()))
    scenario = view.results.manifest["scenario"]
    slow = [(first, min(last, end)) for first, last in slow_spans(scenario) if first < end]
    down = outages(scenario, end / 1e3)
    spans = sorted({*slow, *((1e3 * one.from_s, 1e3 * one.until_s) for one in down)})
    scale = alt.Scale(domain=[0, end], nice=False)
    panels: list[Any] = [_panel(frame, names, spans, scale, *panel) for panel in _PANELS]
    shaded = (" Shaded: a port is served slowly." if slow else "") + f" {said_of(down)}".rstrip()
    return alt.vconcat(*panels, spacing=18).properties(
        title=alt.TitleParams("Throughput and queue over time", subtitle=[shaded.strip()]),
        description=f"Three panels over {end} ms, a line for each of {len(names)} runs.{shaded}",
    )


def slow_spans(scenario: Any) -> Iterator[tuple[float, float]]:  # noqa: ANN401 - any JSON
    """Yield, in ms, each time in which a port of the resolved scenario is served slowly."""
    seen: set[tuple[float, float]] = set()
    for span in _spans(scenario):
        if span not in seen:
            seen.add(span)
            yield span


def _spans(value: Any) -> Iterator[tuple[float, float]]:  # noqa: ANN401
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "service" and isinstance(inner, list):
                yield from (
                    (1e3 * seconds(one["from"]), 1e3 * seconds(one["until"])) for one in inner
                )
            else:
                yield from _spans(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _spans(inner)


def _label(parameters: list[str]) -> pl.Expr:
    if not parameters:
        return pl.lit("the run")
    return pl.concat_str([pl.col(p).cast(pl.String) for p in parameters], separator=", ")


def _panel(
    frame: pl.DataFrame,
    names: list[str],
    spans: list[tuple[float, float]],
    scale: alt.Scale,
    column: str,
    title: str,
) -> AnyChart:
    x = alt.X("time_ms", type="quantitative", scale=scale, title="Time (ms)")
    y = alt.Y(column, type="quantitative", title=title).axis(minExtent=_MARGIN, tickCount=4)
    lines = (
        alt.Chart(inline(frame.select("time_ms", column, _RUN)))
        .mark_line(strokeWidth=1.3, opacity=0.85)
        .encode(
            x=x,
            y=y,
            color=alt.Color(_RUN, type="nominal", sort=names, title=None),
            tooltip=[
                alt.Tooltip(_RUN, type="nominal", title="Run"),
                alt.Tooltip("time_ms", type="quantitative", title="Time (ms)"),
                alt.Tooltip(column, type="quantitative", format=",.4~r", title=title),
            ],
        )
    )
    layers = [bands(spans, x, "time_ms"), lines] if spans else [lines]
    return alt.layer(*layers).properties(width=WIDTH, height=150)
