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
