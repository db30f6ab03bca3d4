"""How long PAUSE or PFC stopped each direction of a link."""

import polars as pl

from tailback.analysis.places import RUN, labels
from tailback.analysis.view import View

STOPPED = "stopped_percent"
"""Column with the share of the run for which a link was stopped."""

_OF_RUN = "paused_percent"
"""Column of the table `ports`: of all of the run, of which a workload may be measured in a part."""


def stopped(view: View) -> pl.DataFrame:
    """Return the share of time that each link was stopped, means of the repetitions.

    Columns: `run of`, `link` and `stopped_percent`; links that were never stopped are left out, and
    the frame is empty where none was.
    """
    ports = view.optional("ports")
    if not {"link", _OF_RUN} <= set(ports.columns):
        return pl.DataFrame()
    ever = ports.group_by("link").agg(pl.col(_OF_RUN).max()).filter(pl.col(_OF_RUN) > 0)
    return (
        ports.join(ever, on="link", how="semi", maintain_order="left")
        .join(labels(view), on="run", maintain_order="left")
        .group_by(RUN, "link", maintain_order=True)
        .agg(pl.col(_OF_RUN).mean().alias(STOPPED))
    )
