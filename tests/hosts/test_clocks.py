"""Hosts whose clocks differ begin at one instant."""

import json
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from tailback.errors import SimulationError
from tailback.hosts.agents import Agents
from tailback.hosts.inventory import Machine
from tailback.hosts.machines import clock_of
from tailback.hosts.ssh import BEGINNING, Shells
from tailback.records import RealHost, RealHosts

LAB0 = Machine(name="lab0", ssh="lab0", address="192.0.2.10", sudo=False, folder="/none")

AHEAD_S = 3
CLOCK = f"""
import sys, time
print("Welcome")
print("{BEGINNING}", flush=True)
for line in sys.stdin:
    print(time.time_ns() + {AHEAD_S}_000_000_000, flush=True)
"""


class Programs:
    """Starts a program of Python's in place of a shell on a machine."""

    def __init__(self, program: str) -> None:
        self.program = program

    def start(self, *_: object) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-c", self.program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


def test_a_clock_that_is_ahead() -> None:
    found = clock_of(cast(Shells, Programs(CLOCK)), LAB0, "agent")
    assert abs(found.ahead_ns - AHEAD_S * 10**9) <= found.within_ns
    assert 0 < found.within_ns < found.start_s * 1e9


def test_an_agent_that_does_not_run() -> None:
    program = "import sys; sys.exit('sh: agent: Permission denied')"
    with pytest.raises(SimulationError, match=r"lab0 .*: the agent does not run: .*denied"):
        clock_of(cast(Shells, Programs(program)), LAB0, "agent")


class TwoClocks:
    """A ground whose second host's clock is an hour behind."""

    lead_s = 1.0

    def __init__(self) -> None:
        self.epochs: list[int] = []

    def ahead_ns(self, number: int) -> int:
        return -3_600 * 10**9 * number

    def start(
        self, _host: RealHost, _own: Path, config: str, _console: BinaryIO
    ) -> "subprocess.Popen[bytes]":
        self.epochs.append(json.loads(config)["epoch_ns"])
        return subprocess.Popen(["true"], stdin=subprocess.PIPE)

    def told(self, _host: RealHost, _own: Path) -> str:
        return '{"kind": "ready", "time_ns": 0}\n'


def test_each_host_has_the_instant_on_its_own_clock(tmp_path: Path) -> None:
    hosts = [
        RealHost(number=number, name=f"host{number}", mac="", version=None, config={})
        for number in (0, 1)
    ]
    plan = RealHosts(
        hosts=hosts, switches=[], links=[], not_applied=[], least_s=0.0, start_ns=100_000_000
    )
    ground = TwoClocks()
    Agents(plan, tmp_path, ground).run(lambda: False, 60.0)
    first, second = ground.epochs
    assert first - second == 3_600 * 10**9
