"""A metric over two numeric axes at once: a heat map for each combination of the others."""

import altair as alt

from tailback.analysis.axes import Axis, label_of
from tailback.analysis.columns import axis_label
from tailback.analysis.view import View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.encoding import field
from tailback.report.charts.nothing import NothingToDrawError

_PANEL = "panel"
_LEAST = 3
"""Values that an axis needs to be a side of a surface."""
_CELL = 19
_COLUMNS = 4


def sides(view: View) -> tuple[Axis, Axis] | None:
    """Return the two numeric axes with most values, if both have enough of them."""
    numeric = [a for a in view.axes.varying if a.kind == "numeric" and len(a.values) >= _LEAST]
    if len(numeric) < 2:
        return None
    first, second = sorted(numeric, key=lambda a: -len(a.values))[:2]
    return first, second


def surface(view: View, column: str) -> AnyChart:
    """Return heat maps of one metric of `summary`, all with one scale of colours."""
    found = sides(view)
    if found is None:
        raise NothingToDrawError("no two numeric axes of this sweep have three values or more")
    if column not in view.points.columns:
        raise NothingToDrawError(f"the summary has no metric '{column}'")
    x, y = found
    panel = label_of(a for a in view.axes.varying if a not in found)
    rows = view.points.select(x.name, y.name, column, panel.alias(_PANEL))
    panels = rows.get_column(_PANEL).unique(maintain_order=True).to_list()
    words = view.label(column)
    chart = (
        alt.Chart(inline(rows))
        .mark_rect()
        .encode(
            x=alt.X(field(x.name), type="ordinal", title=axis_label(x.name)).axis(labelAngle=0),
            y=alt.Y(field(y.name), type="ordinal", title=None, sort="descending"),
            color=alt.Color(field(column), type="quantitative", title=words.axis)
            .scale(scheme="viridis", domainMin=0)
            .legend(orient="top", gradientLength=220, format=",~r"),
            tooltip=[
                alt.Tooltip(_PANEL, type="nominal", title="Setting"),
                alt.Tooltip(field(x.name), type="quantitative", title=axis_label(x.name)),
                alt.Tooltip(field(y.name), type="quantitative", title=axis_label(y.name)),
                alt.Tooltip(field(column), type="quantitative", format=",.4~r", title=words.full),
            ],
        )
        .properties(width=_CELL * min(len(x.values), 10), height=_CELL * min(len(y.values), 10))
    )
    least, greatest = (float(str(v)) for v in (rows[column].min(), rows[column].max()))
    drawn: alt.FacetChart = chart.facet(
        facet=alt.Facet(_PANEL, type="nominal", sort=panels, title=None),
        columns=_COLUMNS,
    ).properties(
        title=alt.TitleParams(
            f"{words.full} over {axis_label(x.name)} (across) and {axis_label(y.name)} (up)"
        ),
        description=(
            f"{len(panels)} heat maps of {words.full}, from {least:.4g} to {greatest:.4g}."
        ),
    )
    return drawn
