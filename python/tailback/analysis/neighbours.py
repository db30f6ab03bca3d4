"""Who is at which port of a switch, by what a scenario says of its network."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from tailback.analysis.view import View

_NUMBERS = frozenset({"hosts", "stars", "k", "leaves", "spines", "pairs", "hop_pairs"})
"""What says how large a network is."""

_Link = tuple[str, str]


def neighbours(view: View) -> dict[str, str]:
    """Return who is at each switch port, `switch:number` -> name.

    Ports that lead to different neighbours in different runs of the sweep are left out.
    """
    network = view.results.manifest["scenario"].get("network", {})
    numbers = {p: p.removeprefix("network.") for p in view.results.parameters}
    swept = [p for p, number in numbers.items() if number in _NUMBERS]
    if not swept:
        return at_ports(network)
    found: dict[str, set[str]] = {}
    for row in view.results.summary.select(swept).unique().iter_rows(named=True):
        of_run = at_ports(network | {numbers[p]: value for p, value in row.items()})
        for port, name in of_run.items():
            found.setdefault(port, set()).add(name)
    return {port: names.pop() for port, names in found.items() if len(names) == 1}


def at_ports(network: Mapping[str, Any]) -> dict[str, str]:
    """Return who is at each switch port of one network, `switch:number` -> name."""
    links = list(_LINKS.get(str(network.get("topology")), _none)(network))
    if network.get("topology") == "explicit":
        switches = [switch["name"] for switch in network.get("switch", [])]
    else:
        switches = [b for _, b in links]
    ends: dict[str, list[str]] = {switch: [] for switch in switches}
    for a, b in links:
        for here, there in ((a, b), (b, a)):
            if here in ends:
                ends[here].append(there)
    return {f"{s}:{i}": name for s, names in ends.items() for i, name in enumerate(names)}


def _none(_: Mapping[str, Any]) -> Iterator[_Link]:
    yield from ()


def _star(network: Mapping[str, Any]) -> Iterator[_Link]:
    names = network.get("names") or [f"host{i}" for i in range(network.get("hosts", 0))]
    yield from ((name, "switch") for name in names)


def _stars(network: Mapping[str, Any]) -> Iterator[_Link]:
    stars = range(network["stars"])
    for star, host in product(stars, range(network["hosts"])):
        yield f"star{star}-host{host}", f"star{star}"
    yield from ((f"star{star}", "core") for star in stars)


def _fat_tree(network: Mapping[str, Any]) -> Iterator[_Link]:
    half = network["k"] // 2
    edges = network["k"] * half
    for edge, host in product(range(edges), range(half)):
        yield f"host{edge * half + host}", f"edge{edge}"
    for edge, up in product(range(edges), range(half)):
        yield f"edge{edge}", f"aggregation{edge // half * half + up}"
    for aggregation, up in product(range(edges), range(half)):
        yield f"aggregation{aggregation}", f"core{aggregation % half * half + up}"


def _leaf_spine(network: Mapping[str, Any]) -> Iterator[_Link]:
    leaves, hosts = range(network["leaves"]), network["hosts"]
    for leaf, host in product(leaves, range(hosts)):
        yield f"host{leaf * hosts + host}", f"leaf{leaf}"
    for leaf, spine in product(leaves, range(network["spines"])):
        yield f"leaf{leaf}", f"spine{spine}"


def _dumbbell(network: Mapping[str, Any]) -> Iterator[_Link]:
    trunks = len(network["trunk"])
    for side, switch in (("left", 0), ("right", trunks)):
        yield from ((f"{side}{i}", f"switch{switch}") for i in range(network["pairs"]))
    yield from ((f"switch{i}", f"switch{i + 1}") for i in range(trunks))


def _parking_lot(network: Mapping[str, Any]) -> Iterator[_Link]:
    trunks = len(network["trunk"])
    for side, far in (("left", 0), ("right", 1)):
        yield from ((f"{side}{i}", f"switch{far * trunks}") for i in range(network["pairs"]))
        for hop, i in product(range(trunks), range(network["hop_pairs"])):
            yield f"hop{hop}-{side}{i}", f"switch{hop + far}"
    yield from ((f"switch{i}", f"switch{i + 1}") for i in range(trunks))


def _explicit(network: Mapping[str, Any]) -> Iterator[_Link]:
    for link in network.get("link", []):
        a, b = link["ends"]
        yield a, b


_LINKS = {
    "star": _star,
    "stars": _stars,
    "fat-tree": _fat_tree,
    "leaf-spine": _leaf_spine,
    "dumbbell": _dumbbell,
    "parking-lot": _parking_lot,
    "explicit": _explicit,
}
"""Every link of a network in the order of ports; of a generated one no host stands second."""
