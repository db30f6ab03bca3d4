"""What goes wrong with the kernels of one run is a clear error; other runs do not notice."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tailback
from tailback._native import Control, Plan
from tailback.backends.kernel import KernelHosts
from tailback.errors import RunsFailed
from tailback.kernel import cache, guest

HUNGRY = """
name = "hungry"
host = "rhel-5.4-x5540-ne020"
stack = "linux-7.2"
[network]
topology = "star"
switch = "arista-7124s"
hosts = 2
names = ["client", "server"]
link = { rate = "10Gbit", delay = "1us", mtu = "9000B" }
[kernel]
memory = "64MiB"
[workload]
kind = "command"
command = [{ host = "client", run = "tail /dev/zero" }]
"""

SMALL = [
    'sweep.switch=["arista-7124s"]',
    "sweep.servers=[2]",
    "workload.iterations=50",
    "workload.size=200kB",
]

ALTERED = {
    "9.1": 'exec KERNEL "$@" init=/none',
    "9.2": 'exec KERNEL "$@" mem=8M',
    "9.3": 'exec KERNEL "$@" hostfs=SPINNER rootflags=root init=/bin/awk -- "BEGIN{while(1);}"',
    "9.4": """case "$*" in *umid=h0*)
  (until test -e host/h0/results.jsonl; do sleep 0.01; done; kill -9 $$) &
esac
exec KERNEL "$@"
""",
    "9.5": 'KERNEL "$@" | grep -v time-travel',
}
"""By version: shell scripts in the place of the kernel that make something else of it."""

ON_A_DISK = "9.6"
TOO_DEEP = "9.7"
SOUND = ("9.0", "9.8")

SAID = {
    "9.1": r"the kernel of host \S+ panicked: .*/none",
    "9.2": r"host \S+ ran out of memory \(.*give it more",
    "9.3": r"host \S+ has not come to rest for 5 s .*spin",
    "9.4": r"the kernel process of host host0 was killed by signal 9",
    "9.5": r"has no time travel \(CONFIG_UML_TIME_TRAVEL_SUPPORT\)",
    ON_A_DISK: r"there is no tmpfs at \S+, .*mount one there",
    TOO_DEEP: r"socket path \S+ has \d+ bytes, more than the 107",
}


class Misplacing:
    """Kernels as hosts, of two versions in folders that will not do."""

    name = "kernel"

    def __init__(self, disk: Path, deep: Path) -> None:
        self.usual = KernelHosts(patience_s=5)
        self.of = {
            ON_A_DISK: replace(self.usual, memory=disk),
            TOO_DEEP: replace(self.usual, memory=deep),
        }

    def run(self, plan: Plan, index: int, control: Control) -> Mapping[str, pl.DataFrame]:
        """The run, in the folder for its version."""
        [host, *_] = plan.kernel_hosts(index, all_hosts=True)
        return self.of.get(host["version"] or "", self.usual).run(plan, index, control)


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the cache there are kernels of all these versions."""
    kernel = cache.find()
    spinner = tmp_path / "spinner"
    guest.prepare(spinner / "root", ["awk"])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for version in (*SOUND, *SAID):
        path = cache.folder() / version
        shutil.copytree(kernel.path, path)
        if version in ALTERED:
            text = ALTERED[version].replace("SPINNER", str(spinner))
            text = text.replace("KERNEL", str(kernel.program))
            (path / cache.PROGRAM).write_text(f"#!/bin/sh\n{text}\n")
        replace(kernel, path=path, version=version).write()


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A folder that is on no tmpfs."""
    for path in (tmp_path, Path(__file__).parent, Path.home()):
        kind = subprocess.run(
            ["stat", "-f", "-c", "%T", str(path)], capture_output=True, text=True, check=True
        )
        if kind.stdout.strip() != "tmpfs":
            return path
    raise AssertionError("this machine keeps all folders in memory")


@pytest.fixture
def deep() -> Iterator[Path]:
    """A folder in memory whose path leaves no room for a socket's."""
    path = KernelHosts().memory / f"deep-{os.getpid()}-{'x' * 90}"
    path.mkdir()
    yield path
    path.rmdir()


@pytest.mark.usefixtures("kernels")
def test_failures_are_clear_and_harm_no_other_run(disk: Path, deep: Path, tmp_path: Path) -> None:
    backend = Misplacing(disk, deep)
    scenario = tailback.load("incast-8mb").override(*SMALL)

    def over(versions: Iterable[str]) -> tailback.Scenario:
        return scenario.override(f'sweep."kernel.version"={json.dumps(list(versions))}')

    with pytest.raises(RunsFailed) as failure:
        tailback.run(over([SOUND[0], *SAID, SOUND[1]]), out=tmp_path / "a", backend=backend, jobs=2)
    said = re.split(r"\n  run ", str(failure.value))[1:]
    assert len(said) == len(SAID)
    for (version, words), error in zip(SAID.items(), said, strict=True):
        assert re.search(rf"version = {version}\).*{words}", error), error
    undisturbed = tailback.run(over(SOUND), out=tmp_path / "b", backend=backend)
    runs = {SOUND[0]: "0000", SOUND[1]: f"{len(SAID) + 1:04}"}
    finished = tmp_path / "a.partial" / "runs"
    assert sorted(path.name for path in finished.iterdir()) == sorted(runs.values())
    for version, run in runs.items():
        for table in undisturbed.tables:
            if table != "performance":
                assert_frame_equal(
                    pl.read_ipc_stream(finished / run / f"{table}.arrows").drop("run"),
                    undisturbed.table(table).filter(version=version).drop("run"),
                )


def test_a_program_that_takes_all_memory_is_named(tmp_path: Path) -> None:
    scenario = tmp_path / "hungry.toml"
    scenario.write_text(HUNGRY)
    with pytest.raises(RunsFailed, match=r"host client ran out of memory \(.*tail.*kernel\.memory"):
        tailback.run(scenario, out=tmp_path / "out", backend="kernel")


def test_a_congestion_control_that_the_kernel_has_not_fails_the_run(tmp_path: Path) -> None:
    small = (*SMALL[:2], "workload.iterations=1")
    scenario = tailback.load("incast-8mb").override(*small)
    absent = scenario.override("stack.preset=linux-7.2", "stack.tcp_congestion_control=bbr3")
    with pytest.raises(RunsFailed, match=r"does not have it; there are .*cubic"):
        tailback.run(absent, out=tmp_path / "a", backend="kernel")
    older = scenario.override("stack.tcp_congestion_control=cubic-2.1")
    assert tailback.run(older, out=tmp_path / "b", backend="kernel").summary.height == 1
