"""Times that are shaded behind what is drawn over time."""

from collections.abc import Iterable, Sequence

import altair as alt
import polars as pl

from tailback.analysis.outages import Outage
from tailback.report.charts.data import AnyChart, inline
from tailback.report.theme import NEUTRAL

_NAMED = 3
"""So many links a subtitle names."""


def bands(spans: Sequence[tuple[float, float]], x: alt.X, column: str) -> alt.Chart:
    """Return what shades `spans` of the axis `x`, which shows `column`."""
    frame = pl.DataFrame(
        {column: [first for first, _ in spans], "end": [last for _, last in spans]}
    )
    chart: alt.Chart = (
        alt.Chart(inline(frame)).mark_rect(color=NEUTRAL, opacity=0.14).encode(x=x, x2="end")
    )
    return chart


def behind(chart: AnyChart, down: Sequence[Outage], x: alt.X, column: str) -> AnyChart:
    """Return `chart` with the times in which a link is down shaded, if there are any."""
    spans = sorted({(outage.from_s, outage.until_s) for outage in down})
    return alt.layer(bands(spans, x, column), chart) if spans else chart


def said_of(down: Iterable[Outage]) -> str:
    """Return what a subtitle says of the shading, if there is any."""
    links = list(dict.fromkeys(outage.link for outage in down))
    if not links:
        return ""
    more = f" and {len(links) - _NAMED} more" if len(links) > _NAMED else ""
    return f"Bands: {', '.join(links[:_NAMED])}{more} down. "
