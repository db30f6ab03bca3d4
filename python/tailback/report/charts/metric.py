"""One metric along the sweep: lines for what was run, hollow points for what was published."""

from typing import Any

import altair as alt
import polars as pl

from tailback.analysis.beside import BESIDE
from tailback.analysis.view import COLOUR, DASH, GROUP, View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.encoding import (
    curve_channels,
    detail,
    field,
    in_unit,
    is_logarithmic,
    placed,
    point_channels,
    shape_channel,
    tooltips,
    x_channel,
    y_channel,
)
from tailback.report.charts.grid import grid, is_crowded
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import HALF, HEIGHT, WIDTH

_OURS = "this run"


def metric(view: View, column: str, *, height: int = HEIGHT) -> AnyChart:
    """Return the chart of one metric of `summary` along the sweep's main axis.

    Repetitions show as bars from the least to the greatest. Along names (not numbers) there is
    no line to draw, only columns, or points where there are several to a name or no zero. Of more
    curves than can be told apart it is a table of coloured cells.
    """
    if f"{column}_low" not in view.points.columns:
        known = [c for c in view.points.columns if f"{c}_low" in view.points.columns]
        raise NothingToDrawError(
            f"the summary has no metric '{column}'; there are {', '.join(known)}"
        )
    axis = view.axes.x
    if axis is None:
        raise NothingToDrawError("nothing varies in this sweep, so there is no axis to draw along")
    if is_crowded(view):
        return grid(view, axis, column)
    words = view.label(column)
    reference = view.published
    has_reference = reference is not None and column in reference.columns
    columns = [*view.axes.names, GROUP, COLOUR, DASH, column]
    spread = [f"{column}_low", f"{column}_high"]
    ours = in_unit(view.points.select(*columns, *spread), view, column)
    values = ours.get_column(column)
    ends = _number(values.min()), _number(values.max())
    y = y_channel(column, words.axis, *ends)
    in_columns = (
        axis.kind == "nominal" and view.axes.colour is None and not is_logarithmic(column, *ends)
    )
    channels = point_channels if axis.kind == "nominal" else curve_channels
    shared = {
        "x": x_channel(axis, WIDTH if height >= HEIGHT else HALF),
        **channels(view),
        "detail": detail(view),
    }
    beside = _beside(view, column)
    own_colour, others_colour = _who(view) if not beside.is_empty() else ({}, {})
    base = alt.Chart(inline(placed(ours, axis))).encode(**(shared | own_colour))
    tips = tooltips(view, column)
    layers: list[alt.Chart] = []
    if axis.kind != "nominal":
        layers.append(base.mark_line().encode(y=y))
    if in_columns:
        layers.append(base.mark_bar(size=28).encode(y=y, tooltip=tips))
    else:
        size = 60 if axis.kind == "nominal" else 18
        layers.append(base.mark_point(size=size, opacity=1).encode(y=y, tooltip=tips))
    if view.repeated:
        layers.append(
            base.mark_rule(opacity=0.6).encode(
                y=alt.Y(field(spread[0]), type="quantitative"), y2=alt.Y2(field(spread[1]))
            )
        )
    if has_reference and reference is not None:
        layers.append(
            alt.Chart(inline(placed(in_unit(reference.select(columns), view, column), axis)))
            .mark_point(size=64, filled=False, strokeWidth=1.6, opacity=0.9)
            .encode(**shared, y=y, tooltip=tips)
        )
    if not beside.is_empty():
        others = alt.Chart(inline(placed(beside, axis))).encode(**(shared | others_colour), y=y)
        if axis.kind != "nominal":
            layers.append(
                others.mark_line(opacity=0.35).encode(detail=[*detail(view), f"{BESIDE}:N"])
            )
        layers.append(
            others.mark_point(size=48, filled=True, opacity=0.9).encode(
                shape=shape_channel(view, ours=_OURS if others_colour else None),
                tooltip=[alt.Tooltip(BESIDE, type="nominal", title="Results"), *tips],
            )
        )
    own, others_are = "Lines", "Filled shapes"
    if axis.kind == "nominal":
        own = "Columns" if in_columns else "Points"
        others_are = "Small shapes"
    reading = [f"{own}: this run."] if has_reference or not beside.is_empty() else []
    reading += ["Circles: published."] if has_reference else []
    reading += [f"{others_are}: the results beside it."] if not beside.is_empty() else []
    title = alt.TitleParams(words.full, subtitle=[" ".join(reading)] if reading else [])
    return alt.layer(*layers).properties(
        width=WIDTH,
        height=height,
        title=title,
        description=_described(view, column, has_reference=has_reference),
    )


def _who(view: View) -> tuple[dict[str, Any], dict[str, Any]]:
    """Colours for whose results they are: ours, and others', where curves need none."""
    if view.axes.colour is not None:
        return {}, {}
    scale = alt.Scale(domain=[_OURS, *view.others])
    colour = alt.Color(BESIDE, type="nominal", title=None, scale=scale)
    return {"color": alt.ColorDatum(_OURS)}, {"color": colour.legend(symbolType=alt.Undefined)}


def _beside(view: View, column: str) -> pl.DataFrame:
    if column not in view.beside.columns:
        return pl.DataFrame()
    columns = [*view.axes.names, GROUP, COLOUR, DASH, BESIDE, column]
    return in_unit(view.beside.select(columns).drop_nulls(column), view, column)


def _described(view: View, column: str, *, has_reference: bool) -> str:
    parts = [f"{view.label(column).full} along {view.axes.x.name if view.axes.x else ''}."]
    for (group,), rows in view.points.group_by(GROUP, maintain_order=True):
        values = in_unit(rows, view, column).get_column(column)
        low, high = values.min(), values.max()
        parts.append(f"{group or 'All runs'}: from {_number(low):.4g} to {_number(high):.4g}.")
    if has_reference:
        parts.append("Published values as hollow circles.")
    return " ".join(parts)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
