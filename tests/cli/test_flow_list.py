"""Flows from files, from the scenario to its tables."""

from pathlib import Path

import polars as pl
import pytest

import tailback
from helpers import Command

SCENARIO = """
name = "listed"
host = "plain"
stack = "linux-7.2"
[network]
topology = "star"
hosts = 4
switch = "plain"
link = { rate = "1Gbit", delay = "5us", mtu = "1500B" }
[workload]
kind = "flow-list"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario beside two lists, one of them wrong."""
    (tmp_path / "one.csv").write_text(
        "start_ms,source,destination,bytes\n1,host1,host0,30000\n0,2,0,1000000\n"
    )
    (tmp_path / "two.csv").write_text("start_s source destination bytes\n0 3 1 500\n")
    (tmp_path / "wrong.csv").write_text("start_s source destination bytes\n0 3 1 some\n")
    path = tmp_path / "listed.toml"
    path.write_text(SCENARIO + 'path = "one.csv"\n')
    return path


def test_a_sweep_over_files_has_their_flows(scenario: Path, tmp_path: Path) -> None:
    text = SCENARIO + '[sweep]\n"workload.path" = ["one.csv", "two.csv"]\n'
    scenario.write_text(text)
    results = tailback.run(tailback.load(scenario), out=tmp_path / "r")
    flows = results.table("flows").sort("run", "start_s")
    assert flows["path"].to_list() == ["one.csv", "one.csv", "two.csv"]
    assert flows["source"].to_list() == ["host2", "host1", "host3"]
    assert flows["received_bytes"].to_list() == [1_000_000, 30_000, 500]
    assert flows["start_s"].to_list() == [0.0, 0.001, 0.0]
    assert results.summary["flows_complete"].to_list() == [2, 1]
    held = results.manifest["scenario"]["sweep"]["workload.path"]
    assert "0,2,0,1000000" in str(held)


def test_the_flows_of_a_run_can_be_written_down_and_run_again(
    scenario: Path, tmp_path: Path
) -> None:
    drawn = tailback.run(tailback.load(scenario), out=tmp_path / "drawn")
    drawn.table("flows").select(
        "start_s", "source", "destination", bytes="received_bytes"
    ).write_csv(tmp_path / "again.csv")
    again = tailback.run(
        tailback.load(scenario).override("workload.path=again.csv"), out=tmp_path / "again"
    )
    assert again.table("flows").equals(drawn.table("flows"))
    assert isinstance(again.table("slowdowns"), pl.DataFrame)


def test_what_is_wrong_with_a_file_is_told_with_its_line(scenario: Path, command: Command) -> None:
    answer = command("check", str(scenario), "--set", "workload.path=wrong.csv")
    assert answer.code == 2
    assert 'workload.path: wrong.csv: line 2: "some" is no number of bytes' in answer.err
    answer = command("check", str(scenario), "--set", "workload.path=none.csv")
    assert answer.code == 2
    assert "none.csv: it cannot be read" in answer.err
    assert command("check", str(scenario)).code == 0
