"""The L2 study's findings on runs of its own scenario."""

from pathlib import Path

import polars as pl
import pytest

import tailback
from tailback.results import Results

QEQ_BYTES = 26_176


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return tailback.run(tailback.load("l2-congestion"), out=tmp_path_factory.mktemp("l2") / "runs")


def value(runs: Results, management: str, column: str) -> float:
    rows = runs.summary.filter(management=management)
    return float(rows.get_column(column)[0])


@pytest.mark.parametrize("management", ["PAUSE", "ECM+PAUSE", "QCN+PAUSE"])
def test_with_pause_nothing_is_dropped(runs: Results, management: str) -> None:
    assert value(runs, management, "switch_drops_mean") == 0
    assert value(runs, management, "timeouts_mean") == 0


def test_frames_are_dropped_without_it(runs: Results) -> None:
    drops = {name: value(runs, name, "switch_drops_mean") for name in ("none", "ECM", "QCN")}
    assert drops["none"] > max(drops["ECM"], drops["QCN"]) > 0


def test_connections_time_out_only_where_frames_are_dropped(runs: Results) -> None:
    timed_out = runs.summary.filter(pl.col("timeouts_mean") > 0)
    assert (timed_out.get_column("switch_drops_mean") > 0).all()


@pytest.mark.parametrize("management", ["none", "ECM"])
def test_connections_time_out_without_management_and_with_ecm_alone(
    runs: Results, management: str
) -> None:
    assert value(runs, management, "timeouts_mean") > 0


@pytest.mark.parametrize("management", ["ECM+PAUSE", "QCN", "QCN+PAUSE"])
def test_managed_networks_carry_more(runs: Results, management: str) -> None:
    goodput = value(runs, management, "goodput_mbps_mean")
    assert goodput > value(runs, "none", "goodput_mbps_mean")


@pytest.mark.parametrize("management", ["QCN", "QCN+PAUSE"])
def test_qcns_queue_settles_near_its_set_point(runs: Results, management: str) -> None:
    looks = runs.table("network").filter(
        pl.col("management") == management, pl.col("time_ms").is_between(250, 400)
    )
    mean = float(str(looks.get_column("queue_bytes").mean()))
    assert QEQ_BYTES / 2 < mean < QEQ_BYTES * 2


def test_longer_links_run(tmp_path: Path) -> None:
    scenario = tailback.load("l2-congestion")
    far = tailback.run(
        scenario.override("network.link.delay=50us", "workload.duration=20ms"),
        out=tmp_path / "far",
    )
    assert far.summary.height == 6
    assert (far.summary.get_column("goodput_mbps_mean") > 0).all()


def test_flows_of_pareto_sizes_have_slowdowns(tmp_path: Path) -> None:
    flows = (
        'workload={ kind = "flows", load = 0.5, duration = "10ms", '
        'sizes = { kind = "pareto", least = "2KB", most = "10MB", shape = 1.2 } }'
    )
    scenario = tailback.load("l2-congestion").override(flows)
    slowdowns = tailback.run(scenario, out=tmp_path / "flows").table("slowdowns")
    assert slowdowns.get_column("run").n_unique() == 6
    assert (slowdowns.get_column("slowdown_median") >= 1).all()
