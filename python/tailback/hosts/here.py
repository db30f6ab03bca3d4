"""Agents in network namespaces of this machine."""

import json
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, ClassVar

from tailback.errors import SimulationError
from tailback.hosts import tools
from tailback.hosts.agents import records
from tailback.kernel.guest import which
from tailback.records import RealHost


@dataclass(frozen=True)
class Here:
    """One network namespace for each host."""

    agent: Path
    namespace: Callable[[int], str]
    """Of a host, by its number."""

    lead_s: ClassVar[float] = 0.5
    """From an agent's start until it waits for its time. [assumed]"""

    def set_up(self, hosts: Iterable[RealHost], folder: Path) -> dict[str, str]:
        """Makes every namespace the host that the scenario wants; gives the sysctls of stack
        profiles that they do not have, and why.
        """
        not_set: dict[str, str] = {}
        for host in hosts:
            own = folder / f"h{host['number']}"
            own.mkdir()
            _configure(own, json.dumps(host["config"]))
            here = str(Path("/proc/self/ns/net").readlink())
            done = tools.ended([*self._command(host, own, "--set-up"), here])
            if done.returncode:
                said = done.stderr.strip().removeprefix("tailback-agent: ")
                raise SimulationError(f"host {host['name']} could not be set up: {said}")
            for record in records((own / "set-up.jsonl").read_text(encoding="utf-8")):
                not_set.update(record["sysctls"])
        return not_set

    def ahead_ns(self, number: int) -> int:  # noqa: ARG002 - all have this machine's clock
        """How far a host's clock is ahead of this machine's."""
        return 0

    def start(
        self, host: RealHost, own: Path, config: str, console: BinaryIO
    ) -> "subprocess.Popen[bytes]":
        """Starts a host's agent."""
        _configure(own, config)
        return subprocess.Popen(
            self._command(host, own, "--attached"),
            stdin=subprocess.PIPE,
            stdout=console,
            stderr=console,
            start_new_session=True,
        )

    def told(self, host: RealHost, own: Path) -> str:  # noqa: ARG002 - all write here
        """What an agent told."""
        return (own / "results.jsonl").read_text(encoding="utf-8")

    def _command(self, host: RealHost, own: Path, how: str) -> list[str]:
        inside = [which("ip") or "ip", "netns", "exec", self.namespace(host["number"])]
        return [*inside, str(self.agent), how, str(own / "config.json"), str(own)]


def _configure(own: Path, config: str) -> None:
    (own / "config.json").write_text(config, encoding="utf-8")
