"""The values of a scenario that a run of its sweep had."""

from collections.abc import Mapping
from typing import Any

from tailback.analysis.words import written
from tailback.results import Results

_PREFIX = "workload."
"""Of the paths of a workload's values."""


def workload_of(results: Results, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the workload's values in the run of a row of `summary`, with those of the sweep."""
    scenario = results.manifest["scenario"]
    values = dict(scenario["workload"])
    for key, axis in (scenario.get("sweep") or {}).items():
        name = key.removeprefix(_PREFIX)
        cases = [value for value in axis if isinstance(value, dict) and "set" in value]
        for case in cases:
            says = case["label"]
            columns = says if isinstance(says, dict) else {key: says}
            if all(_is(row[column], value) for column, value in columns.items()):
                values |= {path.removeprefix(_PREFIX): v for path, v in case["set"].items()}
        # Of two axes whose last parts are the same the column has the full path.
        column = name if name in row else key
        if not cases and column in row:
            values[name] = row[column]
    return values


def _is(found: object, said: object) -> bool:
    """Whether a column has what a case says: as it is, or as text beside other cases' texts."""
    return found == said or written(found) == written(said)
