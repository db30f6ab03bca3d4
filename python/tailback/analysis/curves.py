"""Two curves beside each other: their ratio, and where they cross."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import polars as pl

from tailback.analysis.view import GROUP, View


@dataclass(frozen=True)
class Pair:
    """A metric of two groups at the values of x that both have.

    Attributes:
        first: label of the group that `ratio` divides.
        second: label of the group it is divided by.
        x: the values of x, ascending.
        ratios: first / second at each of them; `None` where the second is zero.
    """

    metric: str
    first: str
    second: str
    x: tuple[Any, ...]
    ratios: tuple[float | None, ...]

    @property
    def last(self) -> float | None:
        """The ratio at the greatest x."""
        return self.ratios[-1] if self.ratios else None

    @property
    def crossings(self) -> list[tuple[Any, Any]]:
        """Neighbouring values of x between which the curves change places."""
        known = [(x, r) for x, r in zip(self.x, self.ratios, strict=True) if r not in (None, 1.0)]
        return [
            (a, b)
            for (a, ra), (b, rb) in pairwise(known)
            if ra is not None and rb is not None and (ra < 1) != (rb < 1)
        ]

    @property
    def ahead(self) -> list[Any]:
        """Values of x at which the first group's metric is the smaller."""
        return [x for x, r in zip(self.x, self.ratios, strict=True) if r is not None and r < 1]


def pair(view: View, frame: pl.DataFrame, metric: str, first: str, second: str) -> Pair:
    """Return the ratio of a metric of two groups of `frame` along the view's x."""
    if view.axes.x is None:
        raise ValueError("the sweep has no axis along which two groups could be compared")
    x = view.axes.x.name
    both = (
        frame.filter(pl.col(GROUP) == first)
        .select(x, pl.col(metric).alias("a"))
        .join(
            frame.filter(pl.col(GROUP) == second).select(x, pl.col(metric).alias("b")),
            on=x,
            how="inner",
        )
    )
    order = {value: i for i, value in enumerate(view.axes.x.values)}
    rows = sorted(both.iter_rows(named=True), key=lambda row: order[row[x]])
    return Pair(
        metric=metric,
        first=first,
        second=second,
        x=tuple(row[x] for row in rows),
        ratios=tuple(row["a"] / row["b"] if row["b"] else None for row in rows),
    )
