"""What the L2 study did not publish, drawn."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

import tailback
from tailback.compare.checks import Check
from tailback.reproduce import robust
from tailback.reproduce.robust import DRAWS, Robustness, draws


def test_draws_are_the_same_each_time_and_more_change_none() -> None:
    assert draws() == draws(DRAWS + 3)[:DRAWS]
    assert len({asdict(draw)["seed"] for draw in draws()}) == DRAWS


def test_each_possibility_comes_up() -> None:
    drawn = [asdict(draw) for draw in draws()]
    for name, values in {
        "trunk": {"40Gbit", "100Gbit"},
        "per": {"1500B", "0B"},
        "timer": {"10ms", "15ms", "0s"},
        "limiters": {"flow", "destination"},
        "sack": {True, False},
        "fast_recovery": {"reno", "newreno"},
        "dup_acks": {2, 3},
        "efr": {True, False},
        "fb_hat": {True, False},
    }.items():
        assert {draw[name] for draw in drawn} == values
    assert all(0 <= draw["latency_ns"] <= 2000 for draw in drawn)


@pytest.mark.parametrize("name", robust.SCENARIOS)
def test_a_draw_changes_what_is_not_published_and_nothing_else(name: str) -> None:
    scenario = tailback.load(name)
    draw = replace(draws(1)[0], latency_ns=700, timer="15ms", per="0B", limiters="destination")
    changed = draw.apply(scenario)
    assert not changed.check()
    was, now = scenario.resolved, changed.resolved
    for before, after in zip(was["sweep"]["management"], now["sweep"]["management"], strict=True):
        assert before["label"] == after["label"]
        assert before["set"].keys() == after["set"].keys()
        for path, value in after["set"].items():
            if path.endswith("congestion_management") and value["kind"] == "qcn":
                kept = {"qeq", "r_min", "a", "drift", "kind"}
                assert {k: value[k] for k in kept} == {k: before["set"][path][k] for k in kept}
                assert (value["timer"], value["sampling"]["per"]) == ("15ms", "0B")
                assert value["limiters"] == "destination"
    assert now["stack"]["tcp_sack"] == draw.sack
    assert now["preset"]["stack"] == was["preset"]["stack"]
    assert now["workload"] == was["workload"]
    if name != "l2-congestion":
        rates = [link["rate"] for link in now["network"]["link"]]
        assert rates == ["10Gbit"] * 10 + [draw.trunk]


def test_shares_count_the_draws_in_which_a_finding_holds() -> None:
    def check(*, holds: bool) -> Check:
        return Check.judged("more", "yes", "no", "all", holds=holds)

    runs = [
        (replace(draws(1)[0], limiters=limiters), [check(holds=holds)])
        for limiters, holds in (("flow", True), ("flow", False), ("destination", True))
    ]
    found = Robustness({"l2-congestion": runs})
    assert found.shares() == [("l2-congestion", "more", [True, False, True], [True, False])]
    shown = found.table().columns
    assert (list(shown[2].cells), list(shown[3].cells)) == (["2 of 3"], ["1 of 2"])


def test_a_draw_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = robust.Draw.apply
    monkeypatch.setattr(
        robust.Draw,
        "apply",
        lambda draw, scenario: short(draw, scenario).override("workload.duration=3ms"),
    )
    found = robust.robustness(folder=tmp_path, count=1, jobs=1)
    assert [len(rows) for rows in found.found.values()] == [1, 1]
    assert (tmp_path / "01" / "l2-congestion-single-hop" / "manifest.json").is_file()
    # None is left out because it was chosen in sight of something.
    verdicts = [check.verdict for rows in found.found.values() for check in rows[0][1]]
    assert "no band" not in verdicts
