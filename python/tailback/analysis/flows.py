"""What each flow of a run brought."""

import polars as pl

from tailback.analysis.view import View

_ARRIVING = {"flows", "flow-list"}
"""Workloads whose flows begin at any time."""
_LISTED = _ARRIVING | {"bulk"}
"""Workloads whose flows have a size each, or can."""


def flow_rates(view: View) -> pl.DataFrame:
    """Mean rate of every flow of a single run in Mb/s, by its number; empty of sweeps."""
    flows = view.optional("flows")
    if view.results.summary.height != 1 or "received_bytes" not in flows.columns:
        return pl.DataFrame()
    return with_rate(view, flows).select("source", "mbps")


def with_rate(view: View, flows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of the table `flows` with the column `mbps`: what came over the time it took.

    A flow that is complete has taken its own time, others that of the run; of flows that
    begin at any time what was not complete is left out.
    """
    kind = view.results.manifest["scenario"]["workload"]["kind"]
    whole = view.results.summary.select("run", pl.col("duration_s_total").alias("_s"))
    taken = pl.col("_s")
    if kind in _LISTED and {"complete", "completion_ms"} <= set(flows.columns):
        own = pl.when(pl.col("complete")).then(pl.col("completion_ms") / 1e3)
        taken = own if kind in _ARRIVING else own.otherwise(taken)
    return (
        flows.join(whole, on="run", maintain_order="left")
        .with_columns(taken.alias("_s"))
        .filter(pl.col("_s") > 0)
        .with_columns((pl.col("received_bytes") * 8 / pl.col("_s") / 1e6).alias("mbps"))
        .drop("_s")
    )
