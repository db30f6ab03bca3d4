"""How all charts look: one configuration for light pages, one for dark ones.

Colours are Okabe and Ito's palette ("Color Universal Design", 2008), which people with any
colour vision can tell apart; dark pages take its lighter members first.
"""

from typing import Any

import altair as alt

from tailback.report.charts.data import AnyChart

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

WAITING = "#D55E00"
"""Vermilion: a flow that waits for its retransmission timer, in every chart."""
MOVING = "#5B9BD5"
"""A flow that makes progress; legible on light and dark."""
NEUTRAL = "#888888"
"""Rules and reference lines, on light and dark."""

WIDTH = 640
HALF = 400
HEIGHT = 300
"""Size of a chart outside the report, px; in the report charts take the page's width, or half."""

_PALETTE_LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8A6D00", "#56B4E9", "#555555"]
_PALETTE_DARK = ["#56B4E9", "#F28E4B", "#2FC49A", "#E39AC4", "#F0E442", "#8FB8DE", "#BBBBBB"]

COLOURS = len(_PALETTE_LIGHT)
"""Curves that colours alone can tell apart."""


def _config(ink: str, faint: str, grid: str, palette: list[str]) -> dict[str, Any]:
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "domainColor": faint,
            "tickColor": faint,
            "gridColor": grid,
            "labelColor": ink,
            "titleColor": ink,
            "titleFontWeight": "normal",
            "titleFontSize": 12,
            "labelFontSize": 12,
            # Labels that have no room go, others stay; "parity" would drop every other one.
            "labelOverlap": "greedy",
            "labelSeparation": 6,
        },
        "axisX": {"grid": False, "titlePadding": 8},
        "axisY": {
            "domain": False,
            "ticks": False,
            "titleAngle": 0,
            "titleAlign": "left",
            "titleAnchor": "start",
            "titleBaseline": "bottom",
            "titleX": 0,
            "titleY": -8,
        },
        "legend": {
            "orient": "top",
            "direction": "horizontal",
            "title": None,
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": 12,
            "labelLimit": 320,
            "symbolStrokeWidth": 2.5,
            "symbolType": "stroke",
            "symbolSize": 180,
            "columns": 2,
            "offset": 28,
            # One legend below the other: side by side the second is cut off at the edge.
            "layout": {"top": {"direction": "vertical", "anchor": "start", "margin": 6}},
        },
        "title": {
            "anchor": "start",
            "color": ink,
            "subtitleColor": faint,
            "fontSize": 15,
            "fontWeight": 600,
            "subtitleFontSize": 12,
            "offset": 14,
        },
        "range": {"category": palette},
        "line": {"strokeWidth": 2},
        "point": {"size": 34, "filled": True},
        "rule": {"color": ink},
        "text": {"color": ink},
    }


LIGHT = _config("#333333", "#8a8a8a", "#e7e7e4", _PALETTE_LIGHT)
DARK = _config("#d6d6d2", "#8a8a8a", "#3a3b3d", _PALETTE_DARK)


def themed(chart: AnyChart) -> AnyChart:
    """Return `chart` with the light look, white behind it, for notebooks, PNG and SVG."""
    shown: AnyChart = chart.copy(deep=False)
    # Altair does not know the layout of legends; here charts grow to hold them side by side.
    legend = {name: value for name, value in LIGHT["legend"].items() if name != "layout"}
    own = {"background": "white", "padding": 16, "legend": legend}
    shown.config = alt.Config(**(LIGHT | own))
    return shown
