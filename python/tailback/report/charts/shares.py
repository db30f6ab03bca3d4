"""What each pair of hosts got: a row a pair, a column a run."""

import altair as alt
import polars as pl

from tailback.analysis.places import RUN
from tailback.analysis.shares import PAIR, PAIRS_MAX, RATE, RUNS_MAX, shares
from tailback.analysis.view import View
from tailback.analysis.words import are_alike, natural, number
from tailback.report.charts.data import AnyChart
from tailback.report.charts.heat import Cells, Side, heat, titled
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import MOVING


def who_got_what(view: View) -> AnyChart:
    """Return the rate of each pair of hosts in each run, where in some run they differ."""
    found = shares(view)
    if found.is_empty():
        raise NothingToDrawError(
            f"it draws 2 to {RUNS_MAX} runs of flows that last, of 2 to {PAIRS_MAX} pairs of hosts"
        )
    ends = found.group_by(RUN, maintain_order=True).agg(
        pl.col(RATE).min().alias("least"), pl.col(RATE).max().alias("most")
    )
    if all(are_alike(least, most) for _, least, most in ends.iter_rows()):
        raise NothingToDrawError("all pairs of hosts of a run got alike")
    pairs = sorted(found.get_column(PAIR).unique(), key=natural)
    runs = found.get_column(RUN).unique(maintain_order=True).to_list()
    tips = [
        alt.Tooltip(PAIR, type="nominal", title="From > to"),
        alt.Tooltip(RUN, type="nominal", title="Run"),
        alt.Tooltip(RATE, type="quantitative", format=",.4~r", title="Rate (Mb/s)"),
    ]
    ranked = found.sort(RATE, maintain_order=True)
    least, most = (ranked.row(at, named=True) for at in (0, -1))
    return titled(
        heat(
            found,
            Side(PAIR, pairs),
            Side(RUN, runs),
            Cells(RATE, most[RATE] or 1.0, digits=3, colour=MOVING),
            tips,
        ),
        "Who got what",
        "What came of all flows of a pair of hosts, sender > receiver, Mb/s; the darker, the more.",
        f"Rates by pair of hosts and run, from {number(least[RATE])} Mb/s "
        f"({least[PAIR]}, {least[RUN]}) to {number(most[RATE])} Mb/s ({most[PAIR]}, {most[RUN]}).",
    )
