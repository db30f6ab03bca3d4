"""The local engine: the runs of a sweep on the cores of this machine, in threads.

A run holds no GIL, so threads are as good as processes and start at once. The longest runs
start first, so that no long one is left alone at the end; results are stored by the run's
index, so the order of finishing leaves no trace.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import polars as pl

from tailback._native import Control, Plan
from tailback.backends import Backend
from tailback.errors import SimulationError
from tailback.records import PlannedRun
from tailback.sweep.progress import OnProgress, Progress

Save = Callable[[int, Mapping[str, pl.DataFrame]], None]

_POLL_S = 0.1
"""How often progress is looked at, seconds."""


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
    controls = {run["index"]: Control() for run in pending}
    failures: dict[int, SimulationError] = {}

    def make(run: PlannedRun) -> None:
        index = run["index"]
        save(index, backend.run(plan, index, controls[index]))

    def tell() -> None:
        if on_progress is not None:
            on_progress(_progress(runs, done, controls))

    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="run") as pool:
        waiting: dict[Future[None], int] = {pool.submit(make, run): run["index"] for run in pending}
        try:
            tell()
            while waiting:
                ready, _ = wait(waiting, timeout=_POLL_S, return_when=FIRST_COMPLETED)
                for future in ready:
                    index = waiting.pop(future)
                    try:
                        future.result()
                    except SimulationError as error:
                        failures[index] = error
                    done.add(index)
                tell()
        finally:
            # After an interruption or a full disk; with nothing waiting it does nothing.
            for future in waiting:
                future.cancel()
            for index in waiting.values():
                controls[index].cancel()
    return dict(sorted(failures.items()))


def _progress(runs: list[PlannedRun], done: set[int], controls: Mapping[int, Control]) -> Progress:
    total = sum(run["work"] for run in runs)
    reached = 0.0
    for run in runs:
        if run["index"] in done:
            reached += run["work"]
        else:
            part = controls[run["index"]].done / max(run["iterations"], 1)
            reached += run["work"] * min(part, 1.0)
    return Progress(len(done), len(runs), reached / total if total else 1.0)
