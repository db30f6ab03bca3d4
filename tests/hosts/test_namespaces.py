"""Runs on network namespaces of this machine: real kernels in real time, and nothing left behind.

These need root. Who may not make namespaces, or has a kernel without them, is told in pytest's
summary what was skipped and why; a program that is missing fails them.
"""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import tailback
from helpers import Command, start, wait_for
from laboratory import unable
from tailback.backends.namespaces import BASE, Namespaces
from tailback.errors import InputError, RunsFailed
from tailback.hosts import namespaces, tools
from tailback.hosts.here import Here

STAR = """
name = "star"
host = "rhel-5.4-x5540-ne020"
stack = { preset = "linux-7.2", tcp_congestion_control = "reno" }
[network]
topology = "star"
switch = "arista-7124s"
hosts = 4
link = { rate = "RATE", delay = "1us", mtu = "1500B" }
"""

INCAST = """
[workload]
kind = "incast"
servers = 3
size = "1MB"
iterations = 10
"""

BULK = """
[workload]
kind = "bulk"
pair_window = "128kB"
pairs = { kind = "listed", list = [["host1", "host0"], ["host2", "host0"]] }
duration = "2s"
"""

PING = """
[workload]
kind = "ping"
pairs = { kind = "listed", list = [["host0", "host1"], ["host2", "host3"]] }
interval = "10ms"
count = 20
wait = "1s"
"""

PAYLOAD_SHARE = 1448 / 1538
"""Of a frame of 1500 bytes with timestamps, on the line."""


@pytest.fixture(autouse=True)
def a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests keep the cores busy: agents have longer to be ready than a user's."""
    # With 2 s one was 67 ms late once, beside the tests in Rust and another in Python.
    monkeypatch.setattr(Here, "lead_s", 4.0)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    if unable():
        pytest.skip(unable())
    yield
    assert abandoned() == []


def abandoned() -> list[str]:
    """Namespaces and folders that belong to no run that is going on, of this program or another."""
    going_on = []
    left = []
    for folder in (path for path in BASE.iterdir() if path.is_dir()):
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.append(folder.name)
        except BlockingIOError:
            going_on.append(folder.name)
        finally:
            os.close(lock)
    return left + [name for name in namespaces.there_are() if name.split("-")[1] not in going_on]


def scenario(tmp_path: Path, workload: str, rate: str = "200Mbit") -> tailback.Scenario:
    path = tmp_path / "star.toml"
    path.write_text(STAR.replace("RATE", rate) + workload)
    return tailback.load(path)


def test_an_incast(tmp_path: Path) -> None:
    results = tailback.run(scenario(tmp_path, INCAST), out=tmp_path / "out", backend="namespaces")
    summary = results.summary.row(0, named=True)
    assert summary["iterations"] == 10
    assert summary["data_bytes_total"] == 10 * 3 * 1_000_000
    assert 0.5 * 200 * PAYLOAD_SHARE < summary["goodput_mbps_mean"] < 1.1 * 200 * PAYLOAD_SHARE
    flows = results.table("flows")
    assert flows["destination"].to_list() == ["host0"] * 3
    assert flows["source"].to_list() == ["host1", "host2", "host3"]
    assert flows["received_bytes"].sum() == 10 * 3 * 1_000_000
    # What was sent twice is what was lost, or was taken for lost.
    assert flows["retransmissions"].sum() >= summary["switch_drops_mean"] * 0.5
    performance = results.table("performance").row(0, named=True)
    assert performance["kernel"] == os.uname().release
    assert performance["hops"] > 2 * 30_000_000 / 1448
    manifest = results.manifest
    assert manifest["backend"] == "namespaces"
    assert manifest["kernels"] == {"this machine": os.uname().release}
    assert any("share" in text for text in manifest["not_applied"])
    assert "queue_bytes_max" not in results.summary.columns


def test_bulk_flows_share_a_link(tmp_path: Path) -> None:
    results = tailback.run(scenario(tmp_path, BULK), out=tmp_path / "out", backend="namespaces")
    flows = results.table("flows")
    goodput_mbps = flows["received_bytes"].sum() * 8 / 2.0 / 1e6
    assert 0.5 * 200 * PAYLOAD_SHARE < goodput_mbps < 1.1 * 200 * PAYLOAD_SHARE
    assert flows.height == 2
    drops = results.table("drops")
    assert set(drops.columns) >= {"place", "cause", "frames"}
    assert "payload_bytes" not in drops.columns


def test_what_is_before_flows_are_counted(tmp_path: Path) -> None:
    late = BULK + 'omit = "1s"\n'
    results = tailback.run(scenario(tmp_path, late), out=tmp_path / "out", backend="namespaces")
    summary = results.summary.row(0, named=True)
    flows = results.table("flows")
    # The end of a program in real time is a little late.
    assert 2.0 <= summary["duration_s_total"] < 2.5
    assert results.transactions["start_s"].to_list() == [1.0]
    assert flows["received_bytes"].sum() == summary["data_bytes_total"]
    goodput_mbps = summary["goodput_mbps_mean"]
    assert 0.5 * 200 * PAYLOAD_SHARE < goodput_mbps < 1.1 * 200 * PAYLOAD_SHARE


def test_packets_too_small_for_ipv6(tmp_path: Path) -> None:
    small = scenario(tmp_path, PING).set("network.link.mtu", "576B")
    results = tailback.run(small, out=tmp_path / "out", backend="namespaces")
    assert results.summary.row(0, named=True)["pings_lost"] == 0


def test_a_run_in_which_no_flow_begins(tmp_path: Path) -> None:
    flows = """
    [workload]
    kind = "flows"
    load = 1e-6
    sizes = { kind = "web-search" }
    duration = "1ms"
    """
    results = tailback.run(scenario(tmp_path, flows), out=tmp_path / "out", backend="namespaces")
    assert results.table("flows").is_empty()


def test_pings(tmp_path: Path) -> None:
    results = tailback.run(scenario(tmp_path, PING), out=tmp_path / "out", backend="namespaces")
    summary = results.summary.row(0, named=True)
    assert summary["pings"] == 40
    assert summary["pings_lost"] == 0
    assert 0 < summary["ping_ms_median"] < 20
    assert results.table("pings").group_by("source").len()["len"].to_list() == [20, 20]


def test_switches_in_a_row(tmp_path: Path) -> None:
    path = tmp_path / "row.toml"
    path.write_text(
        STAR[: STAR.index("[network]")]
        + """
[network]
topology = "dumbbell"
pairs = 2
switch = "arista-7124s"
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
trunk = [{ rate = "100Mbit", delay = "1us", mtu = "1500B" }]
[workload]
kind = "bulk"
pair_window = "128kB"
pairs = { kind = "across", pairs = 2 }
duration = "2s"
"""
    )
    results = tailback.run(path, out=tmp_path / "out", backend="namespaces")
    flows = results.table("flows")
    goodput_mbps = flows["received_bytes"].sum() * 8 / 2.0 / 1e6
    # A first frame that is lost, for a port does not forward yet, is sent again a second later.
    assert flows["start_s"].max() < 0.5
    assert 0.5 * 100 * PAYLOAD_SHARE < goodput_mbps < 1.1 * 100 * PAYLOAD_SHARE


def test_a_short_queue_drops_at_its_port(tmp_path: Path) -> None:
    shallow = scenario(tmp_path, BULK).override(
        "network.switch.buffer.shared=1kB",
        "network.switch.buffer.tx_private=8kB",
        "network.switch.buffer.tx_limit.kind=none",
        # Of 2 s a busy machine has been seen to leave little but the last burst.
        "workload.duration=4s",
    )
    results = tailback.run(shallow, out=tmp_path / "out", backend="namespaces")
    drops = results.table("drops")
    at_port = drops.filter(place="switch:0", cause="queue-limit")["frames"].sum()
    assert at_port > 0
    assert results.summary["switch_drops_mean"][0] == drops["frames"].sum()
    # What is lost at the very end is not repaired any more.
    assert results.table("flows")["retransmissions"].sum() >= 0.5 * at_port


def test_a_failure_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    failing = """
[workload]
kind = "command"
command = [{ host = "host1", run = "false" }, { host = "host0", run = "sleep 600" }]
"""
    with pytest.raises(RunsFailed, match=r"host host1 failed: .*false"):
        tailback.run(scenario(tmp_path, failing), out=tmp_path / "out", backend="namespaces")


def test_a_sysctl_that_a_namespace_has_not_is_named(tmp_path: Path) -> None:
    wanted = scenario(tmp_path, PING).override("kernel.sysctl.net.ipv4.tcp_none=1")
    with pytest.raises(RunsFailed, match=r"host0 could not be set up: .* net\.ipv4\.tcp_none"):
        tailback.run(wanted, out=tmp_path / "out", backend="namespaces")


def test_sysctls_are_the_hosts_own(tmp_path: Path) -> None:
    told = """
[workload]
kind = "command"
command = [{ host = "host1", run = "cat /proc/sys/net/ipv4/tcp_reordering" }]
"""
    before = Path("/proc/sys/net/ipv4/tcp_reordering").read_text()
    wanted = scenario(tmp_path, told).override("kernel.sysctl.net.ipv4.tcp_reordering=7")
    results = tailback.run(wanted, out=tmp_path / "out", backend="namespaces")
    assert results.table("programs")["output"].to_list() == ["7\n"]
    assert Path("/proc/sys/net/ipv4/tcp_reordering").read_text() == before
    # The machine's own socket memory is out of a namespace's reach.
    assert "net.core.rmem_max" in results.table("not_set")["sysctl"].to_list()


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        ("record.pcap.hosts=[]", "record.pcap: "),
        ("kernel.sysctl.vm.swappiness=1", "vm.swappiness is of the whole machine"),
        ("kernel.hz=100", "kernel.hz"),
        ('kernel.version="1.2"', "asks for kernel 1.2"),
        ('kernel.tc=["qdisc show"]', "kernel.tc"),
        ('network.switch.marking={ kind = "step", threshold = "30kB" }', "switch switch: marking"),
    ],
)
def test_what_cannot_be_done_is_refused(
    tmp_path: Path, command: Command, override: str, reason: str
) -> None:
    scenario(tmp_path, PING)
    file = tmp_path / "star.toml"
    out = tmp_path / "out"
    answer = command("run", file, "--backend", "namespaces", "--set", override, "--out", out)
    assert answer.code == 2
    assert reason in answer.err
    assert not out.exists()


def test_all_that_is_refused_is_said_at_once(tmp_path: Path) -> None:
    wanted = scenario(tmp_path, PING).override("kernel.hz=100", "record.pcap.hosts=[]")
    with pytest.raises(InputError, match=r"record\.pcap.*kernel\.hz"):
        tailback.run(wanted, out=tmp_path / "out", backend="namespaces")


def test_jobs_are_one(tmp_path: Path, command: Command) -> None:
    scenario(tmp_path, PING)
    answer = command("run", tmp_path / "star.toml", "--backend", "namespaces", "--jobs", "2")
    assert answer.code == 2
    assert "one at a time" in answer.err


def test_time_is_said_before(tmp_path: Path, command: Command) -> None:
    scenario(tmp_path, BULK)
    answer = command(
        "run", tmp_path / "star.toml", "--backend", "namespaces", "--out", tmp_path / "out"
    )
    assert answer.code == 0
    assert "1 of them, at least 0:00:02" in answer.err
    assert "not applied: switch switch: latency" in answer.err


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "which", lambda program: None if program == "tc" else "/bin/true")
    monkeypatch.setattr(tools, "_capabilities", lambda: 1 << 12)
    with pytest.raises(InputError, match=r"tc \(.*iproute2\); CAP_SYS_ADMIN \(.*sudo"):
        tools.check()


def test_sysctls_that_cannot_be_written_are_said_before(tmp_path: Path) -> None:
    scenario(tmp_path, PING)
    read_only = (
        "mount --make-rprivate / && mount --bind /proc/sys /proc/sys && "
        "mount -o remount,ro,bind /proc/sys && "
        f'exec "{sys.executable}" -m tailback run star.toml --backend namespaces'
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", read_only],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "a /proc/sys that can be written" in done.stderr


def agents_in(namespace: str) -> list[str]:
    return tools.call("ip", "netns", "pids", namespace).split()


def told_of(pid: str) -> str:
    """What a process is, and what it waits for, as far as it is still there."""
    told = []
    for what in ("cmdline", "stat", "wchan"):
        with contextlib.suppress(OSError):
            told.append(Path("/proc", pid, what).read_text().replace("\0", " "))
    return "; ".join(told)


def wait_until(condition: Callable[[], bool]) -> bool:
    deadline_s = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline_s:
        time.sleep(0.05)
    return condition()


def test_one_waits_for_the_other(tmp_path: Path, command: Command) -> None:
    scenario(tmp_path, BULK)
    file = tmp_path / "star.toml"
    with start("run", file, "--backend", "namespaces", "--out", tmp_path / "first") as first:
        wait_for(lambda: any(BASE.glob("*/h0/results.jsonl")), first)
        answer = command("run", file, "--backend", "namespaces", "--out", tmp_path / "second")
        first.communicate(timeout=60)
    assert first.returncode == 0
    assert answer.code == 0
    assert "another program's run" in answer.err


LONG = """
[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["host1", "host0"]] }
duration = "300s"
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_nothing(tmp_path: Path, how: signal.Signals) -> None:
    scenario(tmp_path, LONG)
    process = start(
        "run", tmp_path / "star.toml", "--backend", "namespaces", "--out", tmp_path / "out"
    )
    wait_for(lambda: any(BASE.glob("*/h0/results.jsonl")), process)
    process.send_signal(how)
    process.communicate(timeout=30)
    if how is not signal.SIGKILL:
        assert process.returncode == 130
        assert namespaces.there_are() == []
        return
    left = namespaces.there_are()
    assert len(left) == 3  # two hosts and a switch
    gone = wait_until(lambda: not any(agents_in(namespace) for namespace in left))
    assert gone, [told_of(pid) for namespace in left for pid in agents_in(namespace)]
    tailback.run(scenario(tmp_path, PING), out=tmp_path / "after", backend="namespaces")


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    sweep = scenario(tmp_path, BULK).override("workload.duration=500ms", "run.repetitions=2")
    made: list[int] = []

    class Broken(Namespaces):
        def run(self, plan, index, control):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            if index == 1 and not made:
                made.append(index)
                raise tailback.errors.SimulationError("injected")
            return super().run(plan, index, control)

    with pytest.raises(RunsFailed, match="injected"):
        tailback.run(sweep, out=tmp_path / "out", backend=Broken())
    kept = json.loads((tmp_path / "out.partial" / "manifest.json").read_text())
    assert kept["status"] == "failed"
    results = tailback.run(sweep, out=tmp_path / "out", backend=Broken())
    assert results.summary["run"].to_list() == [0, 1]


def test_a_host_that_is_late_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Here, "lead_s", -5.0)
    with pytest.raises(RunsFailed, match=r"was ready .* ms late"):
        tailback.run(scenario(tmp_path, PING), out=tmp_path / "out", backend="namespaces")


def test_a_run_of_which_a_host_was_late_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead_s = Here.lead_s
    leads_s = iter([-5.0])
    monkeypatch.setattr(Here, "lead_s", property(lambda _self: next(leads_s, lead_s)))
    results = tailback.run(scenario(tmp_path, PING), out=tmp_path / "out", backend="namespaces")
    assert next(leads_s, None) is None
    assert results.summary.height == 1


def test_datagrams(tmp_path: Path) -> None:
    udp = """
[workload]
kind = "udp"
pairs = { kind = "listed", list = [["host1", "host0"]] }
rate = "10Mbit"
datagram = "1000B"
duration = "1s"
socket_buffer = "1MB"
"""
    results = tailback.run(scenario(tmp_path, udp), out=tmp_path / "out", backend="namespaces")
    summary = results.summary.row(0, named=True)
    assert 1000 <= summary["datagrams_sent"] <= 1250
    assert summary["datagrams_received"] == summary["datagrams_sent"]
    assert not [name for name in results.summary.columns if name.startswith("lost_")]


def test_a_measured_window(tmp_path: Path) -> None:
    iperf3 = """
[workload]
kind = "iperf3"
senders = 2
measured = "all"
duration = "2s"
interval = "500ms"
"""
    results = tailback.run(scenario(tmp_path, iperf3), out=tmp_path / "out", backend="namespaces")
    summary = results.summary.row(0, named=True)
    whole_gbps = summary["data_bytes_total"] * 8 / 2.0 / 1e9
    # Real time: where others have the cores, senders are late and wait for a timer (0.46 was seen).
    assert 0.25 * 0.2 * PAYLOAD_SHARE < whole_gbps < 1.1 * 0.2 * PAYLOAD_SHARE
    intervals = results.table("intervals")
    assert intervals.filter(pl.col("flow") == 0).height == 4
    assert "queue_bytes" not in intervals.columns


def test_flents_tests(tmp_path: Path) -> None:
    rrul = """
[workload]
kind = "flent"
test = "rrul"
length = "1s"
delay = "300ms"
step_size = "100ms"
"""
    results = tailback.run(scenario(tmp_path, rrul), out=tmp_path / "out", backend="namespaces")
    summary = results.summary.row(0, named=True)
    assert summary["pings"] == 4 * 16
    # As in a measured window: real time.
    for way in ("upload_gbps", "download_gbps"):
        assert 0.25 * 0.2 * PAYLOAD_SHARE < summary[way] < 1.1 * 0.2 * PAYLOAD_SHARE
    pings = results.table("pings").group_by("series").agg(pl.col("rtt_ms").count())
    assert pings.filter(pl.col("rtt_ms") > 5).height == 4
    before = results.table("intervals").filter(pl.col("time_s") < 0.25)
    assert before["bandwidth_gbps"].sum() == 0


def test_beside_the_simulator(tmp_path: Path, command: Command) -> None:
    wanted = scenario(tmp_path, BULK)
    for name in ("sim", "namespaces"):
        tailback.run(wanted, out=tmp_path / name, backend=name)
    answer = command("compare", tmp_path / "sim", tmp_path / "namespaces")
    assert answer.code == 0
    assert "oodput" in answer.out
    answer = command("report", tmp_path / "namespaces", "-o", tmp_path / "report.html")
    assert answer.code == 0
    page = (tmp_path / "report.html").read_text()
    assert "memory that the ports share" in page
