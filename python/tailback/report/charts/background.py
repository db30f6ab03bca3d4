"""What flows beside the workload got: a row a pair of hosts, a column a run."""

import altair as alt
import polars as pl

from tailback.analysis.background import AGAIN, RATE, carried
from tailback.analysis.places import RUN
from tailback.analysis.view import View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import MOVING, NEUTRAL, WIDTH

_ROW = 22
_PAIRS_MAX = 30
_RUNS_MAX = 12


def flows_beside(view: View) -> AnyChart:
    """Return the rate of the TCP flows beside the workload.

    Of many pairs those that carried most are shown, of many runs the first.
    """
    found = carried(view)
    if found.is_empty():
        raise NothingToDrawError("no flows beside the workload: see [[background_flows]]")
    every = found.group_by("pair", maintain_order=True).agg(pl.col(RATE).max())
    most = set(every.sort(RATE, descending=True, maintain_order=True)["pair"][:_PAIRS_MAX])
    pairs = [pair for pair in every.get_column("pair") if pair in most]
    all_runs = found.get_column(RUN).unique(maintain_order=True).to_list()
    runs = all_runs[:_RUNS_MAX]
    rows = found.filter(pl.col("pair").is_in(pairs), pl.col(RUN).is_in(runs))
    greatest = float(str(rows[RATE].max()))
    y = alt.Y("pair", type="nominal", sort=pairs, title=None).axis(
        domain=False, ticks=False, labelLimit=260
    )
    x = alt.X(RUN, type="nominal", sort=runs, title=None).axis(
        orient="top", labelAngle=0 if len(runs) < 7 else -40, domain=False, ticks=False
    )
    colour = alt.Color(RATE, type="quantitative", legend=None).scale(
        domain=[0, greatest or 1], range=["transparent", MOVING]
    )
    tips = [
        alt.Tooltip("pair", type="nominal", title="From > to"),
        alt.Tooltip(RUN, type="nominal", title="Run"),
        alt.Tooltip(RATE, type="quantitative", format=",.1f", title="Rate (Mb/s)"),
        alt.Tooltip(AGAIN, type="quantitative", format=",.1f", title="Retransmissions"),
    ]
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    cells = base.mark_rect(stroke=NEUTRAL, strokeOpacity=0.25).encode(color=colour, tooltip=tips)
    words = base.mark_text(fontSize=11).encode(
        text=alt.Text(RATE, type="quantitative", format=",.0f")
    )
    more = ""
    if every.height > len(pairs):
        more += f" {every.height - len(pairs)} pairs that carried less are not shown."
    if len(all_runs) > len(runs):
        more += f" {len(all_runs) - len(runs)} further runs are not shown."
    fastest = rows.sort(RATE, descending=True, maintain_order=True).row(0, named=True)
    return alt.layer(cells, words).properties(
        width=WIDTH,
        height=_ROW * len(pairs),
        title=alt.TitleParams(
            "Flows beside the workload",
            subtitle=[f"What a pair's flows carried together while they lasted, Mb/s.{more}"],
        ),
        description=(
            f"Rates of the TCP flows beside the workload. The fastest: {fastest['pair']}, "
            f"{fastest[RATE]:,.0f} Mb/s ({fastest[RUN]})."
        ),
    )
