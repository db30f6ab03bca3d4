"""A table as bytes in a format that other programs read."""

import io

import polars as pl

from tailback.errors import InputError

KINDS = ("csv", "parquet", "jsonl")
"""Formats, by the ending of their files' names."""


def encoded(frame: pl.DataFrame, kind: str) -> bytes:
    """Return a table in one of `KINDS`.

    Raises:
        InputError: there is no such kind.
    """
    buffer = io.BytesIO()
    match kind:
        case "csv":
            frame.write_csv(buffer)
        case "parquet":
            frame.write_parquet(buffer)
        case "jsonl":
            frame.write_ndjson(buffer)
        case _:
            raise InputError(f"{kind}: no such format; there are {', '.join(KINDS)}")
    return buffer.getvalue()
