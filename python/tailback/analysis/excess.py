"""Time beyond a clean transfer, counted in retransmission timeouts.

For the incast study's jumbo transactions: (completion - clean) / 201 ms says how many
timeouts, one after the other, a mean transaction waited for; it can be computed from a
published completion time, which a count of timeouts cannot.
"""

import polars as pl

from tailback.published.incast import CLEAN_JUMBO, CleanTransfer


def excess_timeouts(
    frame: pl.DataFrame, data_bytes: pl.Expr, clean: CleanTransfer = CLEAN_JUMBO
) -> pl.DataFrame:
    """Return `frame` with `excess_rto`, from `completion_ms_mean` and the bytes transferred."""
    ideal_ms = clean.fixed_ms + data_bytes * 8 / (clean.rate_gbps * 1e6)
    return frame.with_columns(
        ((pl.col("completion_ms_mean") - ideal_ms) / clean.rto_ms).alias("excess_rto")
    )


def with_excess(frame: pl.DataFrame) -> pl.DataFrame:
    """Return `frame` with `excess_rto`; goodput x completion time is the data transferred."""
    return excess_timeouts(
        frame, pl.col("goodput_mbps_mean") * pl.col("completion_ms_mean") * 1e3 / 8
    )
