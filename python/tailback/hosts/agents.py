"""The agents of a run on this machine's namespaces: set up, started together, waited for."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailback.errors import Interrupted, SimulationError
from tailback.hosts import tools
from tailback.kernel.guest import which
from tailback.records import RealHost, RealHosts

LEAD_S = 0.5
LEAD_HOST_S = 0.02
"""From an agent's start until it waits for its time, and what each agent more adds. [assumed]"""

LATEST_SHARE = 0.8
"""Of the time from the clock's zero to the applications' start: an agent must be ready by then."""

POLL_S = 0.02
"""How often agents are looked at."""


@dataclass
class Agents:
    """The agents of one run."""

    plan: RealHosts
    folder: Path
    agent: Path
    namespace: Callable[[int], str]
    """Of a host, by its number."""
    not_set: dict[str, str] = field(default_factory=dict)
    """Sysctls of stack profiles that hosts do not have, and why."""

    def set_up(self) -> None:
        """Makes every namespace the host that the scenario wants."""
        for host in self.plan["hosts"]:
            own = self._own(host)
            own.mkdir()
            self._configure(host, 0)
            here = str(Path("/proc/self/ns/net").readlink())
            done = tools.ended([*self._command(host, "--set-up"), here])
            if done.returncode:
                said = done.stderr.strip().removeprefix("tailback-agent: ")
                raise SimulationError(f"host {host['name']} could not be set up: {said}")
            for record in _records((own / "set-up.jsonl").read_text(encoding="utf-8")):
                self.not_set.update(record["sysctls"])

    def run(self, cancelled: Callable[[], bool], patience_s: float) -> dict[int, str]:
        """Starts all agents for one instant, waits for them, and gives what each told.

        Raises `SimulationError` that names the host that failed, was late or took longer than
        `patience_s`; `Interrupted` if `cancelled`.
        """
        hosts = self.plan["hosts"]
        lead_s = LEAD_S + LEAD_HOST_S * len(hosts)
        epoch_ns = time.time_ns() + int(lead_s * 1e9)
        for host in hosts:
            self._configure(host, epoch_ns)
        with self._started() as processes:
            deadline_s = time.monotonic() + lead_s + patience_s
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
        told = {
            host["number"]: (self._own(host) / "results.jsonl").read_text(encoding="utf-8")
            for host in hosts
        }
        self._check_ready(told)
        return told

    def _check_ready(self, told: Mapping[int, str]) -> None:
        latest_ns = LATEST_SHARE * self.plan["start_ns"]
        for host in self.plan["hosts"]:
            ready = next(_records(told[host["number"]]))
            late_ns = ready["time_ns"] - latest_ns
            if late_ns > 0:
                raise SimulationError(
                    f"host {host['name']} was ready {late_ns / 1e6:.0f} ms late: this machine has "
                    "too much else to do; give the same command again when it has less"
                )

    def _said(self, name: str, code: int) -> str:
        number = next(host["number"] for host in self.plan["hosts"] if host["name"] == name)
        said = (self.folder / f"h{number}" / "console").read_text(encoding="utf-8").strip()
        last = said.split("\n")[-1].removeprefix("tailback-agent: ")
        return last or f"it ended with code {code}"

    @contextmanager
    def _started(self) -> Iterator[dict[str, "subprocess.Popen[bytes]"]]:
        """All agents, which end when this does, by whatever way."""
        processes: dict[str, subprocess.Popen[bytes]] = {}
        try:
            for host in self.plan["hosts"]:
                with (self._own(host) / "console").open("wb") as console:
                    processes[host["name"]] = subprocess.Popen(
                        self._command(host, "--attached"),
                        stdin=subprocess.PIPE,
                        stdout=console,
                        stderr=console,
                        start_new_session=True,
                    )
            yield processes
        finally:
            for process in processes.values():
                process.kill()
                process.wait()
                if process.stdin is not None:
                    process.stdin.close()

    def _command(self, host: RealHost, how: str) -> list[str]:
        own = self._own(host)
        inside = [which("ip") or "ip", "netns", "exec", self.namespace(host["number"])]
        return [*inside, str(self.agent), how, str(own / "config.json"), str(own)]

    def _configure(self, host: RealHost, epoch_ns: int) -> None:
        text = json.dumps({**host["config"], "epoch_ns": epoch_ns})
        (self._own(host) / "config.json").write_text(text, encoding="utf-8")

    def _own(self, host: RealHost) -> Path:
        return self.folder / f"h{host['number']}"


def _records(text: str) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in text.splitlines())
