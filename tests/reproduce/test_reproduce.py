"""Reproductions of studies from folders that are there."""

import json
from pathlib import Path

import pytest

from synthetic import incast_folder, sweep_folder
from tailback.errors import InputError
from tailback.reproduce import STUDIES, reproduce
from tailback.scenario import built_in


def test_a_folder_that_is_there_is_held_against_the_study(tmp_path: Path) -> None:
    incast_folder(tmp_path / "incast-8mb", off=0.03)
    found = reproduce("incast", folder=tmp_path)
    assert found.holds
    assert found.verdict == "11 of 11 claims are within their limits."
    assert found.outcomes[0].report == tmp_path / "incast-8mb" / "report.html"
    plain = json.loads(json.dumps(found.to_dict()))
    assert len(plain["scenarios"][0]["checks"]) == 11


def test_what_is_outside_is_said(tmp_path: Path) -> None:
    incast_folder(tmp_path / "incast-8mb", off=0.15)
    found = reproduce("incast", folder=tmp_path)
    assert not found.holds
    outside = [c.claim for c in found.checks if c.verdict == "outside"]
    assert outside[:2] == [
        "Completion time over all N, arista-7124s",
        "Completion time over all N, cisco-nexus-5010",
    ]


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    sweep_folder(tmp_path / "incast-8mb", {})
    with pytest.raises(InputError, match="holds mine, not incast-8mb"):
        reproduce("incast", folder=tmp_path)


def test_an_unknown_study_lists_those_there_are() -> None:
    with pytest.raises(InputError, match="there are incast, incast-rto"):
        reproduce("outcast")


def test_every_scenario_of_every_study_is_built_in() -> None:
    assert {name for names in STUDIES.values() for name in names} <= set(built_in())
