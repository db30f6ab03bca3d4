"""By how much means of repetitions differ by chance alone."""

import math
from collections.abc import Sequence
from statistics import variance

_SHARE = 0.975
"""Of Student's t: beyond it on either side is one case in twenty."""


def chance(a: Sequence[float], b: Sequence[float]) -> float:
    """By how much the means of two samples of one thing differ in nineteen of twenty cases.

    Welch's t (Biometrika 34, 1947): the samples may vary differently. Nothing where one of them is
    a single value.
    """
    if min(len(a), len(b)) < 2:
        return 0.0
    return chance_of((variance(a), len(a)), (variance(b), len(b)))


def chance_of(a: tuple[float, int], b: tuple[float, int]) -> float:
    """The same of two samples' variances and sizes, which are at least 2."""
    from scipy.stats import t

    errors = [spread / count for spread, count in (a, b)]
    if not any(errors):
        return 0.0
    each = (error**2 / (count - 1) for error, (_, count) in zip(errors, (a, b), strict=True))
    freedom = sum(errors) ** 2 / sum(each)
    return float(t.ppf(_SHARE, freedom)) * math.sqrt(sum(errors))
