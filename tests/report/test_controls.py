"""Who got what: goodput by congestion control."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from synthetic import write_folder
from tailback.analysis import View
from tailback.analysis.controls import CONTROL, control_rates, farthest_apart
from tailback.analysis.findings import headline
from tailback.report import Plots
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.page.contents import contents
from tailback.results import Results


def folder(path: Path, parameters: list[str], bytes_of: dict[str, dict[str, list[int]]]) -> View:
    """A run for each queue, of two seconds; of each its flows' bytes by congestion control."""
    summary: list[dict[str, Any]] = []
    flows: list[dict[str, Any]] = []
    for run, (queue, by_control) in enumerate(bytes_of.items()):
        row = {"run": run, "repetition": 0} | ({"queue": queue} if parameters else {})
        totals = {"iterations": 1, "data_bytes_total": 1, "duration_s_total": 2.0}
        summary.append(row | totals | {"goodput_mbps_mean": 100.0})
        for control, sizes in by_control.items():
            flow = row | {"source": control, CONTROL: control}
            flows += [flow | {"received_bytes": size} for size in sizes]
    written = write_folder(
        path,
        name="own",
        title="Own",
        study=None,
        parameters=parameters,
        tables={"summary": summary, "flows": flows},
    )
    return View(Results(written))


MIXED = {
    "fifo": {"prague": [1_000_000], "cubic": [20_000_000, 10_000_000]},
    "dualpi2": {"prague": [12_000_000], "cubic": [13_000_000, 13_000_000]},
}


def test_each_control_has_the_mean_of_its_flows(tmp_path: Path) -> None:
    rates = control_rates(folder(tmp_path / "own", ["queue"], MIXED))
    found = {(q, c): (mbps, n) for q, _, c, mbps, n in rates.iter_rows()}
    assert found == {
        ("fifo", "prague"): (4.0, 1),
        ("fifo", "cubic"): (60.0, 2),
        ("dualpi2", "prague"): (48.0, 1),
        ("dualpi2", "cubic"): (52.0, 2),
    }


def test_flows_that_are_measured_for_a_while_have_their_bandwidth_in_it(tmp_path: Path) -> None:
    view = folder(tmp_path / "own", [], {"fifo": MIXED["fifo"]})
    flows = view.results.table("flows").drop("received_bytes")
    flows.with_columns(bandwidth_gbps=pl.Series([0.25, 0.5, 0.75])).write_parquet(
        view.results.path / "flows.parquet"
    )
    rates = control_rates(View(Results(view.results.path)))
    assert rates.select(CONTROL, "mbps").rows() == [("prague", 250.0), ("cubic", 625.0)]


def test_the_report_shows_who_got_what_behind_the_sum(tmp_path: Path) -> None:
    view = folder(tmp_path / "own", ["queue"], MIXED)
    main = contents(view, ["main"]).sections[0]
    assert [figure.key for figure in main.figures] == ["goodput_mbps_mean", "controls"]
    title = "Least alike at fifo: a flow of cubic gets 60 Mb/s, one of prague 4 Mb/s."
    assert main.figures[1].title == title
    assert "prague: from 4 to 48 Mb/s" in main.figures[1].description
    alone = folder(tmp_path / "alone", [], {"fifo": MIXED["fifo"]})
    shown = contents(alone, ["shown"]).sections[0]
    assert "controls" in [figure.key for figure in shown.figures]


def test_where_all_are_alike_no_least_and_greatest_is_named(tmp_path: Path) -> None:
    view = folder(tmp_path / "own", ["queue"], MIXED)
    assert headline(view, "goodput_mbps_mean") == "Goodput: 100 Mb/s, all within 1 %."


def test_thousands_of_mbps_are_said_as_such(tmp_path: Path) -> None:
    view = folder(tmp_path / "own", [], {"": {"bbr": [950_000_000], "cubic": [250_000_000]}})
    said = "A flow of bbr gets 3,800 Mb/s, one of cubic 1,000 Mb/s."
    assert farthest_apart(view) == said


def test_who_gets_as_much_is_not_the_least(tmp_path: Path) -> None:
    view = folder(tmp_path / "own", [], {"": {"bbr": [250_000_000], "cubic": [250_100_000]}})
    assert farthest_apart(view) == "A flow gets the same with each congestion control, within 1 %."


def test_where_all_have_one_control_there_is_nothing_to_tell_apart(tmp_path: Path) -> None:
    same = {"fifo": {"cubic": [1, 2]}, "pie": {"reno": [1, 2]}}
    view = folder(tmp_path / "own", ["queue"], same)
    assert control_rates(view).is_empty()
    with pytest.raises(NothingToDrawError, match="in no run senders differ"):
        Plots(view.results).controls()
    main = contents(view, ["main"]).sections[0]
    assert [figure.key for figure in main.figures] == ["goodput_mbps_mean"]
