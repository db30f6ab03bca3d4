"""Where the marks of the boxes of completion times stand, as drawn."""

import re
from pathlib import Path

import pytest
import vl_convert

from synthetic import sweep_folder
from tailback.analysis import View
from tailback.report.charts.distribution import distribution
from tailback.results import Results


def centres(svg: str) -> list[list[float]]:
    """Middle of each mark along x, a list each of lines, bars and ticks."""
    layers = []
    for marks in re.findall(r'<g class="mark-(?:rule|rect) role-mark.*?</g>', svg, re.DOTALL):
        lines = [float(x) for x in re.findall(r'transform="translate\(([\d.]+),', marks)]
        rects = re.findall(r'd="M([\d.]+),[\d.]+h([\d.]+)v', marks)
        layers.append(lines or [float(x) + float(width) / 2 for x, width in rects])
    return layers


@pytest.mark.parametrize("controls", [1, 3, 24])
def test_line_bar_and_median_of_a_curve_stand_over_one_another(
    tmp_path: Path, controls: int
) -> None:
    axes = {"tcp": [f"control {i}" for i in range(controls)], "servers": [1, 2, 3]}
    chart = distribution(View(Results(sweep_folder(tmp_path / "r", axes))))
    lines, bars, ticks = centres(vl_convert.vegalite_to_svg(chart.to_dict()))
    assert len(lines) == len(set(lines)) == 3 * controls
    assert bars == pytest.approx(lines)
    assert ticks == pytest.approx(lines)


def test_boxes_of_a_single_curve_leave_air_between_them(tmp_path: Path) -> None:
    chart = distribution(View(Results(sweep_folder(tmp_path / "r", {"servers": [1, 2, 3]}))))
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    first, second, _ = centres(svg)[0]
    boxes = svg[svg.index('class="mark-rect role-mark') :]
    widths = [float(width) for width in re.findall(r'd="M[\d.]+,[\d.]+h([\d.]+)v', boxes)]
    assert max(widths) == pytest.approx(0.8 * (second - first), rel=1e-3)
