"""A flow that keeps the others out of a queue is told of."""

from pathlib import Path

import polars as pl
import pytest

import tailback
from helpers import Command
from tailback.analysis.lockout import lockouts, lockouts_said
from tailback.analysis.view import View

SCENARIO = """
name = "shares"
host = "ideal"
stack = "linux-7.2"
[network]
topology = "star"
hosts = 5
link = { rate = "100Mbit", delay = "1us", mtu = "1500B" }
[network.switch]
preset = "arista-7124s"
[network.switch.buffer]
kind = "shared"
shared = "60kB"
segment = "512B"
rx_private = "0B"
tx_private = "0B"
tx_limit = { kind = "none" }
[workload]
kind = "bulk"
pairs = { kind = "to-first" }
duration = "2s"
[sweep]
tcp_congestion_control = ["reno", "bbr"]
"""


def view(tmp_path: Path, *overrides: str) -> View:
    path = tmp_path / "shares.toml"
    path.write_text(SCENARIO)
    scenario = tailback.load(path).override(*overrides)
    return View(tailback.run(scenario, out=tmp_path / "out"))


def test_hosts_that_take_no_time(tmp_path: Path, command: Command) -> None:
    found = view(tmp_path)
    flows = found.results.table("flows").filter(tcp_congestion_control="reno")
    assert flows["received_bytes"].max() > 0.9 * flows["received_bytes"].sum()  # type: ignore[operator]
    assert lockouts(found) == [0]
    (said,) = lockouts_said(found)
    assert said.startswith("In 1 of 2 runs one flow has over 90 % of what its receiver got")
    assert "host.interrupt_jitter" in said
    answer = command("run", tmp_path / "shares.toml", "--out", tmp_path / "again")
    assert f"note: {said}" in answer.err.replace("\n", " ")


@pytest.mark.parametrize(
    "chance",
    [("host.interrupt_delay=5us", "host.interrupt_jitter=5us"), ('host="plain"',)],
    ids=["microseconds", "plain"],
)
def test_a_few_microseconds_of_chance_end_it(tmp_path: Path, chance: tuple[str, ...]) -> None:
    found = view(tmp_path, *chance)
    assert lockouts(found) == []
    assert lockouts_said(found) == []


@pytest.mark.parametrize(
    "other",
    ["workload.pairs.kind=permutation", "workload.size=1MB"],
    ids=["one each", "with an end"],
)
def test_who_has_nobody_beside_it_keeps_nobody_out(tmp_path: Path, other: str) -> None:
    assert lockouts(view(tmp_path, other)) == []


def test_nothing_is_said_of_full_queues_where_none_was(tmp_path: Path) -> None:
    found = view(tmp_path)
    results = found.results
    results.summary = results.summary.with_columns(switch_drops_mean=pl.lit(0.0))
    (said,) = lockouts_said(found)
    assert "full queue" not in said
