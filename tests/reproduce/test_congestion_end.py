"""Flows are compared as they were before their end, whichever side still saw them at it."""

from types import SimpleNamespace
from typing import cast

import polars as pl
import pytest

from tailback.reproduce.congestion import cells
from tailback.reproduce.congestion.observe import compare
from tailback.results import Results


def _results(looks: list[tuple[float, int]]) -> Results:
    """A run of one flow, looked at so: when, and bytes received by then."""
    rows = [
        {"run": 0, "host": host, "local": local, "peer": peer, "time_s": time_s}
        | {"bytes_received": got, "total_retrans": 0, "total_rto": 0}
        for time_s, got in looks
        for host, local, peer in (("receiver", "b:1025", "a:7"), ("sender", "a:7", "b:1025"))
    ]
    queue = [
        {"run": 0, "place": "switch:0", "time_s": time_s, "queue_bytes": 1518 * (time_s >= 0.4)}
        for time_s, _ in looks
    ]
    tables = {
        "samples": pl.DataFrame(rows),
        "summary": pl.DataFrame({"run": [0]}),
        "queue_samples": pl.DataFrame(queue),
    }
    return cast(Results, SimpleNamespace(tables=tables, table=tables.__getitem__))


def test_a_look_at_the_end_is_not_part_of_it() -> None:
    [cell] = [cell for cell in cells() if cell.name == "reno-1g-10ms-1bdp-1"]
    ended = _results([(0.2, 12_500_000), (0.399, 37_500_000)])
    seen = _results([(0.2, 12_500_000), (0.399, 37_500_000), (0.4, 37_625_000)])
    goodput, _, _, queue = compare(cell, ended, seen)
    assert queue.kernel == queue.model == [0.0]
    assert goodput.kernel == goodput.model == [pytest.approx(37.5 * 8 / 0.399)]
