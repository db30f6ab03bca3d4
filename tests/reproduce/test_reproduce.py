"""Reproductions of studies from folders that are there."""

import json
import threading
import time
from pathlib import Path

import pytest

import tailback
from synthetic import incast_folder, sweep_folder
from tailback.errors import InputError, Interrupted
from tailback.reproduce import PUBLISHED, STUDIES, reproduce, reproduce_all, study
from tailback.results import Results
from tailback.scenario import built_in
from tailback.sweep.progress import Progress


def test_a_folder_that_is_there_is_held_against_the_study(tmp_path: Path) -> None:
    incast_folder(tmp_path / "incast-8mb", off=0.03)
    found = reproduce("incast", folder=tmp_path)
    assert found.holds
    assert found.verdict == "8 of 8 claims are within their limits."
    assert found.outcomes[0].report == tmp_path / "incast-8mb" / "report.html"
    plain = json.loads(json.dumps(found.to_dict()))
    assert len(plain["scenarios"][0]["checks"]) == 11


def test_what_is_outside_is_said(tmp_path: Path) -> None:
    incast_folder(tmp_path / "incast-8mb", off=0.15)
    found = reproduce("incast", folder=tmp_path)
    assert not found.holds
    outside = [c.claim for c in found.checks if c.verdict == "outside"]
    assert outside == [
        "Completion time over all N, arista-7124s",
        "Excess time in timeouts of 201 ms, arista-7124s",
    ]


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    sweep_folder(tmp_path / "incast-8mb", {})
    with pytest.raises(InputError, match="holds mine, not incast-8mb"):
        reproduce("incast", folder=tmp_path)


def test_an_unknown_study_lists_those_there_are() -> None:
    with pytest.raises(InputError, match="there are incast, incast-rto"):
        reproduce("mine")


def test_every_scenario_of_every_study_is_built_in() -> None:
    assert {name for names in STUDIES.values() for name in names} <= set(built_in())


def test_all_studies_stand_in_one_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(PUBLISHED) == [
        "incast",
        "node-pairs",
        "ecn-switch",
        "l2-congestion",
        "lambda-rings",
    ]
    assert {name for names in PUBLISHED.values() for name in names} <= set(built_in())
    small = {"incast": ("incast-8mb",), "lambda-rings": ("lambda-batching",)}
    monkeypatch.setattr(study, "PUBLISHED", small)
    incast_folder(tmp_path / "incast-8mb")
    found, report = reproduce_all(folder=tmp_path)
    assert [one.study for one in found] == ["incast", "lambda-rings"]
    page = report.read_text()
    assert report == tmp_path / "studies.html"
    for wanted in ("incast-8mb: ", "lambda-batching: in detail", "8 of 8 claims"):
        assert wanted in page


def test_a_scenario_of_one_run_goes_on_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {"lambda-rings": ("lambda-batching", "loss-mesh")}
    monkeypatch.setattr(study, "PUBLISHED", small)
    began, others = threading.Event(), threading.Event()
    plain = study._run

    def run(name: str, *arguments: object) -> Results:
        if name == "loss-mesh":
            began.set()
            assert others.wait(60)
            raise InputError("it was beside")
        assert began.wait(60)
        others.set()
        return plain(name, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(study, "_run", run)
    with pytest.raises(InputError, match="it was beside"):
        reproduce_all(folder=tmp_path)


def test_what_goes_on_beside_stops_with_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "PUBLISHED", {"lambda-rings": ("lambda-batching", "loss-mesh")})
    began = threading.Event()
    stopped: list[str] = []

    def run(name: str, _parent: Path, _jobs: int, progress: study.ShowProgress) -> Results:
        if name == "lambda-batching":
            assert began.wait(60)
            raise Interrupted
        with progress(tailback.load(name)) as on_progress:
            began.set()
            assert on_progress is not None
            try:
                while True:
                    on_progress(Progress(0, 1, 0.0))
            except Interrupted:
                stopped.append(name)
                raise

    monkeypatch.setattr(study, "_run", run)
    with pytest.raises(Interrupted):
        reproduce_all(folder=tmp_path)
    assert stopped == ["loss-mesh"]


def test_a_report_that_fails_is_told_before_the_next_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("incast-8mb", "incast-4mb", "incast-striped")
    monkeypatch.setattr(study, "STUDIES", {"incast": names})
    failed = threading.Event()
    made: list[str] = []

    def make(name: str, *_: object) -> str:
        made.append(name)
        if name == names[1]:
            assert failed.wait(60)
            time.sleep(0.05)  # from here on the thread has only to note the failure
        return name

    def report(_: object) -> None:
        failed.set()
        raise InputError("no room for the report")

    monkeypatch.setattr(study, "_made", make)
    monkeypatch.setattr(study, "_outcome", report)
    with pytest.raises(InputError, match="no room"):
        reproduce("incast", folder=tmp_path)
    assert made in (["incast-8mb"], ["incast-8mb", "incast-4mb"])
