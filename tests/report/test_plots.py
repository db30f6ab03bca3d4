"""Charts for notebooks and image files."""

import io
import re
from pathlib import Path

import polars as pl
import pytest
import vl_convert

import tailback
from synthetic import incast_folder, sweep_folder
from tailback.analysis.axes import Axis
from tailback.report import write_pngs
from tailback.report.charts.encoding import x_channel
from tailback.report.charts.nothing import NothingToDrawError
from tailback.results import Results

PINGS = """
name = "pings"

[network]
topology = "star"
switch = "plain"
hosts = 2
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }

[host]
preset = "plain"

[stack]
preset = "linux-7.2"

[workload]
kind = "ping"
pairs = { kind = "to-first" }
interval = "1ms"
count = 20
wait = "10ms"

[sweep]
"network.link.delay" = ["20us", "1us"]
"""


def test_charts_carry_the_light_look_and_all_their_data(tmp_path: Path) -> None:
    results = Results(incast_folder(tmp_path / "r", servers=[1, 2, 23]))
    chart = results.plot.completion().to_dict()
    assert chart["config"]["range"]["category"][0] == "#0072B2"
    assert chart["title"]["text"] == "Completion time, mean (ms)"
    ours = next(v for v in chart["datasets"].values() if "completion_ms_mean_low" in v)
    assert len(ours.splitlines()) == 1 + 6


def test_every_chart_is_saved_as_an_image(tmp_path: Path) -> None:
    folder = incast_folder(tmp_path / "r", servers=[1, 4], iterations=10)
    files = write_pngs(folder, tmp_path / "png")
    assert {f.stem for f in files} == {
        "completion",
        "goodput",
        "queue-bytes-max",
        "switch-drops",
        "retransmissions",
        "timeouts",
        "distribution",
        "ecdf",
        "errors-completion",
        "errors-switch-drops",
        "excess",
        "anatomy-run-1",
        "anatomy-run-3",
    }
    assert all(f.read_bytes().startswith(b"\x89PNG") for f in files)


def test_few_values_of_an_axis_are_its_labels_as_they_are_written() -> None:
    axis = x_channel(Axis("p", "numeric", (1e-5, 1e-3, 1e-2))).to_dict()["axis"]
    assert axis == {"format": "~g", "values": [1e-5, 1e-3, 1e-2]}, "not 10µ"
    axis = x_channel(Axis("load", "numeric", (0.3, 0.6))).to_dict()["axis"]
    assert axis["values"] == [0.3, 0.6]
    axis = x_channel(Axis("flows", "numeric", (10, 1000))).to_dict()["axis"]
    assert axis["format"] == "~s"
    assert (
        "values" not in x_channel(Axis("servers", "numeric", tuple(range(1, 24)))).to_dict()["axis"]
    )


def test_labels_that_have_room_are_drawn(tmp_path: Path) -> None:
    axes = {"loss": [0.0, 0.001, 0.01, 0.05]}
    chart = Results(sweep_folder(tmp_path / "numbers", axes)).plot.goodput()
    drawn = re.findall(r">([\d.]+)</text>", vl_convert.vegalite_to_svg(chart.to_dict()))
    assert {"0", "0.01", "0.05"} <= set(drawn), "0.001 has none beside 0"


@pytest.mark.parametrize("metric", ["goodput_mbps_mean", "distribution"])
@pytest.mark.parametrize("count", [3, 6, 20])
def test_every_name_along_an_axis_is_drawn(tmp_path: Path, metric: str, count: int) -> None:
    names = [f"web-search with drain {i}" for i in range(count)]
    plot = Results(sweep_folder(tmp_path / "r", {"case": names})).plot
    chart = plot.distribution() if metric == "distribution" else plot.metric(metric)
    drawn = re.findall(r">([^<>]+)</text>", vl_convert.vegalite_to_svg(chart.to_dict()))
    assert [text for text in drawn if text in names] == names


@pytest.mark.parametrize("values", [[True, False], [1e-5, 2e-5], list("abcdefg")])
def test_few_values_of_x_alone_have_a_curve_each(tmp_path: Path, values: list[float]) -> None:
    chart = Results(sweep_folder(tmp_path / "r", {"x": values})).plot.ecdf().to_dict()
    assert "params" not in chart
    (rows,) = chart["datasets"].values()
    at = pl.read_csv(io.StringIO(rows), schema_overrides={"at": pl.String}).get_column("at")
    assert chart["encoding"]["color"]["field"] == "at"
    assert set(chart["encoding"]["color"]["sort"]) == set(at)
    assert at.n_unique() == len(values)


@pytest.mark.parametrize(
    "axes",
    [
        {"cc": ["reno", "bic"], "x": [True, False]},
        {"cc": ["reno", "bic"], "x": [1e-5, 2e-5]},
        {"x": list(range(8))},
    ],
)
def test_the_chosen_value_of_x_has_its_curves(tmp_path: Path, axes: dict[str, list[float]]) -> None:
    chart = Results(sweep_folder(tmp_path / "r", axes)).plot.ecdf().to_dict()
    (choice,) = chart["params"]
    (rows,) = chart["datasets"].values()
    at = pl.read_csv(io.StringIO(rows), schema_overrides={"at": pl.String}).get_column("at")
    assert set(choice["bind"]["options"]) == set(at)
    assert choice["value"] in set(at)


def test_svg_too(tmp_path: Path) -> None:
    results = Results(sweep_folder(tmp_path / "r", {"servers": [1, 2]}))
    files = results.plot.save(tmp_path / "svg", kind="svg")
    # Nothing was lost.
    assert {f.stem for f in files} == {"completion", "goodput", "distribution", "ecdf"}
    assert all("<svg" in f.read_text() for f in files)


def test_files_are_the_charts_of_the_report(tmp_path: Path) -> None:
    results = tailback.run(tailback.Scenario(PINGS), out=tmp_path / "pings")
    drawn = {f.stem for f in results.plot.save(tmp_path / "png")}
    # Not how long the run took: that is what it was told.
    assert drawn == {"ping", "ping-max", "queue-bytes-max"}


def test_a_chart_without_data_says_what_is_missing(tmp_path: Path) -> None:
    plot = Results(sweep_folder(tmp_path / "r", {})).plot
    with pytest.raises(NothingToDrawError, match="nothing varies"):
        plot.completion()
    with pytest.raises(NothingToDrawError, match="nothing published"):
        plot.errors()
    with pytest.raises(NothingToDrawError, match="anatomy_iteration"):
        plot.anatomy()
    with pytest.raises(NothingToDrawError, match="no metric 'speed'"):
        plot.metric("speed")
    swept = Results(sweep_folder(tmp_path / "s", {"servers": [1, 2]})).plot
    with pytest.raises(NothingToDrawError, match="no metric 'servers'"):
        swept.metric("servers")


def test_one_anatomy_can_be_picked(tmp_path: Path) -> None:
    plot = Results(incast_folder(tmp_path / "r", servers=[1, 4])).plot
    assert "arista-7124s, servers 4" in plot.anatomy(1).to_dict()["title"]
    with pytest.raises(NothingToDrawError, match="run 9 is not among those recorded"):
        plot.anatomy(9)


def test_points_along_names_lie_side_by_side_and_differ_in_shape(tmp_path: Path) -> None:
    axes = {"stack": ["new", "old"], "switch": ["a", "b"], "flows": ["one", "four"]}
    drawn = Results(sweep_folder(tmp_path / "r", axes)).plot.metric("completion_ms_mean").to_dict()
    (points,) = drawn["layer"]
    assert points["mark"]["type"] == "point"
    sides = {channel: points["encoding"][channel]["sort"] for channel in ("xOffset", "shape")}
    assert sides == {"xOffset": ["a", "b"], "shape": ["one", "four"]}
    # The theme's legends show lines, of which points have none.
    assert points["encoding"]["color"]["legend"]["symbolType"] == "circle"


def test_columns_stand_on_zero_and_a_logarithmic_axis_has_points(tmp_path: Path) -> None:
    # Completion times are 10, 13, 16 … ms.
    for name, cases, expected in (("few", 4, "bar"), ("many", 400, "point")):
        axes = {"case": [f"case {i}" for i in range(cases)]}
        drawn = Results(sweep_folder(tmp_path / name, axes)).plot.metric("completion_ms_mean")
        (layer,) = drawn.to_dict()["layer"]
        assert layer["mark"]["type"] == expected
        scale = layer["encoding"]["y"]["scale"]
        assert scale == ({"zero": True} if expected == "bar" else {"type": "log"})
