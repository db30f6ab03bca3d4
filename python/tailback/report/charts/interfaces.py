"""What interfaces carried over time, as a poller of their counters saw it."""

import altair as alt
import polars as pl

from tailback.analysis.outages import outages
from tailback.analysis.places import RUN, labels
from tailback.analysis.view import View
from tailback.report.charts.bands import behind, said_of
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import HEIGHT, WIDTH

_SHOWN = 4


def interfaces(view: View) -> AnyChart:
    """Return the rate between polls of the busiest interfaces of the first run that polled them."""
    table = view.optional("interfaces")
    if table.is_empty():
        raise NothingToDrawError("no run polled interfaces; set record.interfaces")
    first = table.filter(pl.col("run") == pl.col("run").min(), pl.col("repetition") == 0)
    octets = first.group_by("interface", maintain_order=True).agg(pl.col("out_octets").max())
    busiest = octets.sort("out_octets", descending=True, maintain_order=True).head(_SHOWN)
    names = busiest.get_column("interface").to_list()
    rows = first.filter(pl.col("interface").is_in(names))
    x = alt.X("time_s", type="quantitative", title="Time (s)")
    lines: alt.Chart = (
        alt.Chart(inline(rows.select("time_s", "interface", "out_mbps")))
        .mark_line(strokeWidth=1.3)
        .encode(
            x=x,
            y=alt.Y("out_mbps", type="quantitative", title="Octets out (Mb/s)").scale(zero=False),
            color=alt.Color("interface", type="nominal", sort=names, title=None),
            tooltip=["interface:N", "time_s:Q", alt.Tooltip("out_mbps:Q", format=",.4~r")],
        )
    )
    runs = view.results.summary.height
    subtitle = "The busiest of them."
    if runs > 1:
        subtitle += f" Of {runs} runs one is shown: {_named(view, first)}."
    most = float(str(rows.get_column("out_mbps").max()))
    end_s = float(str(rows.get_column("time_s").max()))
    down = outages(view.results.manifest["scenario"], end_s)
    if down:
        subtitle += f" {said_of(down).strip()}"
    drawn: AnyChart = behind(lines, down, x, "time_s").properties(
        width=WIDTH,
        height=HEIGHT,
        title=alt.TitleParams("Interfaces, as polled", subtitle=[subtitle]),
        description=f"Rates of {len(names)} interfaces over time; at most {most:.4g} Mb/s.",
    )
    return drawn


def _named(view: View, first: pl.DataFrame) -> str:
    """What the run that is drawn is called, the first of its repetitions."""
    (name,) = labels(view).filter(run=first.get_column("run")[0]).get_column(RUN)
    return f"{name}, the first repetition" if view.repeated else str(name)
