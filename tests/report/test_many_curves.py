"""Charts of more curves than there are colours."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import vl_convert

from synthetic import sweep_folder
from tailback.analysis import View
from tailback.report.charts.distribution import distribution
from tailback.report.charts.metric import metric
from tailback.report.page.contents import contents
from tailback.report.theme import COLOURS, DARK, LIGHT
from tailback.results import Results

TEN = [f"control-{i}" for i in range(10)]
LONG = {
    "network.switch.buffer.shared": ["50KB", "1MB"],
    "stack.tcp_congestion_control": ["cubic", "dctcp", "illinois"],
    "network.link.rate": ["1Gbit", "10Gbit"],
    "servers": [1, 2, 3],
}


def drawn(spec: dict[str, Any], look: dict[str, Any], width: int) -> str:
    """The chart as the page draws it, as SVG."""
    own = spec.get("config", {}).get("legend", {})
    config = look | {"legend": look["legend"] | own}
    fit = {"autosize": {"type": "fit-x", "contains": "padding"}, "width": width}
    return vl_convert.vegalite_to_svg(spec | fit | {"config": config})


def looks_of_lines(svg: str) -> list[tuple[str, ...]]:
    """Colour and dashes of every line."""
    marks = re.findall(r'<g class="mark-line role-mark.*?(<path [^>]*>)', svg)
    wanted = ("stroke", "stroke-dasharray")
    return [tuple("".join(re.findall(f' {of}="([^"]*)"', m)) for of in wanted) for m in marks]


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(
    "axes",
    [
        {"tcp": TEN, "servers": [1, 2, 3]},
        {"tcp": TEN[:6], "ecn": [True, False], "servers": [1, 2, 3]},
        {"tcp": TEN[:8], "ecn": [True, False], "rate": ["1Gbit"], "servers": [1, 2, 3]},
    ],
    ids=["ten", "twelve", "sixteen"],
)
def test_no_two_curves_look_alike(
    tmp_path: Path, axes: dict[str, list[Any]], look: dict[str, Any]
) -> None:
    view = View(Results(sweep_folder(tmp_path / "r", axes)))
    assert len(view.groups) > COLOURS
    spec = metric(view, "completion_ms_mean").to_dict()
    lines = looks_of_lines(drawn(spec, look, 940))
    assert len(lines) == len(set(lines)) == len(view.groups)


def test_points_along_names_have_shapes_too(tmp_path: Path) -> None:
    view = View(Results(sweep_folder(tmp_path / "r", {"tcp": TEN, "case": list("abcdefghijk")})))
    assert view.axes.x is not None
    assert view.axes.x.kind == "nominal"
    (points,) = metric(view, "completion_ms_mean").to_dict()["layer"]
    shapes = points["encoding"]["shape"]["scale"]["range"]
    assert len(shapes) == len(view.groups)
    assert shapes[0] != shapes[COLOURS]


def test_lines_of_boxes_are_dashed(tmp_path: Path) -> None:
    view = View(Results(sweep_folder(tmp_path / "r", {"tcp": TEN, "servers": [1, 2, 3]})))
    rule, bar, _ = distribution(view).to_dict()["layer"]
    assert "strokeDash" in rule["encoding"]
    assert "strokeDash" not in bar["encoding"]


def test_legends_of_half_wide_charts_are_whole(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "r", LONG)
    file = folder / "summary.parquet"
    pl.read_parquet(file).with_columns(timeouts_mean=pl.col("run") * 0.1).write_parquet(file)
    (figure,) = next(s for s in contents(View(Results(folder))).sections if s.key == "losses").small
    svg = drawn(figure.spec, LIGHT, 470)
    corners = re.findall(r'"Symbol legend[^"]*"><g transform="translate\(([\d.-]+),([\d.-]+)', svg)
    assert len(corners) == 2, "a legend for colours and one for dashes"
    assert corners[0][0] == corners[1][0], "one below the other"
    entry = r'translate\(([\d.]+),[\d.]+\)"><path class="background"[^>]* d="M0,0h[\d.]+v14h'
    across = re.findall(entry, svg)
    assert len(across) == 4 + 3
    assert set(across) == {"0"}, "in one column"


def test_more_curves_than_a_legend_is_for_are_rows_of_cells(tmp_path: Path) -> None:
    axes = {"tcp": TEN[:9], "ecn": [True, False], "servers": [1, 2, 3]}
    folder = sweep_folder(tmp_path / "r", axes)
    file = folder / "summary.parquet"
    waits = pl.col("run") * 1000.0 + 500
    pl.read_parquet(file).with_columns(queue_bytes_max=waits).write_parquet(file)
    view = View(Results(folder))
    svg = drawn(metric(view, "queue_bytes_max").to_dict(), LIGHT, 940)
    assert "legend" not in svg
    for words in ("control-8, ecn false", "Servers sending at once", ">53.5<"):
        assert words in svg, words
    sections = {s.key: s for s in contents(view).sections}
    for key in ("main", "losses"):
        assert not sections[key].figures
        assert not sections[key].small
    losses = sections["losses"].choice
    assert losses is not None
    assert list(losses.options) == ["Longest queue"]
    (figure,) = losses.options["Longest queue"]
    assert "kB" in figure.title


def test_curves_without_a_value_take_no_room(tmp_path: Path) -> None:
    axes = {"tcp": TEN[:9], "ecn": [True, False], "servers": [1, 2, 3]}
    folder = sweep_folder(tmp_path / "r", axes)
    file = folder / "summary.parquet"
    whole = metric(View(Results(folder)), "timeouts_mean").to_dict()
    some = pl.when(pl.col("tcp") == TEN[0]).then(1.0)
    pl.read_parquet(file).with_columns(timeouts_mean=some).write_parquet(file)
    few = metric(View(Results(folder)), "timeouts_mean").to_dict()
    assert few["height"] * 9 == whole["height"]
    assert "2 curves" in few["description"]
