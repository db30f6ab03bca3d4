"""What flows beside the workload got: a row a pair of hosts, a column a run."""

import altair as alt
import polars as pl

from tailback.analysis.background import AGAIN, RATE, carried
from tailback.analysis.places import RUN
from tailback.analysis.view import View
from tailback.analysis.words import number
from tailback.report.charts.data import AnyChart
from tailback.report.charts.heat import Cells, Side, first_runs, greatest_rows, heat, titled
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import MOVING

_PAIRS_MAX = 30
_RUNS_MAX = 12


def flows_beside(view: View) -> AnyChart:
    """Return the rate of the TCP flows beside the workload.

    Of many pairs those that carried most are shown, of many runs the first.
    """
    found = carried(view)
    if found.is_empty():
        raise NothingToDrawError("no flows beside the workload: see [[background_flows]]")
    pairs, left_out = greatest_rows(found, "pair", RATE, _PAIRS_MAX)
    runs, further = first_runs(view, found, _RUNS_MAX)
    rows = found.filter(pl.col("pair").is_in(pairs), pl.col(RUN).is_in(runs))
    tips = [
        alt.Tooltip("pair", type="nominal", title="From > to"),
        alt.Tooltip(RUN, type="nominal", title="Run"),
        alt.Tooltip(RATE, type="quantitative", format=",.4~r", title="Rate (Mb/s)"),
        alt.Tooltip(AGAIN, type="quantitative", format=",.1f", title="Retransmissions"),
    ]
    cells = Cells(RATE, float(str(rows[RATE].max())) or 1, digits=3, colour=MOVING)
    less = f" {left_out} pairs that carried less are not shown." if left_out else ""
    fastest = rows.sort(RATE, descending=True, maintain_order=True).row(0, named=True)
    return titled(
        heat(rows, Side("pair", pairs), Side(RUN, runs), cells, tips),
        "Flows beside the workload",
        f"What a pair's flows carried together while they lasted, Mb/s.{less}{further}",
        f"Rates of the TCP flows beside the workload. The fastest: {fastest['pair']}, "
        f"{number(fastest[RATE])} Mb/s ({fastest[RUN]}).",
    )
