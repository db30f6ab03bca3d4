"""A link's `qdisc` at a host's end: kernels get it by `tc`, with byte queue limits behind it."""

from pathlib import Path

import pytest

import tailback

SLOW = """
name = "slow"
host = "uml-virtio"
stack = "linux-7.2"

[network]
topology = "star"
hosts = 3
switch = { preset = "plain-queued" }
link = { rate = "50Mbit", delay = "20us", mtu = "1500B" }

[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["host0", "host1"], ["host0", "host2"]] }
connections = 4
duration = "2s"
"""

DISCIPLINES = {
    "fifo": {"kind": "fifo"},
    "codel": {"kind": "codel"},
    "fq-codel": {"kind": "fq-codel"},
    "cake": {"kind": "cake", "bandwidth": "45Mbit"},
}


def sent(path: Path, backend: str, kind: str) -> dict[str, float]:
    """What the eight flows came to."""
    scenario = tailback.Scenario(SLOW).set("network.link.qdisc.forward", DISCIPLINES[kind])
    flows = tailback.run(scenario, out=path / f"{kind}-{backend}", backend=backend).table("flows")
    return {
        "received_bytes": float(flows["received_bytes"].sum()),
        "srtt_us": float(flows["srtt_us"].mean() or 0),
    }


@pytest.mark.parametrize("kind", DISCIPLINES)
def test_kernels_have_it_by_tc(tmp_path: Path, kind: str) -> None:
    model, kernel = (sent(tmp_path, backend, kind) for backend in ("sim", "kernel"))
    assert model["received_bytes"] == pytest.approx(kernel["received_bytes"], rel=0.01)
    assert model["srtt_us"] == pytest.approx(kernel["srtt_us"], rel=0.15)


def test_only_what_waits_before_the_card_can_be_managed(tmp_path: Path) -> None:
    """Without byte queue limits all waits in the card's ring, and a discipline finds nothing."""
    fifo, codel = (sent(tmp_path, "kernel", kind) for kind in ("fifo", "codel"))
    assert codel["srtt_us"] < 0.6 * fifo["srtt_us"]
