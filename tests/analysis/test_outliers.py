"""Requests that took far longer than all others are told of."""

from pathlib import Path

import tailback
from tailback.analysis.findings import key_findings
from tailback.analysis.outliers import outliers_said
from tailback.analysis.rates import short_of_requests
from tailback.analysis.view import View

SCENARIO = """
name = "asking"
host = "plain"
stack = "linux-7.2"
[network]
topology = "star"
switch = "plain"
hosts = 2
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
[workload]
kind = "request-response"
pairs = { kind = "listed", list = [["host1", "host0"]] }
duration = "1s"
[sweep]
loss = [0.0, 0.0005]
"""


def test_what_a_timeout_does_to_the_mean(tmp_path: Path) -> None:
    path = tmp_path / "asking.toml"
    path.write_text(SCENARIO)
    view = View(tailback.run(tailback.load(path), out=tmp_path / "out"))
    (said,) = outliers_said(view)
    assert said.startswith("A few requests took far longer than all others (loss 0.0005): ")
    clean = View(tailback.run(tailback.load(path).set("sweep.loss", [0.0]), out=tmp_path / "clean"))
    assert outliers_said(clean) == []


def test_long_waits_of_requests_that_do_not_wait_are_not_few(tmp_path: Path) -> None:
    path = tmp_path / "asking.toml"
    path.write_text(SCENARIO)
    rare = tailback.load(path).set("workload.every", "300ms").set("workload.duration", "300s")
    view = View(tailback.run(rare.set("sweep.loss", [0.002]), out=tmp_path / "out"))
    (said,) = outliers_said(view)
    assert said.endswith("is theirs.")
    assert view.points.get_column("requests_due").to_list() == [1000]


def test_requests_that_were_not_answered_in_time(tmp_path: Path) -> None:
    path = tmp_path / "asking.toml"
    path.write_text(SCENARIO)
    # 100 kB take 0.8 ms of the line.
    asked = {"workload.response": "100kB", "sweep": {"every": ["2ms", "500us"]}}
    scenario = tailback.load(path)
    for key, value in asked.items():
        scenario = scenario.set(key, value)
    view = View(tailback.run(scenario, out=tmp_path / "out"))
    found = short_of_requests(view)
    assert found is not None
    assert (found.asked, found.late, found.points) == (2000, 1, 2)
    assert 1000 < found.done < 1250
    assert "500us" in found.place
    said = key_findings(view)[0]
    assert said.startswith("Answered were 1,"), said
    assert "of the 2,000 requests that were due" in said
