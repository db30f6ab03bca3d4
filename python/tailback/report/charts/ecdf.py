"""Which share of values is so large or smaller: the empirical distribution function."""

import altair as alt
import polars as pl

from tailback.analysis.axes import Axis
from tailback.analysis.columns import axis_label
from tailback.analysis.distribution import SHARE
from tailback.analysis.distribution import ecdf as steps
from tailback.analysis.spreads import COMPLETION, Spread
from tailback.analysis.view import View
from tailback.analysis.words import written
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.encoding import (
    FINE_LADDER,
    curve_channels,
    detail,
    log_values,
    tooltips,
)
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import COLOURS, HEIGHT, WIDTH

_AT = "at"


def ecdf(view: View, spread: Spread = COMPLETION) -> AnyChart:
    """Return one curve per group at one value of x, or of a sweep along x alone one per value.

    A drop-down below the chart picks the value; it opens at the greatest. There is none where the
    values have a colour each. Raises `NothingToDrawError` where no run has such values.
    """
    axis = view.axes.x
    frame = steps(view, spread)
    if frame.is_empty():
        raise NothingToDrawError(f"no run has what {spread.axis!r} could show")
    if axis is not None:
        words = [written(value) for value in axis.values]
        named = pl.col(axis.name).replace_strict(list(axis.values), words, return_dtype=pl.String)
        frame = frame.with_columns(named.alias(_AT))
    each = axis is not None and not view.axes.groups and len(axis.values) <= COLOURS
    if spread.logarithmic:
        x = alt.X(
            spread.column,
            type="quantitative",
            title=spread.axis,
            scale=alt.Scale(type="log", nice=False, padding=8),
        ).axis(format=",~r", grid=True, values=log_values("x", FINE_LADDER))
    else:
        x = alt.X(spread.column, type="quantitative", title=spread.axis).axis(grid=True)
    chart = (
        alt.Chart(inline(frame))
        .mark_line(interpolate="step-after", strokeWidth=2.2, clip=True)
        .encode(
            x=x,
            y=alt.Y(
                SHARE,
                type="quantitative",
                title=spread.share,
                scale=alt.Scale(domain=[0, 1]),
            ).axis(format="%", tickCount=5),
            **(_colours(axis) if axis is not None and each else curve_channels(view)),
            detail=detail(view),
            tooltip=[
                *tooltips(view, spread.column),
                alt.Tooltip(SHARE, type="quantitative", format=".1%", title=spread.share),
            ],
        )
        .properties(width=WIDTH, height=HEIGHT, title=spread.title, description=spread.description)
    )
    return chart if axis is None or each else _with_choice(chart, axis)


def _colours(axis: Axis) -> dict[str, alt.Color]:
    """A colour for each value, in the order of the sweep."""
    words = [written(value) for value in axis.values]
    return {"color": alt.Color(_AT, type="nominal", sort=words, title=axis_label(axis.name))}


def _with_choice(chart: alt.Chart, axis: Axis) -> AnyChart:
    values = [written(value) for value in axis.values]
    choice = alt.param(
        name="at",
        value=values[-1],
        bind=alt.binding_select(options=values, name=f"{axis_label(axis.name)}: "),
    )
    return chart.add_params(choice).transform_filter(f"datum.{_AT} === at")
