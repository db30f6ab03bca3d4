"""Speed of the simulator: each case is run alone, several times, and the fastest counts.

Prints a table and writes target/bench.json: case → figures, units in their names.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

import tailback
from tailback._native import Control
from tailback.backends.sim import Simulator
from tailback.cli import console
from tailback.results.machine import machine

OUTPUT = Path("target/bench.json")
ROUNDS = 3
"""Rounds of each case; other programs can only slow a round down, so the fastest counts."""


@dataclass(frozen=True)
class Case:
    """A built-in scenario with values replaced; every run of its sweep is measured."""

    name: str
    scenario: str
    overrides: dict[str, Any] = field(default_factory=dict)


CASES = [
    Case(
        f"incast-8mb-{servers}-servers",
        "incast-8mb",
        {"sweep.servers": [servers], "workload.iterations": 100},
    )
    for servers in (9, 23)
]


def main() -> None:
    """Measure, print, write."""
    figures: dict[str, dict[str, float]] = {}
    table = Table("case", title=f"{machine()['cpu']}, one thread", title_justify="left")
    for heading in ("hops/CPU s", "hops", "events", "CPU s", "wall s", "simulated s/wall s"):
        table.add_column(heading, justify="right")
    for case in CASES:
        scenario = tailback.load(case.scenario)
        for path, value in case.overrides.items():
            scenario = scenario.set(path, value)
        for run in scenario.plan.runs:
            labels = [str(value) for name, value in run["parameters"] if name != "servers"]
            name = "/".join([case.name, *labels])
            figures[name] = measure(scenario, run["index"])
            table.add_row(name, *row(figures[name]))
    console.print_table(table)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    console.out.out(f"Written: {OUTPUT}")


def measure(scenario: tailback.Scenario, index: int) -> dict[str, float]:
    """The figures of one run, fastest of some rounds."""
    rounds = [Simulator().run(scenario.plan, index, Control()) for _ in range(ROUNDS)]
    best = min(rounds, key=lambda tables: float(tables["performance"]["cpu_s"].item()))
    figures: dict[str, float] = best["performance"].row(0, named=True)
    simulated_s = float(best["summary"]["duration_s_total"].item())
    figures["simulated_s"] = simulated_s
    figures["simulated_s_per_wall_s"] = simulated_s / figures["wall_s"]
    return figures


def row(figures: dict[str, float]) -> list[str]:
    """A case's figures as the table shows them."""
    return [
        f"{figures['hops_per_cpu_s'] / 1e6:.2f} M",
        f"{figures['hops']:,}",
        f"{figures['events']:,}",
        f"{figures['cpu_s']:.2f}",
        f"{figures['wall_s']:.2f}",
        f"{figures['simulated_s_per_wall_s']:.1f}",
    ]


if __name__ == "__main__":
    main()
