"""A source tree of the user's: what is in it, and what has changed since it was last built.

A copy of it is what is edited and compiled. A kept copy gets what has changed alone, as if written
just now, so that make compiles that and what depends on it.
"""

import hashlib
import os
from pathlib import Path

from tailback.errors import InputError

Scan = dict[str, tuple[int, int]]
"""Size and time of modification (ns) of each file, by its path in the tree."""

VERSION_CONTROL = ".git"


def scan(root: Path) -> Scan:
    """All files of a tree."""
    found: Scan = {}
    folders = [root]
    try:
        while folders:
            folder = folders.pop()
            for entry in os.scandir(folder):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != VERSION_CONTROL:
                        folders.append(Path(entry.path))
                    continue
                facts = entry.stat(follow_symlinks=False)
                found[os.path.relpath(entry.path, root)] = (facts.st_size, facts.st_mtime_ns)
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be read: {error.strerror}") from error
    return found


def fingerprint(found: Scan) -> str:
    """Differs where a file was added, removed or written."""
    lines = (f"{path}\0{size}\0{time}\n" for path, (size, time) in sorted(found.items()))
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode(errors="surrogateescape"))
    return digest.hexdigest()


def differences(before: Scan, now: Scan) -> tuple[list[str], list[str]]:
    """Files that were written or added since, and files that are gone."""
    written = sorted(path for path, facts in now.items() if before.get(path) != facts)
    return written, sorted(before.keys() - now.keys())
