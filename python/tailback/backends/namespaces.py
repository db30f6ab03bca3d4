"""Network namespaces of this machine as hosts, bridges as switches, in real time."""

import fcntl
import json
import os
import platform
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from tailback._native import Control, Plan
from tailback.backends import tables
from tailback.backends.facts import Facts, check_version
from tailback.errors import InputError, Interrupted
from tailback.hosts import namespaces, tools
from tailback.hosts.agents import Agents, when_ready
from tailback.hosts.here import Here
from tailback.kernel.guest import agent
from tailback.records import RealHosts

BASE = Path("/run/tailback")
"""What belongs to runs that are going on: a folder for each, locked while it is in use."""

KEEP = "TAILBACK_KEEP"
"""With this variable set, agents' folders stay, for a look at them."""

PATIENCE_LEAST_S = 60.0
PATIENCE_TIMES = 20.0
"""A run may take so many times as long as it must at least, and never less than that. [assumed]"""


@dataclass(frozen=True)
class Namespaces:
    """All hosts are namespaces of this machine; durations are real."""

    name: ClassVar[str] = "namespaces"
    base: Path = BASE
    patience_least_s: float = PATIENCE_LEAST_S

    def prepare(self, plan: Plan) -> Facts:
        """Sees whether this machine can make these runs; raises `InputError` with what it lacks, or
        what the scenario asks for and real hosts cannot do.
        """
        tools.check()
        agent()
        runs = [_planned(plan, run["index"]) for run in plan.runs]
        for host in (host for run in runs for host in run["hosts"]):
            check_version(host, platform.release())
        with self._folder() as folder:
            namespaces.probe(folder.name, (link for run in runs for link in run["links"]))
        return Facts(
            kernels={"this machine": platform.release()},
            not_applied=list(dict.fromkeys(text for run in runs for text in run["not_applied"])),
            least_s=[run["least_s"] for run in runs],
            notes=["another program's run is going on here: these wait"] if self._is_busy() else [],
        )

    def run(self, plan: Plan, index: int, control: Control) -> Mapping[str, pl.DataFrame]:
        """Makes one run; others wait until it is over."""
        return when_ready(lambda lead_times: self._run(plan, index, control, lead_times))

    def _run(
        self, plan: Plan, index: int, control: Control, lead_times: float
    ) -> Mapping[str, pl.DataFrame]:
        hosts = _planned(plan, index)
        with self._alone(control), self._folder() as folder:
            network = namespaces.Network(folder.name, hosts)
            here = Here(agent(), network.host)
            agents = Agents(hosts, folder, here, lead_times)
            try:
                network.build()
                not_set = here.set_up(hosts["hosts"], folder)
                network.wait_until_up()
                patience_s = max(self.patience_least_s, PATIENCE_TIMES * hosts["least_s"])
                wall_s = time.perf_counter()
                told = agents.run(lambda: control.cancelled, patience_s)
                wall_s = time.perf_counter() - wall_s
                counted = network.counted()
            finally:
                network.remove()
        result = plan.tables_of_real_hosts(index, told, json.dumps(counted))
        return tables.of(result, wall_s, platform.release(), not_set)

    @contextmanager
    def _alone(self, control: Control) -> Iterator[None]:
        """No other run on this machine, of whatever program."""
        lock = self._lock()
        try:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if control.cancelled:
                        raise Interrupted("the run was given up") from None
                    time.sleep(0.1)
            yield
        finally:
            os.close(lock)

    def _lock(self) -> int:
        self.base.mkdir(mode=0o700, exist_ok=True)
        return os.open(self.base / ".lock", os.O_RDWR | os.O_CREAT, 0o600)

    def _is_busy(self) -> bool:
        lock = self._lock()
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            return False
        finally:
            os.close(lock)

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        """A private folder, locked while it is in use; its name is the run's token."""
        self.base.mkdir(mode=0o700, exist_ok=True)
        self._remove_abandoned()
        folder = self.base / secrets.token_hex(3)
        # It has its name when it is locked.
        fresh = folder.with_name(f".{folder.name}")
        fresh.mkdir(mode=0o700)
        lock = os.open(fresh, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        fresh.rename(folder)
        try:
            yield folder
        finally:
            if KEEP in os.environ and any(folder.iterdir()):
                folder.rename(folder.with_name(f"kept-{folder.name}"))
            else:
                shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)

    def _remove_abandoned(self) -> None:
        """Removes what programs left that were killed: folders that nobody has locked, the
        namespaces of their runs, and what runs in them.
        """
        for folder in self.base.iterdir():
            if not folder.is_dir() or folder.name.startswith((".", "kept-")):
                continue
            try:
                lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:
                continue  # its run is over
            try:
                with suppress(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    namespaces.remove(folder.name)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _planned(plan: Plan, index: int) -> RealHosts:
    try:
        planned: RealHosts = json.loads(plan.real_hosts(index))
    except InputError as error:
        raise InputError(f"backend namespaces cannot make this scenario: {error}") from None
    return planned
