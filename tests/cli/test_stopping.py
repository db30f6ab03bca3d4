"""Runs that are stopped, killed or starved: nothing finished is lost, the tables stay the same."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import Command, start, tables_of, wait_for

ARGS = (
    "run",
    "incast-8mb",
    "--set",
    "sweep.servers=[1, 2, 23]",
    "--set",
    "workload.iterations=100",
)
"""Six runs, of which two are long enough to be caught at."""


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The tables of an undisturbed sweep."""
    out = tmp_path_factory.mktemp("straight") / "out"
    process = start(*ARGS, "--jobs", "2", "--out", out)
    _, err = process.communicate()
    assert process.returncode == 0, err
    return tables_of(out)


def stop(out: Path, number: signal.Signals) -> tuple[int, str]:
    """Starts the sweep, sends it a signal once a run is finished; its exit code and stderr."""
    process = start(*ARGS, "--jobs", "1", "--out", out)
    runs = out.with_name("out.partial") / "runs"
    wait_for(lambda: any(runs.glob("[0-9]*")), process)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    return process.returncode, err


def test_tables_do_not_depend_on_the_number_of_jobs(
    command: Command, straight: dict[str, bytes], tmp_path: Path
) -> None:
    assert command(*ARGS, "--jobs", "1", "--out", tmp_path / "out").code == 0
    again = tables_of(tmp_path / "out")
    assert {"summary.parquet", "transactions.parquet", "flows.parquet"} <= again.keys()
    assert again == straight


def test_ctrl_c_keeps_what_is_finished_and_the_same_command_goes_on(
    command: Command, straight: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, err = stop(out, signal.SIGINT)
    assert code == 130
    assert "Traceback" not in err
    assert "give the same command again to continue" in err
    assert not out.exists()
    finished = set((tmp_path / "out.partial" / "runs").iterdir())
    assert 1 <= len(finished) < 6
    assert command(*ARGS, "--out", out).code == 0
    assert tables_of(out) == straight


def test_a_killed_sweep_goes_on_and_gives_the_same_tables(
    command: Command, straight: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, _ = stop(out, signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert not out.exists()
    assert command(*ARGS, "--out", out).code == 0
    assert tables_of(out) == straight


def test_a_disk_without_room_is_a_message_and_resumable(
    command: Command, straight: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    # A process may write no file above this size: the manifest fits, a table does not.
    process = subprocess.run(
        [sys.executable, "-m", "tailback", *ARGS, "--out", str(out)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
        check=False,
    )
    assert process.returncode == 1
    assert "Traceback" not in process.stderr
    assert "File too large; what is finished is kept" in process.stderr
    assert command(*ARGS, "--out", out).code == 0
    assert tables_of(out) == straight


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_standard_output_is_a_message(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "tailback", "schema"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            check=False,
            cwd=tmp_path,
        )
    assert process.returncode != 0
    assert "Traceback" not in process.stderr


def test_ctrl_c_while_the_program_is_loaded_is_a_message(tmp_path: Path) -> None:
    # What the command line imports first is where Ctrl-C comes.
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    process = subprocess.run(
        [sys.executable, "-m", "tailback", "list"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert (process.returncode, process.stderr) == (130, "interrupted\n")
