"""Runs whose hosts are real kernels: the same tables, the same every time."""

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tailback
from helpers import Command, start, wait_for
from tailback.backends import kernel as backend
from tailback.errors import InputError, RunsFailed
from tailback.kernel import guest

PAIR = """
name = "pair"
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
"""

IPERF = """
[workload]
kind = "command"
command = [
  { host = "server", run = "iperf3 --server --one-off" },
  { host = "client", run = "iperf3 --client {server} --bytes 100M --json", start = "10ms" },
]
"""

SMALL = [
    'sweep.switch=["arista-7124s"]',
    "sweep.servers=[1, 3]",
    "workload.iterations=3",
    "workload.size=200kB",
]


def test_an_incast_of_kernels_repeats(tmp_path: Path) -> None:
    scenario = tailback.load("incast-8mb").override(*SMALL, "kernel.sample_interval=100us")
    first, second = (
        tailback.run(scenario, out=tmp_path / name, backend="kernel", jobs=jobs)
        for name, jobs in (("a", 1), ("b", 2))
    )
    for name in ("summary", "transactions", "flows", "drops", "samples", "counters"):
        assert_frame_equal(first.table(name), second.table(name))
    summary = first.table("summary")
    assert summary["iterations"].to_list() == [3, 3]
    assert summary["data_bytes_total"].to_list() == [3 * 200_000, 3 * 3 * 200_000]
    assert first.table("performance")["kernel"].str.starts_with("7.").all()


def test_columns_are_the_simulator_s(tmp_path: Path) -> None:
    scenario = tailback.load("incast-8mb").override(*SMALL)
    kernel = tailback.run(scenario, out=tmp_path / "kernel", backend="kernel")
    sim = tailback.run(scenario, out=tmp_path / "sim")
    assert sim.table("summary").columns == kernel.table("summary").columns
    # TCP_INFO has no count of fast recoveries: the summary's is from the hosts' counters.
    lacking = set(sim.table("flows").columns) - set(kernel.table("flows").columns)
    assert lacking <= {"fast_recoveries"}


def test_hosts_of_one_run_have_one_kernel(tmp_path: Path) -> None:
    text = tailback.load("incast-8mb").override(*SMALL, 'kernel.version="1.0"')
    with pytest.raises(InputError, match=r"no kernel 1\.0.*tailback kernel build"):
        tailback.run(text, out=tmp_path / "out", backend="kernel")


def test_a_sysctl_that_no_kernel_has_names_the_host(tmp_path: Path) -> None:
    scenario = tailback.load("incast-8mb").override(*SMALL, "kernel.sysctl.net.ipv4.tcp_nonsense=1")
    with pytest.raises(RunsFailed, match="tcp_nonsense"):
        tailback.run(scenario, out=tmp_path / "out", backend="kernel")


@pytest.mark.parametrize("gbps", [10, 25])
@pytest.mark.parametrize("mtu", [1500, 9000])
def test_iperf3_fills_the_link(tmp_path: Path, gbps: int, mtu: int) -> None:
    scenario = tmp_path / "pair.toml"
    scenario.write_text(PAIR + IPERF)
    buffers = "4096 16777216 33554432"
    results = tailback.run(
        tailback.load(scenario).override(
            f"network.link.rate={gbps}Gbit",
            f"network.link.mtu={mtu}B",
            f'kernel.sysctl.net.ipv4.tcp_rmem="{buffers}"',
            f'kernel.sysctl.net.ipv4.tcp_wmem="{buffers}"',
        ),
        out=tmp_path / "out",
        backend="kernel",
    )
    output = results.table("programs").filter(host="client")["output"].item()
    goodput_bps = json.loads(output)["end"]["sum_received"]["bits_per_second"]
    # Headers of IP and TCP with timestamps; Ethernet with preamble, check sequence and gap.
    assert goodput_bps == pytest.approx(gbps * 1e9 * (mtu - 52) / (mtu + 38), rel=0.005)
    counters = results.table("counters").filter(host="client", counter="Tcp.OutSegs")
    assert counters["value"].item() > 1000


def test_a_route_s_least_timeout_is_its_connections(tmp_path: Path) -> None:
    scenario = tailback.load("incast-8mb").override(*SMALL, "kernel.sample_interval=100us")
    route = "route change 10.0.0.0/8 dev eth0 rto_min 7ms"
    least_us = []
    for name, settings in {"sysctl": [], "route": [f'kernel.ip=["{route}"]']}.items():
        results = tailback.run(scenario.override(*settings), out=tmp_path / name, backend="kernel")
        least_us.append(results.table("samples")["rto_us"].min())
    # The least variation that a timeout allows for, and the round trip, a millisecond at the most.
    assert 200_000 <= least_us[0] <= 202_000
    assert 7_000 <= least_us[1] <= 9_000


def test_a_packet_has_as_many_segments_as_the_stack_says(tmp_path: Path) -> None:
    scenario = tailback.load("incast-8mb").override(*SMALL)
    packets = []
    for segments in (65_535, 1):
        results = tailback.run(
            scenario.override(f"stack.gso_max_segs={segments}"),
            out=tmp_path / str(segments),
            backend="kernel",
        )
        sent = results.table("counters").filter(pl.col("counter") == "eth0.tx_packets")
        packets.append(sent["value"].sum())
    # 12 answers of 200 kB in 23 frames of 8948 bytes each.
    assert packets[0] < 12 * 23 < packets[1]


def test_hosts_that_join_frames_do_as_kernels_do(tmp_path: Path) -> None:
    # Two senders, marks from an empty memory on: bursts, interrupts and acknowledgements decide.
    scenario = tailback.load("ecn-switch").override(
        'sweep.marking=[{label={marking="ce"},set={"network.switch.marking"='
        '{kind="linear",probability_rise=1.0,mem_start_point=0.0}}}]',
        "sweep.test=[{label={senders=2},set={}}]",
        'sweep.tcp_congestion_control=["reno", "dctcp"]',
        "workload.senders=2",
        'workload.measured="all"',
        'workload.duration="60ms"',
        'workload.interval="20ms"',
        'stack.preset="linux-7.2"',
        "stack.tcp_ecn=1",
        'record.sample_interval="20ms"',
        'host.preset="uml-virtio"',
    )
    gbps, frames_per_ack = {}, {}
    for name in ("kernel", "sim"):
        results = tailback.run(scenario, out=tmp_path / name, backend=name)
        flows = results.table("flows")
        gbps[name] = flows.group_by("tcp_congestion_control").agg(pl.col("bandwidth_gbps").sum())
        ends = results.table("samples").filter(host="receiver").group_by("run", "peer")
        counts = ends.agg(pl.col("data_segs_in", "segs_out").max()).sum()
        frames_per_ack[name] = (counts["data_segs_in"] / counts["segs_out"]).item()
    both = gbps["kernel"].join(gbps["sim"], on="tcp_congestion_control", suffix="_sim")
    for row in both.iter_rows(named=True):
        assert row["bandwidth_gbps_sim"] == pytest.approx(row["bandwidth_gbps"], rel=0.05), row
    assert 3 < frames_per_ack["sim"] == pytest.approx(frames_per_ack["kernel"], rel=0.1)


def test_programs_that_this_machine_lacks_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no-such-program, which this machine does not have"):
        guest.prepare(tmp_path, ["no-such-program"])


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    scenario = tailback.load("incast-8mb").override(*SMALL)
    seen: list[set[Path]] = []
    tailback.run(
        scenario,
        out=tmp_path / "out",
        backend="kernel",
        on_progress=lambda _progress: seen.append(_folders(os.getpid())),
    )
    assert any(seen)
    assert not any(folder.exists() for folder in set[Path]().union(*seen))


def test_nothing_is_left_behind_by_a_program_that_is_killed(tmp_path: Path) -> None:
    scenario = tailback.load("incast-8mb").override(*SMALL)
    settings = ["--set", "workload.iterations=100000", "--jobs", "1"]
    program = start(
        "run", "incast-8mb", "--backend", "kernel", *settings, "--out", tmp_path / "killed"
    )
    wait_for(lambda: bool(_folders(program.pid)), program)
    [folder] = _folders(program.pid)
    program.kill()
    program.communicate()
    deadline_s = time.monotonic() + 60
    while _working_in(folder):
        assert time.monotonic() < deadline_s, "kernels stay behind"
        time.sleep(0.01)
    # Its folder is removed by whoever comes next.
    tailback.run(scenario, out=tmp_path / "next", backend="kernel")
    assert not folder.exists()


def test_runs_side_by_side_have_cores_of_their_own(tmp_path: Path) -> None:
    scenario = tailback.load("incast-8mb").override(*SMALL, "sweep.servers=[1, 2, 3, 4]")
    seen: list[dict[Path, set[str]]] = []
    tailback.run(
        scenario.override("workload.iterations=200"),
        out=tmp_path / "out",
        backend="kernel",
        jobs=4,
        on_progress=lambda _progress: seen.append(
            {folder: _cores(folder) for folder in _folders(os.getpid())}
        ),
    )
    at_once = max(len(runs) for runs in seen)
    assert at_once == min(4, len(os.sched_getaffinity(0)))
    for runs in seen:
        cores = [core for of_run in runs.values() for core in of_run]
        assert len(cores) == len(set(cores)), "no two runs share a core"
        assert all(core.isdecimal() for core in cores), "a run has one core"


def _folders(parent: int) -> set[Path]:
    """Folders in memory in which kernels work that this process has started."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            ppid = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            cwd = process.joinpath("cwd").readlink()
            if ppid == parent and cwd.name.startswith(backend.PREFIX):
                found.add(cwd)
    return found


def _working_in(folder: Path) -> list[Path]:
    """The processes whose working directory it is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if process.joinpath("cwd").readlink() == folder:
                found.append(process)
    return found


def _cores(folder: Path) -> set[str]:
    """What /proc says of the cores of those that work there."""
    cores = set()
    for process in _working_in(folder):
        with suppress(OSError):
            for line in (process / "status").read_text().splitlines():
                if line.startswith("Cpus_allowed_list:"):
                    cores.add(line.split()[1])
    return cores


def test_what_kernels_cannot_do_is_said_before_anything_is_written(
    tmp_path: Path, command: Command
) -> None:
    path = tmp_path / "pair.toml"
    path.write_text(
        PAIR
        + """
[workload]
kind = "incast"
servers = 1
size = "1MB"
iterations = 2
[[background]]
source = "server"
destination = "client"
rate = "1Gbit"
[[background_flows]]
pairs = { kind = "listed", list = [["server", "client"]] }
"""
    )
    answer = command("run", path, "--backend", "kernel", "--out", tmp_path / "out")
    assert answer.code == 2
    said = " ".join(answer.err.split())
    assert "one of its ends is a kernel" in said
    assert 'say until when it lasts: until = "1s"' in said
    assert [entry.name for entry in tmp_path.iterdir()] == ["pair.toml"]


def test_what_a_machine_lacks_is_said_before_anything_is_written(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pair.toml"
    path.write_text(PAIR + IPERF.replace("iperf3 --server", "no-such-program"))
    out = ("--backend", "kernel", "--out", tmp_path / "out")
    answer = command("run", path, *out)
    assert answer.code == 2
    assert "no-such-program, which this machine does not have" in " ".join(answer.err.split())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    answer = command("run", "incast-8mb", *out)
    assert answer.code == 2
    assert "`tailback kernel build` makes one" in " ".join(answer.err.split())
    assert [entry.name for entry in tmp_path.iterdir()] == ["pair.toml"]


BULK = """
[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["client", "server"]] }
duration = "5ms"
"""


def test_a_congestion_control_may_be_the_kernel_s_own(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "pair.toml"
    text = PAIR + BULK + 'congestion = ["cubic", "kernel:cubic"]\nconnections = 2\n'
    path.write_text(text.replace("[network]", '[network]\nkernels = ["server"]', 1))
    answer = command("run", path, "--out", tmp_path / "own")
    assert answer.code == 2, "the source is modelled"
    said = " ".join(answer.err.split())
    assert 'no model of congestion control "cubic" (kernel:cubic), and host client' in said
    path.write_text(text.replace("[network]", '[network]\nkernels = ["client"]', 1))
    results = tailback.run(path, out=tmp_path / "own")
    flows = results.table("flows")
    assert flows["sender_congestion_control"].to_list() == ["cubic", "cubic"]
    assert flows["received_bytes"].min() > 0
    path.write_text(PAIR + BULK)
    stacks = 'sweep.tcp_congestion_control=["reno", "kernel:reno"]'
    answer = command("run", path, "--set", stacks, "--out", tmp_path / "none")
    assert answer.code == 2
    assert "host client is modelled" in " ".join(answer.err.split())
    results = tailback.run(
        tailback.load(path).override(stacks), out=tmp_path / "two", backend="kernel"
    )
    first, second = results.table("flows").partition_by("run")
    assert second["tcp_congestion_control"].to_list() == ["kernel:reno"]
    assert second["sender_congestion_control"].to_list() == ["reno"]
    none = tailback.load(path).override('stack.tcp_congestion_control="kernel:nope"')
    with pytest.raises(RunsFailed, match=r"nope: this kernel does not have it; there are reno, "):
        tailback.run(none, out=tmp_path / "nope", backend="kernel")
    # Each run has a seed of its own.
    assert second["received_bytes"][0] == pytest.approx(first["received_bytes"][0], rel=0.05)


def test_connections_that_find_no_port_are_refused(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "pair.toml"
    path.write_text(PAIR + BULK)
    settings = ("--backend", "kernel", "--out", tmp_path / "out")
    answer = command("run", path, *settings, "--set", "workload.connections=15873")
    assert answer.code == 2
    assert "15873 connections, each on a port of its own" in " ".join(answer.err.split())


def test_what_kernels_do_not_do_is_said(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "pair.toml"
    path.write_text(PAIR + BULK)
    settings = ["stack.initial_cwnd=20", "stack.rto_max=500ms", "stack.tcp_sce=true"]
    settings += ["host.preset=uml-virtio", "host.rx_segment_cost=1us"]
    settings += ['record.series={interval="1ms", host="server"}']
    options = [part for setting in settings for part in ("--set", setting)]
    answer = command("run", path, "--backend", "kernel", "--out", tmp_path / "a", *options)
    assert answer.code == 0
    said = " ".join(answer.err.split())
    for words in (
        "not applied: stack: initial_cwnd, which are not as in Linux 7.2",
        "not applied: stack.rto_max = 500ms: kernels take 1s",
        "not applied: host: rx_segment_cost; ",
        "not applied: record.series: goodput",
        "sysctls of the stack profile that the hosts do not have: net.ipv4.tcp_sce;",
    ):
        assert words in said, words
    results = tailback.Results(tmp_path / "a")
    assert len(results.manifest["not_applied"]) == 4
    network = results.table("network")
    assert network["goodput_gbps"].is_null().all()
    assert network["host_goodput_gbps"].is_null().all()
    assert "timeouts" not in network.columns
    assert "queue_bytes" in network.columns
    quiet = command("run", path, "--backend", "kernel", "--out", tmp_path / "b", *options[6:8])
    assert "not applied" not in quiet.err
    assert "not_applied" not in tailback.Results(tmp_path / "b").manifest


NEVER_ENDING = """
[workload]
kind = "command"
command = [
  { host = "server", run = "iperf3 --server", background = true },
  { host = "client", run = "iperf3 --client {server} --bytes 1M", start = "10ms" },
]
"""


def test_a_program_that_never_ends_is_over_with_the_others(tmp_path: Path) -> None:
    path = tmp_path / "pair.toml"
    path.write_text(PAIR + NEVER_ENDING)
    results = tailback.run(path, out=tmp_path / "out", backend="kernel")
    assert results.table("programs")["host"].to_list() == ["client"]
    received = results.table("counters").filter(host="server", counter="Tcp.InSegs")
    assert received["value"].item() > 20


def test_a_program_that_fails_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "pair.toml"
    path.write_text(PAIR + NEVER_ENDING.replace("--bytes 1M", "--no-such-option"))
    with pytest.raises(RunsFailed, match=r"host client failed: .*no-such-option.*status: 1: \S"):
        tailback.run(path, out=tmp_path / "out", backend="kernel")


SPINNING = f"""
[workload]
kind = "command"
command = [{{ host = "client", run = "factor {(2**89 - 1) * (2**107 - 1)}" }}]
"""
"""The factors are primes: it takes for ever, without a system call."""


def test_a_run_with_a_guest_that_spins_is_interrupted_at_once(tmp_path: Path) -> None:
    path = tmp_path / "pair.toml"
    path.write_text(PAIR + SPINNING)
    program = start("run", path, "--backend", "kernel", "--out", tmp_path / "out")
    wait_for(lambda: bool(_folders(program.pid)), program)
    time.sleep(1)
    since_s = time.monotonic()
    program.send_signal(signal.SIGINT)
    program.communicate()
    assert program.returncode == 130
    assert time.monotonic() - since_s < backend.PATIENCE_S / 2
