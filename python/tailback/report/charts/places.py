"""Where it was lost: the path from left to right, a row a run, the losses at their places."""

import altair as alt
import polars as pl

from tailback.analysis.places import PLACE, RUN, places
from tailback.analysis.view import View
from tailback.analysis.words import number
from tailback.report.charts.data import AnyChart, inline
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.theme import NEUTRAL, WAITING, WIDTH

_ROW = 22
_LABEL = 370
_RUN, _CELL = 130, 92
"""Least width of a row's label and of a cell, px; on narrow pages the picture is scrolled."""
_LATE = {"bulk", "iperf3", "flent"}
"""Workloads that may begin before they are measured."""


def lost_at(view: View) -> AnyChart:
    """Return the path as columns and the runs as rows; the darker, the more frames were lost there.

    A cell's figure counts frames: data, and after a plus acknowledgements.
    """
    found = places(view)
    if found is None:
        raise NothingToDrawError("no run lost a frame")
    texts = [
        _text(row["data_frames"], row["ack_frames"]) for row in found.rows.iter_rows(named=True)
    ]
    rows = found.rows.with_columns(
        pl.Series("text", texts),
        (pl.col("frames") + 1).log10().alias("decades"),
    )
    most = float(str(rows.get_column("decades").max()))
    y = alt.Y(RUN, type="nominal", sort=found.runs, title=None).axis(
        labelLimit=_LABEL, domain=False, ticks=False
    )
    x = alt.X(PLACE, type="nominal", sort=found.names, title=None).axis(
        orient="top",
        labelAngle=0,
        labelLimit=110,
        domain=False,
        ticks=False,
        labelOverlap=False,
        labelExpr="split(datum.label, ': ')",
        labelPadding=18,
    )
    colour = alt.Color("decades", type="quantitative", legend=None).scale(
        domain=[0, max(most, 1.0)], range=["transparent", WAITING]
    )
    tips = [
        alt.Tooltip(RUN, type="nominal", title="Run"),
        alt.Tooltip(PLACE, type="nominal", title="Place"),
        alt.Tooltip("data_frames", type="quantitative", format=",.4~r", title="Data frames"),
        alt.Tooltip("ack_frames", type="quantitative", format=",.4~r", title="Without data"),
        alt.Tooltip("payload_bytes", type="quantitative", format=",.4~r", title="Payload (bytes)"),
    ]
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    cells = base.mark_rect(stroke=NEUTRAL, strokeOpacity=0.25).encode(color=colour, tooltip=tips)
    words = base.mark_text(fontSize=11).encode(text="text:N")
    height = _ROW * len(found.runs)
    counted = f"Frames of a whole run{_before_it_is_measured(view)}"
    counted += ", means of the repetitions" * view.repeated
    more = f" {found.left_out} runs that lost less are not shown." * bool(found.left_out)
    if found.lossless:
        runs = "other run" if found.lossless == 1 else "other runs"
        more += f" {found.lossless} {runs} lost nothing."
    return alt.layer(cells, words).properties(
        usermeta={"minWidth": _RUN + _CELL * len(found.names)},
        width=WIDTH,
        height=height,
        title=alt.TitleParams(
            "Where frames were lost",
            subtitle=[f"{counted}: the way from left to right, data + acknowledgements.{more}"],
        ),
        description=_described(found.rows),
    )


def _text(data: float, acks: float) -> str:
    if not acks:
        return number(data) if data else "·"
    return f"{number(data)} + {number(acks)}"


def _described(rows: pl.DataFrame) -> str:
    by_place = rows.group_by(PLACE, maintain_order=True).agg(pl.col("frames").sum())
    parts = [f"{place}: {number(float(frames))}" for place, frames in by_place.iter_rows()]
    return f"Frames lost by place over all runs shown. {'; '.join(parts)}."


def _before_it_is_measured(view: View) -> str:
    """Words for runs that are measured later than they begin: losses by place are of all."""
    kind = view.results.manifest["scenario"]["workload"]["kind"]
    if kind not in _LATE:
        return ""
    begun = view.optional("transactions")
    late = "start_s" in begun.columns and begun.filter(pl.col("start_s") > 0).height > 0
    return ", with what is before it is measured" * late
