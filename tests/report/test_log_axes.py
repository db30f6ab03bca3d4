"""Logarithmic axes have labels, whatever little their values span."""

import re
from pathlib import Path

import altair as alt
import polars as pl
import pytest
import vl_convert

from synthetic import sweep_folder
from tailback.analysis import View
from tailback.report import Plots
from tailback.report.charts.data import inline
from tailback.report.charts.encoding import FINE_LADDER, LADDER, log_values, y_channel
from tailback.results import Results


def labels(chart: alt.Chart) -> list[float]:
    """Numbers at the axis y of a chart, as drawn."""
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    (axis,) = re.findall(r"aria-label=\"Y-axis.*?role-axis-title", svg, re.DOTALL)
    drawn = re.findall(r">([\d.,]+)</text>", axis[axis.index("role-axis-label") :])
    return [float(text.replace(",", "")) for text in drawn]


def scatter(low: float, high: float, y: alt.Y) -> alt.Chart:
    rows = pl.DataFrame({"x": ["a", "b"], "v": [low, high]})
    chart: alt.Chart = alt.Chart(inline(rows)).mark_point().encode(x="x:N", y=y)
    return chart


RATIOS = (1.001, 1.02, 1.3, 1.59, 1.7, 2.0, 2.4, 3.1, 4.9, 5.1, 9.0, 40.0, 90.0, 2e4)


@pytest.mark.parametrize("ladder", [LADDER, FINE_LADDER], ids=["ladder", "fine"])
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("low", [0.0213, 1.01, 2.05, 5.1, 25.5, 7.05e6])
def test_any_range_has_two_labels(ladder: list[float], ratio: float, low: float) -> None:
    y = alt.Y("v", type="quantitative", title="v").scale(type="log", nice=False, padding=8)
    y = y.axis(values=log_values("y", ladder), format=",~r", labelOverlap=True)
    assert len(set(labels(scatter(low, ratio * low, y)))) >= 2


def test_a_single_value_is_labelled() -> None:
    y = alt.Y("v", type="quantitative", title="v").scale(type="log", nice=False, padding=8)
    assert labels(scatter(3, 3, y.axis(values=log_values("y", LADDER), format=",~r"))) == [3]


@pytest.mark.parametrize("low", [2e-5, 3.0, 4e7])
def test_a_metric_that_spans_decades_has_labels_wherever_it_lies(low: float) -> None:
    assert len(labels(scatter(low, 150 * low, y_channel("v", "v", low, 150 * low)))) >= 3


def test_slowdowns_that_hardly_differ_have_labels(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "r", {"servers": [1]})
    row = {"run": 0, "size_bytes_max": 10_000, "flows": 9, "slowdown_median": 1.01}
    pl.DataFrame([row | {"slowdown_p99": 1.24}]).write_parquet(folder / "slowdowns.parquet")
    manifest = (folder / "manifest.json").read_text()
    text = manifest.replace('"summary"', '"summary", "slowdowns"').replace("\n", "")
    (folder / "manifest.json").write_text(text)
    view = View(Results(folder))
    assert not view.optional("slowdowns").is_empty()
    drawn = Plots(view.results).slowdowns()
    assert len(labels(drawn)) >= 2  # type: ignore[arg-type]
