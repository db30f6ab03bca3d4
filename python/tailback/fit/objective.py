"""How far a prediction is from the rows it is held against.

The error of a metric is the mean over the rows of |ours - theirs| / theirs, as `tailback compare`
tells it; where theirs is a count below 1, of which a relative error says nothing, the difference
itself stands in its place. The error of a prediction is the weighted mean of its metrics' errors.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from tailback.analysis.columns import COUNTS
from tailback.analysis.words import percent
from tailback.compare import MetricError
from tailback.errors import InputError
from tailback.fit.target import Table, Target

DEFAULT_WEIGHTS = {"completion_ms_mean": 1.0, "switch_drops_mean": 0.5}
"""Used as far as the table has them: time first, and drops, which tell apart what gives the
same time."""


@dataclass(frozen=True)
class Score:
    """The errors of one prediction, as fractions: 0.1 is 10 %.

    Attributes:
        error: the weighted mean.
        by_metric: metric -> error.
        worst: the greatest error of any metric in any row, in words.
    """

    error: float
    by_metric: Mapping[str, float]
    worst: str


def weights(text: str | None, table: Table) -> dict[str, float]:
    """The weights that `METRIC[=WEIGHT],…` gives; without a text the default ones.

    Raises `InputError` with everything that is wrong.
    """
    there = f"{table.label} has {', '.join(table.side.metrics) or 'none'}"
    if text is None:
        found = {m: w for m, w in DEFAULT_WEIGHTS.items() if m in table.side.metrics}
        if not found:
            raise InputError(f"--metrics: name what to fit to; {there}")
        return found
    problems = []
    found = {}
    for part in text.split(","):
        metric, _, written = (piece.strip() for piece in part.partition("="))
        try:
            weight = float(written) if written else 1.0
        except ValueError:
            weight = -1.0
        if not 0 < weight < float("inf"):
            problems.append(f"--metrics {part}: the weight is to be a number above 0")
        if metric not in table.side.metrics:
            problems.append(f"--metrics {part}: unknown metric '{metric}'; {there}")
        found[metric] = weight
    if problems:
        raise InputError("\n".join(problems))
    return found


def check_usable(weights: Iterable[str], target: Target) -> None:
    """Raises `InputError` if a chosen row has a metric of which no error can be told."""
    problems = []
    for metric in weights:
        theirs = target.rows[metric]
        if theirs.null_count():
            problems.append(f"--metrics {metric}: a chosen row has no value; leave it out (--rows)")
        elif metric not in COUNTS and (theirs <= 0).any():
            problems.append(
                f"--metrics {metric}: a chosen row is 0 or less, of which no error can be told"
            )
    if problems:
        raise InputError("\n".join(problems))


def score(target: Target, predicted: pl.DataFrame, weights: Mapping[str, float]) -> Score:
    """The errors of a prediction with one line for each row of the target, in its order."""
    errors = []
    for metric in weights:
        both = target.rows.select(
            *target.axes, predicted[metric], pl.col(metric).alias(f"{metric}_reference")
        )
        errors.append(MetricError.of("", metric, both, target.x))
    by_metric = {found.metric: _error(found) for found in errors}
    total = sum(weights.values())
    error = sum(weights[metric] * by_metric[metric] for metric in weights) / total
    worst = max(errors, key=lambda found: abs(found.worst or 0.0))
    at = f" at {worst.worst_at}" if worst.worst_at else ""
    return Score(error, by_metric, f"{worst.metric} {percent(worst.worst, signed=True)}{at}")


def _error(found: MetricError) -> float:
    relative = (found.mean_absolute_error or 0.0) * found.rows
    absolute = (found.small_difference or 0.0) * found.small_rows
    return (relative + absolute) / (found.rows + found.small_rows)


def changes(metrics: Sequence[str], before: pl.DataFrame, after: pl.DataFrame) -> dict[str, float]:
    """By which fraction the sum of each metric over all rows changes."""
    sums = {m: (float(before[m].sum()), float(after[m].sum())) for m in metrics}
    return {m: (b - a) / a if a else float(b != 0) for m, (a, b) in sums.items()}
