"""Speed of the simulator: each case in a process of its own, several times.

Prints a table and writes target/bench.json: case → figures, units in their names. With `--ns3` the
cases that ns-3 can do run on both, side by side, and the ratio is printed (target/bench-ns3.json);
with `--guided` all run by the plain build and by that of `make guided` (target/bench-guided.json).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

import guided
from tailback.cli import console
from tailback.results.machine import machine

ROOT = Path(__file__).parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
CASES = ROOT / "benches" / "cases"
SCENARIOS = ROOT / "scenarios" / "incast"
EXAMPLES = TARGET / "release" / "examples"
NS3 = ROOT / "target" / "ns3-cases"
NS3_LIBRARIES = ("applications", "traffic-control", "point-to-point", "internet", "network", "core")
ROUNDS = 5
"""Rounds of each case, in turn with all others: the machine's moods hit all cases alike."""


@dataclass(frozen=True)
class Endpoints:
    """Two ends of TCP alone, without a network between them."""

    name: str
    profile: str
    loss_every: int
    """Of the data segments this one, twice this one, … is lost; 0: none."""


ALONE = [
    Endpoints("tcp-alone", "linux-7.2", 0),
    Endpoints("tcp-alone-loss", "linux-7.2", 1000),
    Endpoints("tcp-alone-2.6.18", "linux-2.6.18", 0),
]
SEGMENTS = 3_000_000
"""Segments that such a pair exchanges."""


@dataclass(frozen=True)
class Case:
    """A scenario file, of whose runs the first is measured, with values replaced."""

    name: str
    file: Path
    overrides: tuple[str, ...] = ()
    ns3_seconds: float | None = None
    """Simulated seconds of the comparison with ns-3; `None`: not compared."""


def case(name: str, ns3_seconds: float | None = None, *overrides: str) -> Case:
    """Return the case of that name among the benchmark's own scenarios."""
    return Case(name, CASES / f"{name}.toml", overrides, ns3_seconds)


def study(kind: str, switch: str, servers: int) -> Case:
    """Return a case of the incast study."""
    values = (
        f'sweep.switch=["{switch}"]',
        f"sweep.servers=[{servers}]",
        "workload.iterations=100",
    )
    return Case(f"incast-8mb-{kind}-{servers}", SCENARIOS / "incast-8mb.toml", values)


ALL = [
    case("incast-1500", 10),
    case("incast-9000", 10),
    case("dctcp-2to1-25g", 0.05),
    case("dctcp-gro-2to1-25g"),
    case("stars-100", 0.001),
    case("stars-1000"),
    case("long-fat", 3.0),
    case("fat-tree-8"),
    case("fat-tree-16"),
    study("shared", "arista-7124s", 23),
    study("voq", "cisco-nexus-5010", 23),
]

TOGETHER = [c for c in ALL if c.name == "fat-tree-16"]
"""Cases that are measured on two threads too."""
THREADS = 2
NS3_LIMIT_S = 300
"""Most time for a case on ns-3."""


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="names of cases; none: all")
    parser.add_argument("--ns3", action="store_true", help="compare with ns-3")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument(
        "--guided", action="store_true", help="compare with what `make guided` built"
    )
    arguments = parser.parse_args()
    chosen = [c for c in ALL if not arguments.cases or c.name in arguments.cases]
    alone = [e for e in ALONE if not arguments.cases or e.name in arguments.cases]
    build()
    if arguments.ns3:
        compare([c for c in chosen if c.ns3_seconds is not None], arguments.rounds)
    elif arguments.guided:
        compare_guided(chosen, arguments.rounds)
    else:
        figures = measure(chosen, arguments.rounds) if chosen else {}
        figures |= measure_alone(alone, arguments.rounds) if alone else {}
        figures |= measure_together([c for c in chosen if c in TOGETHER], arguments.rounds)
        write("bench.json", figures)


def build() -> None:
    """Build the programs that run one case."""
    command = ["cargo", "build", "--release", "--locked", "--quiet"]
    for package, example in (("tailback-sim", "case"), ("tailback-tcp", "endpoints")):
        subprocess.run([*command, "-p", package, "--example", example], cwd=ROOT, check=True)


def run(one: Case, *more: str, program: Path = EXAMPLES / "case") -> dict[str, Any]:
    """Run a case once: its figures."""
    return figures_of(program, str(one.file), *one.overrides, *more)


def run_alone(one: Endpoints) -> dict[str, Any]:
    """Run two endpoints once: their figures."""
    return figures_of(EXAMPLES / "endpoints", one.profile, str(SEGMENTS), str(one.loss_every))


def figures_of(*command: str | Path) -> dict[str, Any]:
    """Run a program that prints its figures as a line of JSON."""
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def measure(cases: list[Case], rounds: int) -> dict[str, dict[str, float]]:
    """Measure cases, print them, return their figures."""
    taken: dict[str, list[dict[str, Any]]] = {c.name: [] for c in cases}
    for _ in range(rounds):
        for one in cases:
            taken[one.name].append(run(one))
    table = new_table()
    for heading in ("hops/CPU s", "least", "most", "hops", "CPU s per simulated s", "memory"):
        table.add_column(heading, justify="right")
    figures: dict[str, dict[str, float]] = {}
    for name, runs in taken.items():
        speeds = sorted(r["hops_per_cpu_s"] for r in runs)
        cpu_s = statistics.median(r["cpu_s"] for r in runs)
        figures[name] = {
            "hops_per_cpu_s": statistics.median(speeds),
            "hops_per_cpu_s_min": speeds[0],
            "hops_per_cpu_s_max": speeds[-1],
            "hops": runs[0]["hops"],
            "events": runs[0]["events"],
            "cpu_s": cpu_s,
            "cpu_s_per_simulated_s": cpu_s / runs[0]["simulated_s"],
            "memory_bytes": max(r["memory_bytes"] for r in runs),
        }
        row = figures[name]
        table.add_row(
            name,
            *(f"{row[key] / 1e6:.2f} M" for key in list(row)[:3]),
            f"{row['hops']:,}",
            f"{row['cpu_s_per_simulated_s']:.3f}",
            f"{row['memory_bytes'] / 1e6:.1f} MB",
        )
    console.print_table(table)
    return figures


def measure_alone(ends: list[Endpoints], rounds: int) -> dict[str, dict[str, float]]:
    """Measure TCP alone, print it, return its figures."""
    table = new_table()
    for heading in ("segments/CPU s", "least", "most", "segments", "bytes a connection"):
        table.add_column(heading, justify="right")
    taken = [[run_alone(one) for one in ends] for _ in range(rounds)]
    figures: dict[str, dict[str, float]] = {}
    for one, runs in zip(ends, zip(*taken, strict=True), strict=True):
        speeds = sorted(r["segments_per_cpu_s"] for r in runs)
        figures[one.name] = row = {
            "segments_per_cpu_s": statistics.median(speeds),
            "segments_per_cpu_s_min": speeds[0],
            "segments_per_cpu_s_max": speeds[-1],
            "segments": runs[0]["segments"],
            "cpu_s": statistics.median(r["cpu_s"] for r in runs),
            "connection_bytes": runs[0]["connection_bytes"],
        }
        table.add_row(
            one.name,
            *(f"{row[key] / 1e6:.2f} M" for key in list(row)[:3]),
            f"{row['segments']:,}",
            f"{row['connection_bytes']:,}",
        )
    console.print_table(table)
    return figures


def measure_together(cases: list[Case], rounds: int) -> dict[str, dict[str, float]]:
    """Measure cases on one thread and on two, in turn, by the clock on the wall."""
    figures: dict[str, dict[str, float]] = {}
    table = new_table(f"{THREADS} threads")
    for heading in ("s on one thread", f"s on {THREADS}", "times as fast", "least", "most"):
        table.add_column(heading, justify="right")
    for one in cases:
        pairs = [(run(one), run(one, f"--threads={THREADS}")) for _ in range(rounds)]
        if len({r["trajectory"] for pair in pairs for r in pair}) != 1:
            message = f"{one.name}: the course depends on the number of threads"
            raise RuntimeError(message)
        walls = [statistics.median(pair[side]["wall_s"] for pair in pairs) for side in (0, 1)]
        times = sorted(alone["wall_s"] / both["wall_s"] for alone, both in pairs)
        name = f"{one.name}-on-{THREADS}-threads"
        figures[name] = {
            "wall_s_one_thread": walls[0],
            "wall_s": walls[1],
            "times_as_fast": statistics.median(times),
            "times_as_fast_min": times[0],
            "times_as_fast_max": times[-1],
        }
        table.add_row(name, *(f"{figure:.2f}" for figure in figures[name].values()))
    if cases:
        console.print_table(table)
    return figures


def compare(cases: list[Case], rounds: int) -> None:
    """Run cases here and on ns-3, in turn, and write the ratios."""
    build_ns3()
    table = new_table()
    for heading in ("ns-3 hops/CPU s", "Tailback hops/CPU s", "ratio", "hops of each"):
        table.add_column(heading, justify="right")
    figures: dict[str, dict[str, float]] = {}
    for one in cases:
        duration = f"workload.duration={one.ns3_seconds}s"
        theirs, ours = [], []
        for _ in range(rounds):
            if (done := run_ns3(one)) is None:
                break
            theirs.append(done)
            ours.append(run(one, duration))
        here = ours or [run(one, duration) for _ in range(rounds)]
        mine = statistics.median(each["hops_per_cpu_s"] for each in here)
        figures[one.name] = {"hops_per_cpu_s": mine}
        if not theirs:
            late = f"not done in {NS3_LIMIT_S} s"
            table.add_row(one.name, late, f"{mine / 1e6:.2f} M", "", f"/ {here[0]['hops']:,}")
            continue
        other = statistics.median(each["hops_per_cpu_s"] for each in theirs)
        figures[one.name] |= {"ns3_hops_per_cpu_s": other, "ratio": mine / other}
        table.add_row(
            one.name,
            f"{other / 1e6:.3f} M",
            f"{mine / 1e6:.2f} M",
            f"{mine / other:.0f}",
            f"{theirs[0]['hops']:,} / {here[0]['hops']:,}",
        )
    console.print_table(table)
    write("bench-ns3.json", figures)


def compare_guided(cases: list[Case], rounds: int) -> None:
    """Run cases by the plain program and the guided one, in turn, and write the ratios."""
    if not guided.case().exists():
        console.err.print(f"bench: {guided.case()} is not there: `make guided` builds it")
        sys.exit(2)
    table = new_table()
    for heading in ("hops/CPU s, plain", "guided", "times as fast", "least", "most"):
        table.add_column(heading, justify="right")
    figures: dict[str, dict[str, float]] = {}
    for one in cases:
        pairs = [(run(one), run(one, program=guided.case())) for _ in range(rounds)]
        if len({r["trajectory"] for pair in pairs for r in pair}) != 1:
            message = f"{one.name}: the guided program takes another course"
            raise RuntimeError(message)
        plain, fed = (
            statistics.median(p[side]["hops_per_cpu_s"] for p in pairs) for side in (0, 1)
        )
        times = sorted(a["cpu_s"] / b["cpu_s"] for a, b in pairs)
        figures[one.name] = {
            "hops_per_cpu_s": plain,
            "guided_hops_per_cpu_s": fed,
            "times_as_fast": statistics.median(times),
            "times_as_fast_min": times[0],
            "times_as_fast_max": times[-1],
        }
        row = list(figures[one.name].values())
        table.add_row(
            one.name, *(f"{x / 1e6:.2f} M" for x in row[:2]), *(f"{x:.2f}" for x in row[2:])
        )
    console.print_table(table)
    write("bench-guided.json", figures)


def build_ns3() -> None:
    """Build our program against the distribution's ns-3."""
    source = ROOT / "benches" / "ns3" / "cases.cc"
    NS3.parent.mkdir(exist_ok=True)
    libraries = [f"-lns3-{name}" for name in NS3_LIBRARIES]
    subprocess.run(
        ["g++", "-O2", "-std=c++17", "-o", str(NS3), str(source), *libraries],
        cwd=ROOT,
        check=True,
    )


def run_ns3(one: Case) -> dict[str, Any] | None:
    """Run a case once on ns-3: its figures, or none if it takes too long."""
    command = [str(NS3), f"--case={one.name}", f"--seconds={one.ns3_seconds}"]
    try:
        done = subprocess.run(
            command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=NS3_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return None
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def new_table(threads: str = "one thread") -> Table:
    """Return a table of cases that says on what machine."""
    return Table("case", title=f"{machine()['cpu']}, {threads}", title_justify="left")


def write(name: str, figures: dict[str, dict[str, float]]) -> None:
    """Write figures under target/."""
    output = ROOT / "target" / name
    output.parent.mkdir(exist_ok=True)
    output.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    console.out.out(f"Written: {output.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
