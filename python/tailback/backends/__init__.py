"""What can run a planned run; each backend gives the same tables."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

import polars as pl

from tailback._native import Control, Plan
from tailback.backends.facts import Facts
from tailback.backends.hosts import Hosts
from tailback.backends.kernel import KernelHosts
from tailback.backends.namespaces import Namespaces
from tailback.backends.sim import Simulator
from tailback.errors import InputError


@runtime_checkable
class Backend(Protocol):
    """One way to make a run. Called from several threads at once."""

    @property
    def name(self) -> str:
        """As the command line's `--backend` names it."""

    def run(self, plan: Plan, index: int, control: Control) -> Mapping[str, pl.DataFrame]:
        """Makes one run; raises `SimulationError` if it fails, `Interrupted` if cancelled."""


@runtime_checkable
class Checks(Protocol):
    """A backend that knows of a plan what it cannot do."""

    def check(self, plan: Plan) -> Facts:
        """Raises `InputError` with what that is; gives what else it does not do, and makes runs all
        the same.
        """


@runtime_checkable
class Requires(Protocol):
    """A backend whose runs need something of the machine on which they are made."""

    def require(self, plan: Plan) -> None:
        """Raises `InputError` with what this machine lacks."""


@runtime_checkable
class RealTime(Protocol):
    """A backend whose runs take the time that they are about: one at a time."""

    def prepare(self, plan: Plan) -> Facts:
        """Raises `InputError` with what the plan asks for and cannot be had."""


BACKENDS: dict[str, Backend] = {
    "sim": Simulator(),
    "kernel": KernelHosts(),
    "namespaces": Namespaces(),
}


def backend_named(name: str, inventory: str | Path | None = None) -> Backend:
    """The backend of this name; raises `InputError` with the names there are.

    Args:
        name: as the command line has it.
        inventory: the machines of backend `hosts`; no other has one.
    """
    if name == Hosts.name:
        if inventory is None:
            raise InputError(
                "backend hosts needs an inventory, a file that says which machines the hosts are "
                "(--inventory FILE)"
            )
        return Hosts.of(inventory)
    if inventory is not None:
        raise InputError(f"an inventory is for backend {Hosts.name}, and this is {name}")
    if name not in BACKENDS:
        raise InputError(f"no backend {name!r}; there are {', '.join([*BACKENDS, Hosts.name])}")
    return BACKENDS[name]
