"""Runs a folder of packetdrill scripts against Tailback's TCP and prints a table.

python3 tools/packetdrill --packetdrill BINARY --built FOLDER SCRIPTS...
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import view
from run import VARIANTS, Result, Tools, run_all
from scripts import find


def table(results: list[Result]) -> str:
    """The table, its last line the totals."""
    width = max((len(result.script.name) for result in results), default=0)
    lines = [
        f"{result.status:<14}  {result.script.name:<{width}}  {result.reason}".rstrip()
        for result in results
    ]
    counts = [sum(result.status == status for result in results) for status in STATUSES]
    lines.append(", ".join(f"{count} {name}" for count, name in zip(counts, STATUSES, strict=True)))
    return "\n".join(lines)


STATUSES = ("passed", "failed", "not applicable")


def main(arguments: list[str]) -> int:
    """Runs; answers the exit status: 0 if none failed, 1 if any did, 2 for bad input."""
    parser = argparse.ArgumentParser(prog="packetdrill", description=__doc__.splitlines()[0])
    parser.add_argument("--packetdrill", type=Path, required=True, help="the packetdrill binary")
    parser.add_argument(
        "--built", type=Path, required=True, help="folder with what crates/packetdrill builds"
    )
    parser.add_argument("--ip-version", action="append", choices=VARIANTS, help="default: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "folders", metavar="SCRIPTS", type=Path, nargs="+", help="scripts, or folders of them"
    )
    chosen = parser.parse_args(arguments)
    library = chosen.built / "libtailback_packetdrill.so"
    writer = chosen.built / "packetdrill-view"
    for path in [chosen.packetdrill, library, writer, *chosen.folders]:
        if not path.exists():
            print(f"packetdrill: {path}: no such file or folder", file=sys.stderr)
            return 2
    binary = chosen.packetdrill
    if not binary.is_file() or not os.access(binary, os.X_OK):
        print(f"packetdrill: {binary}: not a program; name packetdrill's binary", file=sys.stderr)
        return 2
    try:
        tools = Tools(
            chosen.packetdrill.resolve(),
            library.resolve(),
            writer.resolve(),
            view.namespaces(),
        )
        scripts = [script for folder in chosen.folders for script in find(folder)]
        results = run_all(scripts, tuple(chosen.ip_version or VARIANTS), tools, chosen.jobs)
    except view.ViewError as error:
        print(f"packetdrill: {error}", file=sys.stderr)
        return 2
    print(table(results))
    return int(any(result.status == "failed" for result in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
