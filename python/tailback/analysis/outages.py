"""Times in which links of a scenario are down, as far as they are the same in all of its runs."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tailback.analysis.times import seconds

_MOST = 200
"""More bands than this are no picture."""
_SWEPT = re.compile(
    r'"(network|(network\.)?(link|uplink|trunk|except)(\.[^"]*)?)"|outages|impairment'
)
"""A sweep that has one of these may change what is down."""
_KINDS = {"uplink": "uplinks", "link": "links"}


@dataclass(frozen=True)
class Outage:
    """A time in which a link, or all links of a kind, are down.

    Attributes:
        link: which, as a reader would say.
        from_s: when it goes down, seconds since the run began.
        until_s: when it is up again.
    """

    link: str
    from_s: float
    until_s: float


def outages(scenario: Mapping[str, Any], end_s: float) -> list[Outage]:
    """Return all outages of a resolved scenario that begin before `end_s`.

    None where the sweep may change them, or where there are too many to be seen.
    """
    if _SWEPT.search(json.dumps(scenario.get("sweep", {}))):
        return []
    network = scenario.get("network", {})
    found = list(islice(_all(network, end_s), _MOST + 1))
    return found if len(found) <= _MOST else []


def _all(network: Mapping[str, Any], end_s: float) -> Iterator[Outage]:
    for name, link in _links(network):
        impairment = link.get("impairment") or {}
        for outage in impairment.get("outages", []):
            first, last = seconds(outage["from"]), seconds(outage["until"])
            every = seconds(outage["every"]) if "every" in outage else None
            while first < end_s:
                yield Outage(name, first, min(last, end_s))
                if every is None:
                    break
                first, last = first + every, last + every


def _links(network: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every link or kind of links that the network speaks of, and what it is called."""
    for key in ("link", "uplink"):
        one = network.get(key)
        if isinstance(one, Mapping):
            yield _KINDS[key], one
    for number, one in enumerate(network.get("trunk", [])):
        yield f"trunk {number}", one
    named = network.get("link")
    listed = [*(named if isinstance(named, list) else []), *network.get("except", [])]
    for one in listed:
        ends = one["ends"]
        known = [end for end in ends if end != "*"]
        yield (f"all links of {known[0]}" if len(known) == 1 else " to ".join(ends)), one
