"""Repetitions that repeat one run are told of."""

from pathlib import Path

import tailback
from tailback.analysis.repeated import repeated_said
from tailback.analysis.view import View


def said(out: Path, *overrides: str) -> list[str]:
    scenario = tailback.load("incast-8mb").override(
        'sweep.switch=["arista-7124s"]',
        "sweep.servers=[1, 3]",
        "workload.iterations=2",
        "workload.size=100kB",
        "run.repetitions=3",
        'host="uml-virtio"',
        *overrides,
    )
    return repeated_said(View(tailback.run(scenario, out=out)))


def test_where_nothing_is_drawn_repetitions_are_one_run(tmp_path: Path) -> None:
    (sentence,) = said(tmp_path / "alike")
    assert sentence.startswith("The 3 repetitions of each point are alike to the last digit")
    assert "host.interrupt_jitter" in sentence


def test_chance_in_hosts_makes_them_differ(tmp_path: Path) -> None:
    assert said(tmp_path / "jitter", "host.interrupt_delay=5us", "host.interrupt_jitter=5us") == []


def test_single_runs_are_no_repetitions(tmp_path: Path) -> None:
    assert said(tmp_path / "single", "run.repetitions=1") == []
