"""Whom PAUSE or PFC stopped: a row a direction of a link, a column a run."""

import altair as alt
import polars as pl

from tailback.analysis.paused import STOPPED, stopped
from tailback.analysis.places import RUN
from tailback.analysis.view import View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import NEUTRAL, WAITING, WIDTH

_ROW = 22
_LINKS_MAX = 30
_RUNS_MAX = 12


def paused(view: View) -> AnyChart:
    """Return the share of time that each direction of a link was stopped by the other end.

    Of many links those that were stopped longest are shown, of many runs the first.
    """
    found = stopped(view)
    if found.is_empty():
        raise NothingToDrawError("no link of these runs was stopped by PAUSE or PFC")
    every = found.group_by("link", maintain_order=True).agg(pl.col(STOPPED).max())
    longest = set(every.sort(STOPPED, descending=True, maintain_order=True)["link"][:_LINKS_MAX])
    links = [link for link in every.get_column("link") if link in longest]
    all_runs = found.get_column(RUN).unique(maintain_order=True).to_list()
    runs = all_runs[:_RUNS_MAX]
    rows = found.filter(pl.col("link").is_in(links), pl.col(RUN).is_in(runs))
    y = alt.Y("link", type="nominal", sort=links, title=None).axis(domain=False, ticks=False)
    x = alt.X(RUN, type="nominal", sort=runs, title=None).axis(
        orient="top", labelAngle=0 if len(runs) < 7 else -40, domain=False, ticks=False
    )
    colour = alt.Color(STOPPED, type="quantitative", legend=None).scale(
        domain=[0, 100], range=["transparent", WAITING]
    )
    tips = [
        alt.Tooltip("link", type="nominal", title="From > to"),
        alt.Tooltip(RUN, type="nominal", title="Run"),
        alt.Tooltip(STOPPED, type="quantitative", format=".1f", title="Stopped (%)"),
    ]
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    cells = base.mark_rect(stroke=NEUTRAL, strokeOpacity=0.25).encode(color=colour, tooltip=tips)
    words = base.mark_text(fontSize=11).encode(
        text=alt.Text(STOPPED, type="quantitative", format=".2~r")
    )
    more = ""
    if every.height > len(links):
        more += f" {every.height - len(links)} links that were stopped for less are not shown."
    if len(all_runs) > len(runs):
        more += f" {len(all_runs) - len(runs)} further runs are not shown."
    most = rows.sort(STOPPED, descending=True, maintain_order=True).row(0, named=True)
    return alt.layer(cells, words).properties(
        width=WIDTH,
        height=_ROW * len(links),
        title=alt.TitleParams(
            "Who was stopped",
            subtitle=[f"By PAUSE or PFC, any class: per cent of the run, sender > receiver.{more}"],
        ),
        description=(
            f"Share of time that each direction of a link was stopped. "
            f"The longest: {most['link']}, {most[STOPPED]:.3g} % ({most[RUN]})."
        ),
    )
