"""What exports of one file a run share: how it is called, how it is written."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tailback.results import Results
from tailback.results.storage import explained, write_bytes


def label(results: Results, row: Mapping[str, Any]) -> str:
    """Return what tells a run from the others, as a part of a file's name."""
    parts = [f"{p}-{row[p]}" for p in [*results.parameters, "repetition"]]
    return re.sub(r"[^\w.+-]+", "_", "_".join(parts))


def write(path: Path, content: bytes) -> Path:
    """Write a file, and its folder if that is not there; return its path.

    Raises:
        InputError: it cannot be written.
    """
    with explained(path, "name a folder that can be written with -o"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)
    return path
