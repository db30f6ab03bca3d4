"""Requests that took far longer than all others are told of."""

from pathlib import Path

import tailback
from tailback.analysis.outliers import outliers_said
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
