"""Files for Flent: what its reader asks of them, and what they say."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from helpers import Command
from tailback import run
from tailback.errors import InputError
from tailback.export import export_flent
from tailback.results import Results
from tailback.scenario import load

SCENARIO = """
name = "flent"
[network]
topology = "star"
hosts = 3
link = { rate = "100Mbit", delay = "50us", mtu = "1500B" }
switch = { preset = "aruba-25g", ports = 4 }
[host]
preset = "server-25g"
[workload]
kind = "flent"
test = "TEST"
clients = 2
length = "2s"
delay = "400ms"
"""


def made(folder: Path, test: str) -> Results:
    file = folder / "flent.toml"
    file.write_text(SCENARIO.replace("TEST", test))
    return run(load(file), out=folder / "results")


def content(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return found


def test_an_upload_says_what_was_measured_and_when(tmp_path: Path) -> None:
    results = made(tmp_path, "tcp_upload")
    files = export_flent(results, tmp_path / "out")
    assert [file.name for file in files] == [
        f"tcp_upload.repetition-0.client{n}.flent.gz" for n in (1, 2)
    ]
    data = [content(file) for file in files]
    one = data[0]
    assert one["version"] == 4
    assert one["metadata"]["NAME"] == "tcp_upload"
    assert (one["metadata"]["HOST"], one["metadata"]["LOCAL_HOST"]) == ("host0", "host1")
    assert (one["metadata"]["LENGTH"], one["metadata"]["TOTAL_LENGTH"]) == (2.0, 2.8)
    assert one["x_values"] == [round(0.2 * i, 9) for i in range(14)]
    assert set(one["results"]) == {"TCP upload", "Ping (ms) ICMP"}
    rate, ping = one["results"]["TCP upload"], one["results"]["Ping (ms) ICMP"]
    # Quiet for 0.4 s before and after; pings throughout.
    assert [value is None for value in rate] == [True] * 3 + [False] * 10 + [True]
    assert all(value is not None for value in ping)
    assert max(ping[3:12]) > 5 * ping[0]
    # Two clients share what full segments carry of 100 Mbit/s.
    both = [sum(d["results"]["TCP upload"][4:12]) / 8 for d in data]
    assert sum(both) == pytest.approx(100 * 1448 / 1538, rel=0.05)
    raw = one["raw_values"]["Ping (ms) ICMP"]
    assert raw[0]["val"] == ping[0]
    assert raw[1]["t"] - raw[0]["t"] == pytest.approx(0.2, abs=0.02)


def test_a_links_delay_that_is_swept_is_not_the_tests(tmp_path: Path) -> None:
    file = tmp_path / "flent.toml"
    swept = '[sweep]\n"network.link.delay" = ["50us", "100us"]\n"workload.length" = ["1s", "2s"]\n'
    file.write_text(SCENARIO.replace("TEST", "tcp_upload") + swept)
    files = export_flent(run(load(file), out=tmp_path / "results"), tmp_path / "out")
    told = [content(file)["metadata"] for file in files]
    # A quiet 400 ms before and after.
    assert [one["LENGTH"] for one in told] == [1.0, 1.0, 2.0, 2.0] * 2
    assert [one["TOTAL_LENGTH"] for one in told] == [1.8, 1.8, 2.8, 2.8] * 2


def test_rrul_has_the_series_that_flent_computes(tmp_path: Path) -> None:
    files = export_flent(made(tmp_path, "rrul"), tmp_path / "out")
    results = content(files[0])["results"]
    ways = [f"TCP {way} " for way in ("upload", "download")]
    parts = [f"{way}{mark}" for way in ways for mark in ("BE", "BK", "CS5", "EF")]
    sums = [f"{way}{what}" for way in ways for what in ("avg", "sum")]
    pings = [f"Ping (ms) {what}" for what in ("ICMP", "UDP EF", "UDP BK", "UDP BE", "avg")]
    assert set(results) == {*parts, *sums, *pings, "TCP totals"}
    at = 8
    up = [results[part][at] for part in parts[:4]]
    down = [results[part][at] for part in parts[4:]]
    assert results["TCP upload sum"][at] == pytest.approx(sum(up))
    assert results["TCP upload avg"][at] == pytest.approx(sum(up) / 4)
    assert results["TCP totals"][at] == pytest.approx(sum(up) + sum(down))


def test_the_command_writes_a_folder(tmp_path: Path, command: Command) -> None:
    results = made(tmp_path, "tcp_download")
    out = tmp_path / "files"
    answer = command("export", str(results.path), "--format", "flent", "-o", str(out))
    assert answer.code == 0
    assert len(list(out.glob("tcp_download.*.flent.gz"))) == 2
    assert "client2.flent.gz" in answer.out


def test_other_results_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "bulk.toml"
    workload = SCENARIO.index("[workload]")
    bulk = '[workload]\nkind = "bulk"\npairs = { kind = "to-first" }\nduration = "1ms"\n'
    file.write_text(SCENARIO[:workload] + bulk)
    results = run(load(file), out=tmp_path / "results")
    with pytest.raises(InputError, match="runs no test of Flent's"):
        export_flent(results, tmp_path / "out")
