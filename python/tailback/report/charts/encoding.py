"""Channels that charts share: the sweep's axes as x, colour and dashes."""

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import polars as pl

from tailback._native import quantity
from tailback.analysis.axes import Axis
from tailback.analysis.beside import BESIDE
from tailback.analysis.columns import COUNTS, axis_label
from tailback.analysis.view import COLOUR, DASH, GROUP, View
from tailback.analysis.words import written
from tailback.report.charts.data import unquoted
from tailback.report.theme import COLOURS, WIDTH

_SPECIAL = re.compile(r"[\\.\[\]:]")
_DECADES = 100.0
_TICKS_MAX = 8
"""Of so few values of a numeric axis each has its label; of more Vega chooses."""

_NAMES_MAX = 24
"""Of so many names along an axis each has its label, however narrow the chart."""
_LETTER = 7
"""Width of a letter of a label, px."""
_LINE = 14
"""Height of a line of a label, px: what slanting labels need at least."""
_PADDING = 12
"""Between the ends of an axis and what is drawn, px."""
_PLACE = "place of"
"""Column with where a row lies along an axis of quantities."""

DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 6])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
"""What tells curves and points of one colour apart, in this order."""

LADDER = [step * 10.0**power for power in range(-6, 13) for step in (1, 2, 5)]
"""Where a logarithmic axis has its labels and grid lines: 1, 2, 5 in every decade."""
FINE_LADDER = [step * 10.0**power for power in range(-6, 13) for step in (1, 1.5, 2, 3, 4, 5, 7)]
"""The same for an axis that may span less than a decade."""


def log_values(channel: str, ladder: Sequence[float]) -> alt.ExprRef:
    """Return where a logarithmic axis has its labels: `ladder`, or even steps in little.

    Values that hardly differ lie between two steps of any ladder, and the axis would stay empty:
    from the ratio on above which two steps are in any range, there is the ladder.
    """
    low, high = f"domain('{channel}')[0]", f"domain('{channel}')[1]"
    sure = max(second / first for first, second in zip(ladder, ladder[2:], strict=False))
    decade = f"pow(10, floor(log(({high} - {low}) / 4) / LN10))"
    span = f"({high} - {low}) / {decade}"
    step = f"({decade} * ({span} > 16 ? 5 : {span} > 8 ? 2 : 1))"
    even = f"sequence(ceil({low} / {step}) * {step}, {high}, {step})"
    one = f"{high} > {low} ? {even} : [{low}]"
    return alt.ExprRef(expr=f"{high} > {sure:.4g} * {low} ? {list(ladder)} : {one}")


def field(name: str) -> str:
    """Return a column's name with the characters escaped that Vega and Altair read as their own."""
    return _SPECIAL.sub(r"\\\g<0>", unquoted(name))


def upright(names: Sequence[str], room: float) -> bool:
    """Whether so many names have room beside one another, px."""
    return (max(map(len, names), default=0) + 1) * _LETTER * len(names) <= room


def names_axis(axis: Axis, room: float = WIDTH) -> dict[str, Any]:
    """Return how an axis along names is written: all of few are, slanting where they are long."""
    names = [written(value) for value in axis.values]
    return {
        "labelAngle": 0 if upright(names, room) else -40,
        "labelOverlap": len(names) > _NAMES_MAX and "greedy",
    }


def in_unit(frame: pl.DataFrame, view: View, column: str) -> pl.DataFrame:
    """Return rows with a metric, and the ends of its spread, in the unit that its label says."""
    names = [n for n in (column, f"{column}_low", f"{column}_high") if n in frame.columns]
    per_unit = view.label(column).per_unit
    return frame if per_unit == 1 else frame.with_columns(pl.col(names) / per_unit)


def placed(frame: pl.DataFrame, axis: Axis) -> pl.DataFrame:
    """Return rows with a column for their place along an axis of quantities, for `x_channel`."""
    if axis.sizes is None:
        return frame

    def size(value: str) -> int | None:
        found = quantity(value)
        return None if found is None else found[1]

    every = frame.get_column(axis.name).unique().to_list()
    sizes = [size(value) for value in every]
    place = pl.col(axis.name).replace_strict(every, sizes, return_dtype=pl.Int64)
    return frame.with_columns(place.alias(_PLACE))


def _sized_x(axis: Axis, sizes: Sequence[int], room: float) -> alt.X:
    """An axis of quantities, true to size; of values that are too near for labels one has one."""
    falling = sizes[0] > sizes[-1]
    scale = alt.Scale(
        type=axis.scale,
        zero=False if axis.scale == "linear" else alt.Undefined,
        constant=axis.least if axis.scale == "symlog" else alt.Undefined,
        nice=False,
        padding=_PADDING,
        reverse=falling or alt.Undefined,
    )
    along = [place * (room - 2 * _PADDING) for place in axis.places(axis.scale)]
    labels = sorted(zip(along, map(written, axis.values), sizes, strict=True))
    level = all(
        (len(text) + len(after)) / 2 * _LETTER + _LETTER <= there - here
        for (here, text, _), (there, after, _) in pairwise(labels)
    )
    shown: list[tuple[float, str, int]] = []
    for label in reversed(labels):
        if not shown or shown[-1][0] - label[0] >= _LINE:
            shown.append(label)
    shown[-1] = labels[0]  # both ends have theirs
    words = {str(size): text for _, text, size in shown}
    return alt.X(_PLACE, type="quantitative", title=axis_label(axis.name), scale=scale).axis(
        values=[size for *_, size in shown],
        labelExpr=f"{json.dumps(words, ensure_ascii=False)}[datum.value]",
        labelAngle=0 if level else -40,
        labelOverlap=False,
    )


def x_channel(axis: Axis, room: float = WIDTH) -> alt.X:
    """Return the sweep's main axis as x, with so much room for its labels, px.

    Quantities lie where `placed` has them.
    """
    title = axis_label(axis.name)
    if axis.sizes is not None:
        return _sized_x(axis, axis.sizes, room)
    if axis.kind == "numeric":
        whole = all(float(v).is_integer() for v in axis.values)
        scale = (
            alt.Scale(type="log", nice=False)
            if axis.logarithmic
            else alt.Scale(zero=False, nice=False, padding=_PADDING)
        )
        ticks: dict[str, Any] = {"tickMinStep": 1, "format": "d"} if whole else {}
        if axis.logarithmic:
            # Counts as 10k; shares and probabilities as they are written, not as 10µ.
            ticks = {"format": "~s" if float(axis.values[0]) >= 1 else "~g"}
        if len(axis.values) <= _TICKS_MAX:
            ticks["values"] = list(axis.values)
        return alt.X(field(axis.name), type="quantitative", title=title, scale=scale).axis(**ticks)
    return alt.X(field(axis.name), type="ordinal", title=title, sort=list(axis.values)).axis(
        **names_axis(axis, room)
    )


def curve_channels(view: View) -> dict[str, Any]:
    """Return colour and dashes, in the order of the sweep, as far as the sweep has them.

    Of more curves than colours those that share one differ in their dashes, under one legend.
    """
    if _beyond_colours(view):
        scales = _cycled(view, DASHES)
        return {
            "color": alt.Color(GROUP, type="nominal", title=None).scale(domain=view.groups),
            "strokeDash": alt.StrokeDash(GROUP, type="nominal", title=None, scale=scales),
        }
    channels: dict[str, Any] = {}
    if view.axes.colour is not None:
        channels["color"] = alt.Color(COLOUR, type="nominal", sort=_order(view, COLOUR), title=None)
    if view.axes.dash is not None:
        channels["strokeDash"] = alt.StrokeDash(
            DASH, type="nominal", sort=_order(view, DASH), title=None
        )
    return channels


def point_channels(view: View) -> dict[str, Any]:
    """Return the same for points without lines: colours side by side, and shapes for dashes."""
    if _beyond_colours(view):
        colour = alt.Color(GROUP, type="nominal", title=None).scale(domain=view.groups)
        scales = _cycled(view, SHAPES)
        shape = alt.Shape(GROUP, type="nominal", title=None, scale=scales)
        legend: dict[str, Any] = {"symbolType": alt.Undefined, "symbolSize": 60}
        return {
            "color": colour.legend(**legend),
            "shape": shape.legend(**legend),
            "xOffset": alt.XOffset(GROUP, type="nominal", sort=view.groups),
        }
    channels: dict[str, Any] = {}
    if view.axes.colour is not None:
        order = _order(view, COLOUR)
        colour = alt.Color(COLOUR, type="nominal", sort=order, title=None)
        channels["color"] = colour.legend(symbolType="circle", symbolSize=60)
        channels["xOffset"] = alt.XOffset(COLOUR, type="nominal", sort=order)
    if view.axes.dash is not None:
        shape = alt.Shape(DASH, type="nominal", sort=_order(view, DASH), title=None)
        channels["shape"] = shape.legend(symbolType=alt.Undefined, symbolSize=60)
    return channels


def _beyond_colours(view: View) -> bool:
    """Whether there are more kinds of curves than colours."""
    return view.axes.colour is not None and len(_order(view, COLOUR)) > COLOURS


def _cycled(view: View, kinds: Sequence[Any]) -> alt.Scale:
    """The scale on which every so many curves as there are colours have the next of `kinds`."""
    ranged = [kinds[i // COLOURS % len(kinds)] for i in range(len(view.groups))]
    return alt.Scale(domain=view.groups, range=ranged)


def shape_channel(view: View, ours: str | None = None) -> alt.Shape:
    """Return the shapes that tell results beside these ones apart.

    With `ours` they have the domain of colours that do so too, so that there is one legend.
    """
    shapes = ["triangle-up", "square", "diamond", "triangle-down", "cross"]
    scale = alt.Scale(range=shapes)
    if ours is not None:
        scale = alt.Scale(domain=[ours, *view.others], range=["circle", *shapes])
    return alt.Shape(BESIDE, type="nominal", sort=list(view.others), title=None, scale=scale)


def detail(view: View) -> list[str]:
    """Return the columns that keep curves apart though neither colour nor dashes do."""
    return [] if view.axes.colour is None else [f"{GROUP}:N"]


def is_logarithmic(column: str, low: float, high: float) -> bool:
    """Whether a metric's axis is: no column stands on it, for it has no zero."""
    return column not in COUNTS and low > 0 and high / low >= _DECADES


def y_channel(column: str, title: str, low: float, high: float) -> alt.Y:
    """Return a metric as y: from zero, or logarithmic where its values span two decades."""
    y = alt.Y(field(column), type="quantitative", title=title)
    if is_logarithmic(column, low, high):
        # Of 2 and 5 too some would have no room, and which is chance.
        near = [value for value in LADDER[::3] if low / 10 <= value <= high * 10]
        return y.scale(type="log").axis(values=near, format=",~r")
    return y.scale(zero=True).axis(tickCount=5, format=",~r")


def tooltips(view: View, *metrics: str) -> list[alt.Tooltip]:
    """Return the point's place in the sweep and its metrics, with units."""
    places = [
        alt.Tooltip(
            field(a.name),
            type="quantitative" if a.kind == "numeric" else "nominal",
            title=axis_label(a.name),
        )
        for a in view.axes.varying
    ]
    values = [
        alt.Tooltip(field(m), type="quantitative", format=",.4~r", title=view.label(m).full)
        for m in metrics
    ]
    return places + values


def _order(view: View, column: str) -> list[str]:
    order: list[str] = view.summary.get_column(column).unique(maintain_order=True).to_list()
    return order
