"""A connection's segments as both ends sent them, and where two such traces part."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tailback.capture import read_capture

FIELDS = ("from", "flags", "seq", "ack", "payload_bytes", "window", "sack", "ecn", "ecn_counters")
"""What must be alike."""


@dataclass(frozen=True)
class Trace:
    """Segments in the order they were sent.

    Attributes:
        name: what charts and tables call it.
        frame: a row a segment: `time_ns` and `FIELDS`.
    """

    name: str
    frame: pl.DataFrame

    @classmethod
    def read(cls, name: str, path: str | Path, until_ns: int) -> "Trace":
        """Return the trace of a capture, up to and without `until_ns`."""
        rows = (
            read_capture(path)
            .filter(pl.col("time_ns") < until_ns)
            .sort("time_ns", maintain_order=True)
        )
        client = rows.get_column("source")[0] if rows.height else ""
        return cls(
            name,
            rows.select(
                "time_ns",
                pl.when(pl.col("source") == client)
                .then(pl.lit("client"))
                .otherwise(pl.lit("server"))
                .alias("from"),
                "flags",
                "seq",
                "ack",
                "payload_bytes",
                "window",
                "sack",
                "ecn",
                "ecn_counters",
            ),
        )

    def line(self, row: int) -> str:
        """Return one segment in a line, or nothing where there is none."""
        if row >= self.frame.height:
            return ""
        one = self.frame.row(row, named=True)
        text = (
            f"{one['time_ns'] / 1e6:11.6f} {one['from'][0]} {one['flags']:<3} "
            f"{one['seq']}:{one['seq'] + one['payload_bytes']} ack {one['ack']} win {one['window']}"
        )
        if one["sack"]:
            text += f" sack {one['sack']}"
        text += f" {one['ecn']}" if one["ecn"] else ""
        return text + (f" <{one['ecn_counters']}>" if one["ecn_counters"] else "")


@dataclass(frozen=True)
class Difference:
    """Where two traces part.

    Attributes:
        row: the segment's number, from 0.
        fields: what differs; `time` where only the times are too far apart, `length` where one
            trace ends.
        apart_ns: how much longer after the segment before it the segment of the first trace was
            sent.
    """

    row: int
    fields: tuple[str, ...]
    apart_ns: int


def first_difference(
    a: Trace, b: Trace, tolerance_ns: int, *, side: str | None = None
) -> Difference | None:
    """Return where `a` and `b` part first, or None if they are alike.

    Args:
        a: one trace.
        b: the other.
        tolerance_ns: how much the times since the segment before may differ: a tick. Long waits
            may differ by an eighth: the longer a timer of Linux is set for, the coarser it is
            (kernel/time/timer.c).
        side: only segments of this end are held against each other.
    """
    a, b = (Trace(t.name, t.frame.with_columns(waited_ns=pl.col("time_ns").diff())) for t in (a, b))
    if side is not None:
        a, b = (Trace(t.name, t.frame.filter(pl.col("from") == side)) for t in (a, b))
    rows = min(a.frame.height, b.frame.height)
    ours, theirs = (t.frame.head(rows) for t in (a, b))
    unlike = pl.DataFrame({f: ours.get_column(f) != theirs.get_column(f) for f in FIELDS})
    waited = ours.get_column("waited_ns").fill_null(0)
    apart = waited - theirs.get_column("waited_ns").fill_null(0)
    allowed = pl.select(pl.max_horizontal(waited // 8, pl.lit(tolerance_ns))).to_series()
    late = (apart.abs() > allowed).alias("time")
    found = (unlike.with_columns(late).select(pl.any_horizontal(pl.all()).alias("unlike")))[
        "unlike"
    ].arg_true()
    if found.len():
        row = int(found[0])
        fields = [f for f in FIELDS if unlike[f][row]] or ["time"]
        return Difference(row, tuple(fields), int(apart[row]))
    if a.frame.height != b.frame.height:
        return Difference(rows, ("length",), 0)
    return None


def side_by_side(a: Trace, b: Trace, at: int, *, around: int = 6) -> list[tuple[str, str, bool]]:
    """Return lines of both traces around segment `at`; the flag marks it."""
    last = min(max(a.frame.height, b.frame.height), at + around + 1)
    return [(a.line(i), b.line(i), i == at) for i in range(max(0, at - around), last)]
