"""Runs of a study's scenario under other values are not held against what was published."""

from pathlib import Path

import pytest

from synthetic import incast_folder
from tailback.analysis import View
from tailback.errors import InputError
from tailback.report.page.contents import contents
from tailback.report.page.several import several
from tailback.reproduce import reproduce
from tailback.results import Results


def view(path: Path, *overrides: str) -> View:
    return View(Results(incast_folder(path, iterations=20, overrides=overrides)))


def test_another_scenario_is_named_and_not_judged(tmp_path: Path) -> None:
    of = view(tmp_path / "incast-8mb", "workload.size=1MB", "stack.preset=linux-7.2")
    page = contents(of)
    said = "This run differs from the built-in incast-8mb in stack.preset and workload.size."
    assert page.description.endswith(said)
    section = next(s for s in page.sections if s.key == "published")
    assert section.lead.endswith(f"Not judged. {said}")
    assert (section.tables, section.figures, section.small) == ([], [], [])
    assert of.published is None
    row = several("All", "", [of]).sections[0].tables[0].rows[0]
    assert (row[2].text, row[2].mark, row[3].text) == ("not judged", "", "")
    with pytest.raises(InputError, match=r"with other stack\.preset and workload\.size"):
        reproduce("incast", folder=tmp_path)


def test_how_much_of_the_study_was_run_is_said(tmp_path: Path) -> None:
    page = contents(view(tmp_path / "part"))
    section = next(s for s in page.sections if s.key == "published")
    assert "This run has 20 of 1,000 iterations of the built-in incast-8mb. Of " in section.lead
    assert section.tables[0].rows
