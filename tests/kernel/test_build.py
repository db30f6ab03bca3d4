"""Building a kernel: what an interrupted build leaves does not stand in the way of the next."""

import fcntl
import shutil
import time
from pathlib import Path

import pytest

from helpers import Command, kernel_tree
from tailback.errors import InputError
from tailback.kernel import build, cache, recipe, source, tools


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


def test_a_kernel_with_a_name_is_nobody_s_default(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept, and what of a build is left; any program stands for what is compiled."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _disk_with(tools.FREE_BYTES, monkeypatch)
    compiled: list[Path] = []

    def compile_kernel(_tree: Path, out: Path, *_rest: object) -> Path:
        out.mkdir(exist_ok=True)
        compiled.append(out)
        (out / ".config").write_text("")
        return Path(shutil.copy(shutil.which("true") or "", out / "linux"))

    monkeypatch.setattr(build, "_compile", compile_kernel)
    tree = kernel_tree(tmp_path / "linux")
    given = source.Given(tree)

    plain = build.build(given, 1000)
    assert plain.is_default
    mine = build.build(given, 1000, name="mine", config=["CONFIG_A=y"], keep=True)
    assert cache.installed() == [plain, mine]
    assert plain.is_default
    assert mine.config == ("CONFIG_A=y",)
    assert build.build(given, 1000, name="mine", config=["CONFIG_A=y"]) == mine
    assert len(compiled) == 2
    assert compiled[1].exists(), "it was to be kept"
    assert not compiled[0].parent.exists()
    stale = compiled[1] / "stale.o"
    stale.touch()
    for again, is_left in ((False, True), (True, False)):
        (tree / "more.c").write_text(str(again))
        build.build(given, 1000, name="mine", config=["CONFIG_A=y"], keep=True, again=again)
        assert stale.exists() == is_left
    del compiled[2:]
    (tree / "net.c").write_text("")
    changed = build.build(given, 1000, name="mine", config=["CONFIG_A=y"])
    assert compiled[2] == compiled[1], "where the tree was compiled before"
    assert not compiled[2].parent.exists(), "it was not to be kept any longer"
    assert changed.recipe != mine.recipe
    assert cache.installed() == [plain, changed]
    assert build.build(given, 1000, name="mine", config=["CONFIG_A=y"], again=True) == changed
    assert len(compiled) == 4
    with pytest.raises(InputError, match=r"no kernel called 7\.2; there are 7\.2\.13-hz1000-"):
        build.remove([plain.name, "7.2"])
    assert build.remove([plain.name, plain.name]) == [plain]
    assert cache.installed() == [changed]
    alone = build.build(given, 1000, name="alone", keep=True)
    assert alone.is_default, "there is no other"
    assert command("kernel", "remove", "alone", "mine").out.startswith("removed alone (7.2.13-")
    left = {path.name for path in cache.folder().iterdir()}
    assert left == {".lock"}


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
