"""Sources of kernels: trees and tarballs; Debian's package is what `make test` builds from."""

import subprocess
from pathlib import Path

import pytest

from helpers import Command, kernel_tree
from tailback.errors import InputError, TailbackError
from tailback.kernel import source, tools


@pytest.mark.parametrize("packed", [False, True])
def test_only_what_is_needed_is_unpacked(tmp_path: Path, *, packed: bool) -> None:
    given = kernel_tree(tmp_path / "linux")
    if packed:
        subprocess.run(["tar", "-cJf", "linux.tar.xz", "linux"], cwd=tmp_path, check=True)
        given = tmp_path / "linux.tar.xz"
    tree = tmp_path / "tree"
    source.unpack(source.Given(given).fetch(tmp_path), tree)
    assert (tree / "drivers/gpu/Kconfig").exists()
    assert (tree / "drivers/net/dummy.c").exists()
    assert not (tree / "drivers/gpu/drm/card.c").exists()
    assert source.version(tree) == "7.2.13"


def test_a_kernel_that_is_too_old_is_refused(tmp_path: Path) -> None:
    tree = kernel_tree(tmp_path, sublevel="9", patchlevel="1")
    with pytest.raises(InputError, match=r"Linux 7\.1\.9; hosts need 7\.2 or newer"):
        source.version(tree)


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no kernel source tree"):
        source.Given(tmp_path).fetch(tmp_path)
    (tmp_path / "a.tar").write_text("no tar")
    with pytest.raises(TailbackError, match="cannot be unpacked"):
        source.unpack(tmp_path / "a.tar", tmp_path / "tree")


def test_missing_tools_are_named_all_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    there = tools.shutil.which
    gone = {"flex", "bc"}
    monkeypatch.setattr(tools.shutil, "which", lambda name: None if name in gone else there(name))
    answer = command("kernel", "build", "--source", kernel_tree(tmp_path / "linux"))
    assert answer.code == 2
    assert "missing: flex, bc" in answer.err
    assert "apt-get install flex bc" in answer.err
