"""What a mesh's hosts lost to one another: a row a source, a column a destination."""

import altair as alt
import polars as pl

from tailback.analysis.pairs import LOST, pair_losses
from tailback.analysis.view import View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import NEUTRAL, WAITING, WIDTH

_ROW = 22
_HOSTS_MAX = 40


def loss_by_pair(view: View) -> AnyChart:
    """Return the share lost of what each host sent each other; over all rounds and runs.

    A host whose link is bad is a row and a column; a bad sender or receiver is one of the two.
    """
    rows = pair_losses(view)
    if rows.is_empty():
        raise NothingToDrawError("no run is a mesh of hosts that lost any of their packets")
    hosts = pl.concat([rows["source"], rows["destination"]]).unique(maintain_order=True)
    names = hosts.head(_HOSTS_MAX).to_list()
    shown = rows.filter(pl.col("source").is_in(names), pl.col("destination").is_in(names))
    greatest = float(str(shown[LOST].max()))
    y = alt.Y("source", type="nominal", sort=names, title="From").axis(domain=False, ticks=False)
    x = alt.X("destination", type="nominal", sort=names, title="To").axis(
        orient="top", labelAngle=-40 if len(names) > 12 else 0, domain=False, ticks=False
    )
    colour = alt.Color(LOST, type="quantitative", legend=None).scale(
        domain=[0, greatest or 1], range=["transparent", WAITING]
    )
    tips = [
        alt.Tooltip("source", type="nominal", title="From"),
        alt.Tooltip("destination", type="nominal", title="To"),
        alt.Tooltip("sent", type="quantitative", format=",", title="Sent"),
        alt.Tooltip("missing", type="quantitative", format=",", title="Lost"),
        alt.Tooltip(LOST, type="quantitative", format=".3~r", title="Lost (%)"),
    ]
    base = alt.Chart(inline(shown)).encode(x=x, y=y)
    cells = base.mark_rect(stroke=NEUTRAL, strokeOpacity=0.25).encode(color=colour, tooltip=tips)
    words = base.mark_text(fontSize=11).encode(
        text=alt.Text(LOST, type="quantitative", format=".2~r")
    )
    runs = view.results.summary.height
    over = f" Over all {runs} runs." if runs > 1 else ""
    if hosts.len() > len(names):
        over += f" {hosts.len() - len(names)} further hosts are not shown."
    worst = rows.sort(LOST, descending=True, maintain_order=True).row(0, named=True)
    return alt.layer(cells, words).properties(
        width=WIDTH,
        height=_ROW * len(names),
        title=alt.TitleParams(
            "Who lost what to whom", subtitle=[f"Per cent of what was sent.{over}"]
        ),
        description=(
            f"Share lost of what each host sent each other. The most: {worst['source']} to "
            f"{worst['destination']}, {worst[LOST]:.3g} %."
        ),
    )
