"""Runs of Flent's tests as files that Flent opens: `.flent.gz`.

Flent's data format, version 4 (flent/resultset.py of Flent 2.3): a gzipped JSON object with
`version`, `metadata`, `x_values` (seconds since the test began), `results` (a value or null for
each of these, by series) and `raw_values` (what was measured, with its time since 1970). Series
have the names that the test's own definition gives them, and those that it computes from others are
computed here as there.
"""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from tailback.analysis.settings import workload_of
from tailback.analysis.times import seconds
from tailback.errors import InputError
from tailback.export import files
from tailback.results import Results

FORMAT_VERSION = 4
FLENT_VERSION = "2.3.0"
"""The Flent whose tests' series these are."""
_MBITS = 1000.0
_Series = dict[str, list[float | None]]
_Made = Mapping[str, tuple[str, Callable[[list[float]], float]]]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


_COMPUTED: Mapping[str, _Made] = {
    "rrul": {
        "TCP upload avg": ("TCP upload ", _mean),
        "TCP upload sum": ("TCP upload ", sum),
        "TCP download avg": ("TCP download ", _mean),
        "TCP download sum": ("TCP download ", sum),
        "TCP totals": ("TCP ", sum),
        "Ping (ms) avg": ("Ping (ms) ", _mean),
    }
}
"""Series that a test computes: of which others, and how."""


def export_flent(results: Results, folder: str | Path) -> list[Path]:
    """Write a file for each run and client into `folder`; return them.

    Args:
        results: a run folder of a scenario with workload `flent`.
        folder: made if it is not there; files of the same names are replaced.

    Raises:
        InputError: the scenario runs no test of Flent's.
    """
    workload = results.manifest["scenario"]["workload"]
    if workload.get("kind") != "flent":
        raise InputError(
            f"{results.path}: is of {results.name}, which runs no test of Flent's; "
            'Flent opens runs with workload = { kind = "flent", … }'
        )
    written = []
    tables = {name: results.table(name) for name in ("intervals", "pings", "flows")}
    for row in results.summary.iter_rows(named=True):
        run = {name: table.filter(run=row["run"]) for name, table in tables.items()}
        test = _Test.of(results, row)
        for client in sorted(run["pings"]["sender"].unique().to_list()):
            own = {name: table.filter(sender=client) for name, table in run.items()}
            content = json.dumps(test.content(client, own), separators=(",", ":"))
            # Without a time in the header the same run gives the same file.
            packed = gzip.compress(content.encode(), mtime=0)
            written.append(files.write(Path(folder) / test.file_name(client), packed))
    return written


class _Test:
    """One run's test: what is the same for all its clients."""

    def __init__(self, name: str, row: Mapping[str, Any], results: Results) -> None:
        self.name = name
        self.row = row
        self.results = results
        self.label = files.label(results, row)
        self.length_s = 0.0
        self.delay_s = 0.0
        self.step_s = 0.0
        began = datetime.fromisoformat(results.manifest["started"])
        self.began = began.astimezone(UTC)

    @classmethod
    def of(cls, results: Results, row: Mapping[str, Any]) -> "_Test":
        values = workload_of(results, row)
        test = cls(str(values["test"]), row, results)
        test.length_s, test.delay_s, test.step_s = (
            seconds(str(values[key])) for key in ("length", "delay", "step_size")
        )
        return test

    def file_name(self, client: int) -> str:
        return f"{self.name}.{self.label}.client{client}.flent.gz"

    def content(self, client: int, tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
        total_s = self.length_s + 2 * self.delay_s
        steps = round(total_s / self.step_s)
        x_values = [round(i * self.step_s, 9) for i in range(steps)]
        raw: dict[str, list[dict[str, float]]] = {}
        results: _Series = {}
        measured = (
            ("intervals", "bandwidth_gbps", _MBITS),
            ("pings", "rtt_ms", 1.0),
        )
        for table, column, factor in measured:
            for (series,), rows in tables[table].group_by("series", maintain_order=True):
                pairs = rows.select("time_s", pl.col(column) * factor).rows()
                points = list(self._within(str(series), pairs))
                start = self.began.timestamp()
                raw[str(series)] = [{"t": start + at, "val": value} for at, value in points]
                results[str(series)] = self._on_grid(points, steps)
        for series, (of, how) in _COMPUTED.get(self.name, {}).items():
            parts = [values for name, values in results.items() if _is_part(name, of)]
            results[series] = _combined(parts, how)
        return {
            "version": FORMAT_VERSION,
            "metadata": self._metadata(client, total_s, _ends(tables["flows"])),
            "x_values": x_values,
            "results": results,
            "raw_values": raw,
        }

    def _within(
        self, series: str, pairs: Sequence[tuple[float, float]]
    ) -> Iterator[tuple[float, float]]:
        """What was measured while it was: bandwidth under load only."""
        last_s = self.delay_s + self.length_s + self.step_s / 2
        for at, value in pairs:
            if series.startswith("Ping") or self.delay_s < at <= last_s:
                yield at, value

    def _on_grid(self, points: Sequence[tuple[float, float]], steps: int) -> list[float | None]:
        """The last value of each step, null for none."""
        values: list[float | None] = [None] * steps
        for at, value in points:
            # A hair of slack: a step's own end belongs to the step that begins there.
            step = int(at / self.step_s + 1e-6)
            if step < steps:
                values[step] = value
        return values

    def _metadata(self, client: int, total_s: float, ends: tuple[str, str]) -> dict[str, Any]:
        local, server = ends
        manifest = self.results.manifest
        time = self.began.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        words = ", ".join(f"{p} {self.row[p]}" for p in self.results.parameters)
        return {
            "NAME": self.name,
            "TITLE": f"{words}, client {client}" if words else f"client {client}",
            "NOTE": f"tailback {manifest['versions']['tailback']}, {manifest['name']}, "
            f"seed {manifest['seed']}: {self.row.get('switch_drops', 0)} drops at switches",
            "TIME": time,
            "T0": time,
            "HOST": server,
            "HOSTS": [server],
            "LOCAL_HOST": local,
            "LENGTH": self.length_s,
            "TOTAL_LENGTH": total_s,
            "STEP_SIZE": self.step_s,
            "TEST_PARAMETERS": {},
            "FLENT_VERSION": FLENT_VERSION,
            "IP_VERSION": 4,
            "BATCH_NAME": None,
            "BATCH_TIME": None,
            "BATCH_TITLE": None,
            "BATCH_UUID": None,
            "DATA_FILENAME": self.file_name(client),
            "SERIES_META": {},
        }


def _ends(flows: pl.DataFrame) -> tuple[str, str]:
    """Client and server, by their names."""
    one = flows.row(0, named=True)
    ends = (one["source"], one["destination"])
    return ends if one["series"].startswith("TCP upload") else (ends[1], ends[0])


def _is_part(name: str, of: str) -> bool:
    return name.startswith(of) and not name.endswith((" avg", " sum", " totals"))


def _combined(
    parts: Sequence[list[float | None]], how: Callable[[list[float]], float]
) -> list[float | None]:
    """Step by step what is made of the values there are; null where there are none."""
    made: list[float | None] = []
    for values in zip(*parts, strict=True):
        known = [value for value in values if value is not None]
        made.append(how(known) if known else None)
    return made
