"""`tailback run --pcap`: captures that tshark reads without a warning."""

import shutil
import subprocess
from pathlib import Path

import pytest

import tailback
from helpers import SMALL_ARGS, Command

OVERFLOWING = (
    *("--set", 'sweep.switch=["cisco-nexus-5010"]', "--set", "sweep.servers=[9]"),
    *("--set", "workload.iterations=1", "--set", "workload.size=2MB"),
)
"""Overrides that make incast-8mb one short run in which the switch drops."""


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
    complaints = [line for line in done.stderr.splitlines() if "Running as user" not in line]
    assert complaints == []
    return done.stdout.splitlines()


@pytest.fixture(scope="module", params=["sim", "kernel"])
def capture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tailback.run(
        tailback.load("incast-8mb")
        .override(*OVERFLOWING[1::2])
        .set("record.pcap.hosts", ["host0"]),
        out=tmp_path_factory.mktemp("pcap") / "out",
        backend=request.param,
    )
    return results.path / "captures" / "0000.pcapng"


def test_all_checksums_are_right_and_nothing_is_malformed(capture: Path) -> None:
    bad = "ip.checksum.status == Bad || tcp.checksum.status == Bad || _ws.malformed"
    assert tshark(capture, "-Y", bad) == []
    statuses = set(tshark(capture, "-T", "fields", "-e", "tcp.checksum.status"))
    assert statuses == {"1"}, "all are checked, and good"
    severe = "_ws.expert.severity == Error || _ws.expert.group == Malformed"
    assert tshark(capture, "-Y", severe) == []


def test_times_are_nanoseconds_in_order(capture: Path) -> None:
    times = [
        int(float(line) * 1e9 + 0.5)
        for line in tshark(capture, "-T", "fields", "-e", "frame.time_relative")
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


def test_the_option_captures_every_link_of_every_run(command: Command, tmp_path: Path) -> None:
    answer = command("run", "incast-8mb", *SMALL_ARGS, "--pcap", "--out", tmp_path / "out")
    assert answer.code == 0, answer.err
    names = sorted(path.name for path in (tmp_path / "out" / "captures").iterdir())
    assert names == [f"{run:04}.pcapng" for run in range(4)]


def test_without_the_option_there_is_no_capture(command: Command, tmp_path: Path) -> None:
    assert command("run", "incast-8mb", *SMALL_ARGS, "--out", tmp_path / "out").code == 0
    assert not (tmp_path / "out" / "captures").exists()


def test_marks_are_comments_and_only_the_link_and_the_window_asked_for_are_there(
    tmp_path: Path,
) -> None:
    scenario = (
        tailback.load("incast-8mb")
        .override(*OVERFLOWING[1::2])
        .set("sweep.switch", ["arista-7124s"])
        .set("sweep.marking", [{"kind": "step", "threshold": "60KB"}])
        .set("stack.tcp_ecn", 1)
        .set("record.pcap.links", ["host1>switch", "switch>host0"])
        .set("record.pcap.start", "2ms")
        .set("record.pcap.end", "4ms")
    )
    results = tailback.run(scenario, out=tmp_path / "out")
    capture = results.path / "captures" / "0000.pcapng"
    fields = ("-e", "frame.time_epoch", "-e", "frame.interface_name", "-e", "frame.comment")
    lines = tshark(capture, "-T", "fields", *fields, "-e", "ip.dsfield.ecn")
    rows = [line.split("\t") for line in lines]
    assert {link for _, link, *_ in rows} == {"host1>switch", "switch>host0"}
    times_us = [float(time) * 1e6 % 1e6 for time, *_ in rows]
    assert min(times_us) >= 2000
    assert max(times_us) <= 4000
    # A mark is told of where the frame came in, and seen where it went out.
    told = [(link, comment) for _, link, comment, _ in rows if comment]
    assert told
    assert all(link == "host1>switch" and "marked at switch" in c for link, c in told)
    assert {link for _, link, _, ecn in rows if ecn == "3"} == {"switch>host0"}


UDP_AND_PINGS = """
name = "datagrams"
stack = "linux-7.2"
host = "rhel-5.4-x5540-ne020"
[network]
topology = "star"
switch = { preset = "arista-7124s" }
hosts = 3
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
[[background]]
source = "host2"
destination = "host0"
rate = "100Mbit"
arrivals = "poisson"
[record.pcap]
[workload]
"""
PINGS = """kind = "iperf3"
senders = 1
measured = "all"
duration = "20ms"
interval = "10ms"
ping_interval = "5ms"
"""
DATAGRAMS = """kind = "udp"
pairs = { kind = "listed", list = [["host1", "host0"]] }
rate = "200Mbit"
duration = "5ms"
socket_buffer = "1MiB"
"""


@pytest.mark.parametrize(
    ("workload", "protocols"),
    [(PINGS, {"eth:ethertype:ip:tcp", "icmp", "udp"}), (DATAGRAMS, {"udp"})],
)
def test_pings_and_datagrams_are_what_they_are(
    workload: str, protocols: set[str], tmp_path: Path
) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(UDP_AND_PINGS + workload)
    results = tailback.run(tailback.load(file), out=tmp_path / "out")
    capture = results.path / "captures" / "0000.pcapng"
    bad = "ip.checksum.status == Bad || icmp.checksum.status == Bad || _ws.malformed"
    assert tshark(capture, "-Y", bad) == []
    layers = set(tshark(capture, "-T", "fields", "-e", "frame.protocols"))
    for protocol in protocols:
        assert any(protocol in layer for layer in layers), layers
    if "icmp" in protocols:
        answers = tshark(capture, "-Y", "icmp.type == 0", "-T", "fields", "-e", "icmp.resp_to")
        # Each ping is on two links: tshark pairs one of the two requests with one of the answers.
        assert 2 * sum(map(bool, answers)) == len(answers) > 0
    if protocols == {"udp"}:
        assert not any("tcp" in layer for layer in layers), layers
