"""Time beyond a clean transfer, in retransmission timeouts: ours and as published."""

import altair as alt
import polars as pl

from tailback.analysis.excess import with_excess
from tailback.analysis.view import COLOUR, DASH, GROUP, View
from tailback.published.incast import CLEAN_JUMBO
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.encoding import curve_channels, detail, placed, tooltips, x_channel
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import HEIGHT, WIDTH


def excess(view: View) -> AnyChart:
    """Return the excess time per transaction in units of one 201 ms timeout along x."""
    axis, reference = view.axes.x, view.published
    if axis is None or reference is None:
        raise NothingToDrawError("excess time is defined for the study with a published table only")
    columns = [*view.axes.names, GROUP, COLOUR, DASH, "excess_rto"]
    shared = {
        "x": x_channel(axis),
        "y": alt.Y(
            "excess_rto", type="quantitative", title="Excess time (timeouts of 201 ms)"
        ).axis(tickCount=5),
        **curve_channels(view),
        "detail": detail(view),
    }
    tips = [
        *tooltips(view),
        alt.Tooltip("excess_rto", type="quantitative", format=".3f", title="Timeouts' worth"),
    ]

    def data(frame: pl.DataFrame) -> AnyChart:
        return alt.Chart(inline(placed(with_excess(frame).select(columns), axis))).encode(**shared)

    ours, theirs = data(view.points), data(reference)
    return alt.layer(
        ours.mark_line(),
        ours.mark_point(size=18, opacity=1).encode(tooltip=tips),
        theirs.mark_point(size=64, filled=False, strokeWidth=1.6).encode(tooltip=tips),
    ).properties(
        width=WIDTH,
        height=HEIGHT,
        title=alt.TitleParams(
            "Time beyond a clean transfer, in retransmission timeouts",
            subtitle=["Lines: this run. Circles: published."],
        ),
        description=(
            f"Completion time less data / {CLEAN_JUMBO.rate_gbps} Gb/s and "
            f"{CLEAN_JUMBO.fixed_ms} ms, in units of {CLEAN_JUMBO.rto_ms} ms, along {axis.name}."
        ),
    )
