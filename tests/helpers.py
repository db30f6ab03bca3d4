"""What several test files use."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from tailback._native import Control, Plan

SMALL = [
    'sweep.switch=["arista-7124s", "cisco-nexus-5010"]',
    "sweep.servers=[1, 3]",
    "workload.iterations=2",
    "workload.size=200kB",
]
"""Overrides that make incast-8mb four runs of a moment each."""

SMALL_ARGS = [part for override in SMALL for part in ("--set", override)]
"""The same on the command line."""

OWN: dict[str, Any] = {
    "name": "own",
    "title": "Own",
    "network": {
        "topology": "star",
        "hosts": 4,
        "link": {"rate": "1Gbit", "delay": "5us", "mtu": "1500B"},
        "switch": {"preset": "plain"},
    },
    "host": {"preset": "plain"},
    "stack": {"preset": "linux-7.2"},
}
"""A scenario of one's own, but for its workload."""


@dataclass
class Answer:
    """What a command gave."""

    code: int
    out: str
    err: str


Command = Callable[..., Answer]


@dataclass
class FakeBackend:
    """Makes a row per run without simulating; raises where it is told to."""

    fail: dict[int, BaseException] = field(default_factory=dict)
    made: list[int] = field(default_factory=list)
    name: str = "fake"

    def run(self, plan: Plan, index: int, control: Control) -> Mapping[str, pl.DataFrame]:
        """One row in `summary`, `index` rows in `drops`."""
        assert control.done == 0
        if index in self.fail:
            raise self.fail[index]
        self.made.append(index)
        seed = plan.runs[index]["seed"]
        return {
            "summary": pl.DataFrame(
                {"data_bytes_total": [1000], "duration_s_total": [0.5], "seed_used": [str(seed)]}
            ),
            "drops": pl.DataFrame(
                {"place": ["switch"] * index, "frames": [index] * index},
                schema={"place": pl.String, "frames": pl.Int64},
            ),
        }


def start(*args: str | Path, cwd: Path | None = None) -> "subprocess.Popen[str]":
    """Starts `tailback ARGS…` as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tailback", *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
    )


def wait_for(condition: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    """Waits until `condition` holds, while `process` lives, at most a minute."""
    deadline_s = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def tables_of(folder: Path) -> dict[str, bytes]:
    """The bytes of a run folder's tables that may not depend on machine or time."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.glob("*.parquet"))
        if path.stem != "performance"
    }


def programs() -> Iterator[tuple[int, list[bytes]]]:
    """The programs that run, by process number, with their arguments; one may end meanwhile."""
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            yield int(process.name), words


def kernel_tree(path: Path, sublevel: str = "13", patchlevel: str = "2") -> Path:
    """The least that counts as a kernel's source: with the places that are edited, and files that
    are not needed.
    """
    for name, text in {
        "Makefile": f"VERSION = 7\nPATCHLEVEL = {patchlevel}\nSUBLEVEL = {sublevel}\n",
        "arch/um/Kconfig": "config HZ\n\tint\n\tdefault 100\n",
        "arch/um/os-Linux/util.c": "ssize_t os_getrandom(void *buf)\n"
        "{\n\treturn getrandom(buf, len, flags);\n}\n",
        "drivers/gpu/drm/card.c": "int card;\n",
        "drivers/gpu/Kconfig": "config GPU\n",
        "drivers/net/dummy.c": "int dummy;\n",
    }.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return path
