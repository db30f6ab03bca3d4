"""How far a sweep is."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """A snapshot, several times a second."""

    runs_done: int
    runs: int
    work_fraction: float
    """Share of the estimated work that is done, 0 to 1, unfinished runs included."""


OnProgress = Callable[[Progress], None]
