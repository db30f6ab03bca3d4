"""`tailback fit`."""

import json
import signal
from pathlib import Path

import pytest

from fit.laws import LATENCY, SHARED, SMALL, Synthetic, write_table
from helpers import Answer, Command, start
from tailback import backends

SMALL_ARGS = [part for override in SMALL for part in ("--set", override)]


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Synthetic:
    found = Synthetic()
    monkeypatch.setitem(backends.BACKENDS, "sim", found)
    return found


@pytest.fixture
def table(tmp_path: Path) -> str:
    return write_table(tmp_path / "table.csv", 1100, 700)


@pytest.mark.usefixtures("backend")
def test_prints_values_errors_and_sensitivities(
    command: Command, tmp_path: Path, table: str
) -> None:
    overlay = tmp_path / "found.toml"
    answer = command(
        *("fit", "incast-8mb", *SMALL_ARGS, "--to", table, "--rows", "servers=2..8"),
        *("--param", f"{SHARED}=900KB..1400KB", "--budget", "20", "-o", overlay),
    )
    assert answer.code == 0, answer
    for part in (SHARED, "before", "weighted mean", "with seed 2", "+5%", "points", str(overlay)):
        assert part in answer.out, part
    assert "error" in answer.err
    told = [line for line in answer.err.splitlines() if " evaluations, " in line]
    tried, of = told[-1].split(" evaluations")[0].split(", ")[1].split(" of ")
    assert "100%" in told[-1]
    assert tried == of, "the last line is of the whole"
    shown = command("show", "incast-8mb", "--set", f'overlay=["{overlay}"]', "--resolved")
    (line,) = (text for text in overlay.read_text().splitlines() if text.startswith("shared ="))
    assert line.split('"')[1] in shown.out


@pytest.mark.usefixtures("backend")
def test_json_for_programs(command: Command, table: str) -> None:
    answer = command(
        *("fit", "incast-8mb", *SMALL_ARGS, "--to", table, "--json"),
        *("--param", f"{SHARED}=900KB..1400KB", "--metrics", "completion_ms_mean"),
        *("--iterations", "3", "--seed", "4"),
    )
    found = json.loads(answer.out)
    assert found["error"] < found["error_before"]
    assert (found["iterations"], found["seed"]) == ([3], 4)
    assert list(found["error_with_other_seeds"]) == ["5", "6"]
    (parameter,) = found["parameters"]
    assert (parameter["path"], parameter["flat"]) == (SHARED, False)
    assert len(parameter["sensitivity"]) == 4


def test_ctrl_c_writes_the_best_so_far(
    command: Command, tmp_path: Path, table: str, backend: Synthetic
) -> None:
    backend.interrupt_at = 40
    overlay = tmp_path / "found.toml"
    answer = command(
        *("fit", "incast-8mb", *SMALL_ARGS, "--to", table, "--jobs", "1"),
        *("--param", f"{SHARED}=900KB..1400KB", "-o", overlay),
    )
    assert answer.code == 130
    assert "interrupted" in answer.err
    assert SHARED in answer.out
    assert "interrupted" in overlay.read_text()


def test_sigint_in_the_middle_of_a_search(tmp_path: Path) -> None:
    overlay = tmp_path / "found.toml"
    process = start(
        *("fit", "incast-8mb", "--to", "published:incast-8MB", "-o", overlay),
        *("--rows", "switch=arista-7124s", "--rows", "servers=2,3", "--iterations", "100"),
        *("--param", f"{SHARED}=900KB..1400KB", "--budget", "200"),
    )
    assert process.stderr is not None
    while "error" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    assert "Traceback" not in err
    assert SHARED in out
    assert "interrupted" in overlay.read_text()


def refused(answer: Answer, *said: str) -> None:
    assert answer.code == 2, answer
    assert answer.out == ""
    assert "Traceback" not in answer.err
    for text in said:
        assert text in answer.err, answer.err


def test_bad_input_is_named_and_nothing_is_run(
    command: Command, tmp_path: Path, table: str, backend: Synthetic
) -> None:
    ok = ("--param", f"{SHARED}=900KB..1400KB")
    fit = ("fit", "incast-8mb", *SMALL_ARGS)
    wrong = (
        *("--param", "stack.rto_mim=1ms..2ms", "--param", f"{LATENCY}=900ns..500ns"),
        *("--param", f"{SHARED}=1ms..2ms", "--rows", "servers=99"),
    )
    refused(
        command(*fit, "--to", table, *wrong),
        *("stack.rto_mim", "rto_min", "not below", f"{SHARED}=1ms..2ms", "no row of"),
    )
    refused(
        command(*fit, "--to", table, *ok, "--metrics", "joy_mean", "--rows", "servers=99"),
        *("unknown metric 'joy_mean'", "no row of"),
    )
    refused(command(*fit, "--to", table, *ok, "--metrics", "joy_mean"), "unknown metric 'joy_mean'")
    refused(command(*fit, "--to", "published:none", *ok), "published:incast-8MB")
    refused(command("fit", "incast-8bm", "--to", table, *ok), "incast-8mb")
    refused(command(*fit, "--to", table), "--param")
    refused(command(*fit, "--to", table, *ok, "-o", table), "exists and is not overwritten")
    refused(
        command(*fit, "--to", table, *ok, "-o", tmp_path / "no" / "a.toml"), "there is no folder"
    )
    refused(command(*fit, "--set", "workload.size=-1B", "--to", table, *ok), "workload.size")
    assert backend.made == []
