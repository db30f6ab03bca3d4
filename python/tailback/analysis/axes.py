"""Which column of a sweep runs along x, and which ones tell curves apart."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import polars as pl

from tailback._native import quantity
from tailback.analysis.words import written

Kind = Literal["numeric", "ordinal", "nominal"]
Scale = Literal["linear", "log", "symlog"]

_QUANTITY = re.compile(r"[\d.]+\s*[A-Za-zµ%/]*$")
_MANY_DECADES = 100.0
_UNITS = {
    "s": "s",
    "ms": "ms",
    "us": "us",
    "percent": "%",
    "gbps": "Gb/s",
    "mbps": "Mb/s",
    "bytes": "B",
}
"""Units as they end an axis' name -> as they are written."""
_OF_SOMETHING = {"off", "on", "none"}
"""Names that any axis may have."""
_FEW = 3
_MANY = 6


@dataclass(frozen=True)
class Axis:
    """One axis of a sweep.

    Attributes:
        name: the column.
        kind: numeric; ordinal (quantities with a unit); nominal.
        values: its distinct values: numbers ascending, quantities as `_by_size` has them, others
            in the order of the sweep.
    """

    name: str
    kind: Kind
    values: tuple[Any, ...]

    @property
    def varies(self) -> bool:
        """Whether it takes more than one value."""
        return len(self.values) > 1

    @property
    def logarithmic(self) -> bool:
        """Whether its values span decades, so that a logarithmic scale shows them better."""
        if self.kind != "numeric" or not self.varies:
            return False
        least, greatest = float(self.values[0]), float(self.values[-1])
        return least > 0 and greatest / least >= _MANY_DECADES

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """Of unlike quantities of one kind, each in its base unit; `None` of other values."""
        found = _sizes(self.values) if self.kind == "ordinal" else None
        return found if found is not None and len(set(found)) == len(found) else None

    @property
    def scale(self) -> Scale:
        """The scale on which the values are furthest apart; `symlog` is one that has a zero."""
        sizes = sorted(self.sizes or ())
        if len(sizes) < _FEW:
            apart = len(sizes) > 1 and sizes[0] > 0 and sizes[-1] >= _MANY_DECADES * sizes[0]
            return "log" if apart else "linear"
        if _gap(self.places("log")) <= _gap(self.places("linear")):
            return "linear"
        return "log" if sizes[0] > 0 else "symlog"

    def places(self, scale: Scale) -> list[float]:
        """Where the quantities lie on a scale, from 0 to 1, in the order of the values."""
        sizes = [float(size) for size in self.sizes or ()]
        if scale != "linear":
            unit = self.least
            sizes = [math.log1p(s / unit) if min(sizes) <= 0 else math.log(s / unit) for s in sizes]
        low, high = min(sizes), max(sizes)
        return [(size - low) / (high - low) for size in sizes]

    @property
    def least(self) -> int:
        """The least quantity above zero, in the base unit."""
        return min(size for size in self.sizes or () if size > 0)


def _gap(places: Sequence[float]) -> float:
    ordered = sorted(places)
    return min(b - a for a, b in pairwise(ordered))


@dataclass(frozen=True)
class Axes:
    """The axes of a sweep with their part in a chart.

    Attributes:
        x: runs along x; `None` when nothing varies.
        colour: tells curves apart by colour.
        dash: tells curves apart by dashes.
        rest: any others that vary; they join the colour's label.
        fixed: axes that take one value only.
    """

    x: Axis | None = None
    colour: Axis | None = None
    dash: Axis | None = None
    rest: tuple[Axis, ...] = ()
    fixed: tuple[Axis, ...] = ()

    @property
    def groups(self) -> tuple[Axis, ...]:
        """All axes that vary but x: each combination of their values is a curve."""
        return tuple(a for a in (self.colour, self.dash) if a is not None) + self.rest

    @property
    def varying(self) -> tuple[Axis, ...]:
        """All axes that vary, x last."""
        return self.groups + ((self.x,) if self.x else ())

    @property
    def names(self) -> list[str]:
        """Columns of all axes that vary, x last."""
        return [a.name for a in self.varying]

    @property
    def all_names(self) -> list[str]:
        """Columns of all axes, those that take one value included."""
        return [a.name for a in self.fixed] + self.names


def _axis(frame: pl.DataFrame, name: str) -> Axis:
    column = frame.get_column(name)
    if column.dtype.is_numeric():
        return Axis(name, "numeric", tuple(column.unique().sort().to_list()))
    values = tuple(column.unique(maintain_order=True).to_list())
    if all(isinstance(v, str) and _QUANTITY.match(v) for v in values):
        return Axis(name, "ordinal", _by_size(values))
    return Axis(name, "nominal", values)


def _by_size(values: tuple[str, ...]) -> tuple[str, ...]:
    """Quantities of one kind in ascending order, or as they are where the sweep has them falling.

    Curves are drawn along an axis, and findings speak of its ends.
    """
    sizes = _sizes(values)
    if sizes is None:
        return values
    size = dict(zip(values, sizes, strict=True))
    ascending = tuple(sorted(values, key=size.__getitem__))
    return values if values == ascending[::-1] else ascending


def _sizes(values: Sequence[str]) -> tuple[int, ...] | None:
    """Quantities of one kind in its base unit; `None` of others."""
    found = [one for one in map(quantity, values) if one is not None]
    if len(found) < len(values) or len({kind for kind, _ in found}) != 1:
        return None
    return tuple(size for _, size in found)


def choose(summary: pl.DataFrame, parameters: Sequence[str]) -> Axes:
    """Give each axis of the sweep its part; `parameters` are their columns, first axis first.

    The numeric axis with the most values runs along x, else the ordinal one, else the nominal
    one; of equals the first. One with two values gives way to one with many. The others, in the
    order of the sweep, are told apart by colour, then by dashes, then together with the colour.
    """
    axes = [_axis(summary, name) for name in parameters]
    varying = [a for a in axes if a.varies]
    fixed = tuple(a for a in axes if not a.varies)
    x: Axis | None = None
    for kind in ("numeric", "ordinal", "nominal"):
        candidates = [a for a in varying if a.kind == kind]
        if candidates:
            x = max(candidates, key=lambda a: len(a.values))
            break
    longest = max(varying, key=lambda a: len(a.values), default=None)
    if (
        x is not None
        and longest is not None
        and len(x.values) < _FEW <= _MANY <= len(longest.values)
    ):
        x = longest
    others: Sequence[Axis] = [a for a in varying if a is not x]
    return Axes(
        x=x,
        colour=others[0] if others else None,
        dash=others[1] if len(others) > 1 else None,
        rest=tuple(others[2:]),
        fixed=fixed,
    )


def is_name(axis: Axis, value: object) -> bool:
    """Return whether an axis' value says of itself what it is: `cubic` does.

    `off`, a quantity among names and a table's text (`step threshold=585KB`) do not.
    """
    if axis.kind != "nominal" or isinstance(value, bool):
        return False
    text = str(value)
    return text not in _OF_SOMETHING and "=" not in text and not _QUANTITY.match(text)


def in_words(axis: Axis, value: object) -> str:
    """Return an axis' value as a label: names stand alone, all else names its axis.

    A number has its axis' unit: `duration_s` 20 is `duration 20 s`, `senders` 3 `senders 3`.
    """
    if is_name(axis, value):
        return str(value)
    text = f"{value:g}" if isinstance(value, float) else written(value)
    name, _, last = axis.name.rpartition("_")
    if name and last in _UNITS and not isinstance(value, str):
        return f"{name.replace('_', ' ')} {text} {_UNITS[last]}"
    return f"{axis.name} {text}"


def label_of(axes: Iterable[Axis]) -> pl.Expr:
    """Return a row's values of these axes in words, as a column; empty text without axes."""
    parts = [
        pl.col(a.name).replace_strict(
            list(a.values), [in_words(a, v) for v in a.values], return_dtype=pl.String, default=None
        )
        for a in axes
    ]
    return pl.concat_str(parts, separator=", ") if parts else pl.lit("")
