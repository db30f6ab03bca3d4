"""Windows of kernels and of models over each other: one figure a congestion control."""

from collections.abc import Iterable
from pathlib import Path

import altair as alt
import polars as pl

from tailback.report.charts.data import AnyChart, inline
from tailback.report.theme import themed
from tailback.reproduce.congestion.observe import cwnd_trace
from tailback.reproduce.congestion.study import CellResult, CongestionParity

_COLUMNS = 3
_KINDS = ("kernel", "model")
_WIDTHS = (3.5, 1.2)
"""The model's thin line on the kernel's broad one: both are seen where they are one."""


def draw(found: CongestionParity, folder: Path) -> list[Path]:
    """Write `CONTROL.svg` for each congestion control with flows that go on; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name in dict.fromkeys(result.cell.congestion for result in found.results):
        mine = [
            result
            for result in found.results
            if result.cell.congestion == name and result.cell.until_s is not None
        ]
        if mine:
            files.append(folder / f"{name}.svg")
            themed(traces(name, mine)).save(files[-1])
    return files


def traces(name: str, results: Iterable[CellResult]) -> AnyChart:
    """Return a panel a cell: congestion windows over time, the kernel's and the model's."""
    panels = [_panel(result) for result in results]
    rows = [
        alt.hconcat(*panels[at : at + _COLUMNS], spacing=24)
        for at in range(0, len(panels), _COLUMNS)
    ]
    return alt.vconcat(*rows, spacing=24).properties(
        title=f"{name}: congestion windows of real kernels and of the model"
    )


def _panel(result: CellResult) -> AnyChart:
    frames = [
        cwnd_trace(results, result.cell.until_s).with_columns(pl.lit(kind).alias("hosts"))
        for kind, results in zip(_KINDS, (result.kernel, result.model), strict=True)
    ]
    verdict = "" if result.holds else " (differs)"
    lines = [
        alt.Chart(inline(rows))
        .mark_line(strokeWidth=width)
        .encode(
            x=alt.X("time_s:Q", title="Time (s)"),
            y=alt.Y("cwnd:Q", title="cwnd (segments)"),
            color=alt.Color("hosts:N", scale=alt.Scale(domain=list(_KINDS)), title=None),
            detail="flow:N",
        )
        for rows, width in zip(frames, _WIDTHS, strict=True)
    ]
    panel: AnyChart = alt.layer(*lines).properties(
        title=f"{result.cell.name}{verdict}", width=300, height=140
    )
    return panel
