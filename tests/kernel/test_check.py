"""The kernel that `make test` has built or found: it boots and does what runs need."""

import json
from pathlib import Path

import pytest

from helpers import Command
from tailback.kernel import check


def test_the_kernel_works(command: Command) -> None:
    answer = command("kernel", "check", "--json")
    assert answer.code == 0, answer.err
    findings = {finding["what"]: finding for finding in json.loads(answer.out)}
    for what in ("time travel", "seeded entropy", "virtual time", "congestion controls", "qdiscs"):
        assert findings[what]["works"], findings[what]
    assert {"bbr", "bic", "cubic", "dctcp"} <= set(findings["congestion controls"]["found"].split())
    assert findings["seccomp"]["works"] or findings["ptrace"]["works"]


def test_a_file_that_is_no_program_is_refused(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # Not the program of that name in $PATH.
    Path("true").write_text("no program")
    answer = command("kernel", "check", "true")
    assert answer.code == 2
    assert f"{tmp_path}/true: it cannot be run: Permission denied" in " ".join(answer.err.split())
    Path("true").chmod(0o755)
    answer = command("kernel", "check", "true")
    assert answer.code == 2
    assert "Exec format error" in answer.err


def test_a_program_that_says_nothing_is_refused(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "BOOT_S", 0.2)
    path = tmp_path / "mute"
    path.write_text("#!/bin/sh\nexec sleep 60\n")
    path.chmod(0o755)
    answer = command("kernel", "check", path)
    assert answer.code == 2
    assert "it says nothing" in answer.err


def test_a_program_that_is_no_such_kernel_fails(command: Command) -> None:
    answer = command("kernel", "check", Path("/bin/true"))
    assert answer.code == 1
    assert "not built in: virtual time is impossible" in answer.out
