"""A histogram of a mesh's measurements by loss, with the worst receiver and without it."""

import altair as alt
import polars as pl

from tailback.analysis.probes import CLASSES, probes
from tailback.analysis.view import View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import HEIGHT, WIDTH


def loss_histogram(view: View) -> AnyChart:
    """Return the share of the measurements in each decade of loss."""
    found = probes(view)
    if found is None:
        raise NothingToDrawError("no run measured a mesh on a schedule; set workload.schedule")
    sets = {"all measurements": found.everyone, f"without {found.worst}": found.without_worst}
    rows = pl.DataFrame(
        [
            {"loss": name, "measurements": words, "percent": 100 * share}
            for words, shares in sets.items()
            for name, share in shares.items()
        ]
    )
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("loss", type="nominal", sort=list(CLASSES), title="Loss, from").axis(labelAngle=0),
        xOffset=alt.XOffset("measurements", type="nominal", sort=list(sets)),
        y=alt.Y("percent", type="quantitative", title="Share of the measurements (%)")
        .scale(domain=[0, 105], nice=False)
        .axis(values=list(range(0, 101, 20))),
    )
    bars = base.mark_bar().encode(
        color=alt.Color("measurements", type="nominal", sort=list(sets), title=None).legend(
            symbolType="square", symbolSize=60
        ),
        tooltip=["measurements:N", "loss:N", alt.Tooltip("percent:Q", format=".3r")],
    )
    figures = base.mark_text(dy=-7, fontSize=11).encode(text=alt.Text("percent:Q", format=".2~r"))
    shares = ", ".join(f"{name}: {100 * share:.2g} %" for name, share in found.everyone.items())
    return alt.layer(bars, figures).properties(
        width=WIDTH,
        height=HEIGHT,
        title=alt.TitleParams("Measurements by loss", subtitle=[f"Worst receiver: {found.worst}."]),
        description=f"Histogram of measurements by loss. {shares}.",
    )
