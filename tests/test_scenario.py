"""Scenarios from Python: loading, setting, checking."""

import os
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailback
from helpers import FakeBackend
from tailback.errors import InputError, ScenarioError


def test_a_built_in_scenario_is_loaded_by_name() -> None:
    scenario = tailback.load("incast-8mb")
    assert scenario.name == "incast-8mb"
    assert len(scenario.plan.runs) == 46


def test_set_gives_a_new_scenario() -> None:
    scenario = tailback.load("incast-8mb")
    changed = scenario.set("sweep.servers", [2, 9]).set("workload.iterations", 20)
    assert len(scenario.plan.runs) == 46
    assert [run["iterations"] for run in changed.plan.runs] == [20] * 4
    assert [dict(run["parameters"])["servers"] for run in changed.plan.runs] == [2, 9, 2, 9]


def test_a_dict_and_its_toml_are_the_same_scenario(tmp_path: Path) -> None:
    text = tailback.load("incast-8mb").text
    from_dict = tailback.Scenario(tomllib.loads(text))
    path = tmp_path / "mine.toml"
    path.write_text(text)
    assert from_dict.plan.hash == tailback.load(path).plan.hash
    assert from_dict.plan.hash == tailback.load("incast-8mb").plan.hash


def test_another_seed_is_another_plan() -> None:
    scenario = tailback.load("incast-8mb")
    other = scenario.set("run.seed", 2)
    assert other.plan.hash != scenario.plan.hash
    seeds = {run["seed"] for plan in (scenario.plan, other.plan) for run in plan.runs}
    assert len(seeds) == 92


def test_all_problems_are_told_at_once() -> None:
    scenario = tailback.load("incast-8mb").set("network.hosts", 0).set("workload.sizes", "8MB")
    problems = scenario.check()
    assert {"network.hosts", "workload.sizes"} <= {problem["path"] for problem in problems}
    with pytest.raises(ScenarioError) as caught:
        _ = scenario.plan
    assert caught.value.problems == problems
    assert "workload.sizes" in str(caught.value)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'incast-8mb'"):
        tailback.load("incast-8bm")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.toml: cannot be read: No such file"):
        tailback.load(tmp_path / "missing.toml")


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a text file"):
        tailback.load(path)


def test_a_client_side_dat_file_is_a_scenario(tmp_path: Path) -> None:
    path = tmp_path / "incast.dat"
    path.write_text("2\n10.0.0.2\n10.0.0.3\n8000000\n1000\n")
    scenario = tailback.load(path)
    workload = scenario.resolved["workload"]
    assert (workload["servers"], workload["iterations"]) == (2, 1000)


def test_the_names_of_the_package_are_all_there() -> None:
    for name in tailback.__all__:
        assert getattr(tailback, name) is not None
    assert dir(tailback) == sorted([*tailback.__all__, "__version__"])
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tailback.nothing


def test_what_is_no_scenario_is_told() -> None:
    with pytest.raises(InputError, match="5: a scenario is TOML text or a mapping, not int"):
        tailback.Scenario(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("jobs", value) for value in (0, -1, 1.5, "x", True)),
        *(("threads", value) for value in (0, -1, 1.5, None, 256)),
    ],
)
def test_what_is_no_number_of_jobs_or_threads_is_told(
    small: tailback.Scenario, tmp_path: Path, name: str, value: object
) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(InputError, match=f"{name} = {value!r}: give a whole number from 1 to"):
        tailback.run(small, out=tmp_path / "out", **given)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", [tailback.run, tailback.load, tailback.Results])
def test_what_names_nothing_is_told(call: Any) -> None:  # noqa: ANN401
    with pytest.raises(InputError, match=r"^None: "):
        call(None)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ({"name": "mine"}, "tailback.Scenario takes it"),
        ("a\0b.toml", "no path has a zero byte"),
        ("a" * 5000, "File name too long"),
    ],
)
def test_what_can_name_no_file_is_told(name: Any, said: str) -> None:  # noqa: ANN401
    with pytest.raises(InputError, match=said):
        tailback.load(name)


def test_texts_that_are_none_are_told() -> None:
    with pytest.raises(InputError, match=r"'run\.seed=3': overrides are a list"):
        tailback.Scenario("", overrides="run.seed=3")
    with pytest.raises(InputError, match="None: an override is a text"):
        tailback.Scenario("").override(None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="half a character"):
        tailback.Scenario({"title": "\ud800"})


def test_what_cannot_be_run_leaves_nothing(
    small: tailback.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for wrong, said in (({"out": 3}, "named by a path, not by int"), ({"backend": None}, "None")):
        given: dict[str, Any] = wrong
        with pytest.raises(InputError, match=said):
            tailback.run(small, **given)
    Path("dangling").symlink_to("nowhere")
    with pytest.raises(InputError, match="dangling: exists"):
        tailback.run(small, out="dangling", backend=FakeBackend())
    assert [path.name for path in tmp_path.iterdir()] == ["dangling"]
    results = tailback.run(small, out="out", jobs=np.int64(2), backend=FakeBackend())  # type: ignore[arg-type]
    assert results.manifest["jobs"] == 2


def test_fitting_is_there_without_an_import_of_its_own() -> None:
    code = "import tailback; tailback.fit.fit, tailback.fit.write_overlay"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_scenario_may_come_from_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = tailback.load("incast-8mb").text
    writer = threading.Thread(target=pipe.write_text, args=[text])
    writer.start()
    assert tailback.load(pipe).name == "incast-8mb"
    writer.join()
