"""What each flow of a run brought."""

import polars as pl

from tailback.analysis.view import View


def flow_rates(view: View) -> pl.DataFrame:
    """Mean rate of every flow of a single run in Mb/s, by its number; empty of sweeps."""
    flows = view.optional("flows")
    seconds = view.results.summary
    if seconds.height != 1 or "received_bytes" not in flows.columns:
        return pl.DataFrame()
    span = float(str(seconds.get_column("duration_s_total")[0]))
    return flows.select("source", (pl.col("received_bytes") * 8 / span / 1e6).alias("mbps"))
