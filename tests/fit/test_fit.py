"""A whole fit, on predictions that are closed forms."""

import tomllib
from pathlib import Path

import pytest

import tailback
from fit.laws import LATENCY, SHARED, Synthetic, scenario, write_table
from tailback.fit import Fit, Progress, fit, overlay_text, write_overlay
from tailback.fit.overlay import reproduces
from tailback.fit.record import record


def fitted(tmp_path: Path, backend: Synthetic, *params: str, **options: object) -> Fit:
    table = write_table(tmp_path / "table.csv", 1100, 700)
    return fit(scenario(), to=table, params=params, backend=backend, **options)  # type: ignore[arg-type]


def test_finds_the_values_that_made_the_table(tmp_path: Path) -> None:
    found = fitted(
        tmp_path,
        Synthetic(),
        f"{SHARED}=900KB..1400KB",
        f"{LATENCY}=400ns..1000ns",
    )
    shared, latency = found.fitted
    assert shared.parameter.position(shared.value) == pytest.approx(0.4, abs=0.02)
    assert latency.parameter.position(latency.value) == pytest.approx(0.5, abs=0.1)
    assert found.score.error < 0.01 < found.before.error
    assert found.evaluations <= 60
    assert not found.worse_than_before


def test_the_same_whatever_the_number_of_jobs(tmp_path: Path) -> None:
    one, four = (
        record(fitted(tmp_path, Synthetic(), f"{SHARED}=900KB..1400KB", jobs=jobs))
        for jobs in (1, 4)
    )
    assert one == four


def test_every_trial_has_the_same_seed_and_the_check_others(tmp_path: Path) -> None:
    backend = Synthetic()
    found = fitted(tmp_path, backend, f"{SHARED}=900KB..1400KB", seed=7, budget=5)
    assert list(found.other_seeds) == [8, 9]
    seeds = [seed for *_, seed in backend.made]
    assert {seed: seeds.count(seed) for seed in (8, 9)} == {8: 3, 9: 3}
    assert set(seeds) == {7, 8, 9}
    assert found.evaluations == 5


def test_tells_a_flat_parameter_from_one_that_matters(tmp_path: Path) -> None:
    def law(shared_kb: float, _latency_ns: float, servers: int) -> tuple[float, float]:
        return servers * (2000 - shared_kb), 1.0

    table = write_table(tmp_path / "table.csv", 1100, 600, law)
    found = fit(
        scenario(),
        to=table,
        params=[f"{SHARED}=900KB..1400KB", f"{LATENCY}=400ns..1000ns"],
        backend=Synthetic(law),
    )
    shared, latency = (f.sensitivity for f in found.fitted)
    assert shared is not None
    assert latency is not None
    assert (shared.flat, latency.flat) == (False, True)
    assert [step.shift for step in shared.steps] == [-0.1, -0.05, 0.05, 0.1]
    up = shared.steps[-1]
    # A tenth of the range is 50 KB more, of which the time is 50 of 900 less.
    assert up.metric_changes["completion_ms_mean"] == pytest.approx(-50 / 900, rel=0.05)
    assert up.error_change == pytest.approx(50 / 900 / 1.5, rel=0.1)


def test_a_value_at_the_end_of_its_range_is_marked(tmp_path: Path) -> None:
    (shared,) = fitted(tmp_path, Synthetic(), f"{SHARED}=1200KB..1400KB").fitted
    assert shared.at_bound
    assert shared.sensitivity is not None
    assert [step.shift for step in shared.sensitivity.steps] == [0.05, 0.1]


def test_the_overlay_says_its_origin_and_gives_the_fitted_scenario(tmp_path: Path) -> None:
    found = fitted(
        tmp_path, Synthetic(), f"{SHARED}=900KB..1400KB", "stack.rto_min=1ms..200ms", budget=12
    )
    path = tmp_path / "overlay.toml"
    write_overlay(found, path)
    text = path.read_text()
    assert text == overlay_text(found)
    for part in (
        "table.csv",
        "3; switch arista-7124s; servers 2, 4, 8",
        "completion_ms_mean (weight 1), switch_drops_mean (weight 0.5)",
        "1 iterations, seed 1",
        "12 of 12 evaluations",
        f"{found.score.error:.2%}",
        "sought in 900KB..1400KB; before ",
        " points at ",
        "--set sweep.servers=[2, 4, 8]",
        tailback.__version__,
    ):
        assert part in text, part
    values = tomllib.loads(text)
    shared = values["preset"]["switch"]["arista-7124s"]["buffer"]["shared"]
    assert f'"{shared}"' == found.fitted[0].value
    assert set(values) == {"preset", "stack"}
    assert reproduces(found, path)


def test_the_overlay_says_that_the_values_before_were_better(tmp_path: Path) -> None:
    # The table is of the scenario as it is (1238 KB), out of the range searched.
    table = write_table(tmp_path / "table.csv", 1238, 600)
    found = fit(
        scenario(), to=table, params=[f"{SHARED}=900KB..1000KB"], budget=4, backend=Synthetic()
    )
    said = "The values before predict these rows better than any that was tried"
    assert found.worse_than_before
    (line,) = (text for text in overlay_text(found).splitlines() if said in text)
    assert line == "# " + " " * 12 + f"{said} ({found.tried:.2%} at best), and stay."
    better = fitted(tmp_path, Synthetic(), f"{SHARED}=900KB..1400KB", budget=12)
    assert "values before" not in overlay_text(better)


def test_values_that_are_better_than_any_tried_stay_unless_told(tmp_path: Path) -> None:
    table = write_table(tmp_path / "table.csv", 1238, 600)

    def shared(found: Fit) -> str:
        write_overlay(found, path := tmp_path / f"{found.kept}.toml")
        assert reproduces(found, path)
        return str(tomllib.loads(path.read_text())["preset"]["switch"]["arista-7124s"]["buffer"])

    # Far from the range, in it (another unit, two values tried), and as told.
    for within, more in (
        ("900KB..1000KB", {}),
        ("1MB..1.4MB", {}),
        ("900KB..1000KB", {"even_if_worse": True}),
    ):
        found = fit(
            scenario(),
            to=table,
            params=[f"{SHARED}={within}"],
            budget=2,
            backend=Synthetic(),
            **more,
        )
        assert found.worse_than_before
        if more:
            assert not found.kept
            assert found.score.error == found.tried > found.before.error
            assert "1.238MB" not in shared(found)
            continue
        assert found.kept
        assert found.score == found.before
        assert shared(found) == "{'shared': '1.238MB'}"
        (one,) = found.fitted
        assert one.value == one.before == '"1.238MB"'
        assert one.sensitivity is not None
        steps = [step.shift for step in one.sensitivity.steps]
        assert steps == ([-0.1, -0.05, 0.05, 0.1] if "MB" in within else [])
    assert record(found)["parameters"][0]["before"] == "1.238MB"


def test_an_overlay_lies_over_a_preset_that_is_named_alone(tmp_path: Path) -> None:
    named = tailback.Scenario(
        'stack = "linux-2.6.18"\n'
        + scenario().text.replace('[stack]\npreset = "linux-2.6.18"\n', "")
    ).override(*scenario().overrides)
    table = write_table(tmp_path / "table.csv", 1100, 700)
    found = fit(named, to=table, params=["rto_min=1ms..9ms"], budget=3, backend=Synthetic())
    path = tmp_path / "overlay.toml"
    write_overlay(found, path)
    assert reproduces(found, path)


def test_an_interrupted_search_keeps_the_best_so_far(tmp_path: Path) -> None:
    whole = Synthetic()
    fitted(tmp_path, whole, f"{SHARED}=900KB..1400KB", jobs=1)
    found = fitted(tmp_path, Synthetic(interrupt_at=40), f"{SHARED}=900KB..1400KB", jobs=1)
    assert found.interrupted
    assert 1 < found.evaluations < 30
    assert found.fitted[0].sensitivity is None
    assert "interrupted" in overlay_text(found)


def test_an_interruption_before_the_first_result(tmp_path: Path) -> None:
    with pytest.raises(tailback.Interrupted, match="before there was any result"):
        fitted(tmp_path, Synthetic(interrupt_at=4), f"{SHARED}=900KB..1400KB", jobs=1)


def test_a_failed_run_ends_the_fit(tmp_path: Path) -> None:
    with pytest.raises(tailback.RunsFailed, match="bytes are missing"):
        fitted(tmp_path, Synthetic(fail_at=5), f"{SHARED}=900KB..1400KB")


def test_a_metric_that_the_runs_do_not_give(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("servers,mood_mean\n2,1\n4,2\n8,3\n")
    with pytest.raises(tailback.InputError, match="the runs do not give mood_mean"):
        fit(
            scenario(),
            to=str(path),
            params=[f"{SHARED}=900KB..1400KB"],
            metrics="mood_mean",
            backend=Synthetic(),
        )


def test_progress_rises_to_the_whole(tmp_path: Path) -> None:
    told: list[Progress] = []
    fitted(tmp_path, Synthetic(), f"{SHARED}=900KB..1400KB", on_progress=told.append)
    fractions = [progress.fraction for progress in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert told[-1].best is not None
    assert told[-1].tried == told[-1].in_all
    assert [p.tried for p in told] == sorted(p.tried for p in told)


def test_everything_that_is_wrong_at_once(tmp_path: Path) -> None:
    table = write_table(tmp_path / "table.csv", 1100, 700)
    with pytest.raises(tailback.InputError) as caught:
        fit(
            scenario(),
            to=table,
            rows=["sender=2"],
            params=[f"{SHARED}=2KB..1KB", "stack.rto=1ms..2ms"],
            backend=Synthetic(),
        )
    for part in ("sender", "the low bound is not below", "stack.rto"):
        assert part in str(caught.value)
