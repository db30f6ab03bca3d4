"""A run folder while it is being filled.

    DIR.partial/manifest.json           what is being run
    DIR.partial/runs/0007/TABLE.arrows  the tables of a finished run
    DIR.partial/runs/0007/capture.pcapng its frames, if the scenario asks to capture any;
                                        DIR/captures/0007.pcapng in the end

A finished run appears in one rename, so that a killed program loses at most the runs it was
at. When all are there they are joined in the order of the plan, and the folder is renamed to
DIR, which is never overwritten.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

import polars as pl

from tailback.errors import InputError
from tailback.records import CAPTURE
from tailback.results import manifest as manifests
from tailback.results.columns import RunColumns
from tailback.results.manifest import Manifest
from tailback.results.storage import (
    StorageError,
    explained,
    joined,
    write_bytes,
    write_parquet,
    write_stream,
)
from tailback.scenario import Scenario

_PCAPNG = "capture.pcapng"
_KEPT = "what is finished is kept: free some space and give the same command again"


class PartialFolder:
    """`DIR.partial`, held by this process until `complete` or `close`."""

    def __init__(self, target: Path, path: Path, manifest: Manifest, lock: int) -> None:
        self.target = target
        self.path = path
        self.manifest = manifest
        self._lock: int | None = lock
        self._opened_s = time.monotonic()
        self._before_s = manifest["duration_s"]
        self._columns: RunColumns | None = None

    def finished(self) -> set[int]:
        """Indices of the runs that are already there."""
        if self.manifest["status"] == "complete":  # stopped while being given its name
            return set(range(self.manifest["runs"]))
        return {int(run.name) for run in finished_runs(self.path)}

    def save(self, scenario: Scenario, index: int, tables: Mapping[str, pl.DataFrame]) -> None:
        """Keeps the tables of one finished run; safe to call from several threads."""
        columns = self._columns = self._columns or RunColumns(scenario.plan.runs)
        scratch = self._runs / f".{index:04}.tmp"
        with explained(scratch, _KEPT):
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir(parents=True)
            for name, frame in tables.items():
                if name == CAPTURE:
                    write_bytes(scratch / _PCAPNG, frame["pcapng"][0])
                    continue
                write_stream(scratch / f"{name}.arrows", columns.prepend(index, frame))
            scratch.rename(self._runs / f"{index:04}")

    def complete(self) -> Path:
        """Joins the runs into one table each, and gives the folder its final name."""
        with explained(self.path, _KEPT):
            if self.manifest["status"] != "complete":
                self.manifest["digests"] = digests = self._join()
                self.manifest["tables"] = list(digests)
                self._gather_captures()
                self._mark("complete")
            shutil.rmtree(self._runs, ignore_errors=True)
            if self.target.exists():
                raise InputError(
                    f"{self.target}: has appeared meanwhile and is not overwritten; "
                    f"the results are in {self.path}"
                )
            self.path.rename(self.target)
        self._release()
        return self.target

    def close(self, status: Literal["interrupted", "failed"]) -> None:
        """Lets go of the folder, to be resumed later."""
        # On a full disk the old manifest stands, and is good enough to resume from.
        with suppress(OSError):
            if self.manifest["status"] != "complete":
                self._mark(status)
        self._release()

    def _release(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

    @property
    def _runs(self) -> Path:
        return self.path / "runs"

    def _mark(self, status: Literal["running", "interrupted", "failed", "complete"]) -> None:
        self.manifest["status"] = status
        self.manifest["duration_s"] = round(self._before_s + time.monotonic() - self._opened_s, 3)
        manifests.write(self.path, self.manifest)

    def _gather_captures(self) -> None:
        for capture in sorted(self._runs.glob(f"[0-9]*/{_PCAPNG}")):
            folder = self.path / "captures"
            folder.mkdir(exist_ok=True)
            capture.rename(folder / f"{capture.parent.name}.pcapng")

    def _join(self) -> dict[str, str]:
        """Writes the tables; gives their digests."""
        runs = [self._runs / f"{index:04}" for index in range(self.manifest["runs"])]
        found = {run: {path.stem for path in run.glob("*.arrows")} for run in runs}
        for run, tables in found.items():
            if not tables:
                raise StorageError(f"{run}: holds no tables; {_remedy(run)}")
        digests = {}
        for name in sorted(set().union(*found.values())):
            parts = [run / f"{name}.arrows" for run in runs]
            digests[name] = write_parquet(
                self.path / f"{name}.parquet",
                joined([_read_part(part) for part in parts if part.exists()]),
            )
        return digests


def open_folder(target: Path, manifest: Manifest) -> PartialFolder:
    """The partial folder for `target`, new or to be resumed.

    Raises `InputError` if `target` is there, or a partial folder of something else, or of
    a program still at work.
    """
    if target.exists() or target.is_symlink():
        raise InputError(
            f"{target}: exists, and results are never overwritten; remove it or name another folder"
        )
    path = partial_path(target)
    with explained(path, "name a folder that can be written"):
        path.mkdir(parents=True, exist_ok=True)
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return PartialFolder(target, path, _resumable(path, manifest), lock)
    except BlockingIOError as error:
        os.close(lock)
        raise InputError(
            f"{path}: another tailback is filling it; wait for it or name another folder"
        ) from error
    except BaseException:
        os.close(lock)
        raise


def default_target(name: str, manifest: Manifest) -> Path:
    """results/NAME, or the next free one of NAME-2, NAME-3, …; an interrupted one of the same
    scenario and seed comes first, to be resumed.
    """
    number = 1
    while True:
        target = Path("results") / (name if number == 1 else f"{name}-{number}")
        path = partial_path(target)
        if not target.exists() and (not path.exists() or _continues(path, manifest)):
            return target
        number += 1


def partial_path(target: Path) -> Path:
    """Where the results of `target` are while they are incomplete."""
    return target.with_name(f"{target.name}.partial")


def finished_runs(partial: Path) -> list[Path]:
    """The folders of the runs that are finished, in the order of the plan."""
    return sorted((partial / "runs").glob("[0-9]*"), key=lambda run: int(run.name))


def _resumable(path: Path, manifest: Manifest) -> Manifest:
    if not any(path.iterdir()):
        with explained(path, "name a folder that can be written"):
            (path / "runs").mkdir()
            manifests.write(path, manifest)
        return manifest
    old = manifests.read(path)
    if reason := manifests.difference(old, manifest):
        raise InputError(
            f"{path}: holds unfinished results that cannot be continued: {reason}; "
            "remove it or name another folder"
        )
    for scratch in (path / "runs").glob(".*.tmp"):
        shutil.rmtree(scratch)
    if old["status"] != "complete":
        old["status"] = "running"
        old["jobs"] = manifest["jobs"]
        manifests.write(path, old)
    return old


def _continues(path: Path, manifest: Manifest) -> bool:
    try:
        old = manifests.read(path)
    except InputError:
        return False
    return manifests.difference(old, manifest) is None


def _read_part(path: Path) -> pl.DataFrame:
    try:
        return pl.read_ipc_stream(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StorageError(f"{path}: is damaged ({error}); {_remedy(path.parent)}") from error


def _remedy(run: Path) -> str:
    return f"remove {run} and give the same command again: that run is then made anew"
