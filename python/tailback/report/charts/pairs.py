"""What a mesh's hosts lost to one another: a row a source, a column a destination."""

import altair as alt
import polars as pl

from tailback.analysis.pairs import LOST, pair_losses
from tailback.analysis.view import View
from tailback.report.charts.data import AnyChart
from tailback.report.charts.heat import Cells, Side, heat, titled
from tailback.report.charts.nothing import NothingToDrawError

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
    tips = [
        alt.Tooltip("source", type="nominal", title="From"),
        alt.Tooltip("destination", type="nominal", title="To"),
        alt.Tooltip("sent", type="quantitative", format=",", title="Sent"),
        alt.Tooltip("missing", type="quantitative", format=",", title="Lost"),
        alt.Tooltip(LOST, type="quantitative", format=".3~r", title="Lost (%)"),
    ]
    cells = Cells(LOST, float(str(shown[LOST].max())) or 1)
    runs = view.results.summary.height
    over = f" Over all {runs} runs." if runs > 1 else ""
    if hosts.len() > len(names):
        over += f" {hosts.len() - len(names)} further hosts are not shown."
    worst = rows.sort(LOST, descending=True, maintain_order=True).row(0, named=True)
    return titled(
        heat(shown, Side("source", names, "From"), Side("destination", names, "To"), cells, tips),
        "Who lost what to whom",
        f"Per cent of what was sent.{over}",
        f"Share lost of what each host sent each other. The most: {worst['source']} to "
        f"{worst['destination']}, {worst[LOST]:.3g} %.",
    )
