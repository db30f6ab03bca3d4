"""What hosts that all send to one another lost, by who sent to whom."""

import polars as pl

from tailback.analysis.view import View

LOST = "lost_percent"
"""Column with the share lost of what was sent."""
_HOSTS_MIN = 3
_SENT = ("datagrams_sent", "pings")
"""Columns of the table `flows`, of which a workload has one; what was lost begins as below."""
_MISSING = ("lost_", "pings_lost")


def pair_losses(view: View) -> pl.DataFrame:
    """Losses by source and destination, over all rounds and runs; empty of what is no mesh.

    Columns: `source`, `destination`, `sent`, `missing` and `lost_percent`. Empty also where fewer
    than three hosts send, or receive, or nothing was lost.
    """
    flows = view.optional("flows")
    known = [column for column in _SENT if column in flows.columns]
    swept = view.results.parameters
    missing = [c for c in flows.columns if c.startswith(_MISSING) and c not in swept]
    if not known or not missing:
        return pl.DataFrame()
    rows = (
        flows.group_by("source", "destination", maintain_order=True)
        .agg(
            pl.col(known[0]).sum().alias("sent"), pl.sum_horizontal(missing).sum().alias("missing")
        )
        .filter(pl.col("sent") > 0)
        .with_columns((100 * pl.col("missing") / pl.col("sent")).alias(LOST))
    )
    few = any(rows.get_column(end).n_unique() < _HOSTS_MIN for end in ("source", "destination"))
    return pl.DataFrame() if few or not rows.get_column("missing").sum() else rows
