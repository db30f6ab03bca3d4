"""Columns that a sweep's labels name, whatever tables and charts call theirs."""

from pathlib import Path

import pytest

import tailback
from synthetic import sweep_folder
from tailback.cli.summary import print_summary
from tailback.report import write_report
from tailback.results import Results

_SCENARIO = """name = "labels"
host = "plain"
[network]
topology = "star"
hosts = 3
switch = "plain"
link = { rate = "1Gbit", delay = "5us", mtu = "1500B" }
[workload]
kind = "incast"
servers = 2
size = "20kB"
iterations = 2
[sweep]
x = [{ label = { LABEL = "u" }, set = {} }, { label = { LABEL = "v" }, set = {} }]
"""


@pytest.mark.parametrize(
    "label",
    [
        *("group", "colour", "dash", "share", "rank", "count", "q50", "least", "transactions"),
        *("repetitions", "beside", "hops", "cpu_s", "iterations", "round", "switch", "frames"),
    ],
)
def test_a_label_may_be_called_what_charts_call_theirs(
    tmp_path: Path, label: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tailback.Scenario(_SCENARIO.replace("LABEL", label))
    results = tailback.run(scenario, out=tmp_path / "r", jobs=1)
    page = write_report(results).read_text(encoding="utf-8")
    assert "of 2 transactions" in page
    assert f"{label} u, v" in page
    print_summary(results)
    assert capsys.readouterr().out


@pytest.mark.parametrize("label", ["completion_ms_mean", "goodput_mbps_mean", "completion_ms"])
def test_a_label_is_not_called_what_results_are_called(label: str) -> None:
    (problem,) = tailback.Scenario(_SCENARIO.replace("LABEL", label)).check()
    assert f'the results have a column "{label}"' in problem["reason"]


def test_names_that_vega_would_read_as_its_own_are_drawn(tmp_path: Path) -> None:
    axes = {"a: b": ["x", "y"], '"q"': ["u", "v"], "it's [0].n": [1, 2, 3]}
    results = Results(sweep_folder(tmp_path / "r", axes))
    results.plot.completion().save(tmp_path / "c.svg")
    drawn = (tmp_path / "c.svg").read_text()
    assert "it's [0].n" in drawn
    assert "undefined" not in drawn
    assert "NaN" not in drawn
