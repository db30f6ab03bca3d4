"""Instructions a hop takes, case by case: counted, not timed, so that any machine can check them.

A case is run for two lengths under valgrind; the difference of the counts over the difference of
the hops is what a hop costs, free of what reading the scenario costs. tests/test_instructions.py
holds the counts against benches/instructions.json; `make bench-record` writes that file anew.
Counts depend on the compiler, so the file says which.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
RECORD = ROOT / "benches" / "instructions.json"
RUNNER = TARGET / "release" / "examples" / "case"

LENGTHS = {
    "incast-1500": ("workload.size=1MB", "workload.size=2MB"),
    "incast-9000": ("workload.size=2MB", "workload.size=6MB"),
    "dctcp-2to1-25g": ("workload.duration=5ms", "workload.duration=15ms"),
    "fat-tree-8": ("workload.duration=300us", "workload.duration=900us"),
}
"""The case, and the two lengths of it: some 10^5 hops apart."""


def compiler() -> str:
    """The compiler that builds the simulator."""
    done = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def build() -> None:
    """Build the program that runs one case."""
    command = ["cargo", "build", "--release", "--locked", "--quiet"]
    subprocess.run([*command, "-p", "tailback-sim", "--example", "case"], cwd=ROOT, check=True)


def count(name: str, length: str) -> tuple[int, int]:
    """Instructions and hops of a whole run of a case."""
    done = subprocess.run(
        [
            *("valgrind", "--tool=cachegrind", "--cache-sim=no"),
            *("--cachegrind-out-file=/dev/null", str(RUNNER)),
            *(str(ROOT / "benches" / "cases" / f"{name}.toml"), length),
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
    return int(instructions[1].replace(",", "")), json.loads(done.stdout)["hops"]


def per_hop(name: str) -> float:
    """Instructions that a hop of a case costs."""
    (few, few_hops), (many, many_hops) = (count(name, length) for length in LENGTHS[name])
    return round((many - few) / (many_hops - few_hops), 1)


def main() -> None:
    """Count all cases and write the record."""
    build()
    counts = {name: per_hop(name) for name in LENGTHS}
    record = {"compiler": compiler(), "instructions_per_hop": counts}
    RECORD.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(RECORD.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
