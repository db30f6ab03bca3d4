"""A link's lines for tc, and that kernels keep to them: in virtual time, with every qdisc."""

from pathlib import Path

import pytest

import tailback
from tailback.hosts import shaping
from tailback.records import RealEnd, RealLink

END: RealEnd = {"kind": "switch", "number": 0, "port": 0, "queue_bytes": 90_000}


def link(rate_bps: int, delay_ns: int = 0, loss: float = 0.0) -> RealLink:
    return {
        "ends": (END, END),
        "mtu_bytes": 1500,
        "rate_bps": rate_bps,
        "overhead_bytes": 24,
        "least_bytes": 84,
        "delay_ns": delay_ns,
        "loss": loss,
    }


def test_a_rate_is_a_bucket_of_a_millisecond() -> None:
    (line,) = shaping.lines("port0", link(100_000_000), END)
    assert line == (
        "qdisc add dev port0 root handle 1: tbf rate 100000000bit burst 12500 limit 90000 "
        "overhead 24 mpu 84"
    )


def test_a_bucket_holds_two_frames() -> None:
    (line,) = shaping.lines("port0", link(1_000_000), END)
    assert f"burst {2 * 1538} " in line


def test_delay_and_loss_come_before_the_queue() -> None:
    first, second = shaping.lines("port0", link(10**8, 2_500_000, 0.001), END)
    assert first == (
        "qdisc add dev port0 root handle 1: netem limit 1000000 delay 2500.000us loss 0.100000%"
    )
    assert second.startswith("qdisc add dev port0 parent 1:1 handle 2: tbf rate 100000000bit ")


KERNELS = """
name = "shaped"
host = "rhel-5.4-x5540-ne020"
stack = "linux-7.2"
[network]
topology = "star"
switch = "arista-7124s"
hosts = 2
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }
[workload]
kind = "bulk"
pair_window = "512kB"
pairs = { kind = "to-first" }
duration = "1s"
"""


@pytest.mark.parametrize("delay_ns", [0, 2_000_000])
def test_kernels_keep_to_the_lines(tmp_path: Path, delay_ns: int) -> None:
    """The sender's own interface is shaped; the simulated network beyond it is far faster."""
    lines = shaping.lines("eth0", link(100_000_000, delay_ns), END | {"queue_bytes": 1_000_000})
    path = tmp_path / "shaped.toml"
    path.write_text(KERNELS)
    scenario = tailback.load(path).set("kernel.tc", lines)
    results = tailback.run(scenario, out=tmp_path / "out", backend="kernel")
    flow = results.table("flows").row(0, named=True)
    goodput_mbps = flow["received_bytes"] * 8 / 1.0 / 1e6
    # Offloaded packets pass whole here, whose frames' preambles are not counted one by one.
    assert 0.9 * 100 * 1448 / 1538 < goodput_mbps < 100
    pings = tailback.run(
        scenario.set(
            "workload",
            {"kind": "ping", "pairs": {"kind": "to-first"}, "count": 5, "interval": "10ms"},
        ),
        out=tmp_path / "pings",
        backend="kernel",
    )
    # Both kernels delay what they send.
    rtt_ms = pings.summary["ping_ms_median"][0]
    assert 2 * delay_ns / 1e6 <= rtt_ms < 2 * delay_ns / 1e6 + 0.2
