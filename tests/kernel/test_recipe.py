"""The recipe: what a kernel is made from."""

from pathlib import Path

import pytest

from tailback.errors import TailbackError
from tailback.kernel import recipe
from tailback.kernel.recipe import Edit


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The places of a kernel's source that are edited, as Linux 7.2 has them."""
    kconfig = tmp_path / "arch/um/Kconfig"
    util = tmp_path / "arch/um/os-Linux/util.c"
    util.parent.mkdir(parents=True)
    kconfig.write_text("config HZ\n\tint\n\tdefault 100\n\nconfig SMP\n\tbool\n")
    util.write_text(
        "ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)\n"
        "{\n\treturn getrandom(buf, len, flags);\n}\n"
    )
    return tmp_path


def test_edits_change_the_clock_and_the_entropy(tree: Path) -> None:
    for edit in recipe.edits(1000):
        edit.apply(tree)
    assert "default 1000\n" in (tree / "arch/um/Kconfig").read_text()
    util = (tree / "arch/um/os-Linux/util.c").read_text()
    assert util.index("seeded_entropy(unsigned char") < util.index("ssize_t os_getrandom")
    assert "\tif (entropy_seed)\n\t\treturn seeded_entropy(buf, len);\n\treturn getrandom" in util


def test_hz_as_shipped_leaves_the_clock(tree: Path) -> None:
    for edit in recipe.edits(recipe.HZ_AS_SHIPPED):
        edit.apply(tree)
    assert "default 100\n" in (tree / "arch/um/Kconfig").read_text()


def test_an_edit_is_made_once(tree: Path) -> None:
    for _ in range(2):
        for edit in recipe.edits(1000):
            edit.apply(tree)
    assert (tree / "arch/um/os-Linux/util.c").read_text().count("__uml_setup") == 1


def test_a_source_that_is_too_different_is_refused(tree: Path) -> None:
    (tree / "arch/um/Kconfig").write_text("config HZ\n\tint\n\tdefault 250\n")
    with pytest.raises(TailbackError, match=r"HZ 1000.*not there"):
        recipe.edits(1000)[-1].apply(tree)


def test_what_a_kernel_is_made_from_is_in_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = recipe.digest(1000, "debian")
    assert len(digest) == 8
    assert digest != recipe.digest(100, "debian")
    assert digest != recipe.digest(1000, "a tree")
    other = Edit("arch/um/Kconfig", "a", "b", "why")
    monkeypatch.setattr(recipe, "edits", lambda _hz: (other,))
    assert digest != recipe.digest(1000, "debian")
