"""Sweeps on a Dask cluster: the same tables as on this machine, and errors that say what to do.

The cluster is of this machine, on its loopback.
"""

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl
import pytest
from distributed import LocalCluster

import tailback
from helpers import SMALL, SMALL_ARGS, Command, FakeBackend, start, tables_of, wait_for
from tailback.backends.sim import Simulator
from tailback.errors import InputError, RunsFailed, SimulationError
from tailback.sweep import cluster as engine


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as made:
        yield made


@pytest.fixture
def scheduler(cluster: LocalCluster) -> str:
    return str(cluster.scheduler_address)


def test_tables_are_those_of_this_machine(command: Command, scheduler: str, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    small = ("run", "incast-8mb", *SMALL_ARGS)
    assert command(*small, "--out", here).code == 0
    answer = command(*small, "--engine", "dask", "--scheduler", scheduler, "--out", there)
    assert answer.code == 0, answer.err
    assert tables_of(there) == tables_of(here)
    results = tailback.Results(there)
    assert results.table("performance").height == 4
    assert results.manifest["jobs"] == 2


def test_what_was_finished_here_is_not_made_there(scheduler: str) -> None:
    scenario = tailback.load("incast-8mb").override(*SMALL)
    saved: dict[int, Mapping[str, pl.DataFrame]] = {}
    seen: list[int] = []
    with engine.connect(scheduler) as client:
        failures = engine.execute(
            client,
            scenario,
            FakeBackend(),
            save=saved.__setitem__,
            finished=[0, 2],
            on_progress=lambda progress: seen.append(progress.runs_done),
        )
    assert (sorted(saved), failures) == ([1, 3], {})
    assert saved[3]["drops"].height == 3
    assert seen == [2, 3, 4]


def test_a_worker_of_another_build_makes_nothing() -> None:
    scenario = tailback.load("incast-8mb").override(*SMALL)
    text = scenario.plan.scenario_json
    other = engine._Order(text, "0" * 16, Simulator())
    with pytest.raises(InputError, match="another build"):
        other.make(0)
    assert "summary" in engine._Order(text, scenario.plan.hash, Simulator()).make(0)


def test_workers_of_another_version_are_refused(
    scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "__version__", "0.0.1")
    said = rf"workers without Tailback 0\.0\.1: tcp://.* {re.escape(tailback.__version__)}"
    with pytest.raises(InputError, match=said):
        engine.connect(scheduler)


def test_runs_that_fail_are_told_and_others_kept(scheduler: str, tmp_path: Path) -> None:
    scenario = tailback.load("incast-8mb").override(*SMALL)
    law = FakeBackend(fail={3: SimulationError("broke a law")})
    with pytest.raises(RunsFailed, match=r"1 of 4 runs failed(.|\n)*run 3 .*: broke a law"):
        tailback.run(
            scenario, backend=law, engine="dask", scheduler=scheduler, out=tmp_path / "law"
        )
    assert len(list((tmp_path / "law.partial" / "runs").glob("[0-9]*"))) == 3
    lost = FakeBackend(fail={0: ModuleNotFoundError("No module named 'polars'")})
    with pytest.raises(InputError, match=r"every worker needs tailback\[dask\]"):
        tailback.run(
            scenario, backend=lost, engine="dask", scheduler=scheduler, out=tmp_path / "lost"
        )


def test_ctrl_c_keeps_what_is_finished_and_this_machine_goes_on(
    command: Command, scheduler: str, tmp_path: Path
) -> None:
    args = ("run", "incast-8mb", "--set", "sweep.servers=[1, 2, 23]")
    args = (*args, "--set", "workload.iterations=100", "--out")
    out = tmp_path / "out"
    process = start(*args, out, "--engine", "dask", "--scheduler", scheduler)
    runs = out.with_name("out.partial") / "runs"
    wait_for(lambda: any(runs.glob("[0-9]*")), process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert command(*args, out).code == 0
    straight = tmp_path / "straight"
    assert command(*args, straight).code == 0
    assert tables_of(out) == tables_of(straight)


def test_ctrl_c_ends_the_wait_for_a_scheduler(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        args = ("run", "incast-8mb", "--engine", "dask", "--scheduler", address, "--out")
        process = start(*args, tmp_path / "out")
        silent.settimeout(60)
        client, _ = silent.accept()
        with client:
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=8)
    assert (process.returncode, err.strip()) == (130, "interrupted")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--engine", "dask"], "--scheduler ADDRESS"),
        (["--scheduler", "tcp://127.0.0.1:8786"], "--scheduler ADDRESS"),
        (["--engine", "dask", "--scheduler", "nonsense://x"], "no Dask scheduler at nonsense://x"),
        (["--engine", "dask", "--scheduler", "foo"], "no Dask scheduler at foo: missing port"),
        (["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1", "--jobs", "2"], "leave jobs out"),
        (
            ["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1", "--backend", "namespaces"],
            "from this machine alone",
        ),
    ],
)
def test_what_cannot_be_is_said(
    command: Command, tmp_path: Path, args: list[str], said: str
) -> None:
    out = tmp_path / "out"
    answer = command("run", "incast-8mb", *SMALL_ARGS, "--out", out, *args)
    assert (answer.code, said in answer.err) == (2, True), answer.err
    assert not list(tmp_path.iterdir())


def test_a_cluster_without_workers_is_no_use(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    line = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    line += ["--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    with subprocess.Popen(line, stderr=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + 30
            while not (file.exists() and file.stat().st_size) and time.monotonic() < until:
                time.sleep(0.05)
            address = json.loads(file.read_text())["address"]
            with pytest.raises(InputError, match="has no workers; start `dask worker`"):
                engine.connect(address)
        finally:
            process.terminate()
