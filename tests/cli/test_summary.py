"""What `tailback run` prints at the end."""

from pathlib import Path

import pytest

from helpers import SMALL_ARGS, Command
from synthetic import write_folder
from tailback.cli.summary import print_summary
from tailback.results import Results


def folder_of(path: Path, rows: list[dict[str, float]]) -> Path:
    """A folder of runs that differ in their senders."""
    rest = {"data_bytes_total": 1, "duration_s_total": 1.0}
    named = [{"run": i, "senders": i + 1, "repetition": 0} | rest | r for i, r in enumerate(rows)]
    return write_folder(
        path,
        name="own",
        title="Own",
        study=None,
        parameters=["senders"],
        tables={"summary": named},
    )


@pytest.mark.parametrize(
    ("bandwidths", "written"),
    [
        ([0.0941, 0.0803], ["94.10", "80.30"]),
        ([0.00941, 0.0], ["9.41", "0.00"]),
        ([0.94, 0.471], ["0.940", "0.471"]),
        ([9.41, 0.47], ["9.41", "0.47"]),
        ([23.456, 0.0], ["23.46", "0.00"]),
    ],
)
def test_a_slow_link_s_bandwidth_has_three_digits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bandwidths: list[float], written: list[str]
) -> None:
    rows = [
        {"bandwidth_gbps_mean": gbps, "switch_drops": 5, "retransmissions_mean": 0.5}
        for gbps in bandwidths
    ]
    folder = folder_of(tmp_path / "r", rows)
    print_summary(Results(folder))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    assert [row[1] for row in cells] == written
    assert {tuple(row[2:]) for row in cells} == {("5", "0.5")}, "counts are as they were"


def test_figures_are_in_the_units_of_their_headings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for gbps, unit in ((0.0413, "Mb/s"), (4.13, "Gb/s")):
        row = {"bandwidth_gbps_mean": gbps, "queue_bytes_mean": 160_523.2}
        print_summary(Results(folder_of(tmp_path / unit.replace("/", ""), [row])))
        told = capsys.readouterr().out
        assert unit in told
        assert "kB" in told
        assert "│ 160.5 │" in " ".join(told.split())


@pytest.mark.parametrize(
    ("data_bytes", "duration_s", "said"),
    [
        (62_916, 3.0, ("Total data      62.916 kB", "Goodput         0.168 Mb/s")),
        (3_200_000, 1.0, ("Total data      3.200 MB", "Goodput         25.6 Mb/s")),
        (10_880_000_000, 21.323, ("Total data      10.880 GB", "Goodput         4,082.0 Mb/s")),
    ],
)
def test_totals_have_a_unit_that_fits(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    data_bytes: int,
    duration_s: float,
    said: tuple[str, ...],
) -> None:
    row = {"data_bytes_total": data_bytes, "duration_s_total": duration_s}
    print_summary(Results(folder_of(tmp_path / "r", [row])))
    assert set(said) <= set(capsys.readouterr().out.splitlines())


def test_of_many_runs_two_hundred_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(tmp_path / "r", [{"goodput_mbps_mean": 1.0}] * 1234)
    print_summary(Results(folder))
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("│") for line in lines) == 200
    assert f"and 1,034 runs more: tailback export {folder}" in lines
    assert "Total duration  1,234.000 s" in lines


def test_what_is_odd_about_a_scenario_is_told_before_its_runs(
    command: Command, tmp_path: Path
) -> None:
    marking = 'network.switch.marking={ kind = "step", threshold = "60KB" }'
    changes = ["--set", marking, "--set", "stack.preset=linux-7.2"]
    done = command("run", "incast-8mb", *SMALL_ARGS, *changes, "--out", str(tmp_path / "r"))
    assert done.code == 0
    assert "warning: " in done.err
    assert "no host asks for ECN" in done.err
    assert done.err.index("warning: ") < done.err.index("100%")
