"""How far a sweep is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tailback.records import PlannedRun


@dataclass(frozen=True)
class Progress:
    """A snapshot, several times a second."""

    runs_done: int
    runs: int
    work_fraction: float
    """Share of the estimated work that is done, 0 to 1, unfinished runs included."""


OnProgress = Callable[[Progress], None]


class Tally:
    """The work of a sweep that is done, kept as a sum: runs can be tens of thousands."""

    def __init__(self, runs: Iterable[PlannedRun], finished: Iterable[int]) -> None:
        self._work = {run["index"]: run["work"] for run in runs}
        self._total = sum(self._work.values())
        self._reached = 0.0
        self._done: set[int] = set()
        for index in finished:
            self.add(index)

    def add(self, index: int) -> None:
        """A run is finished, or has failed."""
        self._done.add(index)
        self._reached += self._work[index]

    def progress(self, under_way: float = 0.0) -> Progress:
        """A snapshot; `under_way` is the work done in runs that are not finished."""
        share = (self._reached + under_way) / self._total if self._total else 1.0
        return Progress(len(self._done), len(self._work), min(share, 1.0))
