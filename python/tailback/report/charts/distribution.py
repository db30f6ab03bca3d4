"""The distribution of completion times at every point of the sweep, on a logarithmic axis."""

from typing import Any

import altair as alt

from tailback.analysis.axes import Axis
from tailback.analysis.columns import axis_label
from tailback.analysis.distribution import COUNT, GREATEST, LEAST, QUANTILES, quantiles
from tailback.analysis.view import GROUP, View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.encoding import (
    LADDER,
    curve_channels,
    field,
    log_values,
    names_axis,
    tooltips,
)
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import HEIGHT, WIDTH

_WORDS = {
    LEAST: "Shortest",
    QUANTILES[5]: "5 % within",
    QUANTILES[25]: "25 % within",
    QUANTILES[50]: "Median",
    QUANTILES[75]: "75 % within",
    QUANTILES[95]: "95 % within",
    GREATEST: "Longest",
}
_BAND = {"band": 1}
"""Width of bar and tick: the air between curves is the scale's, for Vega-Lite centres a narrower
mark in the band of x instead of the curve's."""


def distribution(view: View) -> AnyChart:
    """Return rules from the 5th to the 95th percentile, bars between the quartiles, and medians.

    Curves stand side by side at each value of x.
    """
    axis = view.axes.x
    if axis is None:
        raise NothingToDrawError("nothing varies in this sweep; ecdf() shows its distribution")
    if view.transactions.is_empty():
        raise NothingToDrawError("the runs recorded no transactions")
    channels = _channels(view, axis)
    dashes = {"strokeDash": channels.pop("strokeDash")} if "strokeDash" in channels else {}
    base = alt.Chart(inline(quantiles(view))).encode(**channels)
    return alt.layer(
        base.mark_rule(opacity=0.9).encode(y=_time(QUANTILES[5]), y2=QUANTILES[95], **dashes),
        base.mark_bar(opacity=0.5, width=_BAND).encode(y=_time(QUANTILES[25]), y2=QUANTILES[75]),
        base.mark_tick(thickness=2.4, opacity=1, width=_BAND).encode(y=_time(QUANTILES[50])),
    ).properties(
        width=WIDTH,
        height=HEIGHT,
        title=alt.TitleParams(
            "Distribution of completion times",
            subtitle=["Tick: median. Bar: middle half. Line: 5th to 95th percentile."],
        ),
        description=(
            "Completion time per transaction on a logarithmic axis: median, quartiles and 5th "
            f"to 95th percentile along {axis.name}, one box per curve."
        ),
    )


def _channels(view: View, axis: Axis) -> dict[str, Any]:
    channels = curve_channels(view)
    if view.axes.colour is not None:
        apart = alt.Scale(type="band", paddingInner=0.2, paddingOuter=0.1)
        channels["xOffset"] = alt.XOffset(GROUP, type="nominal", sort=view.groups, scale=apart)
    # Boxes stand side by side, so that x has a place per value whatever the values are.
    channels["x"] = alt.X(
        field(axis.name), type="ordinal", title=axis_label(axis.name), sort=list(axis.values)
    ).axis(**names_axis(axis))
    channels["x"] = channels["x"].scale(paddingInner=0.2, paddingOuter=0.1)
    channels["tooltip"] = [
        *tooltips(view),
        *(
            alt.Tooltip(name, type="quantitative", format=",.4~r", title=f"{words} (ms)")
            for name, words in _WORDS.items()
        ),
        alt.Tooltip(COUNT, type="quantitative", title="Transactions"),
    ]
    return channels


def _time(column: str) -> alt.Y:
    return alt.Y(
        column,
        type="quantitative",
        title="Completion time (ms)",
        scale=alt.Scale(type="log", nice=False, padding=8),
    ).axis(format=",~r", values=log_values("y", LADDER))
