"""From a scenario to its results."""

import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import SupportsIndex

from tailback.backends import Backend, Checks, RealTime, Requires, backend_named
from tailback.backends.facts import Facts
from tailback.backends.sim import Simulator
from tailback.errors import InputError, Interrupted, RunsFailed, SimulationError
from tailback.given import given_path
from tailback.results import Results
from tailback.results import manifest as manifests
from tailback.results.folder import PartialFolder, default_target, open_folder
from tailback.results.machine import cores
from tailback.scenario import Scenario, load
from tailback.sweep import local
from tailback.sweep.progress import OnProgress

ENGINES = ("local", "dask")
"""Where runs can be spread."""
_MOST = {"jobs": 65_536, "threads": 255}
"""The most there may be."""


def run(
    scenario: Scenario | str | Path,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    threads: int = 1,
    seed: int | None = None,
    backend: str | Backend = "sim",
    inventory: str | Path | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    on_progress: OnProgress | None = None,
    on_note: Callable[[str], None] | None = None,
) -> Results:
    """Runs all of a scenario's sweep and gives the results.

    What an earlier, interrupted call with the same scenario and seed has finished is not run
    again, and the tables come out the same.

    Args:
        scenario: a scenario, or the name or path of one.
        out: the folder to write, which must not exist; by default results/NAME, or
            results/NAME-2 and so on if that is taken.
        jobs: runs at a time; by default as many as there are CPU cores. The tables do not
            depend on it.
        threads: of each run of the simulator that can be cut into parts; there are then as many
            times fewer runs at a time. The tables do not depend on it.
        seed: replaces the scenario's seed.
        backend: what makes the runs.
        inventory: the file that says which machines the hosts are, for backend "hosts".
        engine: where runs are spread: "local", over the cores of this machine, or "dask", over
            the workers of a Dask cluster. The tables do not depend on it, but for `performance`.
        scheduler: the cluster's address, such as "tcp://10.0.0.1:8786", for engine "dask".
        on_progress: called about ten times a second.
        on_note: called with what to know before the runs begin, a sentence each.

    Raises:
        ScenarioError: the scenario has errors.
        InputError: `jobs` or `threads` is no whole number from 1 on; the folder exists, or holds
            unfinished results of something else; the backend cannot make these runs; there is no
            such cluster.
        RunsFailed: some runs failed; the others are kept in the folder's `.partial`.
        Interrupted: by Ctrl-C; what was finished is kept, and the next call continues.
    """
    if jobs is not None:
        jobs = _count("jobs", jobs)
    threads = _count("threads", threads)
    if out is not None:
        out = given_path(out, "the folder of results is named")
    if not isinstance(scenario, Scenario):
        scenario = load(scenario)
    if seed is not None:
        scenario = scenario.set("run.seed", seed)
    if threads > 1:
        if backend != "sim":
            raise InputError("threads are for the simulator's runs: take backend 'sim'")
        backend = Simulator(threads)
    if not isinstance(backend, Backend):
        backend = backend_named(backend, inventory)
    if engine not in ENGINES:
        raise InputError(f"no engine '{engine}'; there are {', '.join(ENGINES)}")
    if (engine == "dask") != (scheduler is not None):
        raise InputError("engine dask and a scheduler's address go together (--scheduler ADDRESS)")
    facts = Facts()
    if isinstance(backend, Checks):
        facts = backend.check(scenario.plan)
    if scheduler is None and isinstance(backend, Requires):
        backend.require(scenario.plan)
    if scheduler is not None:
        if isinstance(backend, RealTime):
            raise InputError(f"runs of backend {backend.name} are made from this machine alone")
        if jobs is not None:
            raise InputError("how many runs go at a time is the workers': leave jobs out")
    if isinstance(backend, RealTime):
        if jobs is not None and jobs > 1:
            raise InputError(
                f"runs of backend {backend.name} take real time and go one at a time: "
                "leave jobs out"
            )
        jobs = 1
        facts = backend.prepare(scenario.plan)
    with _spread(jobs or max(1, cores() // threads), scheduler) as spread:
        return _run(scenario, backend, facts, spread, out, on_progress, on_note)


@dataclass(frozen=True)
class _Spread:
    """What runs are spread over."""

    jobs: int
    """Runs at a time."""
    execute: Callable[..., dict[int, SimulationError]]
    """Makes all that are not finished; gives those that failed."""


@contextmanager
def _spread(jobs: int, scheduler: str | None) -> Iterator[_Spread]:
    """The cores of this machine, or a cluster's."""
    if scheduler is None:
        yield _Spread(
            jobs,
            lambda scenario, *rest, **how: local.execute(scenario.plan, *rest, **how, jobs=jobs),
        )
        return
    from tailback.sweep import cluster

    with cluster.connect(scheduler) as client:
        yield _Spread(cluster.threads(client), partial(cluster.execute, client))


def _run(
    scenario: Scenario,
    backend: Backend,
    facts: Facts,
    spread: _Spread,
    out: Path | None,
    on_progress: OnProgress | None,
    on_note: Callable[[str], None] | None,
) -> Results:
    """All runs, into a folder of their own."""
    manifest = manifests.new(scenario, backend.name, spread.jobs)
    if isinstance(backend, RealTime):
        manifest["kernels"] = facts.kernels
    if facts.not_applied:
        manifest["not_applied"] = facts.not_applied
    target = out if out is not None else default_target(scenario.name, manifest)
    folder = open_folder(target, manifest)
    try:
        if on_note is not None:
            for note in _before(facts, folder.finished()):
                on_note(note)
        failures = spread.execute(
            scenario,
            backend,
            save=lambda index, tables: folder.save(scenario, index, tables),
            finished=folder.finished(),
            on_progress=on_progress,
        )
        if failures:
            raise _failed(scenario, folder, failures)
        folder.complete()
    except KeyboardInterrupt as error:
        count = len(folder.finished())
        folder.close("interrupted")
        raise Interrupted(
            f"interrupted; {count} of {manifest['runs']} runs are finished and kept in "
            f"{folder.path}: give the same command again to continue"
        ) from error
    except BaseException:
        folder.close("failed")
        raise
    return Results(target)


def _count(name: str, value: object) -> int:
    """A number of jobs or threads; refuses what is none."""
    most = _MOST[name]
    whole = isinstance(value, SupportsIndex) and not isinstance(value, bool)
    known = operator.index(value) if isinstance(value, SupportsIndex) else 0
    if not whole or not 1 <= known <= most:
        raise InputError(
            f"{name} = {value!r}: give a whole number from 1 to {most}, or leave it out"
        )
    return known


def _before(facts: Facts, finished: Iterable[int]) -> Iterator[str]:
    """What to know before runs begin."""
    done = set(finished)
    left_s = [s for index, s in enumerate(facts.least_s) if index not in done]
    if left_s:
        time = timedelta(seconds=round(sum(left_s)))
        yield f"runs take real time, one after another: {len(left_s)} of them, at least {time}"
    yield from facts.notes
    for text in facts.not_applied:
        yield f"not applied: {text}"


def _failed(
    scenario: Scenario, folder: PartialFolder, failures: dict[int, SimulationError]
) -> RunsFailed:
    runs = {run["index"]: run for run in scenario.plan.runs}
    lines = []
    for index, error in failures.items():
        values = ", ".join(f"{name} = {value}" for name, value in runs[index]["parameters"])
        lines.append(f"  run {index} ({values}): {error}" if values else f"  run {index}: {error}")
    return RunsFailed(
        f"{len(failures)} of {len(runs)} runs failed; the others are kept in {folder.path}\n"
        + "\n".join(lines)
    )
