"""Whom PAUSE or PFC stopped: a row a direction of a link, a column a run."""

import altair as alt
import polars as pl

from tailback.analysis.paused import STOPPED, stopped
from tailback.analysis.places import RUN
from tailback.analysis.view import View
from tailback.report.charts.data import AnyChart
from tailback.report.charts.heat import Cells, Side, first_runs, greatest_rows, heat, titled
from tailback.report.charts.nothing import NothingToDrawError

_LINKS_MAX = 30
_RUNS_MAX = 12


def paused(view: View) -> AnyChart:
    """Return the share of time that each direction of a link was stopped by the other end.

    Of many links those that were stopped longest are shown, of many runs the first.
    """
    found = stopped(view)
    if found.is_empty():
        raise NothingToDrawError("no link of these runs was stopped by PAUSE or PFC")
    links, left_out = greatest_rows(found, "link", STOPPED, _LINKS_MAX)
    runs, further = first_runs(view, found, _RUNS_MAX)
    rows = found.filter(pl.col("link").is_in(links), pl.col(RUN).is_in(runs))
    tips = [
        alt.Tooltip("link", type="nominal", title="From > to"),
        alt.Tooltip(RUN, type="nominal", title="Run"),
        alt.Tooltip(STOPPED, type="quantitative", format=".1f", title="Stopped (%)"),
    ]
    less = f" {left_out} links that were stopped for less are not shown." if left_out else ""
    most = rows.sort(STOPPED, descending=True, maintain_order=True).row(0, named=True)
    return titled(
        heat(rows, Side("link", links), Side(RUN, runs), Cells(STOPPED, 100), tips),
        "Who was stopped",
        f"By PAUSE or PFC, any class: per cent of the run, sender > receiver.{less}{further}",
        f"Share of time that each direction of a link was stopped. "
        f"The longest: {most['link']}, {most[STOPPED]:.3g} % ({most[RUN]}).",
    )
