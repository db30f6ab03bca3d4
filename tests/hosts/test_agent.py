"""The agent on a machine that is somebody's own, without SSH: what is left when it ends."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from helpers import programs
from tailback.kernel.guest import agent

SINK = {"kind": "sink", "port": 20_001}
"""Waits for a flow that does not come."""


def config(address: str, *tasks: Mapping[str, Any], **more: object) -> str:
    """One line; sysctls stay as they are."""
    interface = {"name": "lo", "address": address, "prefix_length": 8, "mtu_bytes": 65_536}
    whole = {"host": "a", "interface": interface, "peers": [address], "keep_sysctls": True}
    return json.dumps({**whole, "tasks": tasks, **more}) + "\n"


Start = Callable[[Path, str], "subprocess.Popen[str]"]


@pytest.fixture
def started() -> Iterator[Start]:
    """Starts an agent whose input stays open, for as long as the test takes."""
    all_of_them: list[subprocess.Popen[str]] = []

    def one(folder: Path, line: str) -> "subprocess.Popen[str]":
        folder.mkdir()
        process = subprocess.Popen(
            [agent(), "--on-host", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        all_of_them.append(process)
        assert process.stdin is not None
        process.stdin.write(line)
        process.stdin.flush()
        return process

    yield one
    for process in all_of_them:
        process.communicate()


def comes(condition: Callable[[], bool]) -> bool:
    deadline_s = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline_s:
        time.sleep(0.02)
    return condition()


def running(words: bytes) -> bool:
    """Whether a program with this argument runs."""
    return any(words in arguments for _, arguments in programs())


def test_a_connection_that_was_lost_without_a_word_does_not_keep_it(
    tmp_path: Path, started: Start
) -> None:
    folder = tmp_path / "tailback-lost"
    line = config("127.7.1.1", SINK, patience_ns=1_000_000_000)
    process = started(folder, line)
    assert comes(lambda: process.poll() is not None)
    assert process.stderr is not None
    assert "nobody waits" in process.stderr.read()
    assert not folder.exists()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_one_that_is_told_to_end_puts_back_first(
    tmp_path: Path, started: Start, how: signal.Signals
) -> None:
    folder = tmp_path / "tailback-told"
    process = started(folder, config("127.7.1.2", SINK))
    assert comes((folder / "results.jsonl").exists)
    process.send_signal(how)
    assert comes(lambda: process.poll() is not None)
    assert process.returncode == 2
    assert not folder.exists()


@pytest.mark.parametrize("ends", ["true", "false"])
def test_nothing_is_left_of_one_that_nobody_removes(
    tmp_path: Path, started: Start, ends: str
) -> None:
    folder = tmp_path / "tailback-ended"
    program = {"kind": "command", "argv": [ends]}
    process = started(folder, config("127.7.1.5", program))
    assert comes(lambda: process.poll() is not None)
    assert not folder.exists()


def test_programs_end_with_an_agent_that_is_killed(tmp_path: Path, started: Start) -> None:
    seconds = "12345.678"
    program = {"kind": "command", "argv": ["sleep", seconds]}
    process = started(tmp_path / "tailback-killed", config("127.7.1.3", program))
    assert comes(lambda: running(seconds.encode()))
    process.kill()
    process.wait()
    assert comes(lambda: not running(seconds.encode()))


def test_two_runs_are_not_at_one_address(tmp_path: Path, started: Start) -> None:
    started(tmp_path / "tailback-first", config("127.7.1.4", SINK))
    assert comes((tmp_path / "tailback-first" / "results.jsonl").exists)
    sink = {**SINK, "port": 20_003}
    second = started(tmp_path / "tailback-second", config("127.7.1.4", sink))
    assert comes(lambda: second.poll() is not None)
    assert second.stderr is not None
    assert "another run is going on at 127.7.1.4" in second.stderr.read()
