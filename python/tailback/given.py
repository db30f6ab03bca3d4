"""What is given as a path, from Python."""

import os
from pathlib import Path

from tailback.errors import InputError


def given_path(value: object, what: str) -> Path:
    """`value` as a path; raises `InputError` where it cannot be one of `what`."""
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"{value!r}: {what} by a path, not by {type(value).__name__}")
    path = Path(value)
    if "\0" in str(path):
        raise InputError(f"{str(path)!r}: no path has a zero byte; {what} by a path")
    return path
