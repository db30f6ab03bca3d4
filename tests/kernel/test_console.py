"""Kernels that cannot use seccomp run by ptrace, say so, and give the same tables."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

import tailback
from helpers import Command
from tailback.kernel import cache, console

WITHOUT_SECCOMP = f"""#!{sys.executable} -IS
import ctypes, os, sys
class Step(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte),
                ("k", ctypes.c_uint32)]
class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("steps", ctypes.POINTER(Step))]
# Of all system calls seccomp (317 on x86-64) fails with ENOSYS.
steps = (Step * 4)((0x20, 0, 0, 0), (0x15, 0, 1, 317), (0x06, 0, 0, 0x50000 | 38),
                   (0x06, 0, 0, 0x7FFF0000))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(4, steps)), 0, 0) == 0
os.execv("%s", sys.argv)
"""
"""A program that runs the kernel as on a machine whose kernel has no seccomp filters."""

SMALL = [
    'sweep.switch=["arista-7124s"]',
    "sweep.servers=[2]",
    "workload.iterations=2",
    "workload.size=200kB",
]


@pytest.fixture
def without_seccomp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> cache.Kernel:
    """The kernel that runs use is one that cannot use seccomp."""
    kernel = cache.find()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(kernel.path, cache.folder() / kernel.name)
    program = cache.folder() / kernel.name / cache.PROGRAM
    program.unlink()
    program.write_text(WITHOUT_SECCOMP % kernel.program)
    program.chmod(0o755)
    replace(kernel, path=program.parent).write()  # its size is another
    found = cache.find()
    assert found.program == program
    return found


def test_a_run_by_ptrace_says_so_and_has_the_same_tables(
    tmp_path: Path, command: Command, request: pytest.FixtureRequest
) -> None:
    scenario = tailback.load("incast-8mb").override(*SMALL)
    usual = tailback.run(scenario, out=tmp_path / "usual", backend="kernel")
    assert (usual.notes == []) == (usual.table("performance")["userspace"].item() == "seccomp")
    request.getfixturevalue("without_seccomp")
    settings = [word for setting in SMALL for word in ("--set", setting)]
    out = tmp_path / "traced"
    answer = command("run", "incast-8mb", "--backend", "kernel", *settings, "--out", out)
    assert answer.code == 0, answer.err
    assert answer.err.count("fell back to ptrace") == 1
    traced = tailback.Results(out)
    assert traced.table("performance")["userspace"].to_list() == ["ptrace"]
    for name in ("summary", "transactions", "flows", "counters"):
        assert_frame_equal(traced.table(name), usual.table(name))


def test_last_words_are_those_of_trouble(tmp_path: Path) -> None:
    path = tmp_path / "h0" / "console.log"
    path.parent.mkdir()
    start = "Core dump limits :\n\tsoft - 0\nChecking PROT_EXEC mmap in /dev/shm...OK\n"
    path.write_text(f"{start}{console.SECCOMP_WORKS}\n")
    assert console.last_words([path]) == ""
    assert console.userspace([path]) == "seccomp"
    path.write_text(f"{start}Kernel panic - not syncing\nreboot: Power down\n")
    assert console.last_words([path]) == "    h0: Kernel panic - not syncing"
    assert console.userspace([path]) == "ptrace"
