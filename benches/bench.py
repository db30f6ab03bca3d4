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
    """A built-in scenario with values replaced; all runs of its sweep count together."""

    name: str
    scenario: str
    overrides: dict[str, Any] = field(default_factory=dict)


SWITCHES = {"shared": "arista-7124s", "voq": "cisco-nexus-5010"}
"""Short names of the two kinds of switch buffer, for the names of cases."""

CASES = [
    Case("incast-8mb", "incast-8mb", {"workload.iterations": 50}),
    *(
        Case(
            f"incast-8mb-{kind}-{servers}",
            "incast-8mb",
            {
                "sweep.switch": [switch],
                "sweep.servers": [servers],
                "workload.iterations": 100,
            },
        )
        for servers in (9, 23)
        for kind, switch in SWITCHES.items()
    ),
]


def main() -> None:
    """Measure, print, write."""
    figures: dict[str, dict[str, float]] = {}
    table = Table("case", title=f"{machine()['cpu']}, one thread", title_justify="left")
    for heading in ("hops/CPU s", "hops", "events", "CPU s", "wall s", "simulated s/wall s"):
        table.add_column(heading, justify="right")
    for case in CASES:
        figures[case.name] = measure(case)
        table.add_row(case.name, *row(figures[case.name]))
    console.print_table(table)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    console.out.out(f"Written: {OUTPUT}")


def measure(case: Case) -> dict[str, float]:
    """The figures of all runs of a case together, each run the fastest of some rounds."""
    scenario = tailback.load(case.scenario)
    for path, value in case.overrides.items():
        scenario = scenario.set(path, value)
    names = ("hops", "events", "cpu_s", "wall_s")
    figures: dict[str, float] = dict.fromkeys((*names, "simulated_s"), 0)
    for run in scenario.plan.runs:
        rounds = [Simulator().run(scenario.plan, run["index"], Control()) for _ in range(ROUNDS)]
        best = min(rounds, key=lambda tables: float(tables["performance"]["cpu_s"].item()))
        for name in names:
            figures[name] += best["performance"][name].item()
        figures["simulated_s"] += float(best["summary"]["duration_s_total"].item())
    figures["hops_per_cpu_s"] = figures["hops"] / figures["cpu_s"]
    figures["simulated_s_per_wall_s"] = figures["simulated_s"] / figures["wall_s"]
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
