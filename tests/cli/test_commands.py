"""What each command prints, and where."""

import io
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import tailback
from helpers import SMALL_ARGS, Command
from tailback.cli.main import COMMANDS, cli


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of four small runs."""
    out = tmp_path_factory.mktemp("results") / "small"
    scenario = tailback.load("incast-8mb").override(*SMALL_ARGS[1::2])
    return tailback.run(scenario, out=out).path


def test_help_answers_within_300_ms() -> None:
    # What it takes of a processor, the best of some: a clock on the wall sees others' work too.
    seconds = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "tailback", "--help"], check=True, capture_output=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(seconds) < 0.3


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_the_same_in_both_helps(name: str, command: Command) -> None:
    import click

    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    assert (found.help or "").replace("\n", " ").startswith(COMMANDS[name].rstrip("."))
    assert command(name, "--help").code == 0


def test_version(command: Command) -> None:
    assert command("--version").out == f"tailback {tailback.__version__}\n"
    # The sources after the `+`: builds of one version are told apart.
    assert re.fullmatch(r"\d+\.\d+\.\d+\+[0-9a-f]{10}", tailback.__version__)


def test_list_names_scenarios_and_presets(command: Command) -> None:
    answer = command("list")
    assert answer.code == 0
    assert "incast-8mb" in answer.out
    assert "cisco-nexus-5010" in answer.out
    listed = json.loads(command("list", "--json").out)
    runs = {item["name"]: item["runs"] for item in listed["scenarios"]}
    assert runs["incast-8mb"] == 46
    assert "published:incast-8MB" in answer.out
    assert listed["published"][0]["name"] == "published:incast-8MB"


def test_show_gives_the_file_the_preset_and_the_resolved(command: Command) -> None:
    assert command("show", "incast-8mb").out.strip() == tailback.load("incast-8mb").text.strip()
    assert "latency" in command("show", "arista-7124s").out
    resolved = json.loads(command("show", "incast-8mb", "--set", "run.seed=9", "--resolved").out)
    assert resolved["run"]["seed"] == 9
    assert len(json.loads(command("show", "incast-8mb", "--json").out)["runs"]) == 46


def test_what_schema_prints_holds_for_the_built_in_scenarios(command: Command) -> None:
    import tomllib

    schema = json.loads(command("schema").out)
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    for scenario in tailback.built_in().values():
        validator(schema).validate(tomllib.loads(scenario.text))


def test_check_passes_what_is_right(command: Command) -> None:
    answer = command("check", "incast-8mb")
    assert (answer.code, answer.err) == (0, "")
    first, second = answer.out.splitlines()
    assert first == "incast-8mb: ok, 46 runs, 46,000 iterations"
    assert (
        second == "--threads: one a run, since only workloads flows, flow-list and bulk can be cut"
    )
    alone = command("check", "dcqcn-incast", "--set", "sweep={}").out
    assert alone.startswith("dcqcn-incast: ok, 1 run, 1 iteration\n")


def test_run_prints_a_row_per_run_and_closes_with_the_totals(
    command: Command, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    answer = command("run", "incast-8mb", *SMALL_ARGS, "--out", out)
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert sum("arista-7124s" in line or "cisco-nexus-5010" in line for line in lines) == 4
    # 2 iterations of 200 kB from 1 and from 3 servers, on 2 switches.
    assert "Total data      3.200 MB" in lines
    assert any(line.startswith("Total duration") and line.endswith(" s") for line in lines)
    assert any(line.startswith("Goodput") and line.endswith(" Mb/s") for line in lines)
    assert lines[-1] == f"Results: {out}"
    assert "100%, 4 of 4 runs" in answer.err


def test_no_colour_reaches_a_pipe(command: Command, tmp_path: Path) -> None:
    answer = command("run", "incast-8mb", *SMALL_ARGS, "--out", tmp_path / "out")
    assert "\x1b" not in answer.out + answer.err


def test_export_gives_what_the_study_publishes(command: Command, finished: Path) -> None:
    answer = command("export", finished, "--table", "summary", "--format", "csv")
    frame = pl.read_csv(io.StringIO(answer.out))
    assert {
        "switch",
        "servers",
        "completion_ms_mean",
        "goodput_mbps_mean",
        "switch_drops_mean",
        "retransmissions_mean",
        "timeouts_mean",
    } <= set(frame.columns)
    assert frame["switch"].to_list() == ["arista-7124s"] * 2 + ["cisco-nexus-5010"] * 2
    assert frame["servers"].to_list() == [1, 3, 1, 3]
    # Goodput and completion time are two views of the same 200 kB per server.
    bits = frame["servers"] * 200_000 * 8
    seconds = frame["completion_ms_mean"] / 1e3
    assert ((frame["goodput_mbps_mean"] * 1e6 * seconds / bits - 1).abs() < 1e-9).all()


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_export_formats_agree(command: Command, finished: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "new" / "folders" / "table"
    answer = command("export", finished, "--table", "transactions", "--format", kind, "-o", path)
    assert (answer.code, answer.out) == (0, "")
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "jsonl": pl.read_ndjson}[kind]
    assert read(path).equals(tailback.Results(finished).transactions)


def test_performance_says_what_a_run_cost(finished: Path) -> None:
    frame = tailback.Results(finished).table("performance")
    assert frame.height == 4
    assert (frame["hops"] > 0).all()
    assert ((frame["hops"] / frame["cpu_s"] - frame["hops_per_cpu_s"]).abs() < 1).all()


def test_what_an_encoding_does_not_have_is_a_question_mark(tmp_path: Path) -> None:
    path = tmp_path / "titled.toml"
    path.write_text(tailback.load("incast-8mb").text, encoding="utf-8")
    titled = [*SMALL_ARGS, "--set", "title='✓ 日本'", "--out", tmp_path / "r"]
    for arguments in (["show", "plain"], ["run", path, *titled]):
        answer = subprocess.run(
            [sys.executable, "-m", "tailback", *map(str, arguments)],
            env=os.environ | {"PYTHONIOENCODING": "latin-1"},
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert answer.returncode == 0, answer.stderr
        assert b"?" in answer.stdout
