"""A backend whose predictions are closed forms of the scenario, and a table of its own making."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

import tailback
from tailback._native import Control, Plan

SHARED = "preset.switch.arista-7124s.buffer.shared"
LATENCY = "preset.switch.arista-7124s.latency"

SMALL = ["sweep.servers=[2, 4, 8]", 'sweep.switch=["arista-7124s"]', "workload.iterations=1"]

Law = Callable[[float, float, int], tuple[float, float]]
"""Shared memory in KB, latency in ns, servers -> completion time in ms, drops."""


def smooth(shared_kb: float, latency_ns: float, servers: int) -> tuple[float, float]:
    """Less memory costs time and frames; latency costs time only."""
    lack = 1500 - shared_kb
    return servers * (10 + lack / 50) + latency_ns / 100, servers * lack / 10


@dataclass
class Synthetic:
    """Applies a law instead of simulating."""

    law: Law = smooth
    made: list[tuple[float, float, int, int]] = field(default_factory=list)
    interrupt_at: int | None = None
    """Number of the run at which the user presses Ctrl-C."""
    fail_at: int | None = None
    name: str = "synthetic"

    def run(self, plan: Plan, index: int, _control: Control) -> Mapping[str, pl.DataFrame]:
        if len(self.made) == self.interrupt_at:
            raise KeyboardInterrupt
        if len(self.made) == self.fail_at:
            raise tailback.SimulationError("bytes are missing")
        resolved = json.loads(plan.scenario_json)
        switch = resolved["preset"]["switch"]["arista-7124s"]
        shared_kb = _number(switch["buffer"]["shared"], {"KB": 1, "MB": 1000, "B": 1e-3})
        latency_ns = _number(switch["latency"], {"ns": 1, "us": 1000, "ps": 1e-3})
        servers = dict(plan.runs[index]["parameters"])["servers"]
        self.made.append((shared_kb, latency_ns, servers, resolved["run"]["seed"]))
        completion_ms, drops = self.law(shared_kb, latency_ns, servers)
        return {
            "summary": pl.DataFrame(
                {"completion_ms_mean": [completion_ms], "switch_drops_mean": [drops]}
            )
        }


def _number(text: str, units: Mapping[str, float]) -> float:
    unit = text.lstrip("0123456789.")
    return float(text.removesuffix(unit)) * units[unit]


def scenario() -> tailback.Scenario:
    """Three runs on one switch."""
    return tailback.load("incast-8mb").override(*SMALL)


def write_table(path: Path, shared_kb: float, latency_ns: float, law: Law = smooth) -> str:
    """A CSV with what the law gives for the true values; gives its name."""
    rows: list[dict[str, Any]] = []
    for servers in (2, 4, 8):
        completion_ms, drops = law(shared_kb, latency_ns, servers)
        rows.append(
            {
                "switch": "arista-7124s",
                "servers": servers,
                "completion_ms_mean": completion_ms,
                "switch_drops_mean": drops,
            }
        )
    pl.DataFrame(rows).write_csv(path)
    return str(path)
