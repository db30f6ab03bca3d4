"""Where the error is least: a scan of the whole range, then a descent from the best point.

The scan (a Halton sequence; for one parameter even steps) spends a quarter of the budget, eight
points at a time. The descent is Nelder and Mead's simplex (Computer Journal 7(4), 1965),
in SciPy's implementation, begun anew with a smaller simplex until that changes nothing: it needs
no derivatives, fewer evaluations than evolutionary strategies, and does not mind the small
ripple that a chaotic simulator leaves on its error. Why not those: docs/decisions/0005.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

Point = tuple[float, ...]
"""A position from 0 to 1 for each parameter."""

Evaluate = Callable[[Sequence[Point]], Sequence[float]]
"""The errors at some points; raises `BudgetSpent` where there is no more to spend."""

_SCAN_SHARE = 0.25
_SIDE_BY_SIDE = 8
"""Points of the scan that are evaluated together: each has several runs to keep cores busy, and
what is finished survives an interruption."""
_SMALLEST_SIMPLEX = 0.005
_TOLERANCE = 0.002
"""Edges of the simplex at which a descent ends, as a share of the range."""
_ERROR_TOLERANCE = 1e-4
_NO_RUN = 1e9
"""Stands for an infinite error, of which the simplex could not take differences."""


class BudgetSpent(Exception):
    """As many evaluations as were allowed have been made."""


def search(evaluate: Evaluate, dimensions: int, budget: int) -> None:
    """Evaluates points of the unit cube, ever nearer to where the error is least.

    Whoever evaluates keeps the best: so nothing is lost if the search is stopped. It ends when
    `evaluate` raises `BudgetSpent`, or when smaller steps change nothing.

    Args:
        evaluate: gives errors; cheap for points that it has seen.
        dimensions: number of parameters.
        budget: number of evaluations that will be allowed, for the share of the scan.
    """
    try:
        _search(evaluate, dimensions, budget)
    except BudgetSpent:
        return


def _search(evaluate: Evaluate, dimensions: int, budget: int) -> None:
    points = scan(dimensions, min(budget, max(2 * dimensions + 1, round(budget * _SCAN_SHARE))))
    errors: list[float] = []
    for start in range(0, len(points), _SIDE_BY_SIDE):
        errors += evaluate(points[start : start + _SIDE_BY_SIDE])
    best_error, best = min(zip(errors, points, strict=True))

    def error_at(position: np.ndarray) -> float:
        nonlocal best_error, best
        point = tuple(float(x) for x in np.clip(position, 0.0, 1.0))
        error = evaluate([point])[0]
        if error < best_error:
            best_error, best = error, point
        return min(error, _NO_RUN)

    # Half of the distance between neighbours in the scan, and then ever smaller.
    edge = 0.5
    while edge > len(points) ** (-1 / dimensions):
        edge /= 2
    while edge >= _SMALLEST_SIMPLEX:
        minimize(
            error_at,
            best,
            method="Nelder-Mead",
            bounds=[(0.0, 1.0)] * dimensions,
            options={
                "initial_simplex": _simplex(best, edge),
                "xatol": _TOLERANCE,
                "fatol": _ERROR_TOLERANCE,
                "adaptive": dimensions > 2,
            },
        )
        edge /= 2


def scan(dimensions: int, count: int) -> list[Point]:
    """`count` points spread evenly over the unit cube, its centre among them."""
    if dimensions == 1:
        return [((i + 0.5) / count,) for i in range(count)]
    spread = qmc.Halton(dimensions, scramble=False).random(count)[1:]  # without the corner
    return [(0.5,) * dimensions, *(tuple(float(x) for x in point) for point in spread)]


def _simplex(corner: Point, edge: float) -> np.ndarray:
    """`corner` and one step along each axis, inwards."""
    corners = np.tile(corner, (len(corner) + 1, 1))
    for axis, at in enumerate(corner):
        corners[axis + 1, axis] += edge if at + edge <= 1.0 else -edge
    return corners
