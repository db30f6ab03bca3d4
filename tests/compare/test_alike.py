"""Modelled hosts beside kernels: whether they have what those have."""

from dataclasses import replace
from pathlib import Path

import pytest

import tailback
from tailback.compare import Comparison, Side, between, side
from tailback.scenario import load


def sides(folder: Path, **settings: object) -> tuple[Side, Side]:
    """What `two-senders` says in the simulator, and the same as if of kernels."""
    scenario = load("two-senders").set("workload.duration", "2ms").set("sweep", {"senders": [1, 2]})
    for key, value in settings.items():
        scenario = scenario.set(key, value)
    one = side(tailback.run(scenario, out=folder))
    return one, replace(one, name="kernels", backend="kernel")


@pytest.mark.parametrize("swapped", [False, True])
def test_hosts_that_take_no_time_are_told_of(tmp_path: Path, *, swapped: bool) -> None:
    model, kernels = sides(tmp_path / "r", host="plain")
    found = between(kernels, model) if swapped else between(model, kernels)
    assert f"hosts of {model.name} do not" in found.unlike
    assert "--set host=uml-virtio" in found.unlike
    assert found.to_dict()["hosts"] == found.hosts


def test_hosts_as_kernels_are_are_not(tmp_path: Path) -> None:
    model, kernels = sides(tmp_path / "r", host="uml-virtio")
    assert between(model, kernels).unlike == ""
    # Nor are two of one backend.
    plain: Comparison = between(replace(model, backend="kernel"), kernels)
    assert plain.hosts == ""


def test_a_host_that_says_it_itself_is_like_them(tmp_path: Path) -> None:
    host = {"preset": "plain", "gro": True, "interrupt_gap": "8us", "rx_page": "4096B"}
    model, kernels = sides(tmp_path / "r", host=host)
    assert between(model, kernels).unlike == ""
