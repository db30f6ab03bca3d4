"""The findings of the L2 congestion-management study, held against `l2-congestion`.

Source: Geisler and Wadekar (IEEE 802.1, 2007), who simulated it. Their figures are curves; what is
held here is what they found. The queue is judged over the later half of the hotspot.
"""

from collections.abc import Sequence

import polars as pl

from tailback.analysis.view import View
from tailback.analysis.words import number
from tailback.compare.checks import Check

_QEQ_BYTES = 26_176
"""QCN's equilibrium queue: 409 pages of 64 bytes."""
_HOTSPOT_GBPS = 2.0
_HOTSPOT_MS = (100.0, 400.0)
_SETTLED_MS = (250.0, 400.0)
_PAUSED = ("PAUSE", "ECM+PAUSE", "QCN+PAUSE")
_BETTER = ("ECM+PAUSE", "QCN", "QCN+PAUSE")
_LOSSY = ("none", "ECM")
_CHOSEN = ("ECM",)
"""That hosts have no SACK was chosen with these timeouts in sight."""
_CHOSEN_SINGLE_HOP = ("QCN+PAUSE",)
"""That short frames are sampled more rarely was chosen with this throughput in sight."""


def l2_checks(view: View, *, judge_all: bool = False) -> list[Check]:
    """Return the study's findings held against a run.

    Args:
        view: the run.
        judge_all: those too that something in the scenarios was chosen in sight of.
    """
    points = view.points
    if "management" not in points.columns:
        return []
    rows = {row["management"]: row for row in points.iter_rows(named=True)}
    single_hop = view.results.name == "l2-congestion-single-hop"
    return [
        *(_no_drop(rows, name) for name in _PAUSED),
        *(_times_out(rows, name, fitted=not judge_all and name in _CHOSEN) for name in _LOSSY),
        _only_where_dropped(rows),
        *(
            _above_none(
                rows, name, fitted=single_hop and not judge_all and name in _CHOSEN_SINGLE_HOP
            )
            for name in _BETTER
        ),
        *(_above_none_meanwhile(view, name) for name in _BETTER),
        *(_queue_settles(view, name) for name in ("QCN", "QCN+PAUSE")),
        _served(view),
    ]


_Rows = dict[str, dict[str, object]]


def _value(row: dict[str, object], column: str) -> float:
    return float(str(row[column]))


def _no_drop(rows: _Rows, name: str) -> Check:
    claim, limit = f"{name}: frames dropped at switches", "none"
    if name not in rows:
        return Check.not_run(claim, "none", limit)
    drops = _value(rows[name], "switch_drops_mean")
    return Check.judged(claim, "none", number(drops), limit, holds=drops == 0)


def _times_out(rows: _Rows, name: str, *, fitted: bool) -> Check:
    claim, limit = f"{name}: connections time out", "at least one"
    if name not in rows:
        return Check.not_run(claim, "yes", limit)
    timeouts = _value(rows[name], "timeouts_mean")
    if fitted:
        return Check.fitted(claim, "yes", number(timeouts))
    return Check.judged(claim, "yes", number(timeouts), limit, holds=timeouts > 0)


def _only_where_dropped(rows: _Rows) -> Check:
    claim, limit = "Timeouts only where frames are dropped", "no timeout without a drop"
    if not rows:
        return Check.not_run(claim, "yes", limit)
    without = [
        name
        for name, row in rows.items()
        if _value(row, "timeouts_mean") > 0 and _value(row, "switch_drops_mean") == 0
    ]
    said = f"not so: {', '.join(without)}" if without else "yes"
    return Check.judged(claim, "yes", said, limit, holds=not without)


def _above_none(rows: _Rows, name: str, *, fitted: bool) -> Check:
    claim, limit = f"{name}: aggregate throughput (Gb/s)", "above that without management"
    if not {name, "none"} <= set(rows):
        return Check.not_run(claim, "above none", limit)
    with_it, without = (_value(rows[n], "goodput_mbps_mean") / 1e3 for n in (name, "none"))
    ours = f"{with_it:.2f}, none {without:.2f}"
    if fitted:
        return Check.fitted(claim, "above none", ours)
    return Check.judged(claim, "above none", ours, limit, holds=with_it > without)


def _above_none_meanwhile(view: View, name: str) -> Check:
    """The same while the hotspot lasts: what congestion management is for."""
    claim = f"{name}: aggregate throughput while the hotspot lasts (Gb/s)"
    limit = "above that without management"
    table = _between(view, [name, "none"], _HOTSPOT_MS)
    rows = table.group_by("management").agg(pl.col("goodput_gbps").mean()) if len(table) else table
    if rows.height < 2:
        return Check.not_run(claim, "above none", limit)
    means = dict(rows.iter_rows())
    with_it, without = means[name], means["none"]
    return Check.judged(
        claim, "above none", f"{with_it:.2f}, none {without:.2f}", limit, holds=with_it > without
    )


def _between(view: View, names: Sequence[str], span_ms: tuple[float, float]) -> pl.DataFrame:
    """Rows of the series of these runs, after the first and up to the last of these times."""
    table = view.optional("network")
    if table.is_empty():
        return table
    return table.filter(
        pl.col("management").is_in(list(names)),
        pl.col("time_ms").is_between(*span_ms, closed="right"),
    )


def _settled(view: View, names: Sequence[str]) -> pl.DataFrame:
    return _between(view, names, _SETTLED_MS)


def _queue_settles(view: View, name: str) -> Check:
    claim = f"{name}: queue to the hotspot, mean of 250 to 400 ms (bytes)"
    published, limit = f"near Qeq, {_QEQ_BYTES}", "within a factor of 2"
    rows = _settled(view, [name])
    if rows.is_empty():
        return Check.not_run(claim, published, limit)
    mean = float(str(rows["queue_bytes"].mean()))
    holds = _QEQ_BYTES / 2 <= mean <= _QEQ_BYTES * 2
    return Check.judged(claim, published, number(mean), limit, holds=holds)


def _served(view: View) -> Check:
    claim, limit = "The hotspot carries no more than it is served (Gb/s)", "at most 2"
    table = _settled(view, [*_PAUSED, *_LOSSY, "QCN"])
    if table.is_empty():
        return Check.not_run(claim, "2", limit)
    means = table.group_by("management").agg(pl.col("host_goodput_gbps").mean())
    most = float(str(means["host_goodput_gbps"].max()))
    return Check.judged(claim, "2", f"{most:.2f}", limit, holds=most <= _HOTSPOT_GBPS)
