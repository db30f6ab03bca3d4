"""Other results drawn and compared beside a report's own."""

import json
from pathlib import Path

import polars as pl
import pytest

from synthetic import incast_folder, sweep_folder
from tailback.analysis import View
from tailback.analysis.beside import BESIDE, named
from tailback.analysis.view import GROUP
from tailback.errors import InputError
from tailback.report.page.contents import contents
from tailback.results import Results


def on_backend(folder: Path, backend: str) -> Results:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["backend"] = backend
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return Results(folder)


def viewed(tmp_path: Path) -> View:
    ours = on_backend(incast_folder(tmp_path / "ours", servers=range(1, 9)), "sim")
    theirs = on_backend(incast_folder(tmp_path / "theirs", servers=(1, 4, 8), off=0.25), "kernel")
    return View(ours, named(ours, [theirs]))


def test_points_lie_on_the_curves_and_carry_the_backends_name(tmp_path: Path) -> None:
    view = viewed(tmp_path)
    assert view.beside.get_column(BESIDE).unique().to_list() == ["kernel"]
    assert view.beside.height == 2 * 3
    ours = view.points.select("switch", "servers", GROUP, pl.col("switch_drops_mean").alias("o"))
    both = view.beside.join(ours, on=["switch", "servers", GROUP])
    assert both.height == 6
    assert (both["switch_drops_mean"] - both["o"] * 1.25).abs().max() < 1e-6


def test_the_page_draws_and_compares_them(tmp_path: Path) -> None:
    page = contents(viewed(tmp_path))
    main = next(s for s in page.sections if s.key == "main")
    assert "Filled shapes" in main.figures[0].caption
    shapes = [layer["encoding"].get("shape") for layer in main.figures[0].spec["layer"]]
    assert [s["field"] for s in shapes if s] == [BESIDE]
    section = next(s for s in page.sections if s.key == "beside")
    assert "kernel" in section.tables[0].caption
    completion = [c.text for c in section.tables[0].rows[0]]
    assert "20.0 %" in completion  # 1 / 1.25 is 20 % less


def test_of_a_single_curve_others_have_colours_of_their_own(tmp_path: Path) -> None:
    ours, theirs = (
        Results(sweep_folder(tmp_path / name, {"servers": [1, 2]})) for name in ("ours", "theirs")
    )
    view = View(ours, named(ours, [theirs]))
    main = next(s for s in contents(view).sections if s.key == "main")
    line, *_, others = main.figures[0].spec["layer"]
    assert line["encoding"]["color"] == {"datum": "this run"}
    for channel in ("color", "shape"):
        assert others["encoding"][channel]["scale"]["domain"] == ["this run", "theirs"]


def test_without_others_there_is_no_such_section(tmp_path: Path) -> None:
    page = contents(View(Results(incast_folder(tmp_path / "ours", servers=(1, 2)))))
    assert "beside" not in [s.key for s in page.sections]


def test_names_fall_back_to_the_folder_and_a_folder_twice_is_refused(tmp_path: Path) -> None:
    a, b = (Results(incast_folder(tmp_path / name, servers=(1, 2))) for name in ("a", "b"))
    assert list(named(a, [b])) == ["b"]
    with pytest.raises(InputError, match="given twice"):
        named(a, [a])


def test_results_of_another_sweep_are_refused_with_the_reason(tmp_path: Path) -> None:
    ours = Results(incast_folder(tmp_path / "ours", servers=(1, 2)))
    other = Results(sweep_folder(tmp_path / "other", {"rto_min": ["1ms", "10ms"]}))
    with pytest.raises(InputError, match=r"has no switch, servers"):
        _ = View(ours, named(ours, [other])).beside


@pytest.mark.parametrize(("more", "own"), [({}, "Columns"), ({"marking": ["off", "ce"]}, "Points")])
def test_along_names_the_caption_names_what_is_drawn(
    tmp_path: Path, more: dict[str, list[str]], own: str
) -> None:
    axes = {"tcp_congestion_control": ["reno", "cubic", "bbr"], **more}
    ours = Results(sweep_folder(tmp_path / "ours", axes))
    other = Results(sweep_folder(tmp_path / "other", axes))
    main = next(s for s in contents(View(ours, named(ours, [other]))).sections if s.key == "main")
    assert f"{own}: this run. Small shapes: the results beside it." in main.figures[0].caption


def test_what_only_the_others_have_is_drawn_and_not_said_to_be_in_no_run(tmp_path: Path) -> None:
    ours, theirs = (
        Results(sweep_folder(tmp_path / name, {"servers": [1, 2]})) for name in ("ours", "theirs")
    )
    file = theirs.path / "summary.parquet"
    pl.read_parquet(file).with_columns(timeouts_mean=0.52).write_parquet(file)
    view = View(ours, named(ours, [Results(theirs.path)]))
    losses = next(s for s in contents(view).sections if s.key == "losses")
    assert [figure.key for figure in losses.small] == ["timeouts_mean"]
    (figure,) = losses.small
    assert figure.title == (
        "Retransmission timeouts: none in any run of these; up to 0.52 per transaction in theirs."
    )
    assert "timeouts" not in losses.lead
    assert "retransmissions" in losses.lead
