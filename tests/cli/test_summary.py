"""What `tailback run` prints at the end."""

from pathlib import Path

import pytest

from synthetic import write_folder
from tailback.cli.summary import print_summary
from tailback.results import Results


@pytest.mark.parametrize(
    ("bandwidths", "written"),
    [
        ([0.0941, 0.0803], ["0.0941", "0.0803"]),
        ([0.94, 0.471], ["0.940", "0.471"]),
        ([9.41, 0.47], ["9.41", "0.47"]),
        ([23.456, 0.0], ["23.46", "0.00"]),
    ],
)
def test_a_slow_link_s_bandwidth_has_three_digits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bandwidths: list[float], written: list[str]
) -> None:
    rows = [
        {
            "run": run,
            "senders": run + 1,
            "repetition": 0,
            "bandwidth_gbps_mean": gbps,
            "switch_drops": 5,
            "retransmissions_mean": 0.5,
            "data_bytes_total": 1,
            "duration_s_total": 1.0,
        }
        for run, gbps in enumerate(bandwidths)
    ]
    folder = write_folder(
        tmp_path / "r",
        name="own",
        title="Own",
        study=None,
        parameters=["senders"],
        tables={"summary": rows},
    )
    print_summary(Results(folder))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    assert [row[1] for row in cells] == written
    assert {tuple(row[2:]) for row in cells} == {("5", "0.5")}, "counts are as they were"
