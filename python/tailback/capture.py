"""Captures as tables: every TCP segment of a pcapng file, with relative sequence numbers."""

import io
from pathlib import Path

import polars as pl

from tailback._native import packets
from tailback.errors import InputError
from tailback.given import given_path


def read_capture(path: str | Path) -> pl.DataFrame:
    """Return the TCP segments of a pcapng file, one a row, in the order of the file.

    Columns: `time_ns`, `link` (the interface), `source`, `destination`, `flags` (as tcpdump writes
    them), `seq` and `ack` (from each direction's SYN, which is 0), `payload_bytes`, `window` (as
    sent), `sack`, `ecn`, `ecn_counters` (accurate ECN's option: bytes that came with ECT(1), CE and
    ECT(0), as the option has them), `timestamps`, `ts_val`, `ts_ecr`, `syn_options`, `comment`.

    Raises:
        InputError: the file cannot be read or is no pcapng file.
    """
    path = given_path(path, "a capture is named")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    try:
        return pl.read_ipc_stream(io.BytesIO(packets(content)))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
