"""Claims of incast-rto and its DCTCP variant: bands judged on made-up results."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from synthetic import write_folder
from tailback.analysis import View
from tailback.compare.checks import Check
from tailback.compare.studies import claims_for
from tailback.results import Results

SERVERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 47)


def goodput(rto: str, servers: int) -> float:
    """As in the papers: collapse with 200 ms from N = 6 on, next to none with 1 ms and less."""
    if rto == "200ms":
        return 900.0 if servers < 6 else 150.0
    return {"10ms": 500.0, "1ms": 850.0, "200us": 900.0}[rto]


def judged(folder: Path) -> dict[str, Check]:
    results = Results(folder)
    claims = claims_for(results.name)
    assert claims is not None
    return {check.claim: check for check in claims.judge(View(results))}


def rto_folder(path: Path, goodputs: Callable[[str, int], float] = goodput) -> Path:
    points = [
        {"rto_min": rto, "rto_jitter": jitter, "servers": n}
        for rto in ("200ms", "10ms", "1ms", "200us")
        for jitter in (0.0, 0.5)
        for n in SERVERS
    ]
    rows = [
        {"run": run}
        | point
        | {
            "repetition": 0,
            "iterations": 10,
            "completion_ms_mean": 2.0,
            "goodput_mbps_mean": goodputs(point["rto_min"], point["servers"])
            * (1.1 if point["rto_jitter"] else 1.0),
            "data_bytes_total": 1,
            "duration_s_total": 1.0,
        }
        for run, point in enumerate(points)
    ]
    return write_folder(
        path,
        name="incast-rto",
        title="RTO",
        study="incast",
        parameters=["rto_min", "rto_jitter", "servers"],
        tables={"summary": rows},
    )


def dctcp_folder(path: Path, onsets: dict[str, int]) -> Path:
    summary: list[dict[str, Any]] = []
    transactions: list[dict[str, Any]] = []
    for stack, onset in onsets.items():
        for n in (1, 2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40):
            head = {"run": len(summary), "stack": stack, "servers": n, "repetition": 0}
            late = n >= onset
            transactions += [
                head | {"iteration": i, "completion_ms": 310.0 if late else 9.0, "timeouts": late}
                for i in range(4)
            ]
            summary.append(
                head | {"completion_ms_mean": 9.0, "data_bytes_total": 1, "duration_s_total": 1.0}
            )
    for row in transactions:
        row["timeouts"] = int(row["timeouts"])
    return write_folder(
        path,
        name="incast-rto-dctcp",
        title="DCTCP",
        study="incast",
        parameters=["stack", "servers"],
        tables={"summary": summary, "transactions": transactions},
    )


def test_the_papers_own_curves_are_within_all_bands(tmp_path: Path) -> None:
    checks = judged(rto_folder(tmp_path / "r"))
    outside = [c for c in checks.values() if c.verdict == "outside"]
    assert not outside
    assert [c.verdict for c in checks.values()].count("within") == 6
    randomised = next(c for c in checks.values() if "randomised" in c.claim)
    assert (randomised.verdict, randomised.ours) == ("no band", "1.10 times")


def test_no_collapse_is_out_of_band(tmp_path: Path) -> None:
    checks = judged(rto_folder(tmp_path / "r", lambda _rto, _servers: 900.0))
    outside = {c.claim: c.ours for c in checks.values() if c.verdict == "outside"}
    assert outside == {
        "200 ms: goodput falls below half the link from N =": "nowhere",
        "200 ms: goodput after the collapse, N = 8": "900 Mb/s",
        "200 us against 200 ms: goodput at N = 8": "1 times",
    }


def test_dctcp_as_published_holds(tmp_path: Path) -> None:
    checks = judged(dctcp_folder(tmp_path / "r", {"reno": 10, "dctcp": 35}))
    verdicts = [c.verdict for c in checks.values()]
    assert verdicts == ["within", "within", "within", "no band", "not run", "not run"]


def test_dctcp_that_times_out_early_does_not(tmp_path: Path) -> None:
    checks = judged(dctcp_folder(tmp_path / "r", {"reno": 10, "dctcp": 20}))
    assert checks["dctcp: timeouts begin at N ="].ours == "20"
    assert [c.verdict for c in checks.values()].count("outside") == 2
