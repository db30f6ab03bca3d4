"""The matrix of congestion-parity, and when two backends' values count as alike."""

from pathlib import Path
from typing import cast

import click
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tailback
from tailback.cli.reproduce import command
from tailback.errors import InputError
from tailback.reproduce.congestion import CONTROLS, GROUPS, cells, congestion_parity, named
from tailback.reproduce.congestion.draw import draw
from tailback.reproduce.congestion.observe import (
    GOODPUT,
    RETRANSMISSIONS,
    Comparison,
    spread,
)
from tailback.reproduce.congestion.study import CellResult, CongestionParity
from tailback.results import Results
from tailback.scenario import Scenario, load


def test_the_matrix_is_what_was_asked_for() -> None:
    flows = GROUPS["flows"]
    # One and four flows, three buffers, three round trips.
    assert len(flows) == len(CONTROLS) * 2 * 3 * 3
    assert {cell.congestion for cell in flows} == set(CONTROLS)
    # Four flows again, with a host for each of them.
    assert len(GROUPS["hosts"]) == len(CONTROLS) * 3 * 3
    assert {cell.senders for cell in GROUPS["hosts"]} == {4}
    assert len({cell.name for cell in cells()}) == len(cells())
    assert {cell.congestion for cell in GROUPS["fast"]} == {"reno", "cubic", "dctcp", "bbr"}
    assert {cell.senders for cell in GROUPS["incast"]} == {8, 32}
    assert [c.name for c in cells(["loss"], ["reno"])] == ["reno-loss-1", "reno-loss-0.01"]


@pytest.mark.parametrize("group", GROUPS)
def test_cells_are_good_scenarios(group: str) -> None:
    base = load("congestion-parity")
    for cell in (GROUPS[group][0], GROUPS[group][-1]):
        scenario = cell.of(base)
        assert [p for p in scenario.check() if p["severity"] == "error"] == []
        assert scenario.resolved["stack"]["tcp_congestion_control"] == cell.congestion
        assert len(scenario.resolved["network"]["host"]) == cell.senders + 1


def test_cells_are_chosen_by_groups_and_controls() -> None:
    assert named([]) == cells()
    assert named(["incast"]) == GROUPS["incast"]
    assert named(["hosts", "reno", "loss"]) == cells(["hosts", "loss"], ["reno"])
    with pytest.raises(
        InputError, match=r"renno: no such group.*did you mean 'reno'.*flows, hosts"
    ):
        named(["hosts", "renno"])
    with pytest.raises(InputError, match="fast, vegas: no cell is in all of these"):
        named(["fast", "vegas"])
    [only] = [option for option in command.params if option.name == "only"]
    assert isinstance(only, click.Option)
    # The command's help names them without loading this.
    assert f"({', '.join(GROUPS)})" in (only.help or "")


def test_flows_of_hosts_apart_have_one_host_each() -> None:
    base = load("congestion-parity")
    distances = []
    for round_trip in ("10ms", "0.1ms"):
        [cell] = [c for c in cells(["hosts"], ["reno"]) if f"-{round_trip}-1bdp" in c.name]
        found = cell.of(base).resolved
        pairs = found["workload"]["pairs"]["list"]
        assert pairs == [[f"sender{number}", "receiver"] for number in range(4)]
        assert found["workload"]["connections"] == 1
        if round_trip == "10ms":
            distances.append([link["delay"] for link in found["network"]["link"][1:]])
        else:
            distances += [list(case["set"].values()) for case in found["sweep"]["stagger"]]
    # No two are as far away, in any run.
    assert [len(set(delays)) for delays in distances] == [4] * 5


def test_limits_are_relative_or_a_few_packets() -> None:
    assert Comparison(GOODPUT, [100.0], [104.9]).within
    assert not Comparison(GOODPUT, [100.0], [105.1]).within
    assert Comparison(RETRANSMISSIONS, [2.0], [7.0]).within
    assert not Comparison(RETRANSMISSIONS, [100.0], [121.0]).within
    assert not Comparison(GOODPUT, [0.0], [1.0]).within
    assert Comparison(GOODPUT, [0.0], [0.0]).apart == 0.0


def test_several_runs_may_differ_by_chance() -> None:
    # Means 100 and 110; standard errors of 8.2 each, so 28.3 by chance: t is 2.45 for six.
    kernel, model = [80.0, 100.0, 100.0, 120.0], [90.0, 110.0, 110.0, 130.0]
    assert Comparison(GOODPUT, kernel, model).within
    assert not Comparison(GOODPUT, kernel, model).near
    assert Comparison(GOODPUT, kernel, [value + 5 for value in kernel]).near
    assert not Comparison(GOODPUT, [100.0] * 4, [110.0] * 4).within
    assert Comparison(GOODPUT, kernel, [value + 28 for value in kernel]).within
    assert not Comparison(GOODPUT, kernel, [value + 29 for value in kernel]).within
    assert spread(kernel) == "100 (80 to 120)"


def test_the_verdict_says_what_holds_by_chance_alone() -> None:
    kernel, model = [80.0, 100.0, 100.0, 120.0], [90.0, 110.0, 110.0, 130.0]
    pairs = [(kernel, kernel), (kernel, model), ([100.0], [110.0])]
    [cell, *_] = cells()
    folder = cast(Results, None)  # nothing of it is looked at
    results = [CellResult(cell, [Comparison(GOODPUT, *pair)], folder, folder) for pair in pairs]
    found = CongestionParity(results)
    assert found.verdict == (
        "2 of 3 cells hold: 1 within every limit, 1 apart by no more than chance gives."
    )
    near = [cell["quantities"]["goodput_mbps"]["near"] for cell in found.to_dict()["cells"]]
    assert near == [True, False, False]


def test_samples_are_the_same_table_on_modelled_hosts(tmp_path: Path) -> None:
    scenario: Scenario = load("congestion-parity").override(
        "workload.duration=100ms", "record.sample_interval=1ms"
    )
    results = tailback.run(scenario, out=tmp_path / "a", jobs=1)
    samples = results.table("samples")
    ends = samples.group_by("host").agg(pl.col("local").n_unique(), pl.col("time_s").max())
    assert sorted(ends["host"].to_list()) == ["receiver", "sender"]
    assert ends["local"].to_list() == [1, 1]
    assert ends["time_s"].min() == pytest.approx(0.1, abs=0.0011)
    last = samples.filter(pl.col("host") == "receiver").sort("time_s").tail(1)
    flow = results.table("flows")
    assert 0 < last["bytes_received"][0] <= flow["received_bytes"][0]
    queued = results.table("queue_samples").filter(pl.col("place") == "switch:0")
    # Slow start has filled the bottleneck by then, but for what a buffer of 1.23 MB may hold.
    assert 500_000 < queued["queue_bytes"].max() <= 1_230_000


@pytest.mark.parametrize(
    "name", ["reno-1g-0.1ms-1bdp-1", "vegas-1g-0.1ms-1bdp-1", "dctcp-1g-0.1ms-step-1"]
)
def test_a_cell_holds_against_real_kernels(name: str, tmp_path: Path) -> None:
    [cell] = [cell for cell in cells() if cell.name == name]
    found = congestion_parity([cell], folder=tmp_path)
    assert found.holds, found.to_dict()
    [result] = found.results
    assert result.comparisons[0].kernel[0] > 800
    [figure] = draw(found, tmp_path / "figures")
    drawn = figure.read_text(encoding="utf-8")
    # Which is which, and both to be seen where they are one.
    for said in (f">{name}</text>", ">kernel</text>", ">model</text>"):
        assert said in drawn
    for width in (3.5, 1.2):
        assert f'stroke-width="{width}"' in drawn
    # What is there is used.
    assert congestion_parity([cell], folder=tmp_path).to_dict() == found.to_dict()


def test_a_socket_s_congestion_control_is_as_good_as_the_stack_s(tmp_path: Path) -> None:
    base = load("congestion-parity").override("workload.duration=200ms")
    by_stack = base.override("stack.tcp_congestion_control=bbr")
    by_socket = base.override("workload.congestion=['bbr']")
    tables = [
        tailback.run(scenario, out=tmp_path / name, jobs=1)
        .table("samples")
        .filter(pl.col("host") == "sender")
        for name, scenario in (("a", by_stack), ("b", by_socket), ("c", base))
    ]
    assert_frame_equal(tables[0], tables[1])
    assert not tables[0].equals(tables[2])
