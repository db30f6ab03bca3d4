"""Distributions, anatomies, crossings, excess time, totals."""

from pathlib import Path

import polars as pl
import pytest

from synthetic import incast_folder, sweep_folder
from tailback.analysis import View
from tailback.analysis.anatomy import anatomies, per_switch, spans, spread, without_level
from tailback.analysis.curves import pair
from tailback.analysis.distribution import GREATEST, LEAST, QUANTILES, SHARE, ecdf, quantiles
from tailback.analysis.excess import with_excess
from tailback.analysis.findings import headline, key_findings
from tailback.analysis.totals import totals
from tailback.analysis.view import GROUP
from tailback.results import Results

ARISTA, NEXUS = "arista-7124s", "cisco-nexus-5010"


@pytest.fixture
def view(tmp_path: Path) -> View:
    return View(Results(incast_folder(tmp_path / "r", servers=[1, 2, 3, 4, 8, 23])))


def test_a_wait_lasts_until_the_next_sample_that_does_not_wait() -> None:
    progress = pl.DataFrame(
        {
            "time_us": [0.0, 1.0, 2.0, 3.0, 0.0, 5.0],
            "flow": [0, 0, 0, 0, 1, 1],
            "waiting_for_timeout": [False, True, True, False, False, True],
        }
    )
    assert spans(progress).to_dicts() == [
        {"flow": 0, "start_us": 1.0, "end_us": 3.0},
        {"flow": 1, "start_us": 5.0, "end_us": 5.0},
    ]


def test_level_stretches_lose_their_inside_only() -> None:
    progress = pl.DataFrame({"flow": [0] * 6, "received_bytes": [0, 5, 5, 5, 5, 9]})
    assert without_level(progress)["received_bytes"].to_list() == [0, 5, 5, 9]


def test_spread_keeps_the_ends() -> None:
    assert spread(list(range(1, 24)), 3) == [1, 12, 23]
    assert spread([1, 2], 5) == [1, 2]
    assert spread([1, 2, 3], 1) == [3]


def test_anatomies_keep_to_their_budget(view: View) -> None:
    every = anatomies(view, rows_max=None)
    assert [one.x for one in every] == [1, 2, 3, 4, 8, 23] * 2
    assert len(anatomies(view, rows_max=1)) == 2
    last = every[5]
    assert last.title == "arista-7124s, servers 23"
    assert last.waits["flow"].n_unique() == 8


def test_an_ecdf_ends_at_all_and_is_short(view: View) -> None:
    steps = ecdf(view)
    ends = steps.group_by("switch", "servers").agg(pl.col(SHARE).max(), pl.len())
    assert ends[SHARE].to_list() == [1.0] * 12
    assert ends["len"].max() <= 133
    assert steps.group_by(GROUP, "servers").agg(pl.col(SHARE).min())[SHARE].sum() == 0
    assert (steps.group_by(GROUP, "servers").agg(pl.col(SHARE).is_sorted()))[SHARE].all()


def test_quantiles_are_in_order(view: View) -> None:
    rows = quantiles(view).select(LEAST, *QUANTILES.values(), GREATEST).rows()
    assert len(rows) == 12
    assert all(list(row) == sorted(row) for row in rows)


def test_curves_cross_where_the_study_says(view: View) -> None:
    assert view.published is not None
    curves = pair(view, view.published, "completion_ms_mean", ARISTA, NEXUS)
    assert curves.last == pytest.approx(2.349, abs=0.001)
    assert curves.ahead == [2, 3]
    assert curves.crossings == [(3, 4)]
    drops = pair(view, view.published, "switch_drops_mean", ARISTA, NEXUS)
    assert drops.last == pytest.approx(3.4, abs=0.01)


def test_excess_time_is_in_timeouts(view: View) -> None:
    assert view.published is not None
    excess = with_excess(view.published).filter(
        (pl.col("switch") == ARISTA) & pl.col("servers").is_in([2, 8, 23])
    )
    assert excess["excess_rto"].to_list() == pytest.approx([0.040, 0.936, 1.66], abs=0.006)


def test_findings_name_the_slower_switch_and_the_crossing(view: View) -> None:
    found = key_findings(view)
    assert found[0] == (
        "At 23 servers, a transaction takes 135 % longer with arista-7124s than with "
        "cisco-nexus-5010, and the switch drops 3.4 times the packets."
    )
    assert found[1] == "arista-7124s is ahead at 2 and 3 servers only."
    assert "least at 8 servers" in found[2]


def test_along_names_the_least_and_the_greatest_are_named(tmp_path: Path) -> None:
    axes = {"stack": ["new", "old"], "switch": ["a", "b"], "flows": ["one", "four"]}
    view = View(Results(sweep_folder(tmp_path / "many", axes)))
    said = headline(view, "completion_ms_mean")
    assert said == "Completion time: from 10 ms (new; a, one) to 31 ms (old; b, four)."
    view = View(Results(sweep_folder(tmp_path / "few", {"stack": ["new", "old"]})))
    assert (
        headline(view, "completion_ms_mean") == "Completion time: from 10 ms (new) to 13 ms (old)."
    )


def test_of_many_that_are_alike_none_is_named(tmp_path: Path) -> None:
    axes = {"stack": ["new", "old"], "switch": ["a", "b", "c"]}
    folder = sweep_folder(tmp_path / "some", axes)
    summary = pl.read_parquet(folder / "summary.parquet")
    drops = pl.Series([0.0] * 5 + [7.0])
    summary.with_columns(switch_drops_mean=drops).write_parquet(folder / "summary.parquet")
    said = headline(View(Results(folder)), "switch_drops_mean")
    wanted = "from 0 frames per transaction (in 5 cases) to 7 frames per transaction (c; old)."
    assert said == f"Drops at the switch: {wanted}"


def test_findings_of_one_run(tmp_path: Path) -> None:
    view = View(Results(sweep_folder(tmp_path / "one", {})))
    assert key_findings(view) == ["A transaction takes 10 ms in the mean, 95 % within 11 ms."]


def test_totals_close_each_curve_and_all(view: View) -> None:
    found = totals(view)
    assert list(found) == [ARISTA, NEXUS, "all runs"]
    assert found["all runs"].data_bytes == found[ARISTA].data_bytes + found[NEXUS].data_bytes
    assert found[ARISTA].data_bytes == (1 + 2 + 3 + 4 + 8 + 23) * 8_000_000 * 40


def test_the_queues_of_a_switch_are_added_up() -> None:
    queues = pl.DataFrame(
        {
            "time_us": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
            "place": ["sw:0", "sw:0", "sw:1", "sw:1", "edge:0", "edge:0"],
            "queue_bytes_min": [1, 2, 3, 4, 5, 6],
            "queue_bytes_max": [2, 3, 4, 5, 6, 7],
        }
    )
    assert per_switch(queues).rows() == [
        (0.0, "edge", 5, 6),
        (1.0, "edge", 6, 7),
        (0.0, "sw", 4, 6),
        (1.0, "sw", 6, 8),
    ]
