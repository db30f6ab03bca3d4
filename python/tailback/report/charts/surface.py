"""A metric over two numeric axes at once: a heat map for each combination of the others."""

from typing import Any

import altair as alt

from tailback.analysis.axes import Axis, label_of
from tailback.analysis.columns import axis_label
from tailback.analysis.view import View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.encoding import field
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import WIDTH

_PANEL = "panel"
_LEAST = 3
"""Values that an axis needs to be a side of a surface."""
_CELL = 19
"""Side of a cell where there are several panels, px; of more values than these, cells shrink."""
_CELLS_MAX = 10
_COLUMNS = 4
_ROW_ALONE = 34
"""Height of a cell where there is one panel, which is as wide as any chart, px."""
_LETTER = 7.5
"""Width of a digit of a label and the air beside it, px."""


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
    alone = len(panels) == 1
    cells = min(len(x.values), _CELLS_MAX), min(len(y.values), _CELLS_MAX)
    width = WIDTH if alone else _CELL * cells[0]
    across = alt.X(field(x.name), type="ordinal", title=axis_label(x.name))
    up = alt.Y(field(y.name), type="ordinal", title=None, sort="descending")
    setting = [] if alone else [alt.Tooltip(_PANEL, type="nominal", title="Setting")]
    chart: alt.Chart = (
        alt.Chart(inline(rows))
        .mark_rect()
        .encode(
            x=across.axis(**_labels(x, width)),
            y=up.axis(labelOverlap=len(y.values) > _CELLS_MAX),
            color=alt.Color(field(column), type="quantitative", title=words.axis)
            .scale(scheme="viridis", domainMin=0)
            .legend(orient="top", gradientLength=220, format=",~r"),
            tooltip=[
                *setting,
                alt.Tooltip(field(x.name), type="quantitative", title=axis_label(x.name)),
                alt.Tooltip(field(y.name), type="quantitative", title=axis_label(y.name)),
                alt.Tooltip(field(column), type="quantitative", format=",.4~r", title=words.full),
            ],
        )
        .properties(width=width, height=(_ROW_ALONE if alone else _CELL) * cells[1])
    )
    least, greatest = (float(str(v)) for v in (rows[column].min(), rows[column].max()))
    whole: dict[str, Any] = {
        "title": alt.TitleParams(
            f"{words.full} over {axis_label(x.name)} (across) and {axis_label(y.name)} (up)"
        ),
        "description": (
            f"{len(panels)} heat map{'' if alone else 's'} of {words.full}, "
            f"from {least:.4g} to {greatest:.4g}."
        ),
    }
    if alone:
        one: alt.Chart = chart.properties(**whole)
        return one
    facet = alt.Facet(_PANEL, type="nominal", sort=panels, title=None)
    drawn: alt.FacetChart = chart.facet(facet=facet, columns=_COLUMNS).properties(**whole)
    return drawn


def _labels(x: Axis, width: float) -> dict[str, Any]:
    """How the values of x are written below a panel: all, upright where they are wide."""
    cell = width / len(x.values)
    wide = _LETTER * max(len(f"{value:g}") for value in x.values) > cell
    return {"labelAngle": -90 if wide else 0, "labelOverlap": len(x.values) > _CELLS_MAX}
