"""Which of a ping's figures stands for the longest round trips."""

import polars as pl

from tailback.analysis.view import View

_P99, _MAX = TAILS = ("ping_ms_p99", "ping_ms_max")
"""Metrics of `summary` of which one is drawn beside the mean."""
_ENOUGH = 100
"""With fewer answers the longest of them is the 99th percentile."""


def tail_of_pings(view: View) -> str | None:
    """Return the metric that says how long the longest took, of runs that pinged.

    It is the 99th percentile, or the longest where a run has too few answers for that. Pings beside
    TCP (flent, iperf3) have no percentiles, and nothing is drawn beside their mean.
    """
    summary = view.summary
    if not view.known(_P99):
        return None
    answered = summary.select(pl.col("pings") - pl.col("pings_lost")).to_series()
    few = (answered > 0) & (answered < _ENOUGH)
    return _MAX if few.any() else _P99
