"""Inter-arrival times by packet number, as the receiver's interrupt handler or poll saw them."""

import altair as alt
import polars as pl

from tailback.analysis.view import GROUP, View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import WIDTH

_HEIGHT = 150
_RUNS_MAX = 6


def spacing(view: View) -> AnyChart:
    """Return a panel a run: the time since the packet before, by packet number."""
    arrivals = view.labelled(view.optional("arrivals"))
    if arrivals.is_empty():
        raise NothingToDrawError("no run recorded arrivals; set workload.record_arrivals")
    frame = arrivals.filter(
        pl.col("packet") > 0, pl.col("repetition") == pl.col("repetition").min()
    ).with_columns(_setting(view).alias("setting"))
    names = frame.get_column("setting").unique(maintain_order=True).to_list()[:_RUNS_MAX]
    end = float(str(frame.get_column("gap_us").max()))
    scale = alt.Scale(domain=[0, end * 1.05], nice=False)
    panels = [
        alt.Chart(inline(frame.filter(pl.col("setting") == name).select("packet", "gap_us")))
        .mark_point(size=10, filled=True, opacity=0.8)
        .encode(
            x=alt.X("packet", type="quantitative", title="Packet number"),
            y=alt.Y("gap_us", type="quantitative", scale=scale, title=f"{name}: since last (us)"),
            tooltip=["packet:Q", alt.Tooltip("gap_us", type="quantitative", format=",.4~r")],
        )
        .properties(width=WIDTH, height=_HEIGHT)
        for name in names
    ]
    return alt.vconcat(*panels, spacing=18).properties(
        title=alt.TitleParams("Time between arrivals, by packet number"),
        description=f"{len(panels)} panels: {', '.join(names)}.",
    )


def _setting(view: View) -> pl.Expr:
    x = view.axes.x
    if x is None:
        return pl.lit("the run")
    own = pl.concat_str([pl.lit(f"{x.name} "), pl.col(x.name).cast(pl.String)])
    if view.axes.colour is None:
        return own
    return pl.concat_str([own, pl.col(GROUP)], separator=", ")
