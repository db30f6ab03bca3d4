"""A source tree of the user's that is built, changed and built again."""

import os
from pathlib import Path

import pytest

from helpers import kernel_tree
from tailback.errors import InputError
from tailback.kernel import build, recipe, source
from tailback.kernel import tree as trees

UTIL = "arch/um/os-Linux/util.c"
MINE = "net/ipv4/tcp_mine.c"


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """A tree under version control with a file of its builder's."""
    tree = kernel_tree(tmp_path / "linux")
    for name, text in ((MINE, "int mine = 1;\n"), (".git/HEAD", "ref\n")):
        file = tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tree


def _fingerprint(tree: Path) -> str:
    return trees.fingerprint(trees.scan(tree))


def test_a_tree_that_changed_is_another(given: Path) -> None:
    first = _fingerprint(given)
    (given / ".git/HEAD").write_text("another\n")
    assert _fingerprint(given) == first
    mine = given / MINE
    seen = {first}
    mine.write_text("int mine = 10;\n")
    seen.add(_fingerprint(given))
    os.utime(mine, ns=(1, 1))
    seen.add(_fingerprint(given))
    (given / "net/more.c").write_text("")
    seen.add(_fingerprint(given))
    mine.unlink()
    seen.add(_fingerprint(given))
    assert len(seen) == 5


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        trees.scan(tmp_path / "nowhere")


def test_a_copy_gets_what_has_changed(
    given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(given)
    origin = source.Given(Path())
    work = tmp_path / "work"
    work.mkdir()

    def bring() -> Path:
        return build._tree(origin, origin.scan(), work, 1000, lambda _step: None)

    copy = bring()
    edited = (copy / UTIL).read_text()
    assert "entropy_seed" in edited
    assert not (copy / ".git").exists()
    unchanged = (copy / "drivers/net/dummy.c").stat().st_mtime_ns
    since_ns = (copy / build.READY).stat().st_mtime_ns
    # Older than what was compiled, as after a change of branch.
    for name, text in ((MINE, "int mine = 2;\n"), ("net/own/new.c", "int added;\n")):
        (given / name).parent.mkdir(exist_ok=True)
        (given / name).write_text(text)
        os.utime(given / name, ns=(1, 1))
    (given / "drivers/net/dummy.c").rename(given / "drivers/net/renamed.c")
    (given / "drivers/gpu/drm/more.c").write_text("int card;\n")
    with (given / UTIL).open("a") as file:
        file.write("int more;\n")
    assert bring() == copy
    assert (copy / MINE).read_text() == "int mine = 2;\n"
    assert (copy / MINE).stat().st_mtime_ns >= since_ns - 10**9
    assert (copy / "net/own/new.c").exists()
    assert not (copy / "drivers/net/dummy.c").exists()
    assert (copy / "drivers/net/renamed.c").exists()
    assert not (copy / "drivers/gpu/drm/more.c").exists(), "what is not needed"
    assert (copy / UTIL).read_text() == edited + "int more;\n"
    assert (copy / "Makefile").stat().st_mtime_ns <= since_ns
    assert unchanged <= since_ns
    before = {path: path.stat().st_mtime_ns for path in copy.rglob("*")}
    bring()
    assert {path: path.stat().st_mtime_ns for path in copy.rglob("*")} == before


@pytest.mark.parametrize("text", ["CONFIG_TCP_CONG_MINE=y", "TCP_CONG_MINE=y", "TCP_CONG_MINE"])
def test_settings_are_written_as_kernels_do(text: str) -> None:
    assert recipe.setting(text) == "CONFIG_TCP_CONG_MINE=y"


@pytest.mark.parametrize("text", ["", "tcp_cong_mine", "A=m", "A=", "A=y\nB", "A B=y"])
def test_what_is_no_setting_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no setting of a kernel"):
        recipe.setting(text)


def test_a_setting_takes_the_recipe_s_place() -> None:
    assert "CONFIG_TCP_CONG_BBR=y" in recipe.settings()
    mine = ["CONFIG_TCP_CONG_BBR=n", "CONFIG_TCP_CONG_MINE=y"]
    lines = recipe.configuration(mine).splitlines()
    assert "CONFIG_TCP_CONG_BBR=y" not in lines
    assert lines[-2:] == mine
    assert set(recipe.settings(mine)) == set(recipe.settings()) - {"CONFIG_TCP_CONG_BBR=y"} | {
        "CONFIG_TCP_CONG_MINE=y"
    }
    assert recipe.digest(1000, "here", mine) != recipe.digest(1000, "here")
    assert recipe.digest(1000, "here", (), "state") != recipe.digest(1000, "here")
