"""How busy the cores of hosts with a machine were: a row a run, a column a core."""

import altair as alt
import polars as pl

from tailback.analysis.places import RUN, labels
from tailback.analysis.view import View
from tailback.analysis.words import counted
from tailback.report.charts.data import AnyChart
from tailback.report.charts.heat import Cells, Side, heat, titled
from tailback.report.charts.nothing import NothingToDrawError

_ROWS_MAX = 36
_COLUMNS_MAX = 32
_CORE = "core of"
_BUSY = "busy_percent"
_LEAST = 1
"""Per cent that a core was busy in some run, to be shown where not all can be."""


def cores(view: View) -> AnyChart:
    """Return the share of time that each core worked; means of the repetitions.

    Of many runs those whose busiest core was busiest are shown, of many hosts the first that had
    something to do.
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
    by_core = means.group_by(_CORE, maintain_order=True).agg(pl.col(_BUSY).max())
    in_all = by_core.height
    if in_all > _COLUMNS_MAX:
        by_core = by_core.filter(pl.col(_BUSY) >= _LEAST)
    if by_core.is_empty():
        raise NothingToDrawError(f"no core of these {in_all} was busy for {_LEAST} % of a run")
    every = by_core.get_column(_CORE)
    names = every.head(_COLUMNS_MAX).to_list()
    rows = means.filter(pl.col(RUN).is_in(runs), pl.col(_CORE).is_in(names))
    tips = [
        alt.Tooltip(RUN, type="nominal", title="Run"),
        alt.Tooltip(_CORE, type="nominal", title="Core"),
        alt.Tooltip(_BUSY, type="quantitative", format=".1f", title="Busy (%)"),
    ]
    left_out = by_run.height - len(runs)
    more = f" {left_out} runs whose cores were less busy are not shown." if left_out else ""
    if every.len() > len(names):
        more += f" {every.len() - len(names)} cores of further hosts are not shown."
    if idle := in_all - every.len():
        more += f" Left out: {counted(idle, 'core')} below {_LEAST} % in all runs."
    most = rows.sort(_BUSY, descending=True).row(0, named=True)
    return titled(
        heat(rows, Side(RUN, runs), Side(_CORE, names), Cells(_BUSY, 100, digits=1, least=1), tips),
        "How busy the cores were",
        f"Per cent of the run, by host and core.{more}",
        f"Share of time that each core worked. "
        f"The busiest: {most[_CORE]}, {most[_BUSY]:.0f} % ({most[RUN]}).",
    )
