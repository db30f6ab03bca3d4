"""Times in which links are down, as a report shades them."""

from typing import Any

import pytest

from tailback.analysis.outages import Outage, outages

ONCE = {"from": "100ms", "until": "400ms"}


def scenario(network: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"network": network, **more}


def down(*of: dict[str, str]) -> dict[str, Any]:
    return {"rate": "1Gbit", "impairment": {"outages": list(of)}}


@pytest.mark.parametrize(
    ("network", "named"),
    [
        ({"topology": "star", "link": down(ONCE)}, ["links"]),
        ({"topology": "leaf-spine", "link": {}, "uplink": down(ONCE)}, ["uplinks"]),
        ({"topology": "dumbbell", "link": {}, "trunk": [{}, down(ONCE)]}, ["trunk 1"]),
        ({"except": [{"ends": ["leaf0", "spine1"], **down(ONCE)}]}, ["leaf0 to spine1"]),
        ({"except": [{"ends": ["*", "spine1"], **down(ONCE)}]}, ["all links of spine1"]),
        (
            {"topology": "explicit", "link": [{"ends": ["a", "b"], **down(ONCE)}]},
            ["a to b"],
        ),
        ({"topology": "star", "link": {"rate": "1Gbit"}}, []),
    ],
)
def test_every_kind_of_link_has_a_name(network: dict[str, Any], named: list[str]) -> None:
    assert outages(scenario(network), 1.0) == [Outage(name, 0.1, 0.4) for name in named]


def test_what_comes_again_does_until_the_end() -> None:
    again = {"from": "100ms", "until": "150ms", "every": "400ms"}
    found = outages(scenario({"link": down(again)}), 0.92)
    spans = [(round(one.from_s, 9), round(one.until_s, 9)) for one in found]
    assert spans == [(0.1, 0.15), (0.5, 0.55), (0.9, 0.92)]
    assert outages(scenario({"link": down(again)}), 0.05) == []


def test_too_many_are_no_picture() -> None:
    flaps = {"from": "0s", "until": "1ms", "every": "2ms"}
    assert len(outages(scenario({"link": down(flaps)}), 0.4)) == 200
    assert outages(scenario({"link": down(flaps)}), 0.402) == []


@pytest.mark.parametrize(
    ("axis", "same"),
    [
        ({"seed": [1, 2]}, True),
        ({"tcp_congestion_control": ["reno", "cubic"]}, True),
        ({"network.reroute.local": ["1ms", "2ms"]}, True),
        ({"until": {"path": "network.except.0.impairment.outages.0.until"}}, False),
        ({"network.link.impairment.outages.0.until": ["1ms", "2ms"]}, False),
        ({"known": [{"label": {"known": "up"}, "set": {"network.except": []}}]}, False),
        ({"except": [[], []]}, False),
    ],
)
def test_where_a_sweep_may_change_them_there_are_none(axis: dict[str, Any], same: bool) -> None:
    found = outages(scenario({"link": down(ONCE)}, sweep=axis), 1.0)
    assert bool(found) is same
