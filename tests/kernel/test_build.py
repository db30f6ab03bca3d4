"""Building a kernel: what an interrupted build leaves does not stand in the way of the next."""

import fcntl
import shutil
import time
from pathlib import Path

import pytest

from helpers import Command
from tailback.kernel import build, cache, recipe, tools


def _disk_with(free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine's disk has, it has `free` bytes."""
    usage = shutil.disk_usage("/")._replace(free=free)
    monkeypatch.setattr(tools.shutil, "disk_usage", lambda _path: usage)


def test_a_full_disk_is_refused_before_anything_is_fetched(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _disk_with(tools.FREE_BYTES - 1, monkeypatch)
    answer = command("kernel", "build")
    assert answer.code == 2
    assert "GB free, and a build takes" in answer.err
    assert "XDG_CACHE_HOME names another place" in answer.err
    assert not list(tmp_path.rglob("*.deb"))


def test_a_package_that_is_cut_short_is_fetched_anew(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _disk_with(tools.FREE_BYTES, monkeypatch)
    work = cache.folder() / f".build-{recipe.digest(1000, 'debian')}"
    work.mkdir(parents=True)
    package = work / "linux-source-7.2_7.2.13-1_all.deb"
    for text in ("", "!<arch>\n"):
        package.write_text(text)
        answer = command("kernel", "build")
        assert answer.code == 1
        assert f"{package.name}: cannot be unpacked" in answer.err
        assert not package.exists()


def test_a_build_that_was_killed_compiles_alone(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with build._locked(path, lambda _step: None) as lock:
        build._make(["sh", "-c", "sleep 1 >/dev/null 2>&1 &"], lambda _line: None, lock)
    # As if this program were gone: what make has started goes on.
    with path.open() as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        since_s = time.monotonic()
        fcntl.flock(file, fcntl.LOCK_EX)
        assert time.monotonic() - since_s < 30
