"""Findings of the L2 congestion-management study, judged on made-up results, and their chart."""

from pathlib import Path
from typing import Any

import pytest

from synthetic import write_folder
from tailback.analysis import View
from tailback.compare.checks import Check
from tailback.compare.studies import claims_for
from tailback.report.charts.network import network, slow_spans
from tailback.report.charts.nothing import NothingToDrawError
from tailback.results import Results

CELLS: dict[str, dict[str, float]] = {
    "none": {"goodput": 30e3, "drops": 200, "timeouts": 5, "queue": 130_000},
    "PAUSE": {"goodput": 20e3, "drops": 0, "timeouts": 0, "queue": 120_000},
    "ECM": {"goodput": 31e3, "drops": 50, "timeouts": 1, "queue": 25_000},
    "ECM+PAUSE": {"goodput": 33e3, "drops": 0, "timeouts": 0, "queue": 25_000},
    "QCN": {"goodput": 34e3, "drops": 20, "timeouts": 0, "queue": 26_000},
    "QCN+PAUSE": {"goodput": 34e3, "drops": 0, "timeouts": 0, "queue": 26_000},
}


def view(
    path: Path, *, without: str = "", name: str = "l2-congestion", **changed: dict[str, float]
) -> View:
    """Results as the study found them, with some cells changed."""
    summary: list[dict[str, Any]] = []
    series: list[dict[str, Any]] = []
    for run, (management, cell) in enumerate(CELLS.items()):
        if management == without:
            continue
        values = cell | changed.get(management.replace("+", "_"), {})
        head = {"run": run, "management": management, "repetition": 0}
        summary.append(
            head
            | {
                "iterations": 1,
                "goodput_mbps_mean": values["goodput"],
                "switch_drops_mean": values["drops"],
                "timeouts_mean": values["timeouts"],
                "data_bytes_total": 1,
                "duration_s_total": 0.5,
            }
        )
        series += [
            head
            | {
                "time_ms": float(ms),
                "goodput_gbps": values["goodput"] / 1e3,
                "host_goodput_gbps": 1.8,
                "queue_bytes": int(values["queue"]),
            }
            for ms in range(100, 501, 100)
        ]
    folder = write_folder(
        path,
        name=name,
        title="L2",
        study="l2-congestion",
        parameters=["management"],
        tables={"summary": summary, "network": series},
    )
    return View(Results(folder))


def judged(of: View) -> dict[str, Check]:
    claims = claims_for("l2-congestion")
    assert claims is not None
    return {check.claim: check for check in claims.judge(of)}


def test_what_the_study_found_holds(tmp_path: Path) -> None:
    checks = judged(view(tmp_path / "own"))
    assert checks.pop("ECM: connections time out").limit == "fitted to it"
    assert {check.verdict for check in checks.values()} == {"within"}
    assert checks["QCN+PAUSE: frames dropped at switches"].ours == "0"


def test_what_was_chosen_in_the_single_hop_is_not_judged_there(tmp_path: Path) -> None:
    checks = judged(view(tmp_path / "hop", name="l2-congestion-single-hop"))
    assert checks["QCN+PAUSE: aggregate throughput (Gb/s)"].limit == "fitted to it"
    assert checks["QCN: aggregate throughput (Gb/s)"].verdict == "within"


def test_what_it_did_not_find_does_not(tmp_path: Path) -> None:
    checks = judged(
        view(
            tmp_path / "other",
            PAUSE={"drops": 3, "timeouts": 0},
            ECM={"timeouts": 0},
            QCN={"goodput": 29e3, "queue": 90_000},
            QCN_PAUSE={"timeouts": 2},
        )
    )
    outside = {claim for claim, check in checks.items() if check.verdict == "outside"}
    assert outside == {
        "PAUSE: frames dropped at switches",
        "Timeouts only where frames are dropped",
        "QCN: aggregate throughput (Gb/s)",
        "QCN: aggregate throughput while the hotspot lasts (Gb/s)",
        "QCN: queue to the hotspot, mean of 250 to 400 ms (bytes)",
    }


def test_a_cell_that_was_not_run_is_not_judged(tmp_path: Path) -> None:
    checks = judged(view(tmp_path / "part", without="none"))
    assert checks["none: connections time out"].verdict == "not run"
    assert checks["QCN: aggregate throughput (Gb/s)"].verdict == "not run"
    meanwhile = "QCN: aggregate throughput while the hotspot lasts (Gb/s)"
    assert checks[meanwhile].verdict == "not run"


def test_the_chart_has_three_panels_over_the_same_time(tmp_path: Path) -> None:
    spec = network(view(tmp_path / "drawn")).to_dict()
    panels = spec["vconcat"]
    shown = [panel["layer"][-1]["encoding"]["y"]["field"] for panel in panels]
    assert shown == ["goodput_gbps", "host_goodput_gbps", "queue_kb"]


def test_times_of_slow_service_are_found_once() -> None:
    slow = {"port": 0, "rate": "2Gbit", "from": "100ms", "until": "0.4s"}
    scenario = {
        "network": {"switch": [{"service": [slow]}, {"service": []}]},
        "p": {"service": [slow]},
    }
    assert list(slow_spans(scenario)) == [(100.0, 400.0)]


@pytest.mark.parametrize(
    ("times", "shaded"),
    [(("100ms", "400ms"), (100, 400)), (("0.4s", "0.9s"), (400, 500)), (("500ms", "1s"), None)],
)
def test_slow_service_is_shaded_within_the_run(
    tmp_path: Path, times: tuple[str, str], shaded: tuple[float, float] | None
) -> None:
    of = view(tmp_path / "drawn")
    slow = {"port": 0, "rate": "2Gbit", "from": times[0], "until": times[1]}
    of.results.manifest["scenario"] = {"network": {"switch": {"service": [slow]}}}
    spec = network(of).to_dict()
    first = spec["vconcat"][0]["layer"][0]
    assert ("Shaded" in spec["description"]) == (shaded is not None)
    assert (first["mark"]["type"] == "rect") == (shaded is not None)
    if shaded:
        rows = spec["datasets"][first["data"]["name"]].splitlines()
        assert [float(cell) for cell in rows[1].split(",")] == list(shaded)


def test_without_a_series_there_is_nothing_to_draw(tmp_path: Path) -> None:
    plain = view(tmp_path / "plain")
    (tmp_path / "plain" / "network.parquet").unlink()
    manifest = tmp_path / "plain" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"network", ', ""))
    with pytest.raises(NothingToDrawError):
        network(View(Results(plain.results.path)))
