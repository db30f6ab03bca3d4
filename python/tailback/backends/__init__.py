"""What can run a planned run; each backend gives the same tables."""

from collections.abc import Mapping
from typing import Protocol

import polars as pl

from tailback._native import Control, Plan
from tailback.backends.kernel import KernelHosts
from tailback.backends.sim import Simulator
from tailback.errors import InputError


class Backend(Protocol):
    """One way to make a run. Called from several threads at once."""

    @property
    def name(self) -> str:
        """As the command line's `--backend` names it."""

    def run(self, plan: Plan, index: int, control: Control) -> Mapping[str, pl.DataFrame]:
        """Makes one run; raises `SimulationError` if it fails, `Interrupted` if cancelled."""


BACKENDS: dict[str, Backend] = {"sim": Simulator(), "kernel": KernelHosts()}


def backend_named(name: str) -> Backend:
    """The backend of this name; raises `InputError` with the names there are."""
    if name not in BACKENDS:
        raise InputError(f"no backend '{name}'; there are {', '.join(BACKENDS)}")
    return BACKENDS[name]
