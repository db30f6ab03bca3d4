"""One metric along the sweep for more curves than a legend is for: a row a curve, in cells."""

import altair as alt
import polars as pl

from tailback.analysis.axes import Axis
from tailback.analysis.columns import axis_label
from tailback.analysis.view import GROUP, View
from tailback.analysis.words import written
from tailback.report.charts.data import AnyChart
from tailback.report.charts.encoding import in_unit, tooltips
from tailback.report.charts.heat import Cells, Side, heat
from tailback.report.theme import MOVING

_CURVES_MAX = 16
"""Of more curves a legend is longer than the chart, and nobody finds his in it."""
_PLACE = "place along the axis"


def is_crowded(view: View) -> bool:
    """Whether there are more curves than a legend is for, and no results beside these."""
    return len(view.groups) > _CURVES_MAX and not view.others


def grid(view: View, axis: Axis, column: str) -> AnyChart:
    """Return a cell for each point of the sweep: curves down, the main axis across."""
    words = view.label(column)
    points = in_unit(view.points.drop_nulls(column), view, column)
    names = [written(value) for value in axis.values]
    place = pl.col(axis.name).replace_strict(list(axis.values), names, return_dtype=pl.String)
    rows = points.select(*view.axes.names, GROUP, column, place.alias(_PLACE))
    greatest = float(str(rows.get_column(column).max()))
    known = set(rows.get_column(GROUP))
    curves = [group for group in view.groups if group in known]
    chart = heat(
        rows,
        Side(GROUP, curves),
        Side(_PLACE, names, axis_label(axis.name)),
        Cells(column, greatest or 1.0, digits=3, colour=MOVING),
        tooltips(view, column),
    )
    aid = "The darker, the more; an empty cell has no run."
    if view.published is not None and column in view.published.columns:
        aid += " Published values are held against these below."
    described = f"{words.full} of {len(curves)} curves along {axis.name}, up to {greatest:.4g}."
    drawn: AnyChart = chart.properties(
        title=alt.TitleParams(words.full, subtitle=[aid]), description=described
    )
    return drawn
