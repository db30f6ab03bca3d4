"""What means hide: slowdowns, queues and round trips as distributions."""

from pathlib import Path

import polars as pl
import pytest

import tailback
from synthetic import sweep_folder
from tailback.analysis.distribution import SHARE, ecdf
from tailback.analysis.spreads import SPREADS
from tailback.analysis.view import View
from tailback.errors import InputError
from tailback.report.page.contents import contents
from tailback.results import Results

FLOWS = """
name = "flows"
title = "Flows at one port"
stack = "linux-7.2"
host = "plain"
[network]
topology = "star"
hosts = 3
switch = "plain"
link = { rate = "10Gbit", delay = "5us", mtu = "1500B" }
[workload]
kind = "flows"
sizes = { kind = "fixed", bytes = "200kB" }
load = 0.6
duration = "2ms"
[record]
sample_interval = "20us"
[sweep]
tcp_congestion_control = ["cubic", "reno"]
"""

ASKED = """
[workload]
kind = "request-response"
pairs = { kind = "to-first" }
response_sizes = { kind = "web-search" }
duration = "20ms"
[record]
requests = true
[sweep]
tcp_congestion_control = ["cubic", "reno"]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two short runs with samples."""
    out = tmp_path_factory.mktemp("flows")
    return tailback.run(tailback.Scenario(FLOWS), out=out / "r")


def _share(results: Results, of: str, control: str, at_most: float) -> float:
    """What the drawn steps say."""
    spread = SPREADS[of]
    steps = ecdf(View(results), spread).filter(tcp_congestion_control=control)
    assert steps[spread.column].is_sorted()
    assert steps[SHARE].is_sorted()
    assert (steps[SHARE].min(), steps[SHARE].max()) == (0.0, 1.0)
    return float(steps.filter(pl.col(spread.column) <= at_most)[SHARE].max() or 0.0)


@pytest.mark.parametrize("control", ["cubic", "reno"])
def test_steps_are_what_the_tables_have(results: Results, control: str) -> None:
    flows = results.table("flows").filter(tcp_congestion_control=control)
    median = float(flows["slowdown"].quantile(0.5, "higher") or 0.0)
    expected = float((flows["slowdown"] <= median).mean() or 0.0)
    assert _share(results, "slowdown", control, median) == pytest.approx(expected, abs=0.01)

    queues = results.table("queue_samples").filter(tcp_congestion_control=control)
    fullest = queues.sort("queue_bytes", descending=True)["place"][0]
    there = queues.filter(place=fullest)["queue_bytes"]
    assert there.max() > 50_000
    expected = float((there <= 50_000).mean() or 0.0)
    assert _share(results, "queue", control, 50.0) == pytest.approx(expected, abs=0.01)

    samples = results.table("samples").filter(tcp_congestion_control=control)
    # Sources alone: the others send nothing but acknowledgements.
    sending = samples.filter(pl.col("rtt_us") > 0, pl.col("bytes_sent") > 0)["rtt_us"]
    median = float(sending.median() or 0.0)
    expected = float((sending <= median).mean() or 0.0)
    assert _share(results, "round-trips", control, median / 1e3) == pytest.approx(
        expected, abs=0.01
    )


def test_the_report_and_the_notebook_have_them(results: Results) -> None:
    (section,) = [s for s in contents(View(results)).sections if s.key == "distribution"]
    keys = [figure.key for figure in section.figures]
    assert keys == ["ecdf-slowdown", "ecdf-queue", "ecdf-round-trips"]
    assert "Share of the time" in str(results.plot.ecdf("queue").to_dict()["title"])
    with pytest.raises(
        InputError, match=r"of = 'delay'.*one of completion, slowdown, latency, queue"
    ):
        results.plot.ecdf("delay")


def test_requests_told_one_by_one_have_their_distribution(tmp_path: Path) -> None:
    text = FLOWS.split("[workload]", maxsplit=1)[0] + ASKED
    asked = tailback.run(tailback.Scenario(text), out=tmp_path / "r")
    told = asked.table("requests").filter(tcp_congestion_control="cubic")["latency_us"]
    median = float(told.median() or 0.0)
    share = _share(asked, "latency", "cubic", median)
    assert share == pytest.approx(float((told <= median).mean() or 0.0), abs=0.01)
    assert "answered" in str(asked.plot.ecdf("latency").to_dict()["title"])
    classes = asked.table("slowdowns")
    chart = asked.plot.slowdowns().to_dict()
    assert "Slowdown by size of message" in str(chart["title"])
    assert classes["requests"].sum() == asked.table("requests").height


def test_runs_without_them_have_none(tmp_path: Path) -> None:
    results = Results(sweep_folder(tmp_path / "r", {"servers": [1, 2]}))
    for of, spread in SPREADS.items():
        assert ecdf(View(results), spread).is_empty()
        with pytest.raises(InputError):
            results.plot.ecdf(of)
