"""Speed and memory of kernel hosts: each case is one run, bound to one core; times are wall-clock.

Prints a table and writes target/bench-kernel.json: case → figures, units in their names. A packet
is a frame that crosses a link. On a machine that does other work as well the wall-clock figures say
little; CPU seconds are those of this process and of all kernels it started. Memory is the largest
sum seen of what each of those kernels has (PSS: pages that several share count in parts).
"""

import json
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.table import Table

import tailback
from tailback._native import Control, Plan
from tailback.backends.kernel import KernelHosts
from tailback.cli import console
from tailback.results.machine import machine

OUTPUT = Path("target/bench-kernel.json")

LINK = """
name = "kernel-bulk"
[network]
topology = "explicit"
host = [{{ name = "a" }}, {{ name = "b" }}]
link = [{{ ends = ["a", "b"], rate = "{rate}", delay = "1us", mtu = "{mtu}" }}]
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-7.2"
[kernel.sysctl]
"net.ipv4.tcp_rmem" = "4096 4194304 16777216"
"net.ipv4.tcp_wmem" = "4096 4194304 16777216"
[workload]
kind = "bulk"
pairs = {{ kind = "to-first" }}
duration = "300ms"
"""

STAR = """
name = "kernel-boot-24"
[network]
topology = "star"
switch = "arista-7124s"
hosts = 24
link = { rate = "10Gbit", delay = "25ns", mtu = "9000B" }
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-7.2"
[workload]
kind = "incast"
servers = 23
size = "1kB"
iterations = 1
"""

CASES = {
    "kernel-bulk-10g-1500": LINK.format(rate="10Gbit", mtu="1500B"),
    "kernel-bulk-25g-1500": LINK.format(rate="25Gbit", mtu="1500B"),
    "kernel-bulk-25g-9000": LINK.format(rate="25Gbit", mtu="9000B"),
    # 24 kernels boot, one asks all others once, all power off.
    "kernel-boot-24": STAR,
}


SWEEP = ("sweep.servers=[8]", "workload.iterations=4", "run.repetitions=4")
"""What makes incast-8mb a sweep of eight runs, of some seconds each."""


def main() -> None:
    """Measure, print, write."""
    figures = {name: measure(text) for name, text in CASES.items()}
    together = side_by_side()
    table = Table("case", title=f"{machine()['cpu']}, one core", title_justify="left")
    for heading in (
        "packets/wall s", "packets/CPU s", "packets", "wall s", "goodput Mbit/s", "memory MB",
    ):  # fmt: skip
        table.add_column(heading, justify="right")
    for name, row in figures.items():
        table.add_row(
            name,
            f"{row['packets_per_wall_s']:,.0f}",
            f"{row['packets_per_cpu_s']:,.0f}",
            f"{row['packets']:,.0f}",
            f"{row['wall_s']:.2f}",
            f"{row['goodput_mbps']:.1f}",
            f"{row['memory_mb_max']:.0f}",
        )
    console.print_table(table)
    console.out.out(
        f"Eight runs of kernels: {together['wall_s_one_job']:.1f} s one after the other, "
        f"{together['wall_s_all_cores']:.1f} s on {together['cores']:.0f} cores, "
        f"{together['efficiency_percent']:.0f} % parallel efficiency"
    )
    figures["kernel-sweep"] = together
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    console.out.out(f"Written: {OUTPUT}")


def measure(text: str) -> dict[str, float]:
    """The figures of one run."""
    plan = Plan.from_text(text, "benches/kernel.py", [], None)
    before, since = cpu_s(), time.perf_counter()
    with peak_memory() as memory_mb:
        tables = KernelHosts().run(plan, 0, Control())
    wall_s, used_s = time.perf_counter() - since, cpu_s() - before
    packets = float(tables["performance"]["hops"].item())
    return {
        "packets": packets,
        "wall_s": wall_s,
        "cpu_s": used_s,
        "packets_per_wall_s": packets / wall_s,
        "packets_per_cpu_s": packets / used_s,
        "memory_mb_max": max(memory_mb),
        "goodput_mbps": float(tables["summary"]["goodput_mbps_mean"].item()),
    }


def side_by_side() -> dict[str, float]:
    """How long a sweep takes with one job and with one for each core."""
    cores = len(os.sched_getaffinity(0))
    scenario = tailback.load("incast-8mb").override(*SWEEP)
    wall_s = []
    with tempfile.TemporaryDirectory() as folder:
        for jobs in (1, cores):
            since = time.perf_counter()
            tailback.run(scenario, out=Path(folder) / str(jobs), backend="kernel", jobs=jobs)
            wall_s.append(time.perf_counter() - since)
    return {
        "cores": cores,
        "wall_s_one_job": wall_s[0],
        "wall_s_all_cores": wall_s[1],
        "efficiency_percent": 100 * wall_s[0] / (cores * wall_s[1]),
    }


LOOK_S = 0.1
"""Between two looks at the kernels' memory, wall-clock seconds."""


@contextmanager
def peak_memory() -> Iterator[list[float]]:
    """MB of all kernels at each look while the body runs."""
    seen = [0.0]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_S):
            seen.append(sum(pss_mb(process) for process in started_by(os.getpid())))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def started_by(process: int) -> Iterator[int]:
    """All processes that this one has started, and those that they have."""
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            numbers = children.read_text().split()
        except OSError:
            continue
        for number in map(int, numbers):
            yield number
            yield from started_by(number)


def pss_mb(process: int) -> float:
    """What a process has of the machine's memory; nothing if it has just ended."""
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    found = re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def cpu_s() -> float:
    """CPU seconds of this process and of those it has started that are over."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main()
