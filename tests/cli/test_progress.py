"""Progress where stderr is no terminal: a line at every tenth."""

import pytest

import tailback
from tailback.cli.progress import shown
from tailback.sweep.progress import Progress


def test_a_line_at_every_tenth_and_one_at_the_end(capfd: pytest.CaptureFixture[str]) -> None:
    with shown(tailback.load("incast-8mb")) as tell:
        for percent in range(101):
            tell(Progress(percent // 25, 4, percent / 100))
    lines = capfd.readouterr().err.splitlines()
    assert [line.split(",")[0].split()[-1] for line in lines] == [
        f"{tenth * 10}%" for tenth in range(1, 11)
    ]
    assert "4 of 4 runs" in lines[-1]


def test_a_resumed_sweep_tells_only_what_is_new(capfd: pytest.CaptureFixture[str]) -> None:
    with shown(tailback.load("incast-8mb")) as tell:
        for fraction in (0.55, 0.58, 0.61, 1.0):
            tell(Progress(4 if fraction == 1.0 else 2, 4, fraction))
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "0:00:00 left" in lines[-1]


def test_runs_that_are_done_at_the_first_look(capfd: pytest.CaptureFixture[str]) -> None:
    with shown(tailback.load("incast-8mb")) as tell:
        tell(Progress(2, 2, 0.97))
    assert "2 of 2 runs" in capfd.readouterr().err
