"""How much longer flows, or requests, took than alone, by their size: a line a run."""

import altair as alt
import polars as pl

from tailback.analysis.places import RUN, labels
from tailback.analysis.view import View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.encoding import LADDER, log_values
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import HEIGHT, WIDTH
from tailback.results.columns import own_column

_CLASSES = {
    10_000: "to 10 KB",
    30_000: "to 30 KB",
    100_000: "to 100 KB",
    1_000_000: "to 1 MB",
    10_000_000: "to 10 MB",
}
"""Upper ends of the table's classes of sizes, bytes, and what they are called."""
_LARGER = "more"
_RUNS_MAX = 7
"""Colours that can be told apart."""
_STATISTICS = {"slowdown_median": "median", "slowdown_p99": "99th percentile"}
_CLASS, _COUNT, _STATISTIC, _SLOWDOWN = "size", "count", "statistic", "slowdown"


def slowdowns(view: View) -> AnyChart:
    """Return median and 99th percentile of the slowdown by class of sizes; means of repetitions.

    Sizes of requests are those of what their connections' senders write: mostly of the answers.
    Of more runs than there are colours some are shown, evenly along the sweep.
    """
    table = view.optional("slowdowns")
    if table.is_empty():
        raise NothingToDrawError("no flow of workload flows or flow-list was complete")
    named = labels(view)
    what, size = ("flows", "Size of flow")
    if "requests" in table.columns:
        what, size = ("requests", "Size of message")
    flows = own_column(table, what)
    runs = named.get_column(RUN).unique(maintain_order=True).to_list()
    shown = _evenly(runs, _RUNS_MAX)
    rows = (
        table.with_columns(_class().alias(_CLASS))
        .join(named, on="run")
        .filter(pl.col(RUN).is_in(shown))
        .group_by(RUN, _CLASS, maintain_order=True)
        .agg(
            pl.col(flows).sum().alias(_COUNT),
            *(pl.col(s).mean().alias(w) for s, w in _STATISTICS.items()),
        )
        .unpivot(
            list(_STATISTICS.values()),
            index=[RUN, _CLASS, _COUNT],
            variable_name=_STATISTIC,
            value_name=_SLOWDOWN,
        )
    )
    order = [*_CLASSES.values(), _LARGER]
    colour = alt.Color(RUN, type="nominal", sort=shown, title=None)
    base = alt.Chart(inline(rows)).encode(
        x=alt.X(_CLASS, type="ordinal", sort=order, title=size).axis(labelAngle=0),
        y=alt.Y(_SLOWDOWN, type="quantitative", title="Slowdown")
        .scale(type="log", nice=False, padding=8)
        .axis(values=log_values("y", LADDER), format=",~r"),
        color=colour if len(shown) > 1 else colour.legend(None),
        strokeDash=alt.StrokeDash(
            _STATISTIC, type="nominal", sort=list(_STATISTICS.values()), title=None
        ),
        detail=f"{RUN}:N",
        tooltip=[
            alt.Tooltip(RUN, type="nominal", title="Run"),
            alt.Tooltip(_CLASS, type="nominal", title=size),
            alt.Tooltip(_COUNT, type="quantitative", title=what.capitalize()),
            alt.Tooltip(_STATISTIC, type="nominal", title="Statistic"),
            alt.Tooltip(_SLOWDOWN, type="quantitative", format=",.4~r", title="Slowdown"),
        ],
    )
    left_out = len(runs) - len(shown)
    more = f" {left_out} of {len(runs)} runs are not shown." if left_out else ""
    worst = rows.sort(_SLOWDOWN, descending=True).row(0, named=True)
    return alt.layer(base.mark_line(), base.mark_point(size=18, opacity=1)).properties(
        width=WIDTH,
        height=HEIGHT,
        title=alt.TitleParams(
            f"Slowdown by {size.lower()}",
            subtitle=[f"Time taken over the time alone, of complete {what}.{more}"],
        ),
        description=(
            f"Slowdown by {size.lower()}, median and 99th percentile. The greatest: "
            f"{worst[_SLOWDOWN]:.4g} ({worst[_STATISTIC]}, {worst[_CLASS]}, {worst[RUN]})."
        ),
    )


def _class() -> pl.Expr:
    """A class's name from its row's upper end, which is the largest flow in a run's last class."""
    named = pl.lit(_LARGER)
    for most, name in reversed(_CLASSES.items()):
        named = pl.when(pl.col("size_bytes_max") <= most).then(pl.lit(name)).otherwise(named)
    return named


def _evenly(runs: list[str], most: int) -> list[str]:
    """At most so many of `runs`, the first and the last among them."""
    if len(runs) <= most:
        return runs
    return [runs[round(i * (len(runs) - 1) / (most - 1))] for i in range(most)]
