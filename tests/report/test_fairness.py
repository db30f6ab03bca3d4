"""Jain's index is shown where flows share unevenly."""

from pathlib import Path

import pytest

import tailback
from helpers import OWN
from tailback.analysis import View
from tailback.report.chosen import FAIRNESS, fairness
from tailback.report.page.contents import contents
from tailback.results import Results


def run(path: Path, rate: str, pairs: list[list[str]]) -> Results:
    """Pairs of hosts that have nothing to do with each other, one with links of `rate`."""
    link = {"rate": "1Gbit", "delay": "5us", "mtu": "1500B"}
    network = {
        "topology": "explicit",
        "host": [{"name": name} for name in "abcd"],
        "switch": [{"name": "s", "model": "plain"}],
        "link": [
            link | {"ends": [name, "s"]} | ({"rate": rate} if name in "ab" else {})
            for name in "abcd"
        ],
    }
    scenario = OWN | {
        "network": network,
        "workload": {
            "kind": "bulk",
            "pairs": {"kind": "listed", "list": pairs},
            "duration": "50ms",
        },
        "sweep": {"tcp_congestion_control": ["reno", "cubic"]},
    }
    return tailback.run(tailback.Scenario(scenario), out=path)


def keys(results: Results) -> list[str]:
    return [figure.key for one in contents(View(results)).sections for figure in one.figures]


BOTH = [["a", "b"], ["c", "d"]]


def test_what_is_uneven_is_drawn_and_stands_in_the_table(tmp_path: Path) -> None:
    results = run(tmp_path / "r", "4Gbit", BOTH)
    uneven = results.summary[FAIRNESS].to_list()
    assert uneven == pytest.approx([25 / 2 / 17] * 2, rel=0.01)
    assert fairness(View(results)) == [FAIRNESS]
    assert FAIRNESS in keys(results)
    page = contents(View(results))
    heads = [cell for one in page.sections for table in one.tables for cell in table.heads]
    assert "Jain's index of fairness" in [cell.text for cell in heads]


def test_what_is_even_is_not_drawn(tmp_path: Path) -> None:
    results = run(tmp_path / "r", "1Gbit", BOTH)
    assert results.summary[FAIRNESS].to_list() == pytest.approx([1.0] * 2, abs=1e-3)
    assert fairness(View(results)) == []
    assert FAIRNESS not in keys(results)


def test_one_flow_has_none(tmp_path: Path) -> None:
    results = run(tmp_path / "r", "1Gbit", BOTH[:1])
    assert FAIRNESS not in results.summary.columns
    assert fairness(View(results)) == []
