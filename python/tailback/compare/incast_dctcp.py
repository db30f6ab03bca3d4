"""Bands for DCTCP under incast.

Source: Alizadeh et al. (SIGCOMM 2010), 1 Gb/s, static 100 KB a port, a client asks n servers for
1 MB / n each. The paper shows curves over n; a claim holds where the sweep's onset is at most
one step of the sweep from the paper's. Bands were set before any run was held against them.
"""

import polars as pl

from tailback.analysis.view import View
from tailback.analysis.words import number, percent
from tailback.compare.checks import Check

_STEPS = (1, 2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40)
"""The scenario's numbers of servers, the onsets of the paper among them."""
_ONSETS = {"reno": 10, "dctcp": 35}
"""Stack -> number of servers from which queries suffer timeouts."""
_RARE = 0.01
"""Share of transactions with a timeout below which there are none."""
_RTO_MS = 300.0


def dctcp_checks(view: View) -> list[Check]:
    """Return the claims on DCTCP held against `incast-rto-dctcp`."""
    transactions = view.transactions
    if not {"stack", "servers", "timeouts"} <= set(transactions.columns):
        return []
    return [
        *(_onset(transactions, stack) for stack in _ONSETS),
        _none_where_tcp_suffers(transactions),
        _late(transactions),
        Check.not_run("DCTCP with a dynamic buffer", "no timeouts up to 40", "not swept here"),
        Check.not_run(
            "All to all, 41 nodes, 25 KB each: queries with a timeout",
            "TCP more than 55 %, DCTCP none",
            "not swept here",
        ),
    ]


def _onset(transactions: pl.DataFrame, stack: str) -> Check:
    published = _ONSETS[stack]
    at = _STEPS.index(published)
    low, high = _STEPS[at - 1], _STEPS[at + 1]
    claim = f"{stack}: timeouts begin at N ="
    limit = f"{low} to {high}, one step of the sweep either side"
    shares = _shares(transactions, stack, pl.col("timeouts") > 0)
    if not {low, published, high} <= set(shares):
        return Check.not_run(claim, f"about {published}", limit)
    first = next((n for n, share in shares.items() if share > _RARE), None)
    ours = f"nowhere up to {max(shares)}" if first is None else str(first)
    holds = first is not None and low <= first <= high
    return Check.judged(claim, f"about {published}", ours, limit, holds=holds)


def _none_where_tcp_suffers(transactions: pl.DataFrame) -> Check:
    low, high = _ONSETS["reno"], _STEPS[_STEPS.index(_ONSETS["dctcp"]) - 1]
    claim = f"dctcp: transactions with a timeout, N = {low} to {high}"
    limit = f"at most {percent(_RARE, decimals=0)}"
    shares = _shares(transactions, "dctcp", pl.col("timeouts") > 0)
    found = [share for n, share in shares.items() if low <= n <= high]
    if not found:
        return Check.not_run(claim, "none", limit)
    return Check.judged(claim, "none", percent(max(found)), limit, holds=max(found) <= _RARE)


def _late(transactions: pl.DataFrame) -> Check:
    claim = f"reno: transactions of {number(_RTO_MS)} ms and more, N = {_STEPS[-1]}"
    shares = _shares(transactions, "reno", pl.col("completion_ms") >= _RTO_MS)
    if _STEPS[-1] not in shares:
        return Check.not_run(claim, "many", "no band")
    return Check.unjudged(claim, "many, no figure", percent(shares[_STEPS[-1]]))


def _shares(transactions: pl.DataFrame, stack: str, of: pl.Expr) -> dict[int, float]:
    rows = (
        transactions.filter(pl.col("stack") == stack)
        .group_by("servers")
        .agg(of.mean().alias("share"))
        .sort("servers")
    )
    return dict(zip(rows["servers"].to_list(), rows["share"].to_list(), strict=True))
