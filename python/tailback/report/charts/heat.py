"""A heat map with names on both sides and a number in each cell: the form of several charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl

from tailback.analysis.places import RUN, labels
from tailback.analysis.view import View
from tailback.analysis.words import number
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.encoding import field, upright
from tailback.report.theme import NEUTRAL, WAITING, WIDTH

ROW = 22
"""Height of a row, px."""
_TEXT = "text"
_LETTER = 6.2
"""Width of a digit in a cell, px."""


@dataclass(frozen=True)
class Side:
    """Rows or columns of a heat map.

    Attributes:
        column: the frame's column that names them.
        names: which there are, in order; each has its label.
        title: said beside the labels, if anything.
    """

    column: str
    names: Sequence[str]
    title: str | None = None


@dataclass(frozen=True)
class Cells:
    """What stands in the cells of a heat map.

    Attributes:
        column: the frame's column with the number.
        greatest: the number of the full colour.
        digits: of the number written, significant ones; fewer where the cell is too narrow.
        least: below it only that it is less is written, but for zero.
        colour: what a cell with `greatest` has; one with zero is transparent.
    """

    column: str
    greatest: float
    digits: int = 2
    least: float = 0.0
    colour: str = WAITING

    def text(self, value: float | None, room: float) -> str | None:
        """Return a number as it is written where it has so much room, px; nothing in too little."""
        if value is None:
            return None
        less = f"<{max(self.least, 1):g}"
        texts = [number(value, digits) for digits in range(self.digits, 0, -1)]
        if 0 < value < self.least:
            texts = [less]
        elif 0 < value < 1:
            texts.append(less)
        return next((text for text in texts if len(text) * _LETTER <= room), None)


def heat(
    rows: pl.DataFrame, y: Side, x: Side, cells: Cells, tips: Sequence[alt.Tooltip]
) -> AnyChart:
    """Return a cell for each row of the frame, coloured by its number, which is written in it."""
    room = WIDTH / max(len(x.names), 1)
    texts = [cells.text(value, room) for value in rows[cells.column]]
    drawn = rows.with_columns(pl.Series(_TEXT, texts, dtype=pl.String))
    plain: dict[str, Any] = {"domain": False, "ticks": False, "labelOverlap": False}
    down = alt.Y(field(y.column), type="nominal", sort=list(y.names), title=y.title)
    across = alt.X(field(x.column), type="nominal", sort=list(x.names), title=x.title)
    base = alt.Chart(inline(drawn)).encode(
        x=across.axis(orient="top", labelAngle=0 if upright(x.names, WIDTH) else -40, **plain),
        y=down.axis(labelLimit=370, **plain),
    )
    colour = alt.Color(field(cells.column), type="quantitative", legend=None).scale(
        domain=[0, cells.greatest], range=["transparent", cells.colour]
    )
    filled = base.mark_rect(stroke=NEUTRAL, strokeOpacity=0.25)
    written = base.mark_text(fontSize=11).encode(text=f"{_TEXT}:N")
    cell = filled.encode(color=colour, tooltip=list(tips))
    return alt.layer(cell, written).properties(width=WIDTH, height=ROW * len(y.names))


def greatest_rows(found: pl.DataFrame, row: str, value: str, most: int) -> tuple[list[str], int]:
    """Return at most so many values of `row`, those whose greatest `value` is greatest.

    They are in the frame's order; with them comes how many are left out.
    """
    every = found.group_by(row, maintain_order=True).agg(pl.col(value).max())
    kept = set(every.sort(value, descending=True, maintain_order=True)[row].head(most))
    return [name for name in every.get_column(row) if name in kept], every.height - len(kept)


def first_runs(view: View, found: pl.DataFrame, most: int) -> tuple[list[str], str]:
    """Return the labels of at most so many points of the sweep, and a sentence on all others."""
    every = found.get_column(RUN).unique(maintain_order=True).to_list()
    beyond = labels(view).filter(pl.col(RUN).is_in(every[most:])).height
    words = "further run is" if beyond == 1 else "further runs are"
    return every[:most], f" {beyond} {words} not shown." if beyond else ""


def titled(chart: AnyChart, title: str, subtitle: str, description: str) -> AnyChart:
    """Return `chart` with what stands above it and what is said of it."""
    words = alt.TitleParams(title, subtitle=[subtitle])
    named: AnyChart = chart.properties(title=words, description=description)
    return named
