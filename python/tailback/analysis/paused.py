"""How long PAUSE or PFC stopped each direction of a link."""

import polars as pl

from tailback.analysis.places import RUN, labels
from tailback.analysis.view import View

STOPPED = "stopped_percent"
"""Column with the share of the run for which a link was stopped."""


def stopped(view: View) -> pl.DataFrame:
    """Return the share of time that each link was stopped, means of the repetitions.

    Columns: `run of`, `link` and `stopped_percent`; links that were never stopped are left out, and
    the frame is empty where none was.
    """
    ports = view.optional("ports")
    if not {"link", "paused_ms"} <= set(ports.columns):
        return pl.DataFrame()
    ever = ports.group_by("link").agg(pl.col("paused_ms").max()).filter(pl.col("paused_ms") > 0)
    if ever.is_empty():
        return pl.DataFrame()
    seconds = view.results.summary.select("run", "duration_s_total")
    share = 100 * pl.col("paused_ms") / 1e3 / pl.col("duration_s_total")
    return (
        ports.join(ever, on="link", how="semi", maintain_order="left")
        .join(seconds, on="run", maintain_order="left")
        .filter(pl.col("duration_s_total") > 0)
        .join(labels(view), on="run", maintain_order="left")
        .group_by(RUN, "link", maintain_order=True)
        .agg(share.mean().alias(STOPPED))
    )
