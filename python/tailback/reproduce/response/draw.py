"""Windows under loss, measured on their curves."""

from pathlib import Path

import altair as alt
import polars as pl

from tailback.report.charts.data import AnyChart, inline
from tailback.report.theme import themed
from tailback.reproduce.response.run import ResponseFunctions

_COLUMNS = 4


def draw(found: ResponseFunctions, folder: Path) -> Path:
    """Write `windows.svg` into the folder; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "windows.svg"
    themed(windows(found)).save(path)
    return path


def windows(found: ResponseFunctions) -> AnyChart:
    """Return a panel a congestion control: its form as a line, what was measured as points.

    A point outside the range in which the form applies is hollow.
    """
    rows = pl.DataFrame(
        [
            {
                "name": point.name,
                "rtt": f"{point.rtt_s * 1000:.0f} ms",
                "p": point.p,
                "formula": point.expected,
                "measured": point.measured,
                "applies": point.applies,
            }
            for point in found.points
        ]
    )
    panels = []
    for (name,), frame in rows.group_by("name", maintain_order=True):
        base = alt.Chart(inline(frame), width=180, height=140, title=str(name))
        p = alt.X("p:Q", scale=alt.Scale(type="log"), title="Loss rate")
        scale = alt.Scale(type="log")
        color = alt.Color("rtt:N", title=None)
        line = base.mark_line(strokeWidth=1).encode(
            x=p, y=alt.Y("formula:Q", scale=scale, title="Window (segments)"), color=color
        )
        points = base.mark_point(size=30).encode(
            x=p,
            y=alt.Y("measured:Q", scale=scale),
            color=color,
            fillOpacity=alt.condition(alt.datum.applies, alt.value(1), alt.value(0)),
            fill=color,
        )
        panels.append(alt.layer(line, points))
    lines = [
        alt.hconcat(*panels[at : at + _COLUMNS], spacing=20)
        for at in range(0, len(panels), _COLUMNS)
    ]
    return alt.vconcat(*lines, spacing=20).properties(
        title="Mean window under loss: form (line) and measurement (points)"
    )
