"""Short scenarios drawn by lot, the same each time: tables hold numbers, and each has a page."""

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tailback
from tailback.errors import InputError
from tailback.report import write_report

PRESETS = ("plain", "rhel-5.4-x5540-ne020", "server-25g", "das2-p3-gbe", "server-25g-machine")
PAIRS: tuple[dict[str, Any], ...] = (
    {"kind": "to-first"},
    {"kind": "permutation"},
    {"kind": "mesh"},
)
SHORT = ("20us", "1ms", "8ms")
"""Nobody is connected yet; few have done anything; most have."""


def workload(lot: random.Random) -> dict[str, Any]:
    kind = lot.choice(
        (
            "incast",
            "bulk",
            "flows",
            "iperf3",
            "flent",
            "bernoulli",
            "udp",
            "request-response",
            "ping",
        )
    )
    lasts = {"duration": lot.choice(SHORT)}
    among = {"pairs": lot.choice(PAIRS)}
    more: dict[str, dict[str, Any]] = {
        "incast": {"servers": 2, "size": lot.choice(("1B", "200kB")), "iterations": 2},
        "bulk": lasts | among | {"start_within": "0s", "priority": [0, 3]},
        "flows": lasts | {"load": 0.4, "sizes": {"kind": "web-search"}},
        "iperf3": lasts | {"senders": 2, "measured": lot.choice(("first", "all"))},
        "flent": {
            "test": lot.choice(("tcp_upload", "tcp_download", "rrul")),
            "length": lot.choice(SHORT[1:]),
            "delay": "100us",
            "step_size": "250us",
        },
        "bernoulli": lasts | {"load": lot.choice((0.1, 0.8))},
        "udp": lasts | among | {"rate": "300Mbit", "socket_buffer": "20kB"},
        "request-response": lasts | among | {"response": lot.choice(("1B", "100kB"))},
        "ping": among | {"duration": "4ms", "interval": "1ms"},
    }
    return {"kind": kind} | more[kind]


def scenario(number: int) -> dict[str, Any]:
    lot = random.Random(f"report {number}")  # noqa: S311 - a case, no secret
    link: dict[str, Any] = {"rate": "1Gbit", "delay": "5us", "mtu": "1500B"}
    if lot.random() < 0.4:
        link |= lot.choice(({"loss": 0.02}, {"framing": "pos"}, {"framing": "vlan"}))
    queue = lot.choice(("fifo", "fq-codel", "dualpi2", "cobalt"))
    pushed = lot.choice(
        ({}, {"flow_control": {"kind": "pause", "high_watermark": "30KB", "low_watermark": "20KB"}})
    )
    switches: tuple[Any, ...] = (
        "plain",
        "cisco-nexus-5010",
        {"preset": "plain-queued", "buffer": {"queue": {"kind": queue}}} | pushed,
    )
    record: dict[str, Any] = lot.choice(({}, {"sample_interval": "100us", "interfaces": "1ms"}))
    return {
        "name": f"drawn-{number}",
        "network": {
            "topology": "star",
            "hosts": 4,
            "link": link,
            "switch": lot.choice(switches),
            "clock_ppm": lot.choice((0, 100)),
        },
        "host": {"preset": lot.choice(PRESETS)},
        "stack": {
            "preset": lot.choice(("linux-7.2", "linux-2.6.18")),
            "tcp_ecn": lot.choice((0, 1)),
        },
        "workload": workload(lot),
        "record": record,
        "sweep": lot.choice(({}, {"network.link.delay": ["5us", "50us"]})),
    }


@pytest.mark.parametrize("number", range(1, 25))
def test_what_comes_of_any_scenario_can_be_shown(tmp_path: Path, number: int) -> None:
    results = tailback.run(tailback.Scenario(scenario(number)), out=tmp_path / "r")
    for name in results.tables:
        table = results.table(name)
        for column in table.select(pl.selectors.numeric()).columns:
            values = table[column].drop_nulls()
            assert values.is_finite().all(), (name, column)
            least, most = values.min(), values.max()
            assert least is None or least >= 0, (name, column)
            if column.startswith("slowdown"):
                assert least is None or least > 0.999, (name, column)
            if column == "utilisation":
                assert most is None or most < 1.01, (name, column)
    assert write_report(results, tmp_path / "page.html").stat().st_size > 10_000


@pytest.mark.parametrize("number", range(1, 17))
def test_kernels_make_of_any_scenario_what_the_simulator_makes(tmp_path: Path, number: int) -> None:
    """Not the same figures, for with losses these are a matter of luck: flows are the same ones."""
    drawn = scenario(number) | {"host": "uml-virtio", "stack": {"preset": "linux-7.2"}}
    switch = drawn["network"]["switch"]
    if isinstance(switch, dict):
        switch.pop("flow_control", None)
    given = tailback.Scenario(drawn)
    if drawn["workload"]["kind"] == "bernoulli":
        with pytest.raises(InputError, match="modelled hosts only"):
            tailback.run(given, out=tmp_path / "k", backend="kernel")
        return
    runs = [
        tailback.run(given, out=tmp_path / backend, backend=backend)
        for backend in ("sim", "kernel")
    ]
    assert ["flows" in run.tables for run in runs] in ([True] * 2, [False] * 2)
    for name in {"flows", "background_flows"} & set(runs[0].tables):
        flows = [run.table(name).select("run", "source", "destination") for run in runs]
        assert_frame_equal(*flows, check_row_order=False)
