"""What traffic beside the workload got through."""

import polars as pl

from tailback.analysis.places import RUN, labels
from tailback.analysis.view import View
from tailback.results.columns import own_column

RATE = "rate_mbps"
"""Column with what a pair's flows carried together while they lasted."""
AGAIN = "retransmissions"
"""Column with the segments that they sent again."""


def carried(view: View) -> pl.DataFrame:
    """Return what TCP flows beside the workload carried by pair of hosts, means of the repetitions.

    Columns: `run of`, `pair`, `rate_mbps` and `retransmissions`; empty where there are none.
    """
    flows = view.optional("background_flows")
    if flows.is_empty():
        return pl.DataFrame()
    count = pl.len().over("run", "source", "destination")
    pair = pl.format("{} > {}", "source", "destination")
    several = pl.format("{} ({} flows)", pair, count)
    return (
        flows.with_columns(pl.when(count > 1).then(several).otherwise(pair).alias("pair"))
        .group_by("run", "pair", maintain_order=True)
        .agg(pl.col(own_column(flows, "throughput_mbps")).sum().alias(RATE), pl.col(AGAIN).sum())
        .join(labels(view), on="run", maintain_order="left")
        .group_by(RUN, "pair", maintain_order=True)
        .agg(pl.col(RATE, AGAIN).mean())
    )
