"""Of programs of the user's the report shows what they took and said, not what nobody measured."""

import json
from pathlib import Path

import polars as pl
import pytest

from synthetic import sweep_folder
from tailback.analysis import View
from tailback.analysis.noted import noted
from tailback.cli.summary import print_summary
from tailback.report.page.contents import contents
from tailback.results import Results


def test_programs_are_shown_and_no_goodput(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sweep_folder(tmp_path / "r", {"loss": [0.0, 0.1]})
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["scenario"]["workload"] = {"kind": "command"}
    path.write_text(json.dumps(manifest))
    rows = {
        "run": [0, 1],
        "loss": [0.0, 0.1],
        "repetition": [0, 0],
        "host": ["client"] * 2,
        "command": ["iperf3 --client server"] * 2,
        "start_s": [0.5] * 2,
        "end_s": [1.75] * 2,
        "output": ["went well\n" * 100] * 2,
    }
    pl.DataFrame(rows).write_parquet(folder / "programs.parquet")
    results = Results(folder)
    view = View(results)
    print_summary(results)
    assert "oodput" not in capsys.readouterr().out
    assert noted(view) == []
    page = contents(view)
    assert not any("ransaction" in finding for finding in page.findings)
    assert not any("oodput" in f.title for s in page.sections for f in s.figures)
    (section,) = [one for one in page.sections if one.key == "programs"]
    cells = [cell.text for cell in section.tables[0].rows[1]]
    assert cells[:4] == ["0.1", "client", "iperf3 --client server", "1.250"]
    assert cells[4].startswith("went well went well")
    assert cells[4].endswith(" …")
