"""What exports of one file a run share: its workload, its name, its writing."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tailback.results import Results
from tailback.results.storage import explained, write_bytes

_PREFIX = "workload."
"""Of the paths of a workload's values."""


def label(results: Results, row: Mapping[str, Any]) -> str:
    """Return what tells a run from the others, as a part of a file's name."""
    parts = [f"{p}-{row[p]}" for p in [*results.parameters, "repetition"]]
    return re.sub(r"[^\w.+-]+", "_", "_".join(parts))


def workload(results: Results, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the workload's values in the run of a row of `summary`, with those of the sweep."""
    scenario = results.manifest["scenario"]
    values = dict(scenario["workload"])
    for key, axis in (scenario.get("sweep") or {}).items():
        name = key.removeprefix(_PREFIX)
        for case in axis:
            if isinstance(case, dict) and "set" in case:
                says = case["label"]
                columns = says if isinstance(says, dict) else {key: says}
                if all(str(row[column]) == str(value) for column, value in columns.items()):
                    values |= {path.removeprefix(_PREFIX): v for path, v in case["set"].items()}
            else:
                # Of two axes whose last parts are the same the column has the full path.
                column = name if name in row else key
                values[name] = row.get(column, values.get(name))
    return values


def write(path: Path, content: bytes) -> Path:
    """Write a file, and its folder if that is not there; return its path.

    Raises:
        InputError: it cannot be written.
    """
    with explained(path, "name a folder that can be written with -o"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)
    return path
