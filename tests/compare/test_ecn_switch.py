"""Claims of the ECN-switch study, judged on made-up results."""

from pathlib import Path

from synthetic import write_folder
from tailback import published
from tailback.analysis import View
from tailback.compare.checks import Check
from tailback.compare.studies import claims_for
from tailback.published.ecn_switch import AXES
from tailback.report.page.contents import contents
from tailback.results import Results


def view(path: Path, *, factor: float = 1.0, leave_out: str = "", of: str = "") -> View:
    """A run that has every published cell, times a factor; with another congestion control `of`."""
    table = published.load("ecn-iperf3").frame
    rows = [
        {
            "run": run,
            **{axis: row[axis] for axis in AXES},
            **({"tcp_congestion_control": of} if of else {}),
            "repetition": 0,
            "iterations": 1,
            "bandwidth_gbps_mean": row["bandwidth_gbps_mean"] * factor,
            "retransmissions": int(row["retransmissions"] * factor),
            "switch_drops": int(row["switch_drops"] * factor),
            "utilisation": 0.4 if row["marking"] == "ce" else 0.99,
            "data_bytes_total": 1,
            "duration_s_total": 1.0,
        }
        for run, row in enumerate(
            r for r in table.iter_rows(named=True) if r["marking"] != leave_out
        )
    ]
    folder = write_folder(
        path,
        name="ecn-switch",
        title="ECN",
        study="ecn-switch",
        parameters=list(AXES),
        tables={"summary": rows},
    )
    return View(Results(folder))


def judged(path: Path, *, factor: float = 1.0, leave_out: str = "") -> dict[str, Check]:
    """The claims on such a run."""
    claims = claims_for("ecn-switch")
    assert claims is not None
    of = view(path, factor=factor, leave_out=leave_out)
    return {check.claim: check for check in claims.judge(of)}


def test_the_report_has_tables_and_errors_beside_the_published(tmp_path: Path) -> None:
    page = contents(view(tmp_path / "own"))
    section = next(s for s in page.sections if s.key == "published")
    assert [figure.key for figure in section.small] == ["errors-bandwidth_gbps_mean"]
    assert len(section.tables) == 2


def test_cells_that_are_not_published_have_a_report_too(tmp_path: Path) -> None:
    other = view(tmp_path / "own", of="dctcp")
    assert (other.table, other.published) == (None, None)
    section = next(s for s in contents(other).sections if s.key == "published")
    assert section.small == []
    assert len(section.tables) == 1


def test_the_study_s_own_rows_hold(tmp_path: Path) -> None:
    checks = judged(tmp_path / "own")
    assert {check.verdict for check in checks.values()} == {"within"}
    assert "off, reno-sce, 2:1, 20 s (fitted): drops" in checks


def test_a_fifth_more_is_too_much_but_for_ce(tmp_path: Path) -> None:
    checks = judged(tmp_path / "more", factor=1.2)
    assert checks["SCE from 0 %, reno-sce, 2:1, 20 s: bandwidth (Gb/s)"].verdict == "outside"
    assert checks["CE from 0 %, reno-sce, 2:1, 20 s: bandwidth (Gb/s)"].verdict == "within"
    assert checks["off, reno-sce, 2:1, 20 s (fitted): drops"].verdict == "within"


def test_a_hundredth_of_the_drops_is_another_order_of_magnitude(tmp_path: Path) -> None:
    checks = judged(tmp_path / "less", factor=0.01)
    assert checks["off, reno-sce, 2:1, 20 s (fitted): drops"].verdict == "outside"


def test_what_was_not_run_is_said(tmp_path: Path) -> None:
    checks = judged(tmp_path / "no-ce", leave_out="ce")
    assert checks["CE from 0 %: utilisation, 2:1 and 3:1"].verdict == "not run"
    assert checks["CE from 0 %, reno-sce, 2:1, 20 s: bandwidth (Gb/s)"].verdict == "not run"
