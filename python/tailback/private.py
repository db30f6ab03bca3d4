"""Private folders of a run, which are removed even if the program that made them is killed."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def private_folder(base: Path, prefix: str, *, kept: bool = False) -> Iterator[Path]:
    """A folder in `base` with a short path, locked while it is in use.

    Those of the same prefix that nobody has locked are removed first.

    With `kept` it stays, as `kept-…`.
    """
    fresh = Path(tempfile.mkdtemp(prefix=f".{prefix}", dir=base))
    _remove_abandoned(base, prefix)
    lock = os.open(fresh, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    # It has its name when it is locked.
    folder = fresh.rename(fresh.with_name(fresh.name.removeprefix(".")))
    try:
        yield folder
    finally:
        if kept:
            folder.rename(folder.with_name(f"kept-{folder.name}"))
        else:
            shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _remove_abandoned(base: Path, prefix: str) -> None:
    """Removes the folders of programs that were killed: those that nobody has locked."""
    for folder in base.glob(f"{prefix}*"):
        with suppress(OSError):
            if folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
