"""How far the run is from what was published, point by point."""

import altair as alt
import polars as pl

from tailback.analysis.columns import label
from tailback.analysis.view import COLOUR, DASH, GROUP, View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.encoding import curve_channels, detail, placed, tooltips, x_channel
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import HEIGHT, NEUTRAL, WIDTH

_LABEL = "(datum.value > 0 ? '+' : datum.value < 0 ? '-' : '') + format(abs(datum.value), '.0%')"
_ERROR = "error"


def errors(view: View, column: str = "completion_ms_mean", *, height: int = HEIGHT) -> AnyChart:
    """Return (ours - published) / published of a metric along x, with a line at zero."""
    axis, reference = view.axes.x, view.published
    if axis is None or reference is None:
        raise NothingToDrawError("there is nothing published to compare these runs with")
    keys = list(view.axes.names)
    frame = (
        view.points.select(*keys, GROUP, COLOUR, DASH, column)
        .join(reference.select(*keys, pl.col(column).alias("published")), on=keys, how="inner")
        .filter(pl.col("published") != 0)
        .with_columns((pl.col(column) / pl.col("published") - 1).alias(_ERROR))
    )
    base = alt.Chart(inline(placed(frame, axis))).encode(
        x=x_channel(axis),
        y=alt.Y(_ERROR, type="quantitative", title="Relative error").axis(
            labelExpr=_LABEL, tickCount=5
        ),
        **curve_channels(view),
        detail=detail(view),
        tooltip=[
            *tooltips(view, column),
            alt.Tooltip("published", type="quantitative", format=",.4~r", title="Published"),
            alt.Tooltip(_ERROR, type="quantitative", format="+.1%", title="Error"),
        ],
    )
    zero = alt.Chart(alt.InlineData(values=[{"y": 0}])).mark_rule(color=NEUTRAL).encode(y="y:Q")
    return alt.layer(
        zero, base.mark_line(strokeWidth=1.6), base.mark_point(size=26, opacity=1)
    ).properties(
        width=WIDTH,
        height=height,
        title=f"Error of {label(column).text.lower()} against the published table",
        description=(
            f"Relative error of {label(column).text.lower()} at each value of {axis.name}; "
            "zero is the published value."
        ),
    )
