"""The agents of a run on real hosts: started for one instant, waited for, heard."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

from tailback.errors import Interrupted, SimulationError
from tailback.records import RealHost, RealHosts

T = TypeVar("T")

LEAD_HOST_S = 0.02
"""What each agent more adds to the time until all wait for theirs. [assumed]"""

LATEST_SHARE = 0.8
"""Of the time from the clock's zero to the applications' start: an agent must be ready by then."""

LONGER_S = 30.0
"""So much longer than this program an agent waits that hears nothing of it. [assumed]"""

LEADS = (1.0, 2.0, 4.0)
"""A run of which a host was late is made again with so many times the time to get ready.
[assumed]"""

POLL_S = 0.02
"""How often agents are looked at."""


class HostLateError(SimulationError):
    """A host was not ready when all were to begin: what it did is no part of the run."""


def when_ready(once: Callable[[float], T]) -> T:
    """Makes a run by `once`, which gets a factor for the time that hosts have to get ready.

    Raises `HostLateError` if a host was late however much time it had.
    """
    for lead_times in LEADS[:-1]:
        with suppress(HostLateError):
            return once(lead_times)
    return once(LEADS[-1])


class Ground(Protocol):
    """Where agents run, and how they are reached."""

    @property
    def lead_s(self) -> float:
        """From an agent's start until it waits for its time, at the most."""

    def ahead_ns(self, number: int) -> int:
        """How far a host's clock is ahead of this machine's."""

    def start(
        self, host: RealHost, own: Path, config: str, console: BinaryIO
    ) -> "subprocess.Popen[bytes]":
        """Starts a host's agent, which ends when its standard input does; `own` is a folder."""

    def told(self, host: RealHost, own: Path) -> str:
        """What an agent that has ended told, one JSON object a line."""


@dataclass
class Agents:
    """The agents of one run."""

    plan: RealHosts
    folder: Path
    ground: Ground
    lead_times: float = 1.0
    """So many times the ground's time to get ready they have."""
    not_set: dict[str, str] = field(default_factory=dict)
    """Sysctls of stack profiles that hosts do not have, and why."""

    def run(self, cancelled: Callable[[], bool], patience_s: float) -> dict[int, str]:
        """Starts all agents for one instant, waits for them, and gives what each told.

        Raises `SimulationError` that names the host that failed, was late or took longer than
        `patience_s`; `Interrupted` if `cancelled`.
        """
        hosts = self.plan["hosts"]
        lead_s = self.lead_times * (self.ground.lead_s + LEAD_HOST_S * len(hosts))
        epoch_ns = time.time_ns() + int(lead_s * 1e9)
        deadline_s = time.monotonic() + lead_s + patience_s
        with self._started(epoch_ns, lead_s + patience_s + LONGER_S) as processes:
            while True:
                codes = {name: process.poll() for name, process in processes.items()}
                for name, code in codes.items():
                    if code:
                        raise SimulationError(f"host {name} failed: {self._said(name, code)}")
                busy = [name for name, code in codes.items() if code is None]
                if not busy:
                    break
                if cancelled():
                    raise Interrupted("the run was given up")
                if time.monotonic() > deadline_s:
                    raise SimulationError(
                        f"after {patience_s:.0f} s hosts {', '.join(busy)} are not done: what they "
                        "wait for was lost, or the network is slower than the scenario's"
                    )
                time.sleep(POLL_S)
        told = {host["number"]: self.ground.told(host, self._own(host)) for host in hosts}
        for host in hosts:
            for record in records(told[host["number"]]):
                self._hear(host, record)
        return told

    def _hear(self, host: RealHost, record: Mapping[str, Any]) -> None:
        if record["kind"] == "not-set":
            self.not_set.update(record["sysctls"])
        if record["kind"] == "ready":
            late_ns = record["time_ns"] - LATEST_SHARE * self.plan["start_ns"]
            if late_ns > 0:
                raise HostLateError(
                    f"host {host['name']} was ready {late_ns / 1e6:.0f} ms late: it has too much "
                    "else to do; give the same command again when it has less"
                )

    def _said(self, name: str, code: int) -> str:
        number = next(host["number"] for host in self.plan["hosts"] if host["name"] == name)
        console = self.folder / f"h{number}" / "console"
        said = console.read_text(encoding="utf-8", errors="replace").strip()
        prefix = "tailback-agent: "
        lines = [line.removeprefix(prefix) for line in said.splitlines() if line.strip()]
        # The first thing that went wrong says why; what comes after it follows from it.
        own = [line for line in said.splitlines() if line.startswith(prefix)]
        first = own[0].removeprefix(prefix) if own else (lines[-1] if lines else "")
        return first or f"it ended with code {code}"

    @contextmanager
    def _started(
        self, epoch_ns: int, patience_s: float
    ) -> Iterator[dict[str, "subprocess.Popen[bytes]"]]:
        """All agents, which end when this does, by whatever way, or by themselves if they do not
        hear of it for so long.
        """
        patience_ns = int(patience_s * 1e9)
        processes: dict[str, subprocess.Popen[bytes]] = {}
        try:
            for host in self.plan["hosts"]:
                own = self._own(host)
                own.mkdir(exist_ok=True)
                zero_ns = epoch_ns + self.ground.ahead_ns(host["number"])
                times = {"epoch_ns": zero_ns, "patience_ns": patience_ns}
                config = json.dumps({**host["config"], **times})
                with (own / "console").open("wb") as console:
                    processes[host["name"]] = self.ground.start(host, own, config, console)
            yield processes
        finally:
            for process in processes.values():
                process.kill()
                process.wait()
                if process.stdin is not None:
                    process.stdin.close()

    def _own(self, host: RealHost) -> Path:
        return self.folder / f"h{host['number']}"


def records(text: str) -> Iterator[dict[str, Any]]:
    """What an agent told, by line."""
    return (json.loads(line) for line in text.splitlines())
