"""The distribution of completion times and the like, reduced to what a chart can show."""

import polars as pl

from tailback.analysis.spreads import COMPLETION, Spread
from tailback.analysis.view import COLOUR, DASH, GROUP, View

QUANTILES = {percent: f"q{percent} of" for percent in (5, 25, 50, 75, 95)}
"""Percentile -> column. Drawn: rule from the first to the last, bar between the quartiles."""

SHARE = "share of"
"""Column with the share of values that are so large or smaller."""
LEAST, GREATEST, COUNT = "least of", "greatest of", "count of"
"""Columns with the shortest and the longest of them, and how many they are."""
_RANK = "rank of"
_STEPS = 120
_FINER = 10


def quantiles(view: View, column: str = "completion_ms") -> pl.DataFrame:
    """Return the quantiles of `column` per point, the least and the greatest, and the count."""
    return view.transactions.group_by(
        [*view.axes.names, GROUP, COLOUR, DASH], maintain_order=True
    ).agg(
        *(
            pl.col(column).quantile(percent / 100, "nearest").alias(name)
            for percent, name in QUANTILES.items()
        ),
        pl.col(column).min().alias(LEAST),
        pl.col(column).max().alias(GREATEST),
        pl.len().alias(COUNT),
    )


def ecdf(view: View, spread: Spread = COMPLETION) -> pl.DataFrame:
    """Return steps (its column, `SHARE`) of the empirical distribution per point.

    It rises from 0 at the least value to 1 at the greatest, in at most about 120 steps a point,
    evenly spaced in rank, and ten times as many per rank at the end, where the tail is. Empty where
    there are no values.
    """
    column, rows = spread.column, spread.rows(view)
    if rows.is_empty():
        return rows
    keys = [*view.axes.names, GROUP, COLOUR, DASH]
    ranked = (
        rows.select(*keys, column)
        .sort(column)
        .with_columns(
            pl.int_range(1, pl.len() + 1).over(keys).alias(_RANK),
            pl.len().over(keys).alias(COUNT),
        )
    )
    step = (pl.col(COUNT) / _STEPS).ceil().cast(pl.Int64)
    tail = pl.col(_RANK) > pl.col(COUNT) - step
    near = pl.when(tail).then((step / _FINER).ceil().cast(pl.Int64)).otherwise(step)
    kept = ranked.filter(
        (pl.col(_RANK) % near == 0) | (pl.col(_RANK) == 1) | (pl.col(_RANK) == pl.col(COUNT))
    )
    rising = kept.select(*keys, column, (pl.col(_RANK) / pl.col(COUNT)).alias(SHARE))
    feet = rising.group_by(keys, maintain_order=True).agg(
        pl.col(column).min(), pl.lit(0.0).alias(SHARE)
    )
    return pl.concat([feet, rising.select(feet.columns)]).sort(*keys, column, SHARE)
