"""Hosts whose kernel was short of memory for TCP, by its counters."""

from types import SimpleNamespace
from typing import cast

import polars as pl

from tailback.analysis.memory import PRESSURE, memory_said
from tailback.analysis.view import View


def view(backend: str, counts: dict[str, int] | None) -> View:
    hosts = list(counts or {})
    counters = pl.DataFrame(
        {"host": hosts, "counter": [PRESSURE] * len(hosts), "value": [*(counts or {}).values()]}
    )
    results = SimpleNamespace(manifest={"backend": backend})
    frame = pl.DataFrame() if counts is None else counters
    return cast("View", SimpleNamespace(optional=lambda _: frame, results=results))


def test_who_was_short_is_named_with_the_remedy() -> None:
    assert memory_said(view("sim", None)) == []
    assert memory_said(view("kernel", {"a": 0})) == []
    (said,) = memory_said(view("kernel", {"b": 2, "a": 1, "c": 0}))
    assert said.startswith("TCP of a, b was short of memory")
    assert "kernel.memory" in said
    (said,) = memory_said(view("hosts", dict.fromkeys("edcba", 3)))
    assert said.startswith("TCP of a, b, c and 2 more was short")
    assert "of these machines" in said
