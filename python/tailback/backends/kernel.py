"""Real Linux kernels as hosts, in virtual time (Rust, crates/kernel, crates/sim/src/external)."""

import io
import os
import queue
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from tailback._native import Control, Plan
from tailback.backends.facts import Facts
from tailback.errors import InputError, SimulationError
from tailback.kernel import cache, console, guest
from tailback.kernel.check import MEMORY
from tailback.private import private_folder
from tailback.records import CAPTURE

PATIENCE_S = 30.0
"""Wall-clock seconds that a kernel may run without a word before it counts as stuck."""

KEEP = "TAILBACK_KEEP"
"""With this variable set, the guests' folders stay, for a look at them."""

PREFIX = "tailback-"
"""Of the guests' folders."""

_CORES: queue.Queue[int] = queue.Queue()
_numbers = sorted(os.sched_getaffinity(0))
for _place in range(len(_numbers)):
    # Programs at the same time begin at different cores, more often than not.
    _CORES.put(_numbers[(_place + os.getpid()) % len(_numbers)])


@dataclass(frozen=True)
class KernelHosts:
    """All hosts are kernels. The same scenario, seed and kernel give the same tables."""

    name: ClassVar[str] = "kernel"
    memory: Path = MEMORY
    """Guests' memory and folders go there; on a tmpfs."""
    patience_s: float = PATIENCE_S
    """Wall-clock seconds that a kernel may run without a word."""

    def check(self, plan: Plan) -> Facts:
        """Raises `InputError` with what kernels cannot do of these runs; gives what they do not."""
        return check_kernels(plan, all_hosts=True)

    def require(self, plan: Plan) -> None:
        """Raises `InputError` if a kernel or a program for the guests is not there."""
        require(plan, all_hosts=True)

    def run(self, plan: Plan, index: int, control: Control) -> Mapping[str, pl.DataFrame]:
        """Makes one run on one core; several go on side by side."""
        return run_with_kernels(plan, index, control, self, all_hosts=True)


def check_kernels(plan: Plan, *, all_hosts: bool) -> Facts:
    """Raises `InputError` with the first congestion control in Python that is none, or with what
    kernels cannot do of the first run in which they cannot; gives what they do not do of any.
    """
    plan.check_programs()
    not_applied: dict[str, None] = {}
    for run in plan.runs:
        plan.check_kernels(run["index"], all_hosts=all_hosts)
        said = plan.not_applied_by_kernels(run["index"], all_hosts=all_hosts)
        not_applied.update(dict.fromkeys(said))
        wanted = plan.kernel_hosts(run["index"], all_hosts=all_hosts)
        asked = {(host["version"], host["hz"]) for host in wanted}
        if len(asked) > 1:
            texts = sorted(f"version {version or 'any'}, HZ {hz or 'any'}" for version, hz in asked)
            raise InputError(
                f"all kernels of a run are the same, and the hosts ask for {'; '.join(texts)}"
            )
    return Facts(not_applied=list(not_applied))


def require(plan: Plan, *, all_hosts: bool) -> None:
    """Raises `InputError` if a kernel or a program that any run needs is not there."""
    runs = [plan.kernel_hosts(run["index"], all_hosts=all_hosts) for run in plan.runs]
    hosts = [host for run in runs for host in run]
    if not hosts:
        return
    guest.agent()
    for version, hz in dict.fromkeys((host["version"], host["hz"]) for host in hosts):
        cache.find(version, hz)
    guest.find(program for host in hosts for program in host["programs"])


def run_with_kernels(
    plan: Plan,
    index: int,
    control: Control,
    backend: KernelHosts = KernelHosts(),
    *,
    all_hosts: bool,
) -> Mapping[str, pl.DataFrame]:
    """Makes one run in which all hosts are kernels, or those that the scenario makes kernels."""
    wanted = plan.kernel_hosts(index, all_hosts=all_hosts)
    asked = {(host["version"], host["hz"]) for host in wanted}
    kernel = cache.find(*asked.pop()) if asked else cache.find()
    with _core() as core, _folder(backend.memory) as folder:
        programs = [program for host in wanted for program in host["programs"]]
        try:
            guest.prepare(folder / "root", programs)
        except OSError as error:
            raise SimulationError(
                f"the guests' files cannot be written to {folder}: {error.strerror}"
            ) from error
        wall_s = time.perf_counter()
        try:
            result = plan.run_with_kernels(
                index,
                control,
                all_hosts=all_hosts,
                kernel=str(kernel.program),
                agent=str(guest.agent()),
                folder=str(folder),
                memory=str(backend.memory),
                core=core,
                patience_s=backend.patience_s,
            )
        except SimulationError as error:
            said = console.last_words(_consoles(folder))
            raise SimulationError(f"{error}\n{said}" if said else str(error)) from error
        wall_s = time.perf_counter() - wall_s
        userspace = console.userspace(_consoles(folder))
    tables = {name: pl.read_ipc_stream(io.BytesIO(data)) for name, data in result.tables().items()}
    tables["performance"] = pl.DataFrame(
        {
            "hops": [result.hops],
            "events": [result.events],
            "wall_s": [wall_s],
            "hops_per_wall_s": [result.hops / wall_s],
            "kernel": [kernel.title],
            "userspace": [userspace],
        }
    )
    if (capture := result.capture()) is not None:
        tables[CAPTURE] = pl.DataFrame({"pcapng": [capture]})
    return tables


@contextmanager
def _core() -> Iterator[int]:
    """A core that no other run uses."""
    core = _CORES.get()
    try:
        yield core
    finally:
        _CORES.put(core)


def _folder(memory: Path) -> AbstractContextManager[Path]:
    """A private folder, in memory where there is such."""
    base = memory if memory.is_dir() else Path(tempfile.gettempdir())
    return private_folder(base, PREFIX, kept=KEEP in os.environ)


def _consoles(folder: Path) -> list[Path]:
    return sorted(folder.glob("host/*/console.log"))
