"""What a view says of its runs as a whole."""

from pathlib import Path

import tailback
from tailback.analysis import View
from tailback.analysis.places import ROWS_MAX, losses, places
from tailback.scenario import load


def test_one_transaction_is_not_a_time_that_was_told(tmp_path: Path) -> None:
    scenario = load("incast-8mb").set("workload.iterations", 1).set("sweep.servers", [2])
    view = View(tailback.run(scenario, out=tmp_path / "incast"))
    assert not view.timed


def test_runs_of_a_duration_are_timed_and_those_of_a_size_are_not(tmp_path: Path) -> None:
    scenario = load("node-pairs").set("sweep", {}).set("workload.duration", "20ms")
    sized = scenario.set("workload.size", "1MB")
    assert View(tailback.run(scenario, out=tmp_path / "told")).timed
    assert not View(tailback.run(sized, out=tmp_path / "sized")).timed
    cases = [{"label": "small", "set": {"workload.size": "1MB"}}]
    by_case = scenario.set("sweep", {"flows": cases})
    assert not View(tailback.run(by_case, out=tmp_path / "case")).timed
    arrivals = load("l2-congestion").set("sweep", {}).set("workload.duration", "2ms")
    assert View(tailback.run(arrivals, out=tmp_path / "arrivals")).timed


def test_a_picture_leaves_runs_out_and_the_losses_do_not(tmp_path: Path) -> None:
    scenario = (
        load("incast-8mb")
        .set("workload.iterations", 1)
        .set("sweep.servers", list(range(4, 24)))
        .set("sweep.mtu", ["9000B", "4000B", "1500B"])
    )
    view = View(tailback.run(scenario, out=tmp_path / "incast"))
    every, shown = losses(view), places(view)
    assert every is not None
    assert shown is not None
    assert len(shown.runs) == ROWS_MAX < every.get_column("run").n_unique()
    assert shown.left_out == every.get_column("run").n_unique() - ROWS_MAX


def test_repetitions_are_one_row_of_the_picture(tmp_path: Path) -> None:
    scenario = (
        load("incast-8mb")
        .set("workload.iterations", 1)
        .set("sweep.servers", [9])
        .set("run.repetitions", 2)
    )
    view = View(tailback.run(scenario, out=tmp_path / "incast"))
    every, shown = losses(view), places(view)
    assert every is not None
    assert shown is not None
    assert shown.runs == ["arista-7124s", "cisco-nexus-5010"]
    assert 2 * shown.rows["frames"].sum() == every["frames"].sum()
