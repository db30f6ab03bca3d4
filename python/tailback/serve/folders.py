"""Which results a folder holds, finished and unfinished."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Literal

from tailback.errors import InputError
from tailback.report.page.facts import unlike
from tailback.results import manifest as manifests
from tailback.results.folder import finished_runs
from tailback.results.manifest import Manifest

_DEPTH = 3
"""Run folders lie in the folder itself or so many levels below: `results/SWEEP/DATE/RUN`."""
_LOCKS = Path("/proc/locks")

State = Literal["complete", "running", "stopped", "failed", "damaged"]


@dataclass(frozen=True)
class Listed:
    """A run folder.

    Attributes:
        key: its path from the folder that is served, `.` if it is that.
        path: where it is.
        state: `running` while a program fills it; `stopped` if one did and can go on.
        done: runs that are finished.
        tables: of a complete one, by name.
        manifest: None if it is damaged.
        said: by what it is told from others of the same scenario; or what is damaged.
    """

    key: str
    path: Path
    state: State
    done: int = 0
    tables: list[str] = field(default_factory=list)
    manifest: Manifest | None = None
    said: str = ""

    @property
    def started(self) -> str:
        """UTC, ISO 8601; empty if that is not known."""
        return self.manifest["started"] if self.manifest else ""


class Folders:
    """The run folders in `base`, looked for anew each time."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self._known: dict[Path, tuple[int, Manifest, str]] = {}
        """Manifests as they were when their files were of this age, and what is said of them."""
        self._lock = Lock()

    def listed(self) -> list[Listed]:
        """All of them, the newest first; damaged ones last."""
        with self._lock:
            held = _locked()
            found = [self._look(path, held) for path in sorted(_walk(self.base, _DEPTH))]
            # A folder may have been given its final name, or been removed, since it was found.
            there = [one for one in found if one is not None]
            self._known = {one.path: self._known[one.path] for one in there if one.manifest}
        return sorted(there, key=lambda one: one.started, reverse=True)

    def pages(self) -> list[Path]:
        """Reports that lie in the folder itself, such as that on all studies."""
        return sorted(path for path in self.base.glob("*.html") if path.is_file())

    def _look(self, path: Path, held: frozenset[int]) -> Listed | None:
        key = path.relative_to(self.base).as_posix()
        try:
            manifest, said = self._read(path)
            match manifest["status"]:
                case "complete":
                    tables = sorted(one.stem for one in path.glob("*.parquet"))
                    return Listed(key, path, "complete", manifest["runs"], tables, manifest, said)
                case "failed":
                    state: State = "failed"
                case _:
                    state = "running" if path.stat().st_ino in held else "stopped"
            done = len(finished_runs(path))
            return Listed(key, path, state, done, manifest=manifest, said=said)
        except InputError as error:
            return Listed(key, path, "damaged", said=str(error)) if path.exists() else None
        except OSError:
            return None

    def _read(self, path: Path) -> tuple[Manifest, str]:
        age = (path / manifests.FILE_NAME).stat().st_mtime_ns
        if path not in self._known or self._known[path][0] != age:
            manifest = manifests.read(path)
            self._known[path] = age, manifest, _said(manifest)
        return self._known[path][1:]


def _said(manifest: Manifest) -> str:
    """By what results are told from others of the same scenario."""
    sweep = ", ".join(manifest["parameters"])
    swept = f"Sweep of {sweep}, seed" if sweep else "Seed"
    try:
        apart = unlike(manifest["scenario"])
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        # A scenario that is none: its report says so, and the others are to be listed all the same.
        apart = "It cannot be compared with the built-in scenario."
    return f"{swept} {manifest['seed']}. {apart}".strip()


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    if (folder / manifests.FILE_NAME).is_file():
        yield folder
    elif depth > 0:
        try:
            below = [one for one in folder.iterdir() if one.is_dir()]
        except OSError:  # not ours to read, or gone
            return
        for one in below:
            if not one.name.startswith("."):
                yield from _walk(one, depth - 1)


def _locked() -> frozenset[int]:
    """Inodes that some program holds an exclusive lock on.

    The kernel's list, by inode alone (its device is not always the one that stat gives): to try
    the lock would, for a moment, keep out the program that it is for.
    """
    try:
        lines = _LOCKS.read_text(encoding="ascii").splitlines()
    except OSError:
        return frozenset()
    # `1: FLOCK  ADVISORY  WRITE 4711 fe:01:123456 0 EOF`
    rows = [line.split() for line in lines]
    return frozenset(
        int(row[5].rpartition(":")[2])
        for row in rows
        if len(row) > 5 and row[1] == "FLOCK" and row[3] == "WRITE"
    )
