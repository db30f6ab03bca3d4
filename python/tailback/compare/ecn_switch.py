"""The ECN-switch study's rows and findings, held against `ecn-switch`.

Source: HPE / Aruba (2019). Each published bandwidth is to be met within 10 %, that of CE marking
from 0 % within 25 %; counts are to be of the same order of magnitude, and next to none where the
study saw next to none. The buffer's size was fitted to the rows without marking alone: those are
marked as such, the others are predictions.
"""

from collections.abc import Callable

import polars as pl

from tailback import published
from tailback.analysis.view import View
from tailback.analysis.words import number, percent
from tailback.compare.checks import Check
from tailback.published.ecn_switch import AXES

_BANDWIDTH = 0.10
_BANDWIDTH_CE = 0.25
_MAGNITUDE = 10.0
_NONE = 10
"""Published counts up to this are next to none."""
_FEW = 500
"""Counts up to this of runs of 40 million frames are next to none: a burst of the start."""
_FULL = 0.97
"""Utilisation from which a link counts as full."""


def ecn_checks(view: View) -> list[Check]:
    """Return the published rows and the findings held against a run."""
    points = view.points
    if not {*AXES, "bandwidth_gbps_mean"} <= set(points.columns):
        return []
    table = published.load("ecn-iperf3").frame
    checks: list[Check] = []
    for row in table.iter_rows(named=True):
        cell = points.filter(pl.all_horizontal(pl.col(a) == row[a] for a in AXES))
        ours = None if cell.is_empty() else cell.row(0, named=True)
        checks += _row(row, ours)
    return [*checks, *_findings(points)]


def _name(row: dict[str, object]) -> str:
    marking = str(row["marking"])
    start = "" if marking == "off" else f" from {row['start_percent']} %"
    name = marking if marking == "off" else marking.upper()
    fitted = " (fitted)" if marking == "off" and row["senders"] != 1 else ""
    return (
        f"{name}{start}, {row['tcp_congestion_control']}, {row['senders']}:1, "
        f"{row['duration_s']} s{fitted}"
    )


def _row(row: dict[str, object], ours: dict[str, object] | None) -> list[Check]:
    name = _name(row)
    allowed = _BANDWIDTH_CE if row["marking"] == "ce" else _BANDWIDTH
    wanted = float(str(row["bandwidth_gbps_mean"]))
    checks = []
    claim, limit = f"{name}: bandwidth (Gb/s)", f"within {percent(allowed, decimals=0)}"
    if ours is None:
        checks.append(Check.not_run(claim, number(wanted), limit))
    else:
        got = float(str(ours["bandwidth_gbps_mean"]))
        holds = abs(got / wanted - 1) <= allowed
        checks.append(Check.judged(claim, number(wanted), f"{got:.2f}", limit, holds=holds))
    for column, words in (("retransmissions", "retries"), ("switch_drops", "drops")):
        claim = f"{name}: {words}"
        count = float(str(row[column]))
        limit = f"at most {_FEW}" if count <= _NONE else "the same order of magnitude"
        if ours is None:
            checks.append(Check.not_run(claim, number(count), limit))
            continue
        got = float(str(ours[column]))
        few = count <= _NONE
        holds = got <= _FEW if few else count / _MAGNITUDE <= got <= count * _MAGNITUDE
        checks.append(Check.judged(claim, number(count), number(got), limit, holds=holds))
    return checks


def _findings(points: pl.DataFrame) -> list[Check]:
    many = points.filter(pl.col("senders") > 1)
    sce = pl.col("tcp_congestion_control").str.ends_with("-sce")
    return [
        _lowest(
            "SCE from 0 %: utilisation of SCE senders, 2:1 and 3:1",
            "full",
            many.filter((pl.col("marking") == "sce") & sce),
            holds=lambda least: least >= _FULL,
            limit=f"at least {percent(_FULL, decimals=0)}",
        ),
        _lowest(
            "CE from 0 %: utilisation, 2:1 and 3:1",
            "falls",
            many.filter((pl.col("marking") == "ce") & (pl.col("start_percent") == 0)),
            holds=lambda least: least < _FULL,
            limit=f"below {percent(_FULL, decimals=0)}",
        ),
        _lowest(
            "Marking off: utilisation, 2:1 and 3:1",
            "full",
            many.filter(pl.col("marking") == "off"),
            holds=lambda least: least >= 1 - _BANDWIDTH,
            limit=f"at least {percent(1 - _BANDWIDTH, decimals=0)}",
        ),
    ]


def _lowest(
    claim: str, said: str, rows: pl.DataFrame, *, holds: Callable[[float], bool], limit: str
) -> Check:
    if rows.is_empty():
        return Check.not_run(claim, said, limit)
    least = float(str(rows["utilisation"].min()))
    return Check.judged(claim, said, f"{percent(least)} at least", limit, holds=holds(least))
