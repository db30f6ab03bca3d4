"""Losses by place: which port, towards whom."""

from pathlib import Path

import pytest

import tailback
from synthetic import sweep_folder, write_folder
from tailback.analysis import View
from tailback.analysis.findings import key_findings
from tailback.analysis.places import by_port, losses
from tailback.report.page.contents import contents
from tailback.results import Results


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    rows = [
        {"run": run, "shared": shared, "repetition": 0, "completion_ms_mean": mean}
        | {"goodput_mbps_mean": 1e4 / mean, "queue_bytes_max": 1000, "switch_drops_mean": 1.0}
        | {"data_bytes_total": 1, "duration_s_total": 1.0}
        for run, (shared, mean) in enumerate([("1MB", 20.0), ("2MB", 10.0), ("4MB", 10.1)])
    ]
    drops = [
        {"run": run, "place": place, "cause": "buffer-full", "frames": frames}
        | {"data_frames": frames, "payload_bytes": 1448 * frames}
        for run, place, frames in [(0, "switch:1", 3), (0, "switch:0", 2), (1, "switch:0", 2)]
    ]
    return write_folder(
        tmp_path / "r",
        name="office",
        title="Office",
        study=None,
        parameters=["shared"],
        tables={"summary": rows, "drops": drops},
    )


def test_places_are_counted_over_all_runs_the_most_first(lossy: Path) -> None:
    found = by_port(View(Results(lossy)))
    assert found is not None
    assert found.select("place", "frames", "runs").rows() == [
        ("switch:0", 4, 2),
        ("switch:1", 3, 1),
    ]


def test_the_report_has_the_longest_queue_and_every_port(lossy: Path) -> None:
    page = contents(View(Results(lossy)))
    sections = {section.key: section for section in page.sections}
    assert sections["losses"].small[0].key == "queue_bytes_max"
    below = sections["lost-at"].below
    assert below is not None
    assert [cell.text for cell in below.rows[0]][:2] == ["switch:0", "buffer-full"]


def test_a_finding_says_from_where_on_more_hardly_helps(lossy: Path, tmp_path: Path) -> None:
    assert "From shared 2MB on it is within 5 % of the least." in key_findings(View(Results(lossy)))
    rising = View(Results(sweep_folder(tmp_path / "up", {"servers": [1, 2, 3]})))
    assert not any("From " in finding for finding in key_findings(rising))


def test_two_that_end_alike_are_not_ranked(tmp_path: Path) -> None:
    times = {("1MB", "cubic"): 20.0, ("1MB", "bbr"): 30.0, ("2MB", "cubic"): 10.0}
    times |= {("2MB", "bbr"): 10.01}
    rows = [
        {"run": run, "shared": shared, "tcp_congestion_control": control, "repetition": 0}
        | {"completion_ms_mean": mean, "data_bytes_total": 1, "duration_s_total": 1.0}
        for run, ((shared, control), mean) in enumerate(times.items())
    ]
    folder = write_folder(
        tmp_path / "r",
        name="office",
        title="Office",
        study=None,
        parameters=["shared", "tcp_congestion_control"],
        tables={"summary": rows},
    )
    assert key_findings(View(Results(folder))) == [
        "At shared 2MB, transactions with cubic and bbr take the same time within 1 %.",
        "cubic is ahead at shared 1MB.",
    ]


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (
            {"hash": (10.0, 18.0), "spray": (10.0, 10.2), "flowlet": (12.0, 10.0)},
            [
                "A transaction takes up to 80 % longer with far than with near (hash).",
                "far is ahead at flowlet only.",
            ],
        ),
        (
            {"hash": (10.0, 10.01), "spray": (11.0, 11.0)},
            ["Transactions with near and far take the same time within 1 %."],
        ),
    ],
)
def test_along_names_two_are_compared_where_they_are_furthest_apart(
    tmp_path: Path, times: dict[str, tuple[float, float]], said: list[str]
) -> None:
    cases = [
        (paths, ring, ms)
        for paths, both in times.items()
        for ring, ms in zip(("near", "far"), both, strict=True)
    ]
    rows = [
        {"run": run, "paths": paths, "ring": ring, "repetition": 0}
        | {"completion_ms_mean": mean, "data_bytes_total": 1, "duration_s_total": 1.0}
        for run, (paths, ring, mean) in enumerate(cases)
    ]
    folder = write_folder(
        tmp_path / "r",
        name="rings",
        title="Rings",
        study=None,
        parameters=["paths", "ring"],
        tables={"summary": rows},
    )
    assert key_findings(View(Results(folder))) == said


SLOW_READER = """
name = "slow-reader"
[host]
preset = "server-25g-machine"
machine = { costs = { copy_kilobyte = "1us" } }
[stack]
preset = "linux-sce"
[network]
topology = "explicit"
host = [{ name = "sender" }, { name = "receiver" }]
switch = []
link = [{ ends = ["sender", "receiver"], rate = "25Gbit", delay = "1us", mtu = "1500B" }]
[workload]
kind = "bulk"
duration = "60ms"
pairs = { kind = "listed", list = [["sender", "receiver"]] }
"""
"""Long enough that what is lost is sent again."""


def test_a_slow_reader_s_socket_loses_what_its_backlog_may_not_hold(tmp_path: Path) -> None:
    # A reader of 1 GB/s owns its socket while 25 Gb/s come.
    path = tmp_path / "slow-reader.toml"
    path.write_text(SLOW_READER)
    scenario = tailback.load(path)
    limited = tailback.run(scenario, out=tmp_path / "limited", jobs=1)
    found = losses(View(limited))
    assert found is not None
    assert found.get_column("place").to_list() == ["receiver: socket backlog"]
    lost = found.get_column("frames").sum()
    assert limited.summary.get_column("retransmissions_mean")[0] >= lost > 0
    # Before 2.6.34 there was no limit.
    without = scenario.override("host.machine.socket.backlog_limit=false")
    free = tailback.run(without, out=tmp_path / "free", jobs=1)
    assert losses(View(free)) is None
