"""The optimiser, on errors that can be written down."""

import math
from collections.abc import Callable, Sequence

import pytest

from tailback.fit.search import BudgetSpent, Point, scan, search


class Budgeted:
    """Counts evaluations, and ends them where the budget does."""

    def __init__(self, error: Callable[[Point], float], budget: int) -> None:
        self.seen: dict[Point, float] = {}
        self._error = error
        self._budget = budget

    def __call__(self, points: Sequence[Point]) -> list[float]:
        new = [point for point in points if point not in self.seen]
        if len(self.seen) + len(new) > self._budget:
            raise BudgetSpent
        self.seen |= {point: self._error(point) for point in new}
        return [self.seen[point] for point in points]

    @property
    def best(self) -> Point:
        return min(self.seen, key=lambda point: self.seen[point])


@pytest.mark.parametrize(
    ("optimum", "budget"), [((0.93,), 30), ((0.2, 0.7), 60), ((0.6, 0.1, 0.4), 120)]
)
def test_finds_the_tip_of_a_cone(optimum: Point, budget: int) -> None:
    at = Budgeted(lambda point: math.dist(point, optimum), budget)
    search(at, len(optimum), budget)
    assert math.dist(at.best, optimum) < 0.02
    assert len(at.seen) <= budget


def test_finds_the_deeper_of_two_valleys() -> None:
    def error(point: Point) -> float:
        return min(abs(point[0] - 0.25), abs(point[0] - 0.85) - 0.1)

    at = Budgeted(error, 40)
    search(at, 1, 40)
    assert at.best[0] == pytest.approx(0.85, abs=0.01)


def test_finds_an_optimum_at_a_bound() -> None:
    at = Budgeted(lambda point: point[0] + (1 - point[1]), 60)
    search(at, 2, 60)
    assert at.best == pytest.approx((0.0, 1.0), abs=0.01)


def test_stays_within_the_bounds_and_the_budget() -> None:
    at = Budgeted(lambda point: -sum(point), 25)
    search(at, 3, 25)
    assert len(at.seen) <= 25
    assert all(0.0 <= x <= 1.0 for point in at.seen for x in point)


def test_goes_round_values_that_give_no_run() -> None:
    def error(point: Point) -> float:
        return float("inf") if point[0] > 0.5 else abs(point[0] - 0.45)

    at = Budgeted(error, 40)
    search(at, 1, 40)
    assert at.best[0] == pytest.approx(0.45, abs=0.01)


def test_ends_by_itself_where_nothing_changes() -> None:
    at = Budgeted(lambda _point: 1.0, 10_000)
    search(at, 2, 40)
    assert len(at.seen) < 200


def test_the_scan_covers_the_range_evenly() -> None:
    assert scan(1, 4) == [(0.125,), (0.375,), (0.625,), (0.875,)]
    points = scan(2, 16)
    assert points[0] == (0.5, 0.5)
    assert len(set(points)) == 16
    for low_x in (0.0, 0.5):
        for low_y in (0.0, 0.5):
            within = [
                p for p in points if low_x <= p[0] < low_x + 0.5 and low_y <= p[1] < low_y + 0.5
            ]
            assert len(within) >= 3
