"""A sweep's progress on stderr: a bar with an estimate, or, where stderr is no terminal, a line
at every tenth.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.progress import (
    BarColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

from tailback.cli import console
from tailback.scenario import Scenario
from tailback.sweep.progress import OnProgress, Progress


@contextmanager
def shown(scenario: Scenario, what: str = "runs") -> Iterator[OnProgress]:
    """Shows the progress that it is told of, counted in `what`."""
    if not console.err.is_terminal:
        yield _Lines(scenario.name, what)
        return
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn(f"{{task.fields[runs]}} {what}"),
        TimeElapsedColumn(),
        TextColumn("elapsed,"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=console.err,
    )
    with bar:
        task = bar.add_task(scenario.name, total=1.0, runs="")

        def update(progress: Progress) -> None:
            bar.update(
                task,
                completed=progress.work_fraction,
                runs=f"{progress.runs_done}/{progress.runs}",
            )

        yield update


class _Lines:
    """One line at every tenth, for logs."""

    def __init__(self, name: str, what: str) -> None:
        self._name = name
        self._what = what
        self._start_s = time.monotonic()
        self._first: float | None = None
        self._told = 0

    def __call__(self, progress: Progress) -> None:
        fraction = progress.work_fraction
        if self._first is None:  # what an earlier, interrupted command has done
            self._first = fraction
            self._told = int(fraction * 10)
        # What is simulated has still to be written: the last tenth is told when all runs are.
        tenth = 10 if progress.runs_done == progress.runs else min(int(fraction * 10), 9)
        if tenth == self._told:
            return
        self._told = tenth
        if tenth < 10:
            fraction = min(fraction, 0.99)
        elapsed_s = time.monotonic() - self._start_s
        new = fraction - self._first
        left_s = elapsed_s * (1 - fraction) / new if new > 0 else 0.0  # all at the first look
        console.err.out(
            f"{self._name}: {fraction:4.0%}, {progress.runs_done} of {progress.runs} {self._what}, "
            f"{_clock(elapsed_s)} elapsed, {_clock(left_s)} left"
        )


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
