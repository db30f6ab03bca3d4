"""Building a kernel: fetch, unpack, edit, configure, compile, keep.

All happens in one folder beside the kernels, under a lock. A build that was interrupted goes on
where it was: a package that is there is not fetched again, a tree that is complete is not unpacked
again, and make compiles what is missing. When the kernel is kept, the folder is deleted.
"""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tailback.errors import TailbackError
from tailback.kernel import cache, recipe, tools
from tailback.kernel import source as sources
from tailback.kernel.cache import Kernel
from tailback.results.machine import cores

STEPS = 1202
"""Lines that make says for the kernel of `recipe` from 7.2.13, for the estimate of progress."""

READY = ".ready"
"""In a tree: it is unpacked and edited."""


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
    again: bool = False,
    tell: Tell = lambda _step: None,
) -> Kernel:
    """The kernel of that source and HZ: the one that is kept, or else a new one, which becomes the
    default. `again` builds it in any case.
    """
    kept = cache.folder()
    kept.mkdir(parents=True, exist_ok=True)
    digest = recipe.digest(hz, source.identity)
    with _locked(kept / ".lock", tell) as lock:
        there = [kernel for kernel in cache.installed() if kernel.recipe == digest]
        if there and not again:
            cache.make_default(there[-1])
            return there[-1]
        tools.require(kept, apt=isinstance(source, sources.Package))
        work = kept / f".build-{digest}"
        work.mkdir(exist_ok=True)
        tree = _tree(source, work, hz, tell)
        version = sources.version(tree)
        program = _compile(tree, work / "out", version, tell, lock)
        kernel = Kernel(
            path=kept / f"{version}-hz{hz}-{digest}",
            version=version,
            hz=hz,
            source=source.identity,
            recipe=digest,
            edits=tuple(edit.why for edit in recipe.edits(hz)),
        )
        _keep(kernel, program, work)
        return kernel


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


def _tree(source: sources.Package | sources.Given, work: Path, hz: int, tell: Tell) -> Path:
    tree = work / "tree"
    if (tree / READY).exists():
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
    (tree / READY).touch()
    return tree


def _compile(tree: Path, out: Path, version: str, tell: Tell, lock: int) -> Path:
    out.mkdir(exist_ok=True)
    make = ["make", "-C", str(tree), "ARCH=um", f"O={out}", f"-j{cores()}"]
    tell(Step(f"configuring Linux {version}", 0.1))
    log = out / "make.log"
    with log.open("w") as file:
        _make([*make, f"KCONFIG_ALLCONFIG={recipe.CONFIG}", "allnoconfig"], file.write, lock)
        lost = set(recipe.settings()) - set((out / ".config").read_text().splitlines())
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


def _keep(kernel: Kernel, program: Path, work: Path) -> None:
    """Moves what is needed to its place, in one step, and deletes the rest."""
    fresh = work / "kernel"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    subprocess.run(["strip", "-o", str(fresh / cache.PROGRAM), str(program)], check=True)
    shutil.copy2(program.parent / ".config", fresh / "config")
    replace(kernel, path=fresh).write()
    shutil.rmtree(kernel.path, ignore_errors=True)
    fresh.rename(kernel.path)
    cache.make_default(kernel)
    shutil.rmtree(work)
