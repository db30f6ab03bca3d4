"""The incast study's claims (Principled Technologies 2010, 8 MB from every server).

Limits are what this project asks of its prediction, not the study's own accuracy, which it
does not state.
"""

from collections.abc import Iterator

import polars as pl

from tailback.analysis.curves import Pair, pair
from tailback.analysis.excess import with_excess
from tailback.analysis.view import GROUP, View
from tailback.analysis.words import beside, percent
from tailback.compare import between
from tailback.compare.checks import Check
from tailback.compare.model import Comparison, MetricError
from tailback.compare.side import of_published, of_results

SLOW, FAST = "arista-7124s", "cisco-nexus-5010"

_MEAN_LIMITS = {
    "completion_ms_mean": ("Completion time", 0.10),
    "switch_drops_mean": ("Drops", 0.25),
    "retransmissions_mean": ("Retransmissions", 0.25),
}
_FITTED_METRICS = ("completion_ms_mean", "switch_drops_mean")
"""What two parameters of preset `cisco-nexus-5010` were fitted to, over all N from 2 on: shown,
and not judged by."""
_EXCESS_LIMIT = 0.15
"""Mean difference in timeouts' worth of excess time per transaction."""
_RATIO_LIMIT = 0.10
"""Relative, for ratios of the two switches."""
_LAST, _AHEAD, _CROSSED = 23, (2, 3), 4


def incast_checks(view: View) -> list[Check]:
    """Return the study's claims held against a run of `incast-8mb`."""
    reference = view.published
    if view.table is None or reference is None:
        return []
    comparison = between(of_results(view.results), of_published(view.table))
    if view.axes.x is None or view.axes.x.name != "servers":
        return list(_mean_errors(comparison))
    return [
        *_mean_errors(comparison),
        *_excess(view, reference),
        *_ratios(view, reference),
        _crossing(view, reference),
    ]


def _mean_errors(comparison: Comparison) -> Iterator[Check]:
    for metric, (words, limit) in _MEAN_LIMITS.items():
        for group in comparison.groups:
            error = comparison.find(group, metric)
            claim = f"{words} over all N, {group}" if group else f"{words} over all N"
            allowed = f"mean absolute error ≤ {percent(limit, decimals=0)}"
            if error is None or error.mean_absolute_error is None:
                yield Check.not_run(claim, "table", allowed)
                continue
            if group == FAST and metric in _FITTED_METRICS:
                yield Check.fitted(claim, f"{error.rows} points", _off_by(error, 1))
                continue
            decimals = beside(100 * error.mean_absolute_error, 100 * limit, 1)
            yield Check.judged(
                claim,
                f"{error.rows} points",
                _off_by(error, decimals),
                allowed,
                holds=error.mean_absolute_error <= limit,
            )


def _off_by(error: MetricError, decimals: int) -> str:
    off = percent(error.mean_absolute_error, decimals=decimals)
    return f"off by {off} (bias {percent(error.bias, signed=True)})"


def _excess(view: View, reference: pl.DataFrame) -> Iterator[Check]:
    keys = list(view.axes.names)
    both = with_excess(view.points).join(
        with_excess(reference).select(*keys, pl.col("excess_rto").alias("published")), on=keys
    )
    for (group,), rows in both.group_by(GROUP, maintain_order=True):
        difference: float = rows.select(
            (pl.col("excess_rto") - pl.col("published")).abs().mean()
        ).item()
        fitted = group == FAST
        decimals = 2 if fitted else beside(difference, _EXCESS_LIMIT, 2)
        claim = f"Excess time in timeouts of 201 ms, {group}"
        theirs = _range(rows["published"])
        ours = f"{_range(rows['excess_rto'])}; off by {difference:.{decimals}f} on average"
        if fitted:  # it is completion time in other units
            yield Check.fitted(claim, theirs, ours)
            continue
        limit = f"≤ {_EXCESS_LIMIT} on average"
        yield Check.judged(claim, theirs, ours, limit, holds=difference <= _EXCESS_LIMIT)


def _ratios(view: View, reference: pl.DataFrame) -> Iterator[Check]:
    allowed = f"within {percent(_RATIO_LIMIT, decimals=0)}"
    for metric, words in (
        ("completion_ms_mean", "Completion time"),
        ("switch_drops_mean", "Drops"),
    ):
        claim = f"{words} at N = {_LAST}, {SLOW} / {FAST}"
        ours, published = (
            _at_last(_pair(view, frame, metric)) for frame in (view.points, reference)
        )
        if ours is None or published is None:
            yield Check.not_run(claim, "n/a", allowed)
            continue
        yield Check.judged(
            claim,
            f"{published:.2f}",
            f"{ours:.2f}",
            allowed,
            holds=abs(ours / published - 1) <= _RATIO_LIMIT,
        )


def _crossing(view: View, reference: pl.DataFrame) -> Check:
    claim = f"{SLOW} is ahead at N = 2 and 3, behind from {_CROSSED} on"
    ours, published = (_pair(view, f, "completion_ms_mean") for f in (view.points, reference))
    limit = "the same N"
    if not {*_AHEAD, _CROSSED} <= set(ours.x):
        return Check.not_run(claim, _ahead(published), limit)
    behind = [n for n in ours.x if n >= _CROSSED and n in ours.ahead]
    return Check.judged(
        claim,
        _ahead(published),
        _ahead(ours),
        limit,
        holds=set(_AHEAD) <= set(ours.ahead) and not behind,
    )


def _range(values: pl.Series) -> str:
    listed: list[float] = values.to_list()
    least, greatest = (round(v, 2) + 0.0 for v in (min(listed), max(listed)))  # no -0.00
    return f"{least:.2f} to {greatest:.2f}"


def _ahead(curves: Pair) -> str:
    ahead = [n for n in curves.ahead if n > 1]
    return "ahead at " + ", ".join(map(str, ahead)) if ahead else "never ahead"


def _pair(view: View, frame: pl.DataFrame, metric: str) -> Pair:
    return pair(view, frame, metric, SLOW, FAST)


def _at_last(curves: Pair) -> float | None:
    return curves.ratios[curves.x.index(_LAST)] if _LAST in curves.x else None
