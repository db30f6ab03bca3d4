"""The tables of a run that took real time."""

import io
from collections.abc import Mapping

import polars as pl

from tailback._native import RunResult


def of(
    result: RunResult, wall_s: float, kernel: str, not_set: Mapping[str, str]
) -> dict[str, pl.DataFrame]:
    """A run's tables, with what depends on the machine, and the sysctls of stack profiles that
    were not set, and why.
    """
    tables = {name: pl.read_ipc_stream(io.BytesIO(data)) for name, data in result.tables().items()}
    tables["performance"] = pl.DataFrame(
        {
            "hops": [result.hops],
            "wall_s": [wall_s],
            "hops_per_wall_s": [result.hops / wall_s],
            "kernel": [kernel],
        }
    )
    if not_set:
        names = sorted(not_set)
        tables["not_set"] = pl.DataFrame(
            {"sysctl": names, "reason": [not_set[name] for name in names]}
        )
    return tables
