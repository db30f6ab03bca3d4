"""Bands for the other remedy of incast: a shorter minimum retransmission timeout.

Sources: Phanishayee et al. (FAST 2008) and Vasudevan et al. (SIGCOMM 2009). Their figures are
curves, so each claim has a band; where a paper gives one number, the band is a factor around
it, stated in the limit. Bands were set before any run was held against them.
"""

import polars as pl

from tailback.analysis.view import View
from tailback.analysis.words import number, percent
from tailback.compare.checks import Check

_LINK_MBPS = 1000.0
_SLOW_RTO = "200ms"
_FAST_RTOS = ("1ms", "200us")

_BEFORE = ((1, 2, 3), 900.0, 0.10)
"""Servers, Mb/s and tolerance before the collapse."""
_COLLAPSE_AT = (5, 8)
_COLLAPSED = (0.10, 0.20)
"""Share of the link after the collapse."""
_RECOVERY = (5.0, 20.0)
"""Goodput with 200 us over that with 200 ms: ten, within a factor of two."""
_KEPT, _UP_TO = 0.80, 47


def rto_checks(view: View) -> list[Check]:
    """Return the claims on the minimum retransmission timeout held against `incast-rto`."""
    if not {"rto_min", "servers"} <= set(view.axes.all_names):
        return []
    points = _plain(view.points)
    return [
        _before(points),
        _onset(points),
        _depth(points),
        _recovery(points),
        *(_kept(points, rto) for rto in _FAST_RTOS),
        _randomised(view.points),
        Check.not_run(
            "Twice the buffer, twice the servers before the collapse",
            "factor 2",
            "not swept here",
        ),
    ]


def _plain(points: pl.DataFrame) -> pl.DataFrame:
    """The points without randomised timeouts."""
    return points.filter(pl.col("rto_jitter") == 0) if "rto_jitter" in points.columns else points


def _goodput(points: pl.DataFrame, rto: str) -> dict[int, float]:
    rows = points.filter(pl.col("rto_min") == rto).sort("servers")
    return dict(zip(rows["servers"].to_list(), rows["goodput_mbps_mean"].to_list(), strict=True))


def _before(points: pl.DataFrame) -> Check:
    servers, mbps, tolerance = _BEFORE
    claim = f"200 ms: goodput before the collapse, N = {servers[0]} to {servers[-1]}"
    limit = f"{mbps:.0f} Mb/s within {percent(tolerance, decimals=0)}"
    found = [v for n, v in _goodput(points, _SLOW_RTO).items() if n in servers]
    if not found:
        return Check.not_run(claim, f"about {mbps:.0f} Mb/s", limit)
    return Check.judged(
        claim,
        f"about {mbps:.0f} Mb/s",
        f"{number(min(found))} to {number(max(found))} Mb/s",
        limit,
        holds=all(abs(v / mbps - 1) <= tolerance for v in found),
    )


def _onset(points: pl.DataFrame) -> Check:
    low, high = _COLLAPSE_AT
    claim = "200 ms: goodput falls below half the link from N ="
    limit = f"{low} to {high}"
    found = _goodput(points, _SLOW_RTO)
    if not set(range(low, high + 1)) & set(found):
        return Check.not_run(claim, limit, limit)
    first = next((n for n, v in found.items() if v < _LINK_MBPS / 2), None)
    ours = "nowhere" if first is None else str(first)
    return Check.judged(claim, limit, ours, limit, holds=first is not None and low <= first <= high)


def _depth(points: pl.DataFrame) -> Check:
    low, high = (share * _LINK_MBPS for share in _COLLAPSED)
    at = _COLLAPSE_AT[1]
    claim = f"200 ms: goodput after the collapse, N = {at}"
    limit = f"{low:.0f} to {high:.0f} Mb/s"
    found = _goodput(points, _SLOW_RTO).get(at)
    if found is None:
        return Check.not_run(claim, "10 to 20 % of the link", limit)
    return Check.judged(
        claim,
        "10 to 20 % of the link",
        f"{number(found)} Mb/s",
        limit,
        holds=low <= found <= high,
    )


def _recovery(points: pl.DataFrame) -> Check:
    at = _COLLAPSE_AT[1]
    low, high = _RECOVERY
    claim = f"200 us against 200 ms: goodput at N = {at}"
    limit = f"{low:.0f} to {high:.0f} times"
    slow, fast = (_goodput(points, rto).get(at) for rto in (_SLOW_RTO, "200us"))
    if not slow or fast is None:
        return Check.not_run(claim, "about 10 times", limit)
    ratio = fast / slow
    ours = f"{number(ratio)} times"
    return Check.judged(claim, "about 10 times", ours, limit, holds=low <= ratio <= high)


def _kept(points: pl.DataFrame, rto: str) -> Check:
    claim = f"{rto}: least goodput up to N = {_UP_TO}"
    limit = f"at least {_KEPT * _LINK_MBPS:.0f} Mb/s"
    published = "more than 80 to 90 % of the link"
    found = _goodput(points, rto)
    if _UP_TO not in found:
        return Check.not_run(claim, published, limit)
    at, least = min(found.items(), key=lambda item: item[1])
    ours = f"{number(least)} Mb/s at N = {at}"
    return Check.judged(claim, published, ours, limit, holds=least >= _KEPT * _LINK_MBPS)


def _randomised(points: pl.DataFrame) -> Check:
    claim = f"200 us: randomised against fixed timeouts, goodput at N = {_UP_TO}"
    published = "needed with thousands of senders, no figure for this many"
    rows = points.filter((pl.col("rto_min") == "200us") & (pl.col("servers") == _UP_TO))
    if "rto_jitter" not in rows.columns or rows["rto_jitter"].n_unique() < 2:
        return Check.not_run(claim, published, "no band")
    ordered = rows.sort("rto_jitter")["goodput_mbps_mean"].to_list()
    return Check.unjudged(claim, published, f"{ordered[-1] / ordered[0]:.2f} times")
