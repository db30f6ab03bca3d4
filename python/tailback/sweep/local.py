"""The local engine: the runs of a sweep on the cores of this machine, in threads.

A run holds no GIL, so threads are as good as processes and start at once. The longest runs
start first, so that no long one is left alone at the end; results are stored by the run's
index, so the order of finishing leaves no trace.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import Empty, SimpleQueue

import polars as pl

from tailback._native import Control, Plan
from tailback.backends import Backend
from tailback.errors import SimulationError
from tailback.records import PlannedRun
from tailback.sweep.progress import OnProgress, Tally

Save = Callable[[int, Mapping[str, pl.DataFrame]], None]

_Ended = SimpleQueue[tuple[int, Future[None]]]
"""Runs by their index, as they end: a wait for whichever is next would look at all, each time."""

POLL_S = 0.1
"""How often progress, and whether the user interrupts, is looked at, seconds."""


def execute(
    plan: Plan,
    backend: Backend,
    *,
    save: Save,
    jobs: int,
    finished: Iterable[int] = (),
    on_progress: OnProgress | None = None,
) -> dict[int, SimulationError]:
    """Makes all runs of `plan` that are not `finished`; gives those that failed, and why.

    `save` is called with each finished run's index and tables, from the run's own thread.
    If it raises, or the user interrupts, all runs are cancelled and the exception passes on.
    """
    done = set(finished)
    runs = plan.runs
    pending = sorted(
        (run for run in runs if run["index"] not in done),
        key=lambda run: (-run["work"], run["index"]),
    )
    tally = Tally(runs, done)
    waiting = {run["index"]: Control() for run in pending}
    under_way: dict[int, PlannedRun] = {}
    ended: _Ended = SimpleQueue()
    failures: dict[int, SimulationError] = {}

    def make(run: PlannedRun) -> None:
        index = run["index"]
        under_way[index] = run
        save(index, backend.run(plan, index, waiting[index]))

    def tell() -> None:
        if on_progress is not None:
            on_progress(tally.progress(sum(_reached(r, waiting) for r in [*under_way.values()])))

    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="run") as pool:
        futures = []
        try:
            for run in pending:
                future = pool.submit(make, run)
                future.add_done_callback(partial(_put, ended, run["index"]))
                futures.append(future)
            tell()
            told_s = time.monotonic()
            while waiting:
                if (end := _next(ended)) is not None:
                    index, future = end
                    try:
                        future.result()
                    except SimulationError as error:
                        failures[index] = error
                    del waiting[index], under_way[index]
                    tally.add(index)
                if not waiting or time.monotonic() - told_s >= POLL_S:
                    tell()
                    told_s = time.monotonic()
        finally:
            # After an interruption or a full disk; with nothing waiting it does nothing.
            for future in futures:
                future.cancel()
            for control in waiting.values():
                control.cancel()
    return dict(sorted(failures.items()))


def _put(ended: _Ended, index: int, future: Future[None]) -> None:
    ended.put((index, future))


def _next(ended: _Ended) -> tuple[int, Future[None]] | None:
    """The next run that ends, or none within a moment."""
    try:
        return ended.get(timeout=POLL_S)
    except Empty:
        return None


def _reached(run: PlannedRun, controls: Mapping[int, Control]) -> float:
    """The work that a run under way has done."""
    done = controls[run["index"]].done / max(run["iterations"], 1)
    return run["work"] * min(done, 1.0)
