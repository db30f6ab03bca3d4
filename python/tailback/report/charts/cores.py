"""How busy the cores of hosts with a machine were: a row a run, a column a core."""

import altair as alt
import polars as pl

from tailback.analysis.places import RUN, labels
from tailback.analysis.view import View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import NEUTRAL, WAITING, WIDTH

_ROW = 22
_LABEL = 370
_ROWS_MAX = 36
_COLUMNS_MAX = 32
_CORE = "core of"
_BUSY = "busy_percent"


def cores(view: View) -> AnyChart:
    """Return the share of time that each core worked; means of the repetitions.

    Of many runs those whose busiest core was busiest are shown, of many hosts the first.
    """
    table = view.optional("cores")
    if table.is_empty():
        raise NothingToDrawError("no host of these runs has a machine")
    core = pl.concat_str([pl.col("host"), pl.col("core").cast(pl.String)], separator=" ")
    named = labels(view)
    means = (
        table.with_columns(core.alias(_CORE))
        .join(named, on="run")
        .group_by(RUN, _CORE, maintain_order=True)
        .agg(pl.col(_BUSY).mean())
    )
    by_run = means.group_by(RUN, maintain_order=True).agg(pl.col(_BUSY).max())
    busiest = by_run.sort(_BUSY, descending=True, maintain_order=True).head(_ROWS_MAX)
    order = named.get_column(RUN).unique(maintain_order=True)
    runs = [run for run in order if run in set(busiest.get_column(RUN))]
    every = means.get_column(_CORE).unique(maintain_order=True)
    names = every.head(_COLUMNS_MAX).to_list()
    rows = means.filter(pl.col(RUN).is_in(runs), pl.col(_CORE).is_in(names))
    y = alt.Y(RUN, type="nominal", sort=runs, title=None).axis(
        labelLimit=_LABEL, domain=False, ticks=False
    )
    x = alt.X(_CORE, type="nominal", sort=names, title=None).axis(
        orient="top", labelAngle=-40, domain=False, ticks=False, labelOverlap=False
    )
    colour = alt.Color(_BUSY, type="quantitative", legend=None).scale(
        domain=[0, 100], range=["transparent", WAITING]
    )
    tips = [
        alt.Tooltip(RUN, type="nominal", title="Run"),
        alt.Tooltip(_CORE, type="nominal", title="Core"),
        alt.Tooltip(_BUSY, type="quantitative", format=".1f", title="Busy (%)"),
    ]
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    cells = base.mark_rect(stroke=NEUTRAL, strokeOpacity=0.25).encode(color=colour, tooltip=tips)
    words = base.mark_text(fontSize=11).encode(
        text=alt.Text(_BUSY, type="quantitative", format=".0f")
    )
    left_out = by_run.height - len(runs)
    more = f" {left_out} runs whose cores were less busy are not shown." if left_out else ""
    if every.len() > len(names):
        more += f" {every.len() - len(names)} cores of further hosts are not shown."
    most = rows.sort(_BUSY, descending=True).row(0, named=True)
    return alt.layer(cells, words).properties(
        width=WIDTH,
        height=_ROW * len(runs),
        title=alt.TitleParams(
            "How busy the cores were", subtitle=[f"Per cent of the run, by host and core.{more}"]
        ),
        description=(
            f"Share of time that each core worked. "
            f"The busiest: {most[_CORE]}, {most[_BUSY]:.0f} % ({most[RUN]})."
        ),
    )
