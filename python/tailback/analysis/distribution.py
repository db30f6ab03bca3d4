"""The distribution of transactions' completion times, reduced to what a chart can show."""

import polars as pl

from tailback.analysis.view import COLOUR, DASH, GROUP, View

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Drawn per point of the sweep: rule from the first to the last, bar between the quartiles."""

_STEPS = 120


def quantiles(view: View, column: str = "completion_ms") -> pl.DataFrame:
    """Return `q5, q25, q50, q75, q95`, the least and greatest of `column` per point."""
    return view.transactions.group_by(
        [*view.axes.names, GROUP, COLOUR, DASH], maintain_order=True
    ).agg(
        *(pl.col(column).quantile(q, "nearest").alias(f"q{round(q * 100)}") for q in QUANTILES),
        pl.col(column).min().alias("least"),
        pl.col(column).max().alias("greatest"),
        pl.len().alias("transactions"),
    )


def ecdf(view: View, column: str = "completion_ms") -> pl.DataFrame:
    """Return steps (`column`, `share`) of the empirical distribution per point.

    It rises from 0 at the least value to 1 at the greatest, in at most about 120 steps a point,
    evenly spaced in rank.
    """
    keys = [*view.axes.names, GROUP, COLOUR, DASH]
    ranked = (
        view.transactions.select(*keys, column)
        .sort(column)
        .with_columns(
            pl.int_range(1, pl.len() + 1).over(keys).alias("rank"),
            pl.len().over(keys).alias("count"),
        )
    )
    step = (pl.col("count") / _STEPS).ceil().cast(pl.Int64)
    kept = ranked.filter(
        (pl.col("rank") % step == 0) | (pl.col("rank") == 1) | (pl.col("rank") == pl.col("count"))
    )
    rising = kept.select(*keys, column, (pl.col("rank") / pl.col("count")).alias("share"))
    feet = rising.group_by(keys, maintain_order=True).agg(pl.col(column).min(), share=pl.lit(0.0))
    return pl.concat([feet, rising.select(feet.columns)]).sort(*keys, column, "share")
