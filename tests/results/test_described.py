"""docs/guide/tables.md names every table, and every column of it, that can be written."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tailback
from helpers import OWN

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/guide/tables.md").read_text(encoding="utf-8")
RUNNING = (ROOT / "docs/guide/running.md").read_text(encoding="utf-8")
SOURCES = ROOT / "crates/sim/src"
PYTHON = ROOT / "python/tailback/backends"
ELSEWHERE = {"packets"}
"""Tables that are in no results folder."""


def sections() -> dict[str, str]:
    """Name of a table -> the part of the page on it."""
    found = {}
    for part in PAGE.split("\n## ")[1:]:
        head, text = part.split("\n", 1)
        names, _, _ = head.partition(":")
        found |= dict.fromkeys(names.split(", "), text)
    return found


def written() -> Iterator[tuple[str, str]]:
    """Tables and columns as the simulator's sources have them."""
    for path in sorted(SOURCES.rglob("*.rs")):
        if path.stem.endswith("_tests"):
            continue
        parts = re.split(r'Table::new\("(\w+)"\)', path.read_text(encoding="utf-8"))
        for table, text in zip(parts[1::2], parts[2::2], strict=True):
            for column in re.findall(r'\.(?:counts|measures|names|flags)\(\s*"(\w+)"', text):
                yield table, column
    samples = (SOURCES / "samples.rs").read_text(encoding="utf-8")
    for column in re.findall(r'\("(\w+)", (?:u64::from\()?(?:info|memory)\.', samples):
        yield "samples", column


def test_every_column_that_the_sources_name_is_described() -> None:
    page = sections()
    rows = [row for row in written() if row[0] not in ELSEWHERE]
    assert len({table for table, _ in rows}) > 20
    assert len(rows) > 250
    assert [row for row in rows if f"`{row[1]}`" not in page.get(row[0], "")] == []


def test_every_table_is_among_the_files() -> None:
    for table in sections():
        assert f"`{table}.parquet`" in RUNNING, table


@pytest.mark.parametrize(
    "workload",
    [
        {"kind": "incast", "servers": 3, "size": "10KB", "iterations": 2},
        {
            "kind": "udp",
            "pairs": {"kind": "to-first"},
            "rate": "500Mbit",
            "duration": "2ms",
            "socket_buffer": "1MB",
        },
        {"kind": "ping", "pairs": {"kind": "to-first"}, "count": 2},
        {"kind": "collective", "operation": "all-to-all", "size": "10KB", "iterations": 2},
        {"kind": "bulk", "pairs": {"kind": "to-first"}, "size": "20KB", "duration": "5ms"},
        {"kind": "request-response", "pairs": {"kind": "to-first"}, "duration": "2ms"},
        {
            "kind": "flows",
            "load": 0.2,
            "sizes": {"kind": "fixed", "bytes": "10KB"},
            "duration": "2ms",
            "queries": {"load": 0.1, "fan_in": 2, "size": "5KB"},
        },
        {"kind": "iperf3", "senders": 2, "measured": "all", "duration": "10ms"},
    ],
    ids=lambda workload: str(workload["kind"]),
)
def test_every_column_of_runs_is_described(tmp_path: Path, workload: dict[str, object]) -> None:
    more: dict[str, object] = {"workload": workload, "record": {"sample_interval": "1ms"}}
    results = tailback.run(tailback.Scenario(OWN | more), out=tmp_path / "r")
    page = sections()
    own = {"run", "repetition"}
    for table in results.tables:
        columns = set(results.table(table).columns) - own
        assert [c for c in sorted(columns) if f"`{c}`" not in page[table]] == [], table


def test_columns_of_python_are_described() -> None:
    page = sections()
    for path in PYTHON.glob("*.py"):
        for table, text in re.findall(
            r'\["(\w+)"\] = pl\.DataFrame\(\s*\{(.*?)\}\s*\)', path.read_text("utf-8"), re.DOTALL
        ):
            for column in re.findall(r'"(\w+)": ', text):
                assert f"`{column}`" in page[table], (table, column)
