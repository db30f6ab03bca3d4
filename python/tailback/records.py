"""Shapes of the dicts that the native module gives."""

from typing import Any, TypedDict

CAPTURE = "capture"
"""The table under which a backend hands over a capture: one row, its bytes in column `pcapng`."""


class PlannedRun(TypedDict):
    """One run of a plan."""

    index: int
    parameters: list[tuple[str, Any]]
    """The sweep's values in this run, first axis first: column name and value."""
    repetition: int
    seed: int
    iterations: int
    """Iterations (transactions) that the run will make."""
    whole: str | None
    """Why it takes one thread, whatever it is offered; `None` if it can be cut into parts."""
    work: float
    """Estimate of the run's cost, in bytes to be carried: for order and progress only."""


class BuiltIn(TypedDict):
    """A scenario that comes with Tailback."""

    name: str
    path: str
    text: str


class KernelHost(TypedDict):
    """A host that is to be a real kernel."""

    host: str
    """Its name."""
    version: str | None
    """Version or its beginning; None: the default kernel's."""
    hz: int | None
    """Ticks a second; None: the default kernel's."""
    programs: list[str]
    """What it runs beside the agent."""
