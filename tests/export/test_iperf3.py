"""Runs as iperf3 prints them, and their captures: what programs that read those look for."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tailback import read_capture, run
from tailback.errors import InputError
from tailback.export import export_iperf3, export_pcapng
from tailback.results import Results
from tailback.scenario import load

SCENARIO = """
name = "cells"
[network]
topology = "star"
hosts = 3
link = { rate = "100Mbit", delay = "50us", mtu = "1500B" }
switch = { preset = "plain" }
[sweep]
tcp_congestion_control = ["cubic", "reno"]
[workload]
kind = "iperf3"
senders = 2
parallel = 2
measured = "all"
duration = "500ms"
ping_interval = "0s"
"""


def made(folder: Path, more: str = "") -> Results:
    file = folder / "cells.toml"
    file.write_text(SCENARIO + more)
    return run(load(file), out=folder / "results")


def content(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_a_file_for_each_client_has_streams_intervals_and_sums(tmp_path: Path) -> None:
    results = made(tmp_path)
    files = export_iperf3(results, tmp_path / "out")
    assert [file.name for file in files] == [
        f"iperf3.tcp_congestion_control-{control}_repetition-0.client{n}.json"
        for control in ("cubic", "reno")
        for n in (1, 2)
    ]
    one = content(files[1])
    start, end = one["start"], one["end"]
    assert [c["socket"] for c in start["connected"]] == [5, 7]
    assert (start["connected"][0]["local_host"], start["connecting_to"]["host"]) == (
        "host2",
        "host0",
    )
    assert start["test_start"]["num_streams"] == 2
    assert start["test_start"]["reverse"] == 0
    assert start["tcp_mss_default"] == 1448
    assert [(i["sum"]["start"], i["sum"]["end"]) for i in one["intervals"]] == [
        (0.0, 0.2),
        (0.2, 0.4),
        (0.4, 0.5),
    ]
    # The intervals are the whole, of bytes and of what was sent again; windows are whole segments.
    for key, whole in (("bytes", end["sum_received"]), ("retransmits", end["sum_sent"])):
        assert sum(i["sum"][key] for i in one["intervals"]) == pytest.approx(whole[key], abs=2)
    streams = [stream for i in one["intervals"] for stream in i["streams"]]
    assert all(stream["snd_cwnd"] % 1448 == 0 < stream["snd_cwnd"] for stream in streams)
    flows = results.table("flows").filter(pl.col("run") == 0, pl.col("sender") == 2)
    total = flows["bandwidth_gbps"].sum() * 1e9
    assert end["sum_received"]["bits_per_second"] == pytest.approx(total)
    assert end["sum_sent"]["bytes"] == pytest.approx(total * 0.5 / 8, abs=2)
    assert content(files[3])["end"]["sender_tcp_congestion"] == "reno"


def test_a_client_that_receives_says_so(tmp_path: Path) -> None:
    one = content(export_iperf3(made(tmp_path, "reverse = true\n"), tmp_path)[0])
    assert one["start"]["connected"][0]["local_host"] == "host1"
    assert one["start"]["test_start"]["reverse"] == 1
    interval = one["intervals"][0]
    assert interval["sum"]["sender"] is False
    assert "retransmits" not in interval["sum"]
    assert interval["sum"]["bytes"] > 0
    assert "retransmits" in one["end"]["sum_sent"]


def test_what_cases_of_a_sweep_set_is_told_by_run(tmp_path: Path) -> None:
    cases = """[sweep]
duration = [
  { label = { duration = "short", step = 1 }, set = { "workload.duration" = "200ms" } },
  { label = { duration = "back", step = 2.5 }, set = { duration = "400ms", reverse = true } },
]
"""
    file = tmp_path / "cells.toml"
    file.write_text(
        SCENARIO.replace('[sweep]\ntcp_congestion_control = ["cubic", "reno"]\n', cases)
    )
    results = run(load(file), out=tmp_path / "results")
    files = export_iperf3(results, tmp_path / "out")
    told = [content(file)["start"]["test_start"] for file in files]
    assert [(one["duration"], one["reverse"]) for one in told] == [(0.2, 0)] * 2 + [(0.4, 1)] * 2
    assert files[0].name == "iperf3.duration-short_step-1.0_repetition-0.client1.json"


def test_captures_are_called_by_what_is_swept(tmp_path: Path) -> None:
    results = made(tmp_path, '[record.pcap]\nhosts = ["host1"]\n')
    files = export_pcapng(results, tmp_path / "out")
    assert [file.name for file in files] == [
        f"cells.tcp_congestion_control-{control}_repetition-0.pcapng"
        for control in ("cubic", "reno")
    ]
    assert read_capture(files[1]).equals(read_capture(results.path / "captures" / "0001.pcapng"))


def test_other_runs_are_refused_with_what_would_be_right(tmp_path: Path) -> None:
    results = made(tmp_path)
    with pytest.raises(InputError, match="--pcap"):
        export_pcapng(results, tmp_path)
    file = tmp_path / "bulk.toml"
    bulk = SCENARIO[: SCENARIO.index("[workload]")] + (
        '[workload]\nkind = "bulk"\npairs = { kind = "to-first" }\nsize = "1MB"\nduration = "1s"\n'
    )
    file.write_text(bulk)
    with pytest.raises(InputError, match='kind = "iperf3"'):
        export_iperf3(run(load(file), out=tmp_path / "bulk"), tmp_path)
