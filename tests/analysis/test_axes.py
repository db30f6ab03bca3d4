"""Which axis plays which part, and how points are named."""

from pathlib import Path

import polars as pl
import pytest

from synthetic import sweep_folder
from tailback.analysis import View
from tailback.analysis.axes import Axis, choose, in_words
from tailback.results import Results


def test_numbers_run_along_x_and_names_by_colour() -> None:
    frame = pl.DataFrame({"switch": ["a", "a", "b", "b"], "servers": [2, 1, 1, 2]})
    axes = choose(frame, ["switch", "servers"])
    assert axes.x is not None
    assert (axes.x.name, axes.x.kind, axes.x.values) == ("servers", "numeric", (1, 2))
    assert axes.colour is not None
    assert axes.colour.name == "switch"
    assert axes.names == ["switch", "servers"]


def test_quantities_keep_the_order_of_the_sweep() -> None:
    frame = pl.DataFrame({"rto_min": ["200ms", "10ms", "1ms", "200us"]})
    axes = choose(frame, ["rto_min"])
    assert axes.x is not None
    assert axes.x.kind == "ordinal"
    assert axes.x.values == ("200ms", "10ms", "1ms", "200us")


@pytest.mark.parametrize(
    ("swept", "drawn"),
    [
        (["200KB", "4MB", "1MB"], ("200KB", "1MB", "4MB")),
        (["1Gbit", "900Mbit", "10Gbit"], ("900Mbit", "1Gbit", "10Gbit")),
        (["1s", "20us", "3ms"], ("20us", "3ms", "1s")),
        # Different kinds, or no unit that a scenario knows: as the sweep has them.
        (["4MB", "1s", "2KB"], ("4MB", "1s", "2KB")),
        (["30%", "10%", "20%"], ("30%", "10%", "20%")),
    ],
)
def test_quantities_without_an_order_are_drawn_by_size(
    swept: list[str], drawn: tuple[str, ...]
) -> None:
    axes = choose(pl.DataFrame({"size": swept}), ["size"])
    assert axes.x is not None
    assert (axes.x.kind, axes.x.values) == ("ordinal", drawn)


def test_the_longest_numeric_axis_is_x() -> None:
    rows = [(j, n) for j in (0.0, 0.5) for n in (1, 2, 3)]
    axes = choose(pl.DataFrame(rows, schema=["jitter", "n"], orient="row"), ["jitter", "n"])
    assert axes.x is not None
    assert axes.x.name == "n"
    assert axes.colour is not None
    assert in_words(axes.colour, 0.5) == "jitter 0.5"


def test_two_numbers_give_way_to_many_names() -> None:
    rows = [(flows, f"control-{c}") for flows in (1, 4) for c in range(6)]
    axes = choose(
        pl.DataFrame(rows, schema=["flows", "control"], orient="row"), ["flows", "control"]
    )
    assert axes.x is not None
    assert axes.x.name == "control"


def test_one_value_is_no_axis() -> None:
    axes = choose(pl.DataFrame({"servers": [1], "switch": ["a"]}), ["switch", "servers"])
    assert axes.x is None
    assert [a.name for a in axes.fixed] == ["switch", "servers"]


def test_a_value_is_named_with_its_axis_and_unit() -> None:
    for name, value, words in (
        ("senders", 3, "senders 3"),
        ("duration_s", 120, "duration 120 s"),
        ("start_percent", 30.0, "start 30 %"),
        ("p_s_mean", 1, "p_s_mean 1"),
        ("rto_ms", "20us", "rto_ms 20us"),
    ):
        assert in_words(Axis(name, "numeric", (value,)), value) == words


def test_what_is_no_name_of_its_own_is_named_with_its_axis() -> None:
    values = ("cubic", "off", "none", "step threshold=585KB", "10ms", "1 KB cells", True)
    axis = Axis("marking", "nominal", values)
    assert [in_words(axis, value) for value in values] == [
        "cubic",
        "marking off",
        "marking none",
        "marking step threshold=585KB",
        "marking 10ms",
        "1 KB cells",
        "marking true",
    ]


def test_a_wide_range_of_numbers_is_logarithmic() -> None:
    axes = choose(pl.DataFrame({"buffer": [1, 10, 1000]}), ["buffer"])
    assert axes.x is not None
    assert axes.x.logarithmic
    assert not choose(pl.DataFrame({"n": [0, 1000]}), ["n"]).x.logarithmic  # type: ignore[union-attr]


def test_repetitions_are_averaged_with_their_range(tmp_path: Path) -> None:
    view = View(Results(sweep_folder(tmp_path / "r", {"servers": [1, 2]}, repetitions=3)))
    assert view.repeated
    assert view.points.height == 2
    first = view.points.row(0, named=True)
    times = view.summary.filter(pl.col("servers") == 1)["completion_ms_mean"]
    assert first["completion_ms_mean"] == times.mean()
    assert first["completion_ms_mean_low"] == times.min()
    assert first["completion_ms_mean_high"] == times.max()


def test_every_combination_of_the_other_axes_is_a_curve(tmp_path: Path) -> None:
    axes = {"cc": ["reno", "bic"], "ecn": [True, False], "rtt": ["1ms", "2ms"], "n": [1, 2, 3]}
    view = View(Results(sweep_folder(tmp_path / "r", axes)))
    assert len(view.groups) == 8
    assert view.groups[0] == "reno, ecn true, rtt 1ms"
    assert view.axes.dash is not None
    assert view.axes.dash.name == "ecn"
    assert [a.name for a in view.axes.rest] == ["rtt"]
