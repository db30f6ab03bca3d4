"""Building a kernel: fetch, unpack, edit, configure, compile, keep.

All happens in one folder beside the kernels, under a lock. A build that was interrupted goes on
where it was: a package that is there is not fetched again, a tree that is complete is not unpacked
again, and make compiles what is missing. When the kernel is kept, the folder is deleted, unless it
is asked for: of a tree that changes, the next build then compiles what has changed.
"""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tailback.errors import TailbackError
from tailback.kernel import cache, recipe, tools
from tailback.kernel import source as sources
from tailback.kernel import tree as trees
from tailback.kernel.cache import Kernel
from tailback.kernel.tree import Scan
from tailback.results.machine import cores

STEPS = 1202
"""Lines that make says for the kernel of `recipe` from 7.2.13, for the estimate of progress."""

READY = ".ready"
"""In a copy of a tree: it is unpacked and edited; says what the tree had then."""

WORK = ".build-"
"""What the name of a build's folder begins with."""

OUT = "out"
"""What was compiled, in the folder of a build."""

DONE = "done"
"""There, in such a folder, if the build came to its end."""


@dataclass(frozen=True)
class Step:
    """How far a build is."""

    what: str
    fraction: float
    """From 0 to 1."""


Tell = Callable[[Step], None]


def build(
    source: sources.Package | sources.Given,
    hz: int,
    *,
    name: str | None = None,
    config: Sequence[str] = (),
    again: bool = False,
    keep: bool = False,
    tell: Tell = lambda _step: None,
) -> Kernel:
    """The kernel of that source and HZ: the one that is kept, or else a new one.

    Args:
        source: a package, a tarball or a tree; a tree that has changed is another source.
        hz: ticks a second.
        name: what it is called, if not by what it was made from. One of that name is replaced, and
            runs that ask for no kernel take the one they took before; else this is now that one.
        config: lines of configuration over the recipe's (`recipe.setting`).
        again: whether to build it where it is there, all anew.
        keep: whether to leave what was compiled.
        tell: hears how far it is.
    """
    kept = cache.folder()
    kept.mkdir(parents=True, exist_ok=True)
    found = source.scan()
    content = trees.fingerprint(found) if found else ""
    digest = recipe.digest(hz, source.identity, config, content)
    with _locked(kept / ".lock", tell) as lock:
        called = [one for one in cache.installed() if (one.name if one.is_named else None) == name]
        there = [one for one in called if one.recipe == digest]
        if there and not again:
            _choose(there[-1])
            return there[-1]
        tools.require(kept, apt=isinstance(source, sources.Package))
        # What a tree had before it changed is of use; of archives it is not.
        lasting = recipe.digest(hz, source.identity, config) if _is_tree(found) else digest
        work = kept / f"{WORK}{lasting}"
        # A build that was interrupted goes on; one that came to its end may be wanted anew.
        done = work / DONE
        if again and done.exists():
            shutil.rmtree(work)
        work.mkdir(exist_ok=True)
        done.unlink(missing_ok=True)
        tree = _tree(source, found, work, hz, tell)
        version = sources.version(tree)
        program = _compile(tree, work / OUT, version, config, tell, lock)
        kernel = Kernel(
            path=kept / (name or cache.name_of(version, hz, digest)),
            version=version,
            hz=hz,
            source=source.identity,
            recipe=digest,
            edits=tuple(edit.why for edit in recipe.edits(hz)),
            config=tuple(config),
            work=work.name,
        )
        _store(kernel, program, work)
        _choose(kernel)
        if keep:
            done.touch()
        else:
            shutil.rmtree(work)
        return kernel


def remove(names: Iterable[str]) -> list[Kernel]:
    """Deletes these kernels, and what was kept of their builds; raises `InputError`, before it
    does, if one is not there.
    """
    kept = cache.folder()
    found = [cache.named(name) for name in dict.fromkeys(names)]
    with _locked(kept / ".lock", lambda _step: None):
        for kernel in found:
            if kernel.is_default:
                (kept / cache.DEFAULT).unlink()
            shutil.rmtree(kernel.path, ignore_errors=True)
            if kernel.work.startswith(WORK):
                shutil.rmtree(kept / kernel.work, ignore_errors=True)
    return found


def _choose(kernel: Kernel) -> None:
    """Lets runs take it that ask for none, unless it has a name by which to ask for it."""
    if not kernel.is_named or not (cache.folder() / cache.DEFAULT).exists():
        cache.make_default(kernel)


def _is_tree(found: Scan) -> bool:
    return bool(found) and "" not in found


@contextmanager
def _locked(path: Path, tell: Tell) -> Iterator[int]:
    """Waits until no other build goes on; gives the descriptor that holds the others off."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(Step("waiting for another build", 0.0))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def _tree(
    source: sources.Package | sources.Given, found: Scan, work: Path, hz: int, tell: Tell
) -> Path:
    tree = work / "tree"
    if (tree / READY).exists():
        if _is_tree(found):
            _update(source.fetch(work), found, tree, hz)
        return tree
    shutil.rmtree(tree, ignore_errors=True)
    tell(Step("fetching the source", 0.01))
    archive = source.fetch(work)
    tell(Step("unpacking", 0.05))
    try:
        sources.unpack(archive, tree)
    except TailbackError:
        if archive.parent == work:
            # What came is cut short: the next build fetches it anew.
            archive.unlink()
        raise
    sources.version(tree)
    for edit in recipe.edits(hz):
        edit.apply(tree)
    (tree / READY).write_text(json.dumps(found))
    return tree


def _update(source: Path, found: Scan, tree: Path, hz: int) -> None:
    """Brings a copy of a tree up to date."""
    before = {path: tuple(facts) for path, facts in json.loads((tree / READY).read_text()).items()}
    written, gone = trees.differences(before, found)
    if not written and not gone:
        return
    for path in gone:
        (tree / path).unlink(missing_ok=True)
    sources.bring(source, tree, written)
    for edit in recipe.edits(hz):
        edit.apply(tree)
    (tree / READY).write_text(json.dumps(found))


def _compile(
    tree: Path, out: Path, version: str, config: Sequence[str], tell: Tell, lock: int
) -> Path:
    out.mkdir(exist_ok=True)
    asked = out.with_name("asked.config")
    asked.write_text(recipe.configuration(config))
    make = ["make", "-C", str(tree), "ARCH=um", f"O={out}", f"-j{cores()}"]
    tell(Step(f"configuring Linux {version}", 0.1))
    log = out / "make.log"
    with log.open("w") as file:
        _make([*make, f"KCONFIG_ALLCONFIG={asked}", "allnoconfig"], file.write, lock)
        lost = set(recipe.settings(config)) - set((out / ".config").read_text().splitlines())
        # 7.3 has no CONFIG_PROC_SYSCTL: it is always there.
        lost.discard("CONFIG_PROC_SYSCTL=y")
        if lost:
            raise TailbackError(
                f"Linux {version} does not take these settings: {', '.join(sorted(lost))}"
            )
        done = 0

        def follow(line: str) -> None:
            nonlocal done
            file.write(line)
            done += 1
            tell(Step(f"compiling Linux {version}", 0.1 + 0.9 * min(done / STEPS, 1.0)))

        _make([*make, "linux"], follow, lock)
    return out / "linux"


def _make(command: list[str], follow: Callable[[str], object], lock: int) -> None:
    """Runs make, line by line; what a make around us has set is kept from it. It has the lock too:
    a build whose program was killed goes on compiling, and the next one waits for it.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if name in {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"}
    } | {
        "LC_ALL": "C",
        # Two builds of the same source give the same program.
        "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
        "KBUILD_BUILD_USER": "tailback",
        "KBUILD_BUILD_HOST": "tailback",
        "KBUILD_BUILD_VERSION": "1",
    }
    tail: list[str] = []
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        process_group=0,
        pass_fds=(lock,),
    ) as process:
        try:
            for line in process.stdout or ():
                tail = [*tail[-19:], line]
                follow(line)
        except BaseException:
            os.killpg(process.pid, 15)
            raise
    if process.returncode:
        raise TailbackError(f"the kernel does not compile; make's last lines:\n{''.join(tail)}")


def _store(kernel: Kernel, program: Path, work: Path) -> None:
    """Moves what is needed to its place, in one step."""
    fresh = work / "kernel"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    subprocess.run(["strip", "-o", str(fresh / cache.PROGRAM), str(program)], check=True)
    shutil.copy2(program.parent / ".config", fresh / "config")
    replace(kernel, path=fresh).write()
    shutil.rmtree(kernel.path, ignore_errors=True)
    fresh.rename(kernel.path)
