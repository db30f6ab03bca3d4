"""Two results beside each other: how far apart their metrics are, group by group."""

from pathlib import Path
from typing import TYPE_CHECKING

from tailback.compare.model import Comparison, MetricError
from tailback.compare.side import Side, side
from tailback.errors import InputError

if TYPE_CHECKING:
    from tailback.results import Results

_TOLD = ("completion_ms", "duration_s_total")
"""What says nothing of runs that last as long as they are told to."""


def compare(a: "str | Path | Results", b: "str | Path | Results") -> Comparison:
    """Return how the results `a` differ from `b`, the reference, joined on the sweep's axes.

    Args:
        a: a run folder, its path, or `published:NAME`.
        b: likewise; errors are relative to its values.

    Raises:
        InputError: the two have no axes, no rows or no metrics in common.
    """
    return between(side(a), side(b))


def between(a: Side, b: Side) -> Comparison:
    """Return how `a` differs from `b`, both read already."""
    keys = _keys(a, b)
    metrics = [m for m in a.metrics if m in b.metrics]
    if a.timed or b.timed:
        metrics = [m for m in metrics if not m.startswith(_TOLD)]
    if not metrics:
        raise InputError(f"{a.name} and {b.name} have no metric in common to compare")
    joined = a.joined(b, keys, metrics)
    if joined.is_empty():
        raise InputError(
            f"{a.name} and {b.name} have no point in common: no row agrees in {', '.join(keys)}"
        )
    # What one side has nowhere is not compared: the latency of requests that nobody answered.
    known = [m for m in metrics if not joined.drop_nulls([m, f"{m}_reference"]).is_empty()]
    unknown = [c for m in metrics if m not in known for c in (m, f"{m}_reference", f"{m}_chance")]
    return Comparison.of(a, b, keys, known, joined.drop(unknown, strict=False))


def _keys(a: Side, b: Side) -> list[str]:
    keys = [k for k in a.axes if k in b.axes]
    for one, other in ((a, b), (b, a)):
        alone = [k for k in one.varying if k not in other.axes]
        if alone:
            raise InputError(
                f"{one.name} varies {', '.join(alone)}, which {other.name} does not have; "
                f"run it with one value of {', '.join(alone)} to compare the two"
            )
    return keys


__all__ = ["Comparison", "MetricError", "Side", "between", "compare", "side"]
