"""The page of several folders."""

from pathlib import Path

import pytest

from synthetic import incast_folder
from tailback.analysis import View
from tailback.report.page.several import several, taken_s
from tailback.results import Results


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], 0.0),
        ([(10.0, 12.0), (12.0, 15.0)], 5.0),
        ([(20.0, 30.0), (5.0, 10.0)], 15.0),
        ([(0.0, 100.0), (10.0, 20.0), (90.0, 120.0)], 120.0),
    ],
)
def test_what_ran_side_by_side_took_the_time_of_the_longer(
    spans: list[tuple[float, float]], expected: float
) -> None:
    assert taken_s(spans) == expected


@pytest.mark.parametrize("off", [0.06, 0.6])
def test_it_begins_with_what_holds_and_what_does_not(tmp_path: Path, off: float) -> None:
    results = Results(incast_folder(tmp_path / "incast-8mb", off=off))
    page = several("Both", "", [View(results), View(results)])
    table = page.sections[0].tables[0]
    published = next(s for s in page.sections if s.key == "incast-8mb-published")
    marks = {row[0].text: row[-1].mark for row in published.tables[0].rows}
    missed = [claim for claim, mark in marks.items() if mark == "outside"]
    assert bool(missed) == (off > 0.1)
    first, second = table.rows
    judged = sum(mark in {"within", "outside"} for mark in marks.values())
    assert first[2].text == f"{judged - len(missed)} of {judged}"
    assert first[3].text == "; ".join(missed)
    # The study stands once, every scenario has its links, and they lead somewhere.
    assert (first[0].text != "", second[0].text) == (True, "")
    keys = {section.key for section in page.sections}
    assert {key for row in table.rows for _, key in row[4].links} == keys - {"held"}
