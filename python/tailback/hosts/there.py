"""Agents on machines that are reached by SSH."""

import shlex
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tailback.errors import SimulationError
from tailback.hosts.inventory import Machine
from tailback.hosts.machines import ClockFound, clock_of
from tailback.hosts.ssh import Shells, on_all, said_by_script
from tailback.records import RealHost

LEAD_S = 0.5
"""What an agent takes from its program's start until it waits for its time. [assumed]"""

LEAD_TIMES = 3.0
"""A start may take so many times as long as the one that was seen. [assumed]"""

INSTALL = (
    "umask 077; d=$(mktemp -d {folder}/tailback-XXXXXXXX) || exit; "
    'if cat >"$d/agent" && [ "$(wc -c <"$d/agent")" -eq {size} ] && chmod 700 "$d/agent" && '
    'echo "$d"; then exit; fi; '
    'rm -rf "$d"; echo "the agent did not come there in whole ({size} bytes)" >&2; exit 1'
)
"""One that did not come in whole, for the connection was lost, goes again."""

REMOVE = (
    "test ! -e {folder} || "
    "{{ {agent} --put-back {folder} && rm -rf {folder}; }} || test ! -e {folder}"
)
"""An agent that ends removes its folder by itself, perhaps at this moment."""


@dataclass(frozen=True)
class There:
    """Agents in folders of their own on the machines of a run's hosts, for as long as it takes."""

    shells: Shells
    machines: Mapping[int, Machine]
    """By the hosts' numbers."""
    folders: Mapping[str, str]
    """Of the agent, by the machines' names."""
    clocks: Mapping[str, ClockFound]

    @property
    def lead_s(self) -> float:
        """From an agent's start until it waits for its time, at the most."""
        return LEAD_S + LEAD_TIMES * max(clock.start_s for clock in self.clocks.values())

    def ahead_ns(self, number: int) -> int:
        """How far a host's clock is ahead of this machine's."""
        return self.clocks[self.machines[number].name].ahead_ns

    def start(
        self, host: RealHost, own: Path, config: str, console: BinaryIO
    ) -> "subprocess.Popen[bytes]":
        """Starts a host's agent."""
        machine = self.machines[host["number"]]
        folder = self.folders[machine.name]
        with (own / "told").open("wb") as told:
            script = f"exec {_agent(machine, folder)} --on-host {shlex.quote(folder)}"
            process = self.shells.start(machine, script, told, console)
        # A pipe; one that broke is seen by the process's end.
        with suppress(BrokenPipeError):
            process.stdin.write(config.encode() + b"\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
        return process

    def told(self, host: RealHost, own: Path) -> str:  # noqa: ARG002 - each has a folder here
        """What an agent told."""
        return said_by_script((own / "told").read_text(encoding="utf-8", errors="replace"))


@contextmanager
def installed(shells: Shells, agent: Path, machines: Mapping[int, Machine]) -> Iterator[There]:
    """Puts the agent on machines, sees what time it is there, and removes it in the end."""
    once = list({machine.name: machine for machine in machines.values()}.values())
    binary = agent.read_bytes()
    folders: dict[str, str] = {}

    def install(machine: Machine) -> ClockFound:
        script = INSTALL.format(folder=shlex.quote(machine.folder), size=len(binary))
        folder = shells.run(machine, script, binary, to_its_end=True).strip()
        folders[machine.name] = folder
        return clock_of(shells, machine, _agent(machine, folder))

    def remove(machine: Machine) -> None:
        """What a killed agent has not put back is in its folder."""
        folder = folders.get(machine.name)
        if folder:
            script = REMOVE.format(agent=_agent(machine, folder), folder=shlex.quote(folder))
            shells.run(machine, script, to_its_end=True)

    try:
        clocks = on_all(once, install)
        names = [machine.name for machine in once]
        yield There(shells, machines, folders, dict(zip(names, clocks, strict=True)))
    except SimulationError as error:
        try:
            on_all(once, remove)
        except SimulationError as more:
            raise SimulationError(f"{error}; and then: {more}") from error
        raise
    except BaseException:
        with suppress(SimulationError):
            on_all(once, remove)
        raise
    on_all(once, remove)


def _agent(machine: Machine, folder: str) -> str:
    program = shlex.quote(f"{folder}/agent")
    return f"sudo -n {program}" if machine.sudo else program
