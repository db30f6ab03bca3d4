"""What each flow brought, beside what each flow of the published run brought."""

import altair as alt
import polars as pl

from tailback.analysis.flows import flow_rates
from tailback.analysis.view import View
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import HEIGHT, WIDTH

_FLOWS_MAX = 64


def flows(view: View) -> AnyChart:
    """Return a bar for each flow of a run without a sweep, the fastest first."""
    rates = flow_rates(view)
    if rates.is_empty() or rates.height > _FLOWS_MAX:
        raise NothingToDrawError(f"it draws a single run with at most {_FLOWS_MAX} flows")
    ranked = _ranked(rates.get_column("mbps"), "this run")
    table = view.predicts
    shown = table is not None and "bandwidth_mbps" in table.frame.columns
    layers: list[alt.Chart] = [_base(ranked, legend=shown).mark_bar(opacity=0.45)]
    least, most = (float(str(v)) for v in (rates["mbps"].min(), rates["mbps"].max()))
    words = f"{rates.height} flows, from {least:.4g} to {most:.4g}."
    subtitle = []
    if table is not None and shown:
        theirs = _ranked(table.frame.get_column("bandwidth_mbps"), "published")
        layers.append(
            _base(theirs, legend=shown).mark_point(size=64, filled=False, strokeWidth=1.6)
        )
        subtitle = ["Bars: this run. Circles: published, its flows ranked likewise."]
    every = view.optional("flows").height
    if rates.height < every:
        cut = every - rates.height
        subtitle += [f"Each over the time it took. {cut} of {every} flows were not complete."]
    return alt.layer(*layers).properties(
        width=WIDTH,
        height=HEIGHT,
        title=alt.TitleParams("Rate of each flow (Mb/s)", subtitle=subtitle),
        description=f"Mean rate of {words}",
    )


def _ranked(rates: pl.Series, who: str) -> pl.DataFrame:
    ordered = rates.sort(descending=True)
    return pl.DataFrame({"rank": range(1, ordered.len() + 1), "mbps": ordered}).with_columns(
        pl.lit(who).alias("who")
    )


def _base(rows: pl.DataFrame, *, legend: bool) -> alt.Chart:
    colour = alt.Color("who", type="nominal", title=None)
    return alt.Chart(inline(rows)).encode(
        x=alt.X("rank", type="ordinal", title="Flow, by rank").axis(labelAngle=0),
        y=alt.Y("mbps", type="quantitative", title="Rate (Mb/s)"),
        color=colour if legend else colour.legend(None),
        tooltip=["who:N", "rank:O", alt.Tooltip("mbps:Q", format=",.4~r")],
    )
