"""A fit on the simulator itself: the value behind a measured table is found again."""

from pathlib import Path

import tailback
from fit.laws import SHARED
from tailback.fit import fit


def test_finds_the_buffer_of_a_measured_run(tmp_path: Path) -> None:
    scenario = tailback.load("incast-8mb").override(
        'sweep.switch=["arista-7124s"]', "sweep.servers=[2]", "workload.iterations=3"
    )
    measured = tailback.run(scenario.override(f"{SHARED}=600KB"), out=tmp_path / "measured")
    found = fit(
        scenario,
        to=str(measured.path),
        params=[f"{SHARED}=400KB..800KB"],
        metrics="completion_ms_mean,switch_drops_mean,retransmissions_mean",
        budget=6,
    )
    # The same seed and the same value give the same run, to the bit.
    assert found.fitted[0].value == '"600KB"'
    assert found.score.error == 0
    assert found.before.error > 0
    assert found.score.by_metric.keys() == found.weights.keys()


def test_runs_that_have_no_value_are_as_far_off_as_zero(tmp_path: Path) -> None:
    link = {"rate": "1Gbit", "delay": "50us", "mtu": "1500B", "loss": 0.0}
    workload = {"kind": "request-response", "pairs": {"kind": "to-first"}, "duration": "20ms"}
    scenario = tailback.Scenario(
        {
            "name": "asking",
            "title": "Asking",
            "network": {"topology": "star", "hosts": 2, "switch": "plain", "link": link},
            "host": "plain",
            "workload": workload,
        }
    )
    measured = tailback.run(scenario, out=tmp_path / "measured")
    found = fit(
        scenario,
        to=str(measured.path),
        params=["network.link.loss=0.9..1.0"],
        metrics="latency_us_mean",
        budget=3,
        even_if_worse=True,
    )
    assert found.score.error == 1.0, "nobody is answered before the handshake is repeated"
    assert repr(found).startswith("<Fit network.link.loss = ")
    assert repr(found).endswith(": error 100.0 %, 0.0 % before>")
