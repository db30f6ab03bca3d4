"""`tailback run --pcap`: captures that tshark reads without a warning."""

import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import command

SCENARIO = """
name = "captured"
[network]
topology = "star"
switch = { preset = "arista-7124s" }
hosts = 9
link = { rate = "10Gbit", delay = "25ns", mtu = "1500B" }
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-2.6.18"
[workload]
kind = "incast"
servers = 8
size = "1MB"
iterations = 1
"""


def tshark(capture: Path, *arguments: str) -> list[str]:
    """What tshark prints, line by line; it must have nothing to complain about."""
    assert shutil.which("tshark"), "tshark is missing: apt-get install tshark"
    done = subprocess.run(
        [
            "tshark",
            *("-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"),
            *("-r", capture, *arguments),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    complaints = [line for line in done.stderr.splitlines() if "super user" not in line]
    assert complaints == []
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pcap")
    (folder / "captured.toml").write_text(SCENARIO)
    done = command("run", "captured.toml", "--pcap", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out" / "captures" / "0000.pcapng"


def test_all_checksums_are_right_and_nothing_is_malformed(capture: Path) -> None:
    bad = "ip.checksum.status == Bad || tcp.checksum.status == Bad || _ws.malformed"
    assert tshark(capture, "-Y", bad) == []
    statuses = set(tshark(capture, "-T", "fields", "-e", "tcp.checksum.status"))
    assert statuses == {"1"}, "all are checked, and good"
    severe = "_ws.expert.severity == Error || _ws.expert.group == Malformed"
    assert tshark(capture, "-Y", severe) == []


def test_times_are_nanoseconds_in_order(capture: Path) -> None:
    times = [
        int(float(line) * 1e9 + 0.5) for line in tshark(capture, "-T", "fields", "-e", "frame.time_relative")
    ]
    assert times == sorted(times)
    ends = tshark(capture, "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.interface_name")
    first = ends[0].split("\t")
    assert len(first[0].split(".")[1]) == 9
    assert ">" in first[1]


def test_drops_are_comments_of_frames(capture: Path) -> None:
    comments = tshark(capture, "-Y", "frame.comment", "-T", "fields", "-e", "frame.comment")
    assert comments
    assert all("dropped at switch" in comment for comment in comments)


def test_without_the_option_there_is_no_capture(tmp_path: Path) -> None:
    (tmp_path / "captured.toml").write_text(SCENARIO)
    assert command("run", "captured.toml", "--out", "out", cwd=tmp_path).returncode == 0
    assert not (tmp_path / "out" / "captures").exists()
