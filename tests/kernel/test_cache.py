"""Finding kernels among those that were built."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers import Command
from tailback.errors import InputError
from tailback.kernel import cache
from tailback.kernel.cache import Kernel

Add = Callable[[str, int], Kernel]


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Add:
    """Puts a kernel that does nothing into an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def one(version: str, hz: int) -> Kernel:
        path = cache.folder() / f"{version}-hz{hz}-abcd"
        path.mkdir(parents=True)
        kernel = Kernel(path, version, hz, "debian", "abcd", ("why",))
        kernel.program.write_text("")
        kernel.program.chmod(0o755)
        kernel.write()
        return kernel

    return one


def test_a_kernel_is_read_as_it_was_written(add: Add) -> None:
    kernel = add("7.2.13", 1000)
    assert cache.installed() == [kernel]


def test_the_default_is_found_first(add: Add) -> None:
    old, new = add("7.2.13", 1000), add("7.3.4", 1000)
    assert cache.find() == new, "without a default the newest"
    cache.make_default(old)
    assert cache.find().version == old.version
    assert old.is_default
    assert not new.is_default
    cache.make_default(new)
    assert cache.find().version == new.version
    assert cache.installed() == [old, new], "the link is no kernel of its own"


def test_versions_are_found_by_their_beginning(add: Add) -> None:
    add("7.2.9", 1000)
    newest, other = add("7.2.13", 1000), add("7.20.1", 100)
    assert cache.find("7.2") == newest
    assert cache.find(hz=100) == other
    assert cache.find(other.name) == other


def test_one_with_a_name_is_found_by_it(add: Add) -> None:
    plain = add("7.2.13", 1000)
    path = plain.path.with_name("mine")
    plain.path.rename(path)
    mine, plain = cache.find("mine"), add("7.2.13", 1000)
    assert mine.is_named
    assert not plain.is_named
    assert mine.title == "mine (7.2.13-hz1000-abcd)"
    assert plain.title == plain.name
    cache.make_default(mine)
    assert cache.find("7.2") == plain
    assert cache.find(hz=1000) == plain
    for kernel in (mine, plain):
        assert cache.find(kernel.name) == kernel
    shutil.rmtree(plain.path)
    assert cache.find("7.2") == mine, "there is no other"


@pytest.mark.parametrize("name", ["", "default", "7.2", "../up", "a b", ".build", "a" * 65])
def test_what_is_no_name_is_refused(name: str, command: Command) -> None:
    answer = command("kernel", "build", "--name", name)
    assert answer.code == 2
    assert "not a name for a kernel" in " ".join(answer.err.split())


def test_what_is_not_there_is_said_with_what_is(add: Add) -> None:
    with pytest.raises(InputError, match=r"no kernel in .*tailback kernel build"):
        cache.find()
    add("7.2.13", 1000)
    with pytest.raises(InputError, match=r"no kernel 8\.0 with HZ 100; there are 7\.2\.13-hz1000"):
        cache.find("8.0", 100)


def test_half_a_kernel_is_none(add: Add) -> None:
    kernel = add("7.2.13", 1000)
    kernel.program.write_text("cut sh")
    assert cache.installed() == [], "it has another size"
    kernel.program.unlink()
    assert cache.installed() == []


@pytest.mark.parametrize("text", ["", "[]", '{"version": "7.2"}', '{"edits": 1}'])
def test_a_description_that_is_none_is_no_kernel_s(add: Add, text: str) -> None:
    kernel = add("7.2.13", 1000)
    (kernel.path / cache.DESCRIPTION).write_text(text)
    assert cache.installed() == []


def test_a_version_that_was_written_as_a_number_is_one(add: Add, command: Command) -> None:
    kernel = add("7.2", 1000)
    path = kernel.path / cache.DESCRIPTION
    path.write_text(path.read_text().replace('"7.2"', "7.2"))
    assert cache.find("7.2").version == "7.2"
    assert command("kernel", "list").code == 0


def test_the_list_names_kernels(add: Add, command: Command) -> None:
    cache.make_default(add("7.2.13", 1000))
    answer = command("kernel", "list")
    assert answer.code == 0
    assert "* 7.2.13-hz1000-abcd" in " ".join(answer.out.split())
    assert '"version": "7.2.13"' in command("kernel", "list", "--json").out
