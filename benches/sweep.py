"""How much faster a sweep is on two cores than on one: its parallel efficiency.

The incast study's sweep over servers and switches, 100 iterations a run, with one job and with two
in turn, by the clock on the wall; results are written as always. Prints a table and writes
target/bench-sweep.json.
"""

import json
import statistics
import tempfile
import time
from pathlib import Path

from rich.table import Table

import tailback
from tailback.cli import console
from tailback.results.machine import machine

OUTPUT = Path("target/bench-sweep.json")
ROUNDS = 3
JOBS = 2


def main() -> None:
    """Measure, print, write."""
    scenario = tailback.load("incast-8mb").set("workload.iterations", 100)
    pairs = [(seconds(scenario, 1), seconds(scenario, JOBS)) for _ in range(ROUNDS)]
    shares = sorted(100 * alone / (JOBS * both) for alone, both in pairs)
    figures = {
        "jobs": JOBS,
        "wall_s_one_job": statistics.median(alone for alone, _ in pairs),
        "wall_s": statistics.median(both for _, both in pairs),
        "efficiency_percent": statistics.median(shares),
        "efficiency_percent_min": shares[0],
        "efficiency_percent_max": shares[-1],
    }
    table = Table("sweep", title=machine()["cpu"], title_justify="left")
    for heading in ("s with one job", f"s with {JOBS}", "parallel efficiency", "least", "most"):
        table.add_column(heading, justify="right")
    table.add_row(
        "incast-8mb, 46 runs",
        *(f"{figures[key]:.2f}" for key in ("wall_s_one_job", "wall_s")),
        *(f"{share:.1f} %" for share in (figures["efficiency_percent"], shares[0], shares[-1])),
    )
    console.print_table(table)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps({"incast-8mb-sweep": figures}, indent=2) + "\n", encoding="utf-8")
    console.out.out(f"Written: {OUTPUT}")


def seconds(scenario: tailback.Scenario, jobs: int) -> float:
    """Return how long the sweep takes with so many jobs."""
    with tempfile.TemporaryDirectory() as folder:
        before = time.perf_counter()
        tailback.run(scenario, out=Path(folder) / "results", jobs=jobs)
        return time.perf_counter() - before


if __name__ == "__main__":
    main()
