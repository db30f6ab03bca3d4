"""Who got what: goodput by congestion control or priority, where flows of a run differ in it."""

import altair as alt
import polars as pl

from tailback.analysis.controls import CONTROL, PRIORITY, control_rates
from tailback.analysis.view import GROUP, View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.encoding import placed, tooltips, x_channel
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import HEIGHT, WIDTH

_TITLE = "Goodput of a flow (Mb/s)"
_WORDS = {CONTROL: "Congestion control", PRIORITY: "Priority"}


def controls(view: View, by: str = CONTROL) -> AnyChart:
    """Return the mean goodput of a flow along the sweep, with a colour for each congestion control.

    Or for what else `flows` has in the column `by`.

    Raises:
        NothingToDrawError: in no run flows differ in it.
    """
    rates = control_rates(view, by)
    words = _WORDS[by]
    if rates.is_empty():
        who = "senders differ in their" if by == CONTROL else "flows differ in their"
        raise NothingToDrawError(f"in no run {who} {words.lower()}")
    names = rates.get_column(by).unique(maintain_order=True).to_list()
    if by == PRIORITY:
        names.sort()
    groups = rates.get_column(GROUP).unique(maintain_order=True).to_list()
    axis = view.axes.x
    colour = alt.Color(by, type="nominal", sort=names, title=words)
    tips = [
        *tooltips(view),
        alt.Tooltip(by, type="nominal", title=words),
        alt.Tooltip("mbps", type="quantitative", format=",.4~r", title=_TITLE),
        alt.Tooltip("flows", type="quantitative", title="Flows"),
    ]
    y = alt.Y("mbps", type="quantitative", title=_TITLE)
    drawn = rates if axis is None else placed(rates, axis)
    chart: alt.Chart = alt.Chart(inline(drawn)).encode(y=y, color=colour, tooltip=tips)
    if axis is None or axis.kind == "nominal":
        chart = chart.encode(color=colour.legend(symbolType="square", symbolSize=60))
    if axis is None:
        by_name = alt.X(by, type="nominal", sort=names, title=words)
        chart = chart.mark_bar(size=28).encode(x=by_name.axis(labelAngle=0))
    elif axis.kind == "nominal":
        chart = chart.mark_bar().encode(
            x=x_channel(axis), xOffset=alt.XOffset(by, type="nominal", sort=names)
        )
    else:
        chart = chart.mark_line(point=True).encode(x=x_channel(axis))
    if len(groups) > 1 and axis is not None and axis.kind != "nominal":
        dash = alt.StrokeDash(GROUP, type="nominal", sort=groups, title=None)
        chart = chart.encode(strokeDash=dash)
    elif len(groups) > 1:
        chart = chart.encode(row=alt.Row(GROUP, type="nominal", sort=groups, title=None))
    whole: AnyChart = chart.properties(
        width=WIDTH,
        height=HEIGHT,
        title=alt.TitleParams(
            f"Goodput of a flow, by {words.lower()}",
            subtitle=["The mean of the flows that have it."],
        ),
        description=_described(rates, by, names),
    )
    return whole


def _described(rates: pl.DataFrame, by: str, names: list[str | int]) -> str:
    parts = []
    for name in names:
        mbps = rates.filter(pl.col(by) == name).get_column("mbps")
        least, most = (float(str(v)) for v in (mbps.min(), mbps.max()))
        parts.append(f"{name}: from {least:.4g} to {most:.4g} Mb/s.")
    return " ".join(parts)
