"""Axes of quantities are true to size, and their labels have room."""

import re
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
import vl_convert

from synthetic import sweep_folder
from tailback._native import quantity
from tailback.analysis.axes import choose
from tailback.results import Results

LABEL = re.compile(
    r'<text text-anchor="(\w+)" transform="translate\(([-\d.e]+),[^"]*"[^>]*>([^<]*)</text>'
)


def drawn(folder: Path, values: list[str]) -> dict[str, tuple[float, str]]:
    """The labels along x with their places, px, and how they are anchored."""
    results = Results(sweep_folder(folder, {"size": values, "switch": ["a", "b"]}))
    svg = vl_convert.vegalite_to_svg(results.plot.goodput().to_dict())
    found = LABEL.findall(svg[svg.index("X-axis") :])
    return {text: (float(at), anchor) for anchor, at, text in found if quantity(text)}


@pytest.mark.parametrize(
    ("values", "scale", "places"),
    [
        (["10Mbit", "20Mbit", "40Mbit", "50Mbit"], "linear", [0, 0.25, 0.75, 1]),
        (["16KiB", "64KiB", "1MiB"], "log", [0, 1 / 3, 1]),
        (["0s", "1us", "10us", "1ms"], "symlog", [0, 0.1003, 0.3471, 1]),
        # As the sweep has it, falling.
        (["100ms", "10ms", "100us"], "log", [0, 1 / 3, 1]),
        (["1KB", "1MB"], "log", [0, 1]),
        (["1KB", "2KB"], "linear", [0, 1]),
    ],
)
def test_quantities_lie_where_their_size_puts_them(
    tmp_path: Path, values: list[str], scale: str, places: list[float]
) -> None:
    axis = choose(pl.DataFrame({"size": values}), ["size"]).x
    assert axis is not None
    assert axis.scale == scale
    labels = drawn(tmp_path / "r", values)
    assert set(labels) == set(values)
    low, high = labels[values[0]][0], labels[values[-1]][0]
    along = [(labels[value][0] - low) / (high - low) for value in values]
    assert along == pytest.approx(places, abs=0.002)


@pytest.mark.parametrize(
    "values",
    [
        ["100us", "110us", "120us", "1ms", "1.02ms"],
        [f"{13 * i + 1}KB" for i in range(30)],
        [f"{2**i}KiB" for i in range(20)],
        [f"{i * i}.5ms" for i in range(60)],
    ],
)
def test_labels_of_quantities_do_not_collide(tmp_path: Path, values: list[str]) -> None:
    labels = drawn(tmp_path / "r", values)
    assert {values[0], values[-1]} <= set(labels), "both ends have theirs"
    placed = sorted((at, anchor, text) for text, (at, anchor) in labels.items())
    for (at, anchor, text), (after, _, beside) in pairwise(placed):
        wide = 3.5 * (len(text) + len(beside)) if anchor == "middle" else 12.5
        assert after - at >= wide, (text, beside)


def test_quantities_that_are_not_of_one_kind_are_names(tmp_path: Path) -> None:
    axis = choose(pl.DataFrame({"size": ["4MB", "1s", "2KB"]}), ["size"]).x
    assert axis is not None
    assert axis.sizes is None
    labels = drawn(tmp_path / "r", ["4MB", "1s", "2KB"])
    assert list(labels) == ["4MB", "1s", "2KB"]
