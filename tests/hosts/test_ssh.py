"""Runs on machines that SSH reaches: real kernels in real time, and nothing left behind."""

import json
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import tailback
from helpers import Command, programs, start, wait_for
from laboratory import HOSTS, Laboratory, laboratory, unable
from tailback.errors import InputError, RunsFailed, SimulationError
from tailback.hosts import tools

STAR = """
name = "star"
host = "plain"
stack = { preset = "linux-7.2", tcp_congestion_control = "reno" }
[network]
topology = "star"
switch = "arista-7124s"
hosts = 3
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
"""

INCAST = """
[workload]
kind = "incast"
servers = 2
size = "100kB"
iterations = 5
"""

BULK = """
[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["host2", "host1"]] }
duration = "30s"
"""

UDP = """
[workload]
kind = "udp"
pairs = { kind = "to-first" }
rate = "2Mbit"
duration = "1s"
socket_buffer = "1MB"
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    with laboratory(tmp_path_factory.mktemp("lab")) as found:
        yield found


def scenario(tmp_path: Path, workload: str, stack: str = "") -> tailback.Scenario:
    path = tmp_path / "star.toml"
    path.write_text(STAR + workload + stack)
    return tailback.load(path)


def run(
    lab: Laboratory,
    tmp_path: Path,
    workload: str,
    on_note: Callable[[str], None] | None = None,
) -> tailback.Results:
    """Run a workload on all three machines."""
    return tailback.run(
        scenario(tmp_path, workload),
        out=tmp_path / "out",
        backend="hosts",
        inventory=lab.inventory(HOSTS),
        on_note=on_note,
    )


def test_an_incast(tmp_path: Path, lab: Laboratory) -> None:
    notes: list[str] = []
    results = run(lab, tmp_path, INCAST, on_note=notes.append)
    summary = results.summary.row(0, named=True)
    assert summary["iterations"] == 5
    assert summary["data_bytes_total"] == 5 * 2 * 100_000
    assert not any(name.startswith(("switch_drops", "queue_bytes")) for name in summary)
    flows = results.table("flows")
    assert flows["source"].to_list() == ["host1", "host2"]
    assert flows["destination"].to_list() == ["host0", "host0"]
    assert flows["received_bytes"].to_list() == [500_000, 500_000]
    clocks = results.table("clocks")
    # All have one clock, and are asked for it over a connection that is up.
    assert clocks["ahead_ms"].abs().max() < 50  # type: ignore[operator]
    assert clocks["within_ms"].min() > 0  # type: ignore[operator]
    assert results.manifest["kernels"] == {f"host{n}": os.uname().release for n in range(3)}
    assert any(note.startswith("host1 is host1: 127.0.0.3 on lo") for note in notes)
    assert any("an MTU of 1500 bytes; lo of host0 has 65536" in note for note in notes)
    assert lab.left() == []


def test_datagrams(tmp_path: Path, lab: Laboratory) -> None:
    results = run(lab, tmp_path, UDP)
    flows = results.table("flows")
    assert sorted(flows["source"]) == ["host1", "host2"]
    assert flows["datagrams_sent"].min() > 100  # type: ignore[operator]
    assert lab.left() == []


COLLECTIVE = """
[workload]
kind = "collective"
operation = "all-reduce"
size = "300kB"
iterations = 4
compute = "1ms"
"""


def test_a_collective(tmp_path: Path, lab: Laboratory) -> None:
    results = run(lab, tmp_path, COLLECTIVE)
    summary = results.summary.row(0, named=True)
    # Four parts of a third from each of three hosts, four times.
    assert (summary["iterations"], summary["data_bytes_total"]) == (4, 4 * 3 * 400_000)
    flows = results.table("flows").sort("source")
    assert flows["destination"].to_list() == ["host1", "host2", "host0"]
    assert flows["received_bytes"].to_list() == [1_600_000] * 3
    took = results.table("transactions")
    assert took["completion_ms"].min() > 0  # type: ignore[operator]
    begun_s = took["start_s"].to_list()
    assert begun_s == sorted(begun_s)
    assert lab.left() == []


BESIDE = """
[workload]
kind = "request-response"
pairs = { kind = "listed", list = [["host1", "host0"]] }
duration = "1s"
[[background_flows]]
pairs = { kind = "listed", list = [["host2", "host0"]] }
connections = 2
priority = [0, 3]
"""


def test_flows_beside_the_workload(tmp_path: Path, lab: Laboratory) -> None:
    results = run(lab, tmp_path, BESIDE)
    flows = results.table("flows")
    assert (flows["source"].to_list(), flows["destination"].to_list()) == (["host1"], ["host0"])
    beside = results.table("background_flows")
    assert beside["source"].to_list() == ["host2", "host2"]
    assert beside["received_bytes"].min() > 1_000_000  # type: ignore[operator]
    assert beside["segments_sent"].min() > 10  # type: ignore[operator]
    assert beside["end_s"].to_list() == [1.0, 1.0]
    assert lab.left() == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_killed_leaves_nothing(
    tmp_path: Path, lab: Laboratory, how: signal.Signals
) -> None:
    scenario(tmp_path, BULK)
    inventory = lab.inventory(HOSTS)
    run = ("run", "star.toml", "--out", "out", "--backend", "hosts", "--inventory", inventory)
    process = start(*run, cwd=tmp_path)
    wait_for(lambda: len(agents(lab)) == 2, process)
    process.send_signal(how)
    process.communicate()
    if how is not signal.SIGKILL:
        assert process.returncode == 130
        assert lab.left() == []
    deadline_s = time.monotonic() + 60
    while agents(lab) or lab.left():
        assert time.monotonic() < deadline_s, (agents(lab), lab.left())
        time.sleep(0.05)


def test_what_a_killed_run_left_here_is_removed_by_the_next(
    tmp_path: Path, lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario(tmp_path, BULK)
    inventory = lab.inventory(HOSTS)
    run = ("run", "star.toml", "--out", "out", "--backend", "hosts", "--inventory", inventory)
    # Paths of sockets are short.
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        process = start(*run, cwd=tmp_path)
        wait_for(lambda: len(agents(lab)) == 2, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert list(Path(folder).iterdir())
        process = start("hosts", "check", inventory)
        process.communicate()
        assert process.returncode == 0
        assert list(Path(folder).iterdir()) == []


def agents(lab: Laboratory, how: bytes = b"--attached") -> list[int]:
    """Agents that are running tasks."""
    own = str(lab.folder).encode()
    return [pid for pid, words in programs() if how in words and words[0].startswith(own)]


def test_what_login_shells_say_is_none_of_the_agents(tmp_path: Path) -> None:
    chatty = 'ForceCommand echo Welcome; echo \'{"kind": "news"}\'; eval "$SSH_ORIGINAL_COMMAND"\n'
    with laboratory(tmp_path, more=chatty) as lab:
        results = run(lab, tmp_path, UDP)
        assert sorted(results.table("flows")["source"]) == ["host1", "host2"]
        assert lab.left() == []


def test_one_kernel_is_counted_once(tmp_path: Path, lab: Laboratory) -> None:
    results = run(lab, tmp_path, BULK.replace("30s", "1s"))
    counters = results.table("counters")
    assert counters.filter(counter="Tcp.OutSegs").height == 1


def test_what_cannot_be_is_refused_before_anything_runs(tmp_path: Path, lab: Laboratory) -> None:
    def refused(inventory: Path, stack: str = "") -> str:
        with pytest.raises(InputError) as error:
            tailback.run(
                scenario(tmp_path, INCAST, stack),
                out=tmp_path / "out",
                backend="hosts",
                inventory=inventory,
            )
        return str(error.value)

    assert "for host2 there is no machine" in refused(lab.inventory(HOSTS[:2]))
    said = refused(lab.inventory(["127.0.0.2", "203.0.113.1", "203.0.113.2"]))
    assert "host1 (lab1): no interface has 203.0.113.1" in said
    assert "host2 (lab2): no interface has 203.0.113.2" in said
    assert "are one machine" in refused(lab.inventory(HOSTS, top='sysctls = "set"'))
    assert "kernel.tc" in refused(lab.inventory(HOSTS), '[kernel]\ntc = ["qdisc show"]\n')
    assert "asks for kernel 1.2" in refused(lab.inventory(HOSTS), '[kernel]\nversion = "1.2"\n')
    least, most = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    for port in (int(least) - 2, int(least) + 100, int(most)):
        among = f'sysctls = "leave"\nfirst_port = {port}'
        said = refused(lab.inventory(HOSTS, top=among))
        assert (
            f"give a first_port of at most {int(least) - 5} or at least {int(most) + 1025}" in said
        )
    inventory = lab.inventory(HOSTS)
    (lab.folder / "elsewhere").write_text("Host *\n HostName 127.0.0.1\n Port 1\n")
    inventory.write_text(inventory.read_text().replace('"client"', '"elsewhere"'))
    assert "Connection refused" in refused(inventory)
    assert not (tmp_path / "out.partial").exists()
    with pytest.raises(InputError, match="needs an inventory"):
        tailback.run(scenario(tmp_path, INCAST), backend="hosts")
    with pytest.raises(InputError, match="an inventory is for backend hosts"):
        tailback.run(scenario(tmp_path, INCAST), backend="kernel", inventory=inventory)


def test_an_inventory_is_checked(lab: Laboratory, command: Command) -> None:
    answer = command("hosts", "check", lab.inventory(HOSTS), "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert [one["address"] for one in found] == list(HOSTS)
    assert {(one["interface"], one["sysctls"]) for one in found} == {("lo", "stay")}
    assert lab.left() == []
    answer = command("hosts", "check", lab.inventory(["127.0.0.2", "203.0.113.1"]))
    assert answer.code == 2
    assert "no interface has 203.0.113.1" in answer.err


ADDRESSES = ("10.213.77.1", "10.213.77.2")

SYSCTL = "net.ipv4.tcp_reordering"

TOLD = """
[workload]
kind = "command"
command = [{ host = "host1", run = "cat /proc/sys/net/ipv4/tcp_reordering" }]
"""


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[Laboratory]:
    """Machines whose sysctls are their own: network namespaces, which take root."""
    if unable():
        pytest.skip(unable())
    bridge = f"tb{os.getpid()}"
    names = [f"{bridge}-{number}" for number in range(len(ADDRESSES))]
    try:
        tools.call("ip", "link", "add", bridge, "type", "bridge")
        tools.call("ip", "address", "add", "10.213.77.254/24", "dev", bridge)
        tools.call("ip", "link", "set", bridge, "up")
        for name, address in zip(names, ADDRESSES, strict=True):
            tools.call("ip", "netns", "add", name)
            pair = ("add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
            tools.call("ip", "link", *pair)
            tools.call("ip", "link", "set", name, "master", bridge, "up")
            inside = ("-n", name)
            tools.call("ip", *inside, "address", "add", f"{address}/24", "dev", "eth0")
            tools.call("ip", *inside, "link", "set", "lo", "up")
            tools.call("ip", *inside, "link", "set", "eth0", "up")
        inside_of = [["ip", "netns", "exec", name] for name in names]
        with laboratory(tmp_path, zip(inside_of, ADDRESSES, strict=True)) as found:
            yield found
    finally:
        for name in names:
            # A namespace that goes takes its links along, but later.
            with suppress(SimulationError):
                tools.call("ip", "link", "del", name)
            with suppress(SimulationError):
                tools.call("ip", "netns", "del", name)
        with suppress(SimulationError):
            tools.call("ip", "link", "del", bridge)


def sysctls(sysctl: str = SYSCTL) -> list[str]:
    """What a sysctl is in each of them."""
    names = (f"tb{os.getpid()}-{number}" for number in range(len(ADDRESSES)))
    path = "/proc/sys/" + sysctl.replace(".", "/")
    return [tools.call("ip", "netns", "exec", name, "cat", path).strip() for name in names]


def test_sysctls_are_put_back(tmp_path: Path, apart: Laboratory) -> None:
    before = sysctls()
    wanted = scenario(tmp_path, TOLD).override(f"kernel.sysctl.{SYSCTL}=7")
    lab = apart.inventory(ADDRESSES, top='sysctls = "set"')
    results = tailback.run(wanted, out=tmp_path / "out", backend="hosts", inventory=lab)
    assert results.table("programs")["output"].to_list() == ["7\n"]
    assert sysctls() == before != ["7", "7"]
    assert apart.left() == []


PORTS = "net.ipv4.ip_local_reserved_ports"


def test_a_sysctl_that_was_empty_is_empty_again(tmp_path: Path, apart: Laboratory) -> None:
    told = TOLD.replace("tcp_reordering", "ip_local_reserved_ports")
    wanted = scenario(tmp_path, told).override(f"kernel.sysctl.{PORTS}=30000-30010")
    lab = apart.inventory(ADDRESSES, top='sysctls = "set"')
    results = tailback.run(wanted, out=tmp_path / "out", backend="hosts", inventory=lab)
    assert results.table("programs")["output"].to_list() == ["30000-30010\n"]
    assert sysctls(PORTS) == ["", ""]


def test_a_congestion_control_that_a_machine_lacks_is_named(
    tmp_path: Path, apart: Laboratory
) -> None:
    wanted = scenario(tmp_path, TOLD).override("kernel.sysctl.net.ipv4.tcp_congestion_control=none")
    lab = apart.inventory(ADDRESSES, top='sysctls = "set"')
    with pytest.raises(RunsFailed, match=r"host1 failed: .*= none .* does not have it; there are "):
        tailback.run(wanted, out=tmp_path / "out", backend="hosts", inventory=lab)
    assert apart.left() == []


def test_of_two_runs_at_once_one_is_refused(tmp_path: Path, apart: Laboratory) -> None:
    before = sysctls()
    scenario(tmp_path, BULK.replace("host2", "host0").replace("30s", "120s"))
    lab = apart.inventory(ADDRESSES, top='sysctls = "set"')
    run = ("run", "star.toml", "--backend", "hosts", "--inventory", lab)
    wanted = (f"kernel.sysctl.{SYSCTL}={value}" for value in (7, 9))
    first = start(*run, "--out", "first", "--set", next(wanted), cwd=tmp_path)
    wait_for(lambda: len(agents(apart)) == 2, first)
    apart.inventory(ADDRESSES, top='sysctls = "set"\nfirst_port = 21000')
    second = start(*run, "--out", "second", "--set", next(wanted), cwd=tmp_path)
    said = second.communicate()[1]
    assert second.returncode == 1
    assert "another run is going on" in said
    assert sysctls() == ["7", "7"]
    first.send_signal(signal.SIGINT)
    first.communicate()
    assert sysctls() == before
    assert apart.left() == []


def test_listening_ports_are_told_from_those_of_who_connects(
    tmp_path: Path, apart: Laboratory
) -> None:
    for number in range(len(ADDRESSES)):
        path = "/proc/sys/net/ipv4/ip_local_port_range"
        write = ("sh", "-c", f"echo 19000 19999 > {path}")
        tools.call("ip", "netns", "exec", f"tb{os.getpid()}-{number}", *write)
    bulk = BULK.replace("host2", "host0").replace("30s", "1s")
    wanted = scenario(tmp_path, bulk).override("workload.connections=3")

    def ran(first_port: int) -> tailback.Results:
        lab = apart.inventory(ADDRESSES, top=f'sysctls = "leave"\nfirst_port = {first_port}')
        out = tmp_path / str(first_port)
        return tailback.run(wanted, out=out, backend="hosts", inventory=lab)

    with pytest.raises(InputError, match="give a first_port of at most 18993 or at least 21024"):
        ran(20_000)
    for first_port in (18_993, 21_024):
        flows = ran(first_port).table("flows")
        assert flows["flow"].to_list() == [0, 1, 2]
        assert flows["segments_sent"].min() > 1000  # type: ignore[operator]


def test_a_lost_connection_puts_back(tmp_path: Path, apart: Laboratory) -> None:
    before = sysctls()
    scenario(tmp_path, BULK.replace("host2", "host0"))
    lab = apart.inventory(ADDRESSES, top='sysctls = "set"')
    run = ("run", "star.toml", "--out", "out", "--backend", "hosts", "--inventory", lab)
    process = start(*run, "--set", f"kernel.sysctl.{SYSCTL}=7", cwd=tmp_path)
    wait_for(lambda: len(agents(apart)) == 2, process)
    assert sysctls() == ["7", "7"]
    # The server's end of the connection to one of them.
    agent = agents(apart, b"--on-host")[0]
    os.kill(parent_of(agent), signal.SIGKILL)
    _, said = process.communicate()
    assert process.returncode == 1
    assert "failed" in said
    assert sysctls() == before
    assert apart.left() == []


def parent_of(process: int) -> int:
    stat = Path(f"/proc/{process}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


def test_what_a_killed_agent_changed_is_put_back(tmp_path: Path, apart: Laboratory) -> None:
    before = sysctls()
    scenario(tmp_path, BULK.replace("host2", "host0"))
    lab = apart.inventory(ADDRESSES, top='sysctls = "set"')
    run = ("run", "star.toml", "--out", "out", "--backend", "hosts", "--inventory", lab)
    process = start(*run, "--set", f"kernel.sysctl.{SYSCTL}=7", cwd=tmp_path)
    wait_for(lambda: len(agents(apart)) == 2, process)
    assert sysctls() == ["7", "7"]
    for agent in agents(apart, b"--on-host"):
        os.kill(agent, signal.SIGKILL)
    _, said = process.communicate()
    assert process.returncode == 1
    assert "failed" in said
    assert sysctls() == before
    assert apart.left() == []
