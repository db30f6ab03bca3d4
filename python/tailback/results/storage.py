"""Files that are either there in full or not at all, and errors that say what to do."""

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from tailback.errors import TailbackError


class StorageError(TailbackError):
    """The disk is full, a folder is not writable, a file is damaged."""


@contextmanager
def explained(path: Path, remedy: str) -> Iterator[None]:
    """Turns an `OSError` on `path` into a `StorageError` that names the remedy."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}; {remedy}") from error


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Writes beside `path` and renames, so that a killed program leaves no half file.

    A link stays one; a device or a pipe (`/dev/stdout`) is written to, never replaced.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    path = path.resolve()
    scratch = path.with_name(f".{path.name}.tmp")
    try:
        scratch.write_bytes(content)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """JSON for programs and for eyes."""
    write_bytes(path, json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n")


def write_parquet(path: Path, frame: pl.DataFrame) -> str:
    """One table; the same frame gives the same bytes, however many threads there are.

    Through memory: Polars' own file errors do not say why. Gives the bytes' SHA-256.
    """
    buffer = io.BytesIO()
    frame.rechunk().write_parquet(
        buffer, compression="zstd", compression_level=3, row_group_size=1 << 18
    )
    write_bytes(path, buffer.getbuffer())
    return hashlib.sha256(buffer.getbuffer()).hexdigest()


def joined(parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The runs' parts of a table one after the other.

    What a run has no value for is null, not NaN: means and ranks leave it out. So is a column
    that only other runs of the sweep have.
    """
    return pl.concat(parts, how="diagonal").fill_nan(None)


def write_stream(path: Path, frame: pl.DataFrame) -> None:
    """One table that is soon read again: an Arrow stream, made and read without Polars' threads.

    In one batch, so that a file that was cut short is never read as a shorter table.
    """
    buffer = io.BytesIO()
    frame.rechunk().write_ipc_stream(buffer, compression="lz4")
    write_bytes(path, buffer.getbuffer())
