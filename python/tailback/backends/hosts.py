"""Somebody's own hosts, which SSH reaches, in the network that is between them, in real time."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import polars as pl

from tailback._native import Control, Plan
from tailback.backends import tables
from tailback.backends.facts import Facts, check_version
from tailback.errors import InputError, SimulationError
from tailback.hosts.agents import Agents, when_ready
from tailback.hosts.inventory import LEAST_PORT, PORTS, Inventory, Machine, load
from tailback.hosts.machines import About, check_apart, look_at
from tailback.hosts.ssh import Shells, on_all, run_folder
from tailback.hosts.there import installed
from tailback.kernel.guest import agent
from tailback.records import RealHosts

PATIENCE_LEAST_S = 60.0
PATIENCE_TIMES = 20.0
"""A run may take so many times as long as it must at least, and never less than that. [assumed]"""


@dataclass
class Hosts:
    """All hosts are machines of an inventory; durations are real."""

    inventory: Inventory
    name: ClassVar[str] = "hosts"
    patience_least_s: float = PATIENCE_LEAST_S
    _found: dict[str, About] = field(default_factory=dict, init=False)
    """By the machines' names."""

    @classmethod
    def of(cls, path: str | Path) -> "Hosts":
        """The machines of an inventory's file."""
        return cls(load(path))

    def prepare(self, plan: Plan) -> Facts:
        """Sees whether these machines can make these runs; raises `InputError` with what they lack,
        or what the scenario asks for and real hosts cannot do.
        """
        agent()
        by_run = [self._machines(plan, run["index"]) for run in plan.runs]
        wanted = {machine.name: machine for run in by_run for machine in run.values()}
        try:
            with Shells(self.inventory) as shells:
                found = on_all(list(wanted.values()), lambda one: look_at(shells, one))
        except SimulationError as error:
            raise InputError(str(error)) from None
        self._found = {about.machine.name: about for about in found}
        check_apart(self.inventory, found)
        runs = [self._planned(plan, run["index"]) for run in plan.runs]
        self._check_ports(max(run.get("last_port") or 0 for run in runs))
        for run, machines in zip(runs, by_run, strict=True):
            for host in run["hosts"]:
                check_version(host, self._found[machines[host["name"]].name].release)
        return Facts(
            kernels={name: about.release for name, about in self._found.items()},
            not_applied=list(dict.fromkeys(text for run in runs for text in run["not_applied"])),
            least_s=[run["least_s"] for run in runs],
            notes=list(self._notes(by_run, runs)),
        )

    def run(self, plan: Plan, index: int, control: Control) -> Mapping[str, pl.DataFrame]:
        """Makes one run."""
        if not self._found:
            self.prepare(plan)
        return when_ready(lambda lead_times: self._run(plan, index, control, lead_times))

    def _run(
        self, plan: Plan, index: int, control: Control, lead_times: float
    ) -> Mapping[str, pl.DataFrame]:
        hosts = self._planned(plan, index)
        machines = self._machines(plan, index)
        by_number = {host["number"]: machines[host["name"]] for host in hosts["hosts"]}
        with (
            run_folder() as folder,
            Shells(self.inventory) as shells,
            installed(shells, agent(), by_number) as there,
        ):
            agents = Agents(hosts, folder, there, lead_times)
            patience_s = max(self.patience_least_s, PATIENCE_TIMES * hosts["least_s"])
            wall_s = time.perf_counter()
            told = agents.run(lambda: control.cancelled, patience_s)
            wall_s = time.perf_counter() - wall_s
            clocks = {
                host["name"]: there.clocks[by_number[host["number"]].name]
                for host in hosts["hosts"]
            }
        result = plan.tables_of_hosts_elsewhere(index, told, self._elsewhere(machines))
        kernels = sorted({self._found[machine.name].release for machine in machines.values()})
        found = tables.of(result, wall_s, ", ".join(kernels), agents.not_set)
        found["clocks"] = pl.DataFrame(
            {
                "host": list(clocks),
                "ahead_ms": [clock.ahead_ns / 1e6 for clock in clocks.values()],
                "within_ms": [clock.within_ns / 1e6 for clock in clocks.values()],
            }
        )
        return found

    def _machines(self, plan: Plan, index: int) -> dict[str, Machine]:
        return self.inventory.for_hosts(plan.working_hosts(index))

    def _planned(self, plan: Plan, index: int) -> RealHosts:
        elsewhere = self._elsewhere(self._machines(plan, index))
        try:
            planned: RealHosts = json.loads(plan.hosts_elsewhere(index, elsewhere))
        except InputError as error:
            raise InputError(f"backend hosts cannot make this scenario: {error}") from None
        for host in planned["hosts"]:
            host["config"]["keep_sysctls"] = self.inventory.keep_sysctls
        return planned

    def _elsewhere(self, machines: Mapping[str, Machine]) -> str:
        """As crates/sim/src/external/addresses.rs reads it."""
        hosts = {
            name: {
                "address": machine.address,
                "interface": self._found[machine.name].interface,
                "kernel": self._found[machine.name].kernel,
            }
            for name, machine in machines.items()
        }
        return json.dumps({"hosts": hosts, "first_port": self.inventory.first_port})

    def _check_ports(self, last: int) -> None:
        first = self.inventory.first_port
        for about in self._found.values():
            least, most = about.own_ports
            # Ports become the plan's, the first LEAST_PORT, and the lower of a connection's two is
            # that of who listens: those just below the first would be lower still.
            if last < least or most < first - LEAST_PORT:
                continue
            below, above = least - (last - first) - 1, most + LEAST_PORT + 1
            room = [f"at most {below}"] if below >= LEAST_PORT else []
            room += [f"at least {above}"] if above + last - first < PORTS else []
            remedy = (
                f"give a first_port of {' or '.join(room)}"
                if room
                else "make that range smaller there"
            )
            raise InputError(
                f"{self.inventory.path}: agents would listen on ports {first} to {last}, and "
                f"{about.machine.name}'s kernel gives those from {least} to {most} to whoever "
                f"connects (net.ipv4.ip_local_port_range), which may not be among them or "
                f"{LEAST_PORT} below: {remedy}"
            )

    def _notes(self, by_run: list[dict[str, Machine]], runs: list[RealHosts]) -> Iterator[str]:
        machines = {name: machine for run in by_run for name, machine in run.items()}
        for name, machine in machines.items():
            about = self._found[machine.name]
            yield f"{name} is {machine.name}: {about.said()}"
        asked = {
            (host["name"], host["config"]["interface"]["mtu_bytes"])
            for run in runs
            for host in run["hosts"]
        }
        for name, mtu_bytes in sorted(asked):
            about = self._found[machines[name].name]
            if mtu_bytes != about.mtu_bytes:
                yield (
                    f"not applied: host {name}: an MTU of {mtu_bytes} bytes; {about.interface} of "
                    f"{about.machine.name} has {about.mtu_bytes}"
                )
