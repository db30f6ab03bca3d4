"""Instructions a hop takes, case by case: counted, not timed, so that any machine can check them.

A case is run for two lengths under valgrind; the difference of the counts over the difference of
the hops is what a hop costs, free of what reading the scenario costs. Of TCP alone, without a
network, it is what a segment costs. tests/test_instructions.py
holds the counts against benches/instructions.json; `make bench-record` writes that file anew.
Counts depend on the compiler, so the file says which.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench import ALONE, EXAMPLES, build

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "benches" / "instructions.json"

LENGTHS = {
    "incast-1500": ("workload.size=1MB", "workload.size=2MB"),
    "incast-9000": ("workload.size=2MB", "workload.size=6MB"),
    "dctcp-2to1-25g": ("workload.duration=5ms", "workload.duration=15ms"),
    "dctcp-gro-2to1-25g": ("workload.duration=5ms", "workload.duration=15ms"),
    "fat-tree-8": ("workload.duration=2ms", "workload.duration=6ms"),
}
"""The case, and the two lengths of it: some 10^5 hops apart, 10^6 in a large network.

That takes milliseconds to be what it stays.
"""

ALONE_LENGTHS = (100_000, 300_000)
"""The two lengths of two endpoints' conversation, segments."""


def compiler() -> str:
    """The compiler that builds the simulator."""
    done = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def count(*command: str) -> tuple[int, dict[str, Any]]:
    """Instructions of a whole run of a program, and the figures that it prints."""
    done = subprocess.run(
        [
            *("valgrind", "--tool=cachegrind", "--cache-sim=no"),
            *("--cachegrind-out-file=/dev/null", *command),
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    instructions = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if instructions is None:
        message = f"valgrind printed no count: {done.stderr}"
        raise RuntimeError(message)
    return int(instructions[1].replace(",", "")), json.loads(done.stdout)


def each(what: str, short: list[str], long: list[str]) -> float:
    """Instructions that each hop, or segment, costs, from a short and a long run."""
    (few, fewer), (many, more) = count(*short), count(*long)
    return round((many - few) / (more[what] - fewer[what]), 1)


def per_hop(name: str) -> float:
    """Instructions that a hop of a case costs."""
    command = [str(EXAMPLES / "case"), str(ROOT / "benches" / "cases" / f"{name}.toml")]
    short, long = ([*command, length] for length in LENGTHS[name])
    return each("hops", short, long)


def per_segment(name: str) -> float:
    """Instructions that a segment costs two endpoints without a network."""
    ends = next(e for e in ALONE if e.name == name)
    short, long = (
        [str(EXAMPLES / "endpoints"), ends.profile, str(segments), str(ends.loss_every)]
        for segments in ALONE_LENGTHS
    )
    return each("segments", short, long)


def main() -> None:
    """Count all cases and write the record."""
    build()
    record = {
        "compiler": compiler(),
        "instructions_per_hop": {name: per_hop(name) for name in LENGTHS},
        "instructions_per_segment": {e.name: per_segment(e.name) for e in ALONE},
    }
    RECORD.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(RECORD.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
