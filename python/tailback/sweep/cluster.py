"""The Dask engine: the runs of a sweep on the workers of a cluster that the user has.

What goes out is the scenario as resolved, with all that it read from files; what comes back is a
run's tables. Workers of another version are refused, and one that resolves the scenario to another
hash gives no tables.
Left out: how far a run is, and stopping one that has begun: after an interruption its worker
finishes it for nobody.
"""

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future as Outcome
from dataclasses import dataclass
from functools import lru_cache, partial
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from tailback._native import Control, Plan, __version__
from tailback.backends import Backend
from tailback.errors import InputError, SimulationError, TailbackError
from tailback.records import PlannedRun
from tailback.scenario import Scenario
from tailback.sweep.local import POLL_S, Save
from tailback.sweep.progress import OnProgress, Tally

if TYPE_CHECKING:
    from distributed import Client, Future

_T = TypeVar("_T")

_Tables = dict[str, bytes]
"""A run's tables, as Arrow streams."""

_CONNECT_S = 10
"""How long a scheduler is waited for, seconds."""


@dataclass(frozen=True)
class _Order:
    """What a worker is to make, of a scenario in JSON."""

    scenario: str
    scenario_hash: str
    backend: Backend

    def make(self, index: int) -> _Tables:
        """One run's tables."""
        plan = _plan(self.scenario)
        if plan.hash != self.scenario_hash:
            raise InputError(f"a worker resolves the scenario to {plan.hash}: it is another build")
        tables = self.backend.run(plan, index, Control())
        return {name: _stream(table) for name, table in tables.items()}


@lru_cache(maxsize=4)
def _plan(scenario: str) -> Plan:
    return Scenario(json.loads(scenario)).plan


def _stream(table: pl.DataFrame) -> bytes:
    stream = io.BytesIO()
    table.write_ipc_stream(stream, compression="zstd")
    return stream.getvalue()


def connect(scheduler: str) -> "Client":
    """A client of a Dask scheduler, `tcp://host:8786` or what else Dask takes.

    Raises:
        InputError: there is none, or Dask is not installed.
    """
    try:
        from distributed import Client
        from distributed.comm.addressing import parse_address
        from distributed.comm.registry import get_backend
    except ModuleNotFoundError as error:
        raise InputError(
            "engine dask needs Dask, here and on its workers: pip install 'tailback[dask]'"
        ) from error
    try:
        # A client that finds a wrong address by itself takes half a minute to go away.
        scheme, place = parse_address(scheduler)
        get_backend(scheme).resolve_address(place)
        client = _apart(partial(Client, scheduler, timeout=_CONNECT_S, set_as_default=False))
    except (OSError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler at {scheduler}: {error}; `dask scheduler` starts one"
        ) from error
    unfit = _unfit(client)
    if unfit is not None:
        client.close()
        raise InputError(f"the Dask cluster at {scheduler} {unfit}")
    return client


def _unfit(client: "Client") -> str | None:
    """Why its workers cannot make runs, if so."""

    # Within another function, it goes out as code: a worker without Tailback could not name it.
    def version() -> str | None:
        try:
            from tailback._native import __version__ as theirs
        except ImportError:
            return None
        return theirs

    found: dict[str, str | None] = _apart(partial(client.run, version))
    if not found:
        return "has no workers; start `dask worker`"
    others = {worker: theirs for worker, theirs in found.items() if theirs != __version__}
    if not others:
        return None
    said = ", ".join(f"{worker} {theirs or 'none'}" for worker, theirs in others.items())
    return f"has workers without Tailback {__version__}: {said}; pip install 'tailback[dask]' there"


def threads(client: "Client") -> int:
    """Runs that its workers make at a time."""
    return sum(_apart(client.nthreads).values())


def execute(
    client: "Client",
    scenario: Scenario,
    backend: Backend,
    *,
    save: Save,
    finished: Iterable[int] = (),
    on_progress: OnProgress | None = None,
) -> dict[int, SimulationError]:
    """Makes all runs that are not `finished`; gives those that failed, and why.

    `save` is called with each finished run's index and tables. If it raises, or the user
    interrupts, runs that have not begun are cancelled and the exception passes on.
    """
    from distributed import KilledWorker, as_completed

    done = set(finished)
    runs = scenario.plan.runs
    pending = [run for run in runs if run["index"] not in done]
    order = _Order(json.dumps(scenario.resolved), scenario.plan.hash, backend)
    tally = Tally(runs, done)
    failures: dict[int, SimulationError] = {}
    futures = _apart(partial(_submit, client, order, pending))
    try:
        if on_progress is not None:
            on_progress(tally.progress())
        completed = as_completed(list(futures), loop=client.loop)
        while futures:
            future, made = _apart(partial(_next, completed))
            index = futures.pop(future)
            if not isinstance(made, BaseException):
                save(index, _tables(made))
            elif isinstance(made, SimulationError | KilledWorker):
                # Dask gives a run to another worker a few times before it says that it kills them.
                failures[index] = SimulationError(str(made))
            else:
                raise _of_worker(made)
            tally.add(index)
            if on_progress is not None:
                on_progress(tally.progress())
    finally:
        if futures:
            _apart(partial(client.cancel, list(futures)))
    return dict(sorted(failures.items()))


def _submit(
    client: "Client", order: _Order, pending: Iterable[PlannedRun]
) -> dict["Future[_Tables]", int]:
    """The runs as Dask has them, the longest first: no long one is left alone at the end."""
    [held] = client.scatter([order], broadcast=True)
    return {
        client.submit(_made, held, run["index"], pure=False, priority=run["work"]): run["index"]
        for run in pending
    }


def _next(
    completed: Iterator["Future[_Tables]"],
) -> tuple["Future[_Tables]", _Tables | BaseException]:
    """The next run that ends, and its tables, or why there are none."""
    future = next(completed)
    made = future.exception()
    if made is None:
        made = future.result()
    future.release()
    return future, made


def _apart(call: Callable[[], _T]) -> _T:
    """What `call` gives, from a thread of its own.

    Dask waits for its loop in a way that an interruption breaks: it prints a traceback if the loop
    had not begun yet, and a client that has no scheduler yet takes 20 s to go away.
    """
    outcome: Outcome[_T] = Outcome()

    def make() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001 - the caller's
            outcome.set_exception(error)

    thread = Thread(target=make, daemon=True)
    thread.start()
    while thread.is_alive():
        # Without end, a wait hides an interruption that another thread was told of.
        thread.join(POLL_S)
    return outcome.result()


def _of_worker(error: BaseException) -> TailbackError:
    if isinstance(error, TailbackError):
        return error
    return InputError(
        f"a worker cannot make these runs: {type(error).__name__}: {error}; every worker needs "
        f"tailback[dask] {__version__}"
    )


def _made(order: _Order, index: int) -> _Tables:
    return order.make(index)


def _tables(streams: Mapping[str, bytes]) -> dict[str, Any]:
    return {name: pl.read_ipc_stream(io.BytesIO(data)) for name, data in streams.items()}
