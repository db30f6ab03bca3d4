"""Comparisons of results with published tables and with each other."""

import io
import json
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from synthetic import incast_folder, sweep_folder
from tailback.analysis import View
from tailback.analysis.columns import COUNTS
from tailback.compare import compare
from tailback.compare.incast import incast_checks
from tailback.compare.model import MetricError
from tailback.compare.terminal import checks_table, print_comparison
from tailback.errors import InputError
from tailback.results import Results


def test_a_shift_of_all_metrics_is_found_in_each(tmp_path: Path) -> None:
    found = compare(incast_folder(tmp_path / "r", off=0.06), "published:incast-8MB")
    assert found.points == 46
    error = found.find("arista-7124s", "completion_ms_mean")
    assert error is not None
    assert error.mean_absolute_error == pytest.approx(0.06)
    assert error.bias == pytest.approx(0.06)
    drops = found.find("cisco-nexus-5010", "switch_drops_mean")
    assert drops is not None
    assert (drops.rows, drops.small_rows, drops.small_difference) == (22, 1, 0.0)


def test_counts_below_one_are_compared_by_difference() -> None:
    joined = pl.DataFrame(
        {
            "timeouts_mean": [0.5, 3.0],
            "timeouts_mean_reference": [0.1, 2.0],
        }
    )
    assert "timeouts_mean" in COUNTS
    error = MetricError.of("", "timeouts_mean", joined, None)
    assert (error.rows, error.mean_absolute_error, error.worst) == (1, 0.5, 0.5)
    assert error.small_difference == pytest.approx(0.4)


def test_bias_keeps_the_sign_that_the_mean_absolute_error_drops() -> None:
    joined = pl.DataFrame({"x": [1.1, 0.9], "x_reference": [1.0, 1.0]})
    error = MetricError.of("", "x", joined, None)
    assert error.mean_absolute_error == pytest.approx(0.1)
    assert error.bias == pytest.approx(0.0)


def test_a_metric_that_has_no_value_anywhere_is_not_compared(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "r", {"n": [1, 2]})
    summary = pl.read_parquet(folder / "summary.parquet")
    of_some = pl.Series([1.5, None], dtype=pl.Float64)
    of_none = pl.Series([None, None], dtype=pl.Float64)
    summary.with_columns(latency_us_mean=of_some, slowdown_mean=of_none).write_parquet(
        folder / "summary.parquet"
    )
    found = compare(folder, folder)
    assert found.find("", "slowdown_mean") is None
    assert "slowdown_mean" not in found.joined.columns
    error = found.find("", "latency_us_mean")
    assert error is not None
    assert (error.rows, error.mean_absolute_error) == (1, 0.0)


def test_results_equal_themselves(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "r", {"cc": ["reno", "bic"], "n": [1, 2]})
    found = compare(folder, str(folder))
    assert found.groups == ["reno", "bic"]
    assert {e.mean_absolute_error for e in found.errors} <= {0.0, None}
    assert (found.only_a, found.only_b) == (0, 0)


def test_points_that_one_side_lacks_are_counted(tmp_path: Path) -> None:
    folder = incast_folder(tmp_path / "r", servers=[2, 9])
    found = compare(folder, "published:incast-8MB")
    assert (found.points, found.only_a, found.only_b) == (4, 0, 42)


def test_sweeps_of_different_axes_are_refused(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "r", {"mtu": [1500, 9000], "switch": ["a", "b"]})
    with pytest.raises(InputError, match="varies mtu, which published:incast-8MB does not have"):
        compare(folder, "published:incast-8MB")


def test_no_common_point_is_an_error(tmp_path: Path) -> None:
    axes = {"switch": ["a", "b"], "servers": [1, 2]}
    with pytest.raises(InputError, match="no point in common"):
        compare(sweep_folder(tmp_path / "r", axes), "published:incast-8MB")


def test_single_runs_are_compared_as_they_are(tmp_path: Path) -> None:
    a, b = (sweep_folder(tmp_path / name, {}) for name in "ab")
    found = compare(a, b)
    assert (found.points, found.axes) == (1, ())


def repeated(path: Path, values: dict[int, list[float]]) -> Path:
    """A folder with these completion times of each `n`, a repetition each."""
    repetitions = len(next(iter(values.values())))
    folder = sweep_folder(path, {"n": list(values)}, repetitions=repetitions)
    summary = pl.read_parquet(folder / "summary.parquet")
    each = pl.Series([ms for of_one in values.values() for ms in of_one])
    summary.with_columns(completion_ms_mean=each).write_parquet(folder / "summary.parquet")
    return folder


def test_means_of_repetitions_are_held_against_chance(tmp_path: Path) -> None:
    # Standard errors of 8.2 each are 28.3 by chance: t is 2.45 for six.
    reference = [80.0, 100.0, 100.0, 120.0]
    a = repeated(
        tmp_path / "a", {1: [ms + 28 for ms in reference], 2: [ms + 29 for ms in reference]}
    )
    b = repeated(tmp_path / "b", {1: reference, 2: reference})
    found = compare(a, b)
    error = found.find("", "completion_ms_mean")
    assert error is not None
    assert (error.beyond_chance, error.judged) == (1, 2)
    assert found.joined["completion_ms_mean_chance"].to_list() == pytest.approx([28.3] * 2, abs=0.1)
    text = io.StringIO()
    print_comparison(found, Console(file=text, width=160))
    assert "Beyond chance" in text.getvalue()
    assert "1 of 2" in text.getvalue()


def test_repetitions_that_are_one_run_are_not_held_against_chance(tmp_path: Path) -> None:
    folders = [repeated(tmp_path / name, {1: [ms, ms]}) for name, ms in (("a", 1.0), ("b", 9.0))]
    for folder in folders:
        summary = pl.read_parquet(folder / "summary.parquet")
        alike = summary.head(1).drop("run", "repetition")
        summary.select("run", "repetition").join(alike, how="cross").write_parquet(
            folder / "summary.parquet"
        )
    error = compare(*folders).find("", "completion_ms_mean")
    assert error is not None
    assert (error.beyond_chance, error.judged) == (0, 0)


def test_single_runs_are_not_held_against_chance(tmp_path: Path) -> None:
    a = repeated(tmp_path / "a", {1: [1.0, 2.0], 2: [1.0, 2.0]})
    b = repeated(tmp_path / "b", {1: [9.0], 2: [9.0]})
    found = compare(a, b)
    error = found.find("", "completion_ms_mean")
    assert error is not None
    assert (error.beyond_chance, error.judged) == (0, 0)
    text = io.StringIO()
    print_comparison(found, Console(file=text, width=160))
    assert "Beyond chance" not in text.getvalue()


def test_json_and_terminal_say_the_same(tmp_path: Path) -> None:
    folder = incast_folder(tmp_path / "r", servers=[2, 9], off=0.1)
    found = compare(folder, "published:incast-8MB")
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["errors"][0]["mean_absolute_error"] == pytest.approx(0.1)
    assert plain["rows"][0]["completion_ms_mean_reference"] == 21.3
    text = io.StringIO()
    print_comparison(found, Console(file=text, width=160))
    assert "10.0 %" in text.getvalue()
    assert "42 points are in published:incast-8MB only." in text.getvalue()


def test_counts_of_runs_that_last_as_told_are_of_the_run(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "timed", {})
    rest = pl.read_parquet(folder / "summary.parquet").drop("completion_ms_mean")
    rest.with_columns(switch_drops=pl.lit(3)).write_parquet(folder / "summary.parquet")
    for folder_of, unit in ((folder, "run"), (sweep_folder(tmp_path / "asked", {}), "transaction")):
        text = io.StringIO()
        print_comparison(compare(folder_of, folder_of), Console(file=text, width=160))
        assert f"Drops at the switch (frames per {unit})" in text.getvalue()
        assert f"Retransmission timeouts (per {unit})" in text.getvalue()


def test_what_differs_between_the_scenarios_is_said(tmp_path: Path) -> None:
    a = incast_folder(tmp_path / "a", servers=[2, 9])
    more = [f"stack.{name}" for name in ("rto_min=10ms", "tcp_sack=false", "tcp_fack=false")]
    b = incast_folder(tmp_path / "b", iterations=10, overrides=["run.seed=2", *more])

    def said(one: str | Path, two: str | Path) -> str:
        text = io.StringIO()
        print_comparison(compare(one, two), Console(file=text, width=160))
        return text.getvalue()

    assert "scenarios differ" not in said(a, a)
    expected = "The scenarios differ in stack.rto_min, stack.tcp_sack, stack.tcp_fack and 2 more."
    assert expected in said(b, a)
    assert compare(b, a).to_dict()["differs"][3:] == ["workload.iterations", "run.seed"]
    assert "The scenarios differ in workload.iterations." in said(a, "published:incast-8MB")


def test_durations_that_were_told_are_not_compared(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "timed", {})
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["scenario"]["workload"] = {"kind": "bulk", "duration": "1s"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    metrics = {error.metric for error in compare(folder, folder).errors}
    assert "goodput_mbps_mean" in metrics
    assert not {"completion_ms_mean", "duration_s_total"} & metrics


def test_a_prediction_within_limits_passes_every_check(tmp_path: Path) -> None:
    checks = incast_checks(View(Results(incast_folder(tmp_path / "r", off=0.05))))
    assert len(checks) == 11
    assert {check.verdict for check in checks if check.limit != "fitted to it"} == {"within"}


def test_what_was_fitted_to_is_not_judged_by(tmp_path: Path) -> None:
    checks = incast_checks(View(Results(incast_folder(tmp_path / "r", off=0.34))))
    assert [(c.claim, c.verdict) for c in checks if c.limit == "fitted to it"] == [
        ("Completion time over all N, cisco-nexus-5010", "no band"),
        ("Drops over all N, cisco-nexus-5010", "no band"),
        ("Excess time in timeouts of 201 ms, cisco-nexus-5010", "no band"),
    ]
    assert checks[1].ours == "off by 34.0 % (bias +34.0 %)"


def test_a_prediction_off_by_a_third_fails_where_it_should(tmp_path: Path) -> None:
    checks = incast_checks(View(Results(incast_folder(tmp_path / "r", off=0.34))))
    outside = [check.claim for check in checks if check.verdict == "outside"]
    assert len(outside) == 5
    assert not any("/" in claim for claim in outside)  # a common factor leaves the ratios


def test_what_is_outside_by_little_shows_it(tmp_path: Path) -> None:
    checks = incast_checks(View(Results(incast_folder(tmp_path / "r", off=0.100_04))))
    first = checks[0]
    assert (first.verdict, first.limit) == ("outside", "mean absolute error ≤ 10 %")
    assert first.ours.startswith("off by 10.004 %")


def test_points_not_run_are_said_not_judged(tmp_path: Path) -> None:
    checks = incast_checks(View(Results(incast_folder(tmp_path / "r", servers=[2, 9]))))
    assert [c.claim for c in checks if c.verdict == "not run"] == [
        "Completion time at N = 23, arista-7124s / cisco-nexus-5010",
        "Drops at N = 23, arista-7124s / cisco-nexus-5010",
        "arista-7124s is ahead at N = 2 and 3, behind from 4 on",
    ]
    text = io.StringIO()
    Console(file=text, width=160).print(checks_table(checks))
    assert "not run" in text.getvalue()


def test_in_a_narrow_terminal_nothing_is_cut(tmp_path: Path) -> None:
    found = compare(incast_folder(tmp_path / "r", servers=(1, 8)), "published:incast-8MB")
    said = io.StringIO()
    print_comparison(found, Console(file=said, width=80, force_terminal=True, no_color=True))
    text = said.getvalue()
    assert "…" not in text
    for word in ("arista-7124s", "cisco-nexus-5010", "difference", "Retransmissions"):
        assert word in text
