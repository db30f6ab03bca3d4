"""Who is at which port, held against what runs record of each port."""

from pathlib import Path
from typing import Any

import pytest

import tailback
from synthetic import write_folder
from tailback.analysis import View
from tailback.analysis.neighbours import at_ports, neighbours
from tailback.results import Results

_LINK = '{ rate = "10Gbit", delay = "1us", mtu = "1500B" }'
_SCENARIO = f"""
name = "ports"
[network]
link = {_LINK}
switch = "plain-queued"
NETWORK
[host]
preset = "plain"
[workload]
kind = "bulk"
pairs = {{ kind = "permutation" }}
duration = "10us"
start_within = "0s"
"""
_NETWORKS = (
    'topology = "star"\nhosts = 3',
    'topology = "star"\nhosts = 2\nnames = ["nas", "a"]',
    f'topology = "stars"\nstars = 2\nhosts = 3\ncore = "plain-queued"\nuplink = {_LINK}',
    'topology = "fat-tree"\nk = 6',
    'topology = "leaf-spine"\nleaves = 3\nspines = 2\nhosts = 4',
    f'topology = "parking-lot"\npairs = 2\nhop_pairs = 3\ntrunk = [{_LINK}, {_LINK}]',
    f'topology = "dumbbell"\npairs = 2\ntrunk = [{_LINK}, {_LINK}]',
)


@pytest.mark.parametrize("network", _NETWORKS)
def test_ports_lead_where_the_simulator_says(network: str, tmp_path: Path) -> None:
    scenario = tailback.Scenario(_SCENARIO.replace("NETWORK", network))
    results = tailback.run(scenario, out=tmp_path / "run")
    recorded = results.table("ports").select("place", "link").rows()
    at_switches = {place: link for place, link in recorded if ":" in place}
    named = at_ports(scenario.resolved["network"])
    assert {p: f"{p.split(':')[0]}>{name}" for p, name in named.items()} == at_switches


def test_ports_of_an_explicit_network_have_names() -> None:
    explicit = {
        "topology": "explicit",
        "host": [{"name": "a"}, {"name": "b"}],
        "switch": [{"name": "s"}, {"name": "t"}],
        "link": [{"ends": ["a", "s"]}, {"ends": ["s", "t"]}, {"ends": ["t", "b"]}],
    }
    assert at_ports(explicit) == {"s:0": "a", "s:1": "t", "t:0": "s", "t:1": "b"}
    assert at_ports({}) == {}


def test_a_port_that_leads_elsewhere_in_another_run_has_no_name(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {
            "run": run,
            "spines": spines,
            "repetition": 0,
            "data_bytes_total": 0,
            "duration_s_total": 1.0,
        }
        for run, spines in enumerate([1, 2])
    ]
    network = {"topology": "leaf-spine", "leaves": 2, "spines": 1, "hosts": 1}
    folder = write_folder(
        tmp_path / "r",
        name="ports",
        title="Ports",
        study=None,
        parameters=["spines"],
        tables={"summary": rows},
        network=network,
    )
    found = neighbours(View(Results(folder)))
    assert found["leaf1:0"] == "host1"
    assert found["leaf1:2"] == "spine1"
    assert found["spine1:1"] == "leaf1"
    widened = network | {"hosts": 2}
    assert at_ports(widened)["leaf0:1"] != at_ports(network)["leaf0:1"]
