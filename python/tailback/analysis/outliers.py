"""Whether a few requests took so long that the mean says nothing of the others."""

import polars as pl

from tailback.analysis.axes import in_words
from tailback.analysis.view import View
from tailback.analysis.words import number

_MEAN, _P99, _MAX = "latency_us_mean", "latency_us_p99", "latency_us_max"

_ONE_BY_ONE = " A connection asks nothing more while it waits: its long waits are few requests."


def outliers_said(view: View) -> list[str]:
    """A sentence on the longest latency of a point whose mean is above its 99th percentile."""
    points = view.points
    if not {_MEAN, _P99, _MAX} <= set(points.columns):
        return []
    found = points.filter(pl.col(_MEAN) > pl.col(_P99)).sort(_MAX, maintain_order=True)
    if found.is_empty():
        return []
    row = found.row(-1, named=True)
    place = ", ".join(in_words(axis, row[axis.name]) for axis in view.axes.varying)
    here = f" ({place})" if place else ""
    others = f"; the same at {found.height - 1} more" if found.height > 1 else ""
    return [
        f"A few requests took far longer than all others{here}: the longest "
        f"{number(row[_MAX])} us, "
        f"while 99 % took {number(row[_P99])} us or less, so the mean, {number(row[_MEAN])} us, "
        f"is theirs{others}." + (_ONE_BY_ONE if row.get("requests_due") is None else "")
    ]
