"""Tailback: a laboratory for congestion in Ethernet networks.

    import tailback

    scenario = tailback.load("incast-8mb").set("sweep.servers", [2, 9, 23])
    results = tailback.run(scenario)
    results.summary            # a Polars frame: one row per run
    results.plot.completion()  # an Altair chart

Names are imported when first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tailback import fit
    from tailback.api import run
    from tailback.capture import read_capture
    from tailback.congestion_control import CongestionControl
    from tailback.errors import (
        InputError,
        Interrupted,
        Problem,
        RunsFailed,
        ScenarioError,
        SimulationError,
        TailbackError,
    )
    from tailback.queue_discipline import QueueDiscipline
    from tailback.results import Results
    from tailback.scenario import Scenario, built_in, load

__all__ = [
    "CongestionControl",
    "InputError",
    "Interrupted",
    "Problem",
    "QueueDiscipline",
    "Results",
    "RunsFailed",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "TailbackError",
    "built_in",
    "fit",
    "load",
    "read_capture",
    "run",
]

_HOME = {
    "CongestionControl": "tailback.congestion_control",
    "QueueDiscipline": "tailback.queue_discipline",
    "Results": "tailback.results",
    "Scenario": "tailback.scenario",
    "built_in": "tailback.scenario",
    "load": "tailback.scenario",
    "read_capture": "tailback.capture",
    "run": "tailback.api",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name == "__version__":
        return import_module("tailback._native").__version__
    if name not in __all__:
        raise AttributeError(f"module 'tailback' has no attribute '{name}'")
    if name == "fit":
        return import_module("tailback.fit")
    return getattr(import_module(_HOME.get(name, "tailback.errors")), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
