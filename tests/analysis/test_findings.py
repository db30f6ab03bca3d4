"""First sentences of a report where values are missing, alike, or not numbers."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tailback
from helpers import OWN
from synthetic import sweep_folder
from tailback.analysis import View
from tailback.analysis.findings import headline, key_findings
from tailback.analysis.noted import noted
from tailback.cli.summary import print_summary
from tailback.report.page.contents import contents
from tailback.results import Results

METRIC = "completion_ms_mean"


def with_values(folder: Path, values: list[float | None]) -> View:
    file = folder / "summary.parquet"
    column = pl.Series(METRIC, values, dtype=pl.Float64)
    pl.read_parquet(file).with_columns(column).write_parquet(file)
    return View(Results(folder))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([29.5, None], "29.5 ms at loss 0.0, none at loss 1.0"),
        ([None, 7.0], "7 ms at loss 1.0, none at loss 0.0"),
        ([1.0, 2.0], "1 ms at loss 0.0, 2 ms at loss 1.0"),
        ([1.0, None, None, 4.0], "1 ms at loss 0.0, 4 ms at loss 3.0, none at loss 1.0 and 2.0"),
        ([3.0, *[None] * 4], "3 ms at loss 0.0, none at 4 other values"),
        ([940.0, 940.2], "940 ms, all within 1 %"),
        ([940.0, None, 940.2], "940 ms, all within 1 %, none at loss 1.0"),
        ([940.0, 300.0, 941.0], "from 300 ms (loss 1.0) to 941 ms (loss 2.0)"),
    ],
)
def test_what_has_no_value_is_said_to_have_none(
    tmp_path: Path, values: list[float | None], said: str
) -> None:
    folder = sweep_folder(tmp_path / "r", {"loss": [float(i) for i in range(len(values))]})
    assert headline(with_values(folder, values), METRIC) == f"Completion time: {said}."


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([0.0, 83.0, 0.0], "from 0 ms (none and QCN) to 83 ms (PAUSE)"),
        ([5.0, 1.0, 5.0], "from 1 ms (PAUSE) to 5 ms (none and QCN)"),
    ],
)
def test_all_that_have_the_least_or_the_greatest_are_named(
    tmp_path: Path, values: list[float | None], said: str
) -> None:
    folder = sweep_folder(tmp_path / "r", {"management": ["none", "PAUSE", "QCN"]})
    found = headline(with_values(folder, values), METRIC)
    assert found.replace("management none", "none") == f"Completion time: {said}."


@pytest.mark.parametrize(
    ("controls", "everyone"), [(["cubic", "reno"], "both"), (["cubic", "reno", "yeah"], "all")]
)
def test_none_is_ahead_of_equals(tmp_path: Path, controls: list[str], everyone: str) -> None:
    folder = sweep_folder(tmp_path / "r", {"delay": ["1us", "1ms"], "tcp": controls})
    view = with_values(folder, [1.0] * len(controls) + [0.0] * len(controls))
    assert view.axes.x is not None
    assert view.axes.x.name == "delay"
    found = headline(view, "timeouts_mean")
    assert found == "Retransmission timeouts: none in any run."
    # Zero at the end and something before.
    said = headline(view, METRIC)
    assert said == f"Completion time at delay 1ms: 0 ms with {everyone}."


@pytest.mark.parametrize(
    ("at_the_end", "said"),
    [
        ([7.691, 7.694], "7.69 ms with both, within 1 %"),
        ([7.691, 7.68, 7.694], "7.69 ms with all, within 1 %"),
        ([7.691, None, 7.694], "7.69 ms with a and with c, within 1 %"),
        ([7.6, 7.694], "7.6 ms with a against 7.69 with b"),
        ([7.6, 8.0, 7.601], "7.6 ms with a and 1 other to 8 with b"),
    ],
)
def test_none_is_ahead_within_one_per_cent(
    tmp_path: Path, at_the_end: list[float | None], said: str
) -> None:
    controls = ["a", "b", "c"][: len(at_the_end)]
    folder = sweep_folder(tmp_path / "r", {"delay": ["1us", "1ms"], "tcp": controls})
    view = with_values(folder, [1.0] * len(controls) + at_the_end)
    assert headline(view, METRIC) == f"Completion time at delay 1ms: {said}."


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ([9.0, 7.69], "; at delay 1us 7.69 with b against 9 with a"),
        ([0.0, 5.0], "; at delay 1us 0 with a against 5 with b"),
        ([7.69, 7.7], ""),
        ([7.5, 7.8], ""),  # hardly
        ([None, 9.0], ""),
        ([0.0, 0.0], ""),
    ],
)
def test_curves_that_end_alike_are_told_apart_where_they_are_furthest_apart(
    tmp_path: Path, before: list[float | None], said: str
) -> None:
    delays = ["1us", "10us", "1ms"]
    folder = sweep_folder(tmp_path / "r", {"delay": delays, "tcp": ["a", "b"]})
    view = with_values(folder, [*before, 7.5, 7.6, 7.691, 7.694])
    found = headline(view, METRIC)
    assert found == f"Completion time at delay 1ms: 7.69 ms with both, within 1 %{said}."


def test_both_figures_of_a_headline_are_in_its_unit(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "r", {"delay": ["1us", "1ms"], "tcp": ["a", "b", "c"]})
    file = folder / "summary.parquet"
    queues = pl.Series("queue_bytes_max", [1_000.0] * 3 + [1_228_000.0, 2_687_300.0, 2_687_364.0])
    pl.read_parquet(file).with_columns(queues).write_parquet(file)
    assert headline(View(Results(folder)), "queue_bytes_max") == (
        "Longest queue at delay 1ms: 1,228 kB with a to 2,687 with c and 1 other."
    )


def test_a_switch_is_named_with_its_value_as_scenarios_write_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sweep_folder(tmp_path / "r", {"host.gro": [True, False], "striped": [True, False]})
    view = View(Results(folder))
    page = contents(view)
    assert page.findings[0].startswith("A transaction takes up to 30 % longer with striped false ")
    assert "than with striped true (host.gro true)" in page.findings[0]
    print_summary(view.results)
    told = capsys.readouterr().out + str(page.findings) + str(page.facts) + str(page.sections[-1])
    assert "true" in told
    assert "│ false" in told
    assert "text='true'" in told
    assert not {"True", "False"} & set(str([page.findings, page.facts]).replace(",", " ").split())
    assert "text='True'" not in told
    assert "│ False" not in told


@pytest.mark.parametrize(
    ("workload", "said"),
    [
        (
            {"kind": "flows", "load": 0.01, "sizes": {"kind": "fixed", "bytes": "100MB"}},
            "No flow began in the run: its duration is short for such a load.",
        ),
        (
            {"kind": "request-response", "pairs": {"kind": "to-first"}, "response": "10MB"},
            "No request was answered in the run.",
        ),
        ({"kind": "bulk", "pairs": {"kind": "to-first"}}, "Nothing was received in the run."),
    ],
)
def test_where_nothing_came_it_is_said(tmp_path: Path, workload: dict[str, Any], said: str) -> None:
    is_bulk = workload["kind"] == "bulk"
    timed = {"duration": "10us", "start_within": "0s"} if is_bulk else {"duration": "1ms"}
    scenario = tailback.Scenario(OWN | {"workload": workload | timed})
    view = View(tailback.run(scenario, out=tmp_path / "r"))
    assert key_findings(view) == [said]
    assert noted(view) == [said], "and so it is by tailback run"
    assert contents(view).findings == [said]


def test_what_goodput_costs_in_round_trips_is_said_where_samples_tell(tmp_path: Path) -> None:
    bulk = {"kind": "bulk", "pairs": {"kind": "to-first"}, "duration": "20ms"}
    axis = "workload.pair_window"
    scenario = tailback.Scenario(OWN | {"workload": bulk, "sweep": {axis: ["32KB", "512KB"]}})
    plain = key_findings(View(tailback.run(scenario, out=tmp_path / "plain")))
    assert not [said for said in plain if "Round trip" in said]
    results = tailback.run(scenario.set("record.sample_interval", "100us"), out=tmp_path / "r")
    looks = results.table("samples").filter(pl.col("rtt_us") > 0, pl.col("bytes_sent") > 0)
    medians = looks.group_by("pair_window", maintain_order=True).agg(pl.col("rtt_us").median())
    assert medians["pair_window"].to_list() == ["32KB", "512KB"]
    small, large = medians["rtt_us"] / 1e3
    assert large > 1.5 * small
    assert key_findings(View(results)) == [
        *plain,
        f"Round trip, median: {small:.3g} ms at pair_window 32KB, {large:.3g} ms at pair_window "
        "512KB.",
    ]
