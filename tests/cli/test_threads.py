"""`--threads`: one run on several threads."""

from pathlib import Path

import polars as pl
import pytest

import tailback
from helpers import SMALL_ARGS, Command
from tailback.errors import InputError

FAT_TREE = """
name = "small-fat-tree"
[network]
topology = "fat-tree"
k = 4
switch = { preset = "arista-7124s" }
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-7.2"
[workload]
kind = "flows"
load = 0.5
sizes = { kind = "fixed", bytes = "50kB" }
duration = "1ms"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A network that can be cut."""
    file = tmp_path / "small-fat-tree.toml"
    file.write_text(FAT_TREE, encoding="utf-8")
    return file


def test_tables_do_not_depend_on_the_number_of_threads(
    command: Command, scenario: Path, tmp_path: Path
) -> None:
    tables: list[dict[str, pl.DataFrame]] = []
    for threads in (1, 2, 3):
        out = tmp_path / str(threads)
        answer = command("run", scenario, "--threads", threads, "--out", out)
        assert (answer.code, "note" in answer.err) == (0, False)
        results = tailback.Results(out)
        assert results.table("performance")["threads"].to_list() == [threads]
        tables.append({name: results.table(name) for name in ("summary", "flows", "drops")})
    assert tables[0]["flows"].height > 100
    for others in tables[1:]:
        assert all(frame.equals(others[name]) for name, frame in tables[0].items())


def test_check_says_that_a_run_can_take_several(command: Command, scenario: Path) -> None:
    assert command("check", scenario).out.splitlines()[1] == "--threads: runs can take several"


def test_what_cannot_be_cut_takes_one_and_says_why(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = command("run", "incast-8mb", *SMALL_ARGS, "--threads", "2", "--out", out)
    assert answer.code == 0
    assert "note: runs that take one thread: only workloads flows, flow-list and bulk" in answer.err
    assert tailback.Results(out).table("performance")["threads"].to_list() == [1] * 4


def test_kernels_take_no_threads(scenario: Path) -> None:
    with pytest.raises(InputError, match="simulator"):
        tailback.run(scenario, threads=2, backend="kernel")
