"""The node-pairs study's run of 30 minutes (SURFnet / DAS-2)."""

import polars as pl

from tailback.published.table import PublishedTable


def _tidy(published: pl.DataFrame) -> pl.DataFrame:
    flows = published.filter(pl.col("flow") != "sum")
    return flows.select(pl.col("flow").cast(pl.Int64), pl.col("bandwidth_mbps").cast(pl.Float64))


NODE_PAIRS_30MIN = PublishedTable(
    name="node-pairs-30min",
    title="Twelve pairs of nodes, one flow each, for 30 minutes",
    source="SURFnet / DAS-2: node pairs through a 10 Gb/s loop, without the 8 Gb/s limit",
    file_name="node-pairs-30min.csv",
    scenario="node-pairs-30min",
    axes=("flow",),
    units={"bandwidth_mbps": "Mb/s, mean of 30 minutes"},
    tidy=_tidy,
)
