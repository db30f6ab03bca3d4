"""What the guides show is so: their scenarios are sound, the first one's table is what it gives."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tailback
from helpers import Command

DOCS = Path(__file__).parent.parent / "docs"


def shown(kind: str, page: Path) -> list[str]:
    """The blocks of a kind on a page."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    return [text for of, text in blocks if of == kind]


def scenarios() -> Iterator[tuple[str, str]]:
    """The blocks that are whole scenarios, with their pages."""
    for page in sorted(DOCS.rglob("*.md")):
        for text in shown("toml", page):
            if re.search(r"^name = ", text, re.MULTILINE) and "[workload]" in text:
                yield page.name, text


@pytest.mark.parametrize("text", [pytest.param(text, id=page) for page, text in scenarios()])
def test_a_scenario_of_the_docs_is_sound(text: str) -> None:
    assert tailback.Scenario(text).check() == []


def test_the_first_network_gives_the_table_that_is_shown(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = DOCS / "guide" / "own-network.md"
    Path("office.toml").write_text(shown("toml", page)[0])
    answer = command("run", "office.toml")
    assert answer.code == 0, answer.err
    rows = next(block for block in shown("", page) if "completion" in block).splitlines()
    assert len(rows) == 8
    # Where a model has changed, the guide has the new table.
    assert [row for row in rows if row not in answer.out.splitlines()] == [], answer.out
