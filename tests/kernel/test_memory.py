"""A kernel that is short of memory for TCP says so, and by default none is."""

from pathlib import Path

import tailback
from tailback.analysis.memory import memory_said
from tailback.analysis.view import View

ELEPHANTS = """
name = "elephants"
host = "uml-virtio"
stack = "linux-7.2"
[network]
topology = "star"
switch = "arista-7124s"
hosts = 4
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }
[workload]
kind = "request-response"
pairs = { kind = "listed", list = [["host1", "host0"]] }
duration = "350ms"
[[background_flows]]
pairs = { kind = "listed", list = [["host2", "host0"], ["host0", "host3"]] }
connections = 2
"""
SHORT = 'kernel.sysctl.net.ipv4.tcp_mem="1387 1850 2775"'
"""What a kernel with 128 MiB takes by itself, in pages: short of it from 7 MB on."""


def run(folder: Path, name: str, *overrides: str) -> View:
    path = folder / "elephants.toml"
    path.write_text(ELEPHANTS)
    scenario = tailback.load(path).override(*overrides)
    return View(tailback.run(scenario, out=folder / name, backend="kernel"))


def test_elephants_fit_into_a_guest_and_are_told_of_where_they_do_not(tmp_path: Path) -> None:
    found = run(tmp_path, "found")
    assert memory_said(found) == []
    short = run(tmp_path, "short", SHORT)
    (said,) = memory_said(short)
    assert said.startswith("TCP of host0")
    assert "kernel.memory" in said
    # What that does: frames that came out of order are thrown away, and sent again.
    again = [view.optional("background_flows")["retransmissions"].sum() for view in (found, short)]
    assert again[1] > 10 * again[0]
