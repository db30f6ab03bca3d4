"""Rates, congestion windows, round-trip times and the fullest queue over a run, as looked at."""

from typing import Any

import altair as alt
import polars as pl

from tailback.analysis.samples import Samples
from tailback.report.charts.bands import behind, said_of
from tailback.report.charts.data import AnyChart, inline
from tailback.report.theme import MOVING, NEUTRAL, WIDTH

_MARGIN = 52
_FLOW = "flow"


def samples(one: Samples) -> AnyChart:
    """Return panels over the same time: rates, windows, round-trip times, the queue."""
    ends = [frame["time_s"].max() for frame in (one.flows, one.queue) if not frame.is_empty()]
    end_s = max(float(str(end)) for end in ends)
    x = alt.X(
        "time_s",
        type="quantitative",
        title="Time (s)",
        scale=alt.Scale(domain=[0, end_s or 1.0], nice=False),
    )
    names = one.flows.get_column(_FLOW).unique(maintain_order=True).to_list()
    down = one.down(end_s)
    windows = _windows(one.flows, names, x)
    panels = [behind(windows, down, x, "time_s").properties(width=WIDTH, height=170)]
    rate = one.flows.select("time_s", _FLOW, "rate_mbps").drop_nulls()
    if not rate.is_empty():
        title = "Acknowledged (Mb/s)"
        lines: AnyChart = _lines(rate, "rate_mbps", title, names, x)
        if not one.capacity.is_empty():
            lines = alt.layer(_capacity(one, title, x), lines)
        lines = behind(lines, down, x, "time_s")
        panels.insert(0, lines.properties(width=WIDTH, height=170))
    rtt = one.flows.select("time_s", _FLOW, "srtt_ms").drop_nulls()
    if not rtt.is_empty():
        times = _lines(rtt, "srtt_ms", "Smoothed round-trip time (ms)", names, x)
        panels.append(behind(times, down, x, "time_s").properties(width=WIDTH, height=120))
    if not one.queue.is_empty():
        queues = behind(_queue(one, x), down, x, "time_s")
        panels.append(queues.properties(width=WIDTH, height=120))
    shown = (
        f"{len(names)} of {one.flows_all} flows, those that sent most. "
        if (one.flows_all > len(names))
        else ""
    )
    dashed = one.flows.get_column("ssthresh").is_not_null().any()
    shaded = f"Shaded: what the link's trace let go ({one.trace}). " if one.trace else ""
    subtitle = shown + shaded + said_of(down) + ("Dashed: slow-start thresholds." if dashed else "")
    queue = f", and the queue at {one.place}" if one.place else ""
    return alt.vconcat(*panels, spacing=18).properties(
        title=alt.TitleParams(
            f"Rates and windows over time, {one.title}", subtitle=[subtitle.strip()]
        ),
        description=(
            f"Rates, congestion windows and round-trip times of {len(names)} flows{queue} over "
            f"{end_s:g} s of {one.title}."
        ),
    )


def _windows(flows: pl.DataFrame, names: list[str], x: alt.X) -> Any:  # noqa: ANN401 - of two kinds
    title = "Congestion window (segments)"
    cwnd = _lines(flows.select("time_s", _FLOW, "cwnd"), "cwnd", title, names, x)
    known = flows.select("time_s", _FLOW, pl.col("ssthresh").alias("cwnd")).drop_nulls()
    if known.is_empty():
        return cwnd
    dashes = _lines(known, "cwnd", title, names, x).mark_line(
        strokeWidth=1, strokeDash=[4, 3], opacity=0.6, interpolate="step-after"
    )
    return alt.layer(dashes, cwnd)


def _lines(frame: pl.DataFrame, column: str, title: str, names: list[str], x: alt.X) -> alt.Chart:
    chart: alt.Chart = (
        alt.Chart(inline(frame))
        .mark_line(strokeWidth=1.3, opacity=0.85)
        .encode(
            x=x,
            y=alt.Y(column, type="quantitative", title=title).axis(minExtent=_MARGIN, tickCount=4),
            color=alt.Color(_FLOW, type="nominal", sort=names, title=None),
            tooltip=[
                alt.Tooltip(_FLOW, type="nominal", title="Flow"),
                alt.Tooltip("time_s", type="quantitative", title="Time (s)"),
                alt.Tooltip(column, type="quantitative", format=",.4~r", title=title),
            ],
        )
    )
    return chart


def _capacity(one: Samples, title: str, x: alt.X) -> alt.Chart:
    chart: alt.Chart = (
        alt.Chart(inline(one.capacity))
        .mark_area(opacity=0.25, color=NEUTRAL, interpolate="step-before")
        .encode(
            x=x,
            y=alt.Y("capacity_mbps", type="quantitative", title=title).axis(
                minExtent=_MARGIN, tickCount=4
            ),
            tooltip=[
                alt.Tooltip("time_s", type="quantitative", title="Time (s)"),
                alt.Tooltip(
                    "capacity_mbps", type="quantitative", format=",.4~r", title="Let go (Mb/s)"
                ),
            ],
        )
    )
    return chart


def _queue(one: Samples, x: alt.X) -> alt.Chart:
    title = f"Queue at {one.place} (kB)"
    chart: alt.Chart = (
        alt.Chart(inline(one.queue))
        .mark_area(opacity=0.75, color=MOVING, interpolate="step-after")
        .encode(
            x=x,
            y=alt.Y("queue_kb", type="quantitative", title=title).axis(
                minExtent=_MARGIN, tickCount=4
            ),
            tooltip=[
                alt.Tooltip("time_s", type="quantitative", title="Time (s)"),
                alt.Tooltip("queue_kb", type="quantitative", format=",.4~r", title=title),
            ],
        )
    )
    return chart
