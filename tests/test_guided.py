"""What `make guided` is trained by runs; it finds the program that fits the compiler."""

import stat
from pathlib import Path

import pytest

import bench
import guided


@pytest.fixture(scope="module")
def program() -> Path:
    """Return the benchmark's program, built plainly."""
    bench.build()
    return bench.EXAMPLES / "case"


@pytest.mark.parametrize("one", guided.TRAINING, ids=lambda one: Path(one.file).stem)
def test_each_case_of_the_training_runs(one: guided.Training, program: Path) -> None:
    guided.run(program, one)


def test_a_case_that_does_not_run_is_named(program: Path) -> None:
    wrong = guided.Training("benches/cases/incast-1500.toml", ("workload.sise=2MB",))
    with pytest.raises(RuntimeError, match=r"(?s)incast-1500.toml workload.sise=2MB: .*sise"):
        guided.run(program, wrong)


def profdata(folder: Path, name: str, version: str) -> str:
    """Put a program there that says it is of this LLVM."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho 'Debian LLVM version {version}'\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder of the path, on a machine whose compiler is of LLVM 22.1."""
    said = "host: x86_64-unknown-linux-gnu\nLLVM version: 22.1.2"
    sysroot = str(tmp_path / "sysroot")
    monkeypatch.setattr(guided, "rustc", lambda *given: said if given == ("-vV",) else sysroot)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_the_compilers_own_is_taken_first(machine: Path) -> None:
    profdata(machine, "llvm-profdata-22", "22.1.8")
    folder = machine / "sysroot/lib/rustlib/x86_64-unknown-linux-gnu/bin"
    folder.mkdir(parents=True)
    own = profdata(folder, "llvm-profdata", "22.1.2")
    assert guided.llvm_profdata() == own


def test_one_of_another_llvm_is_passed_over(machine: Path) -> None:
    profdata(machine, "llvm-profdata", "14.0.6")
    with pytest.raises(guided.NotFoundError, match=r"of LLVM 22.*rustup component add llvm-tools"):
        guided.llvm_profdata()
    fits = profdata(machine, "llvm-profdata-22", "22.1.8")
    assert guided.llvm_profdata() == fits
