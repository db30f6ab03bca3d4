"""A run's network on this machine: a namespace for each host and switch, virtual links between.

`ip netns list` shows them as tailback-TOKEN-NAME. A host's interface is eth0, a switch's ports are
port0, port1, … of its bridge br0. Bridges know every host's port from the start, and hosts every
neighbour: nothing is flooded and nobody asks.
"""

import os
import re
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tailback.errors import InputError, SimulationError
from tailback.hosts import shaping, tools
from tailback.records import Counted, CountedPort, RealEnd, RealHosts, RealLink

PREFIX = "tailback-"
"""Of every namespace's name."""

SHORTEST_DELAY = "50us"
"""As in crates/sim/src/external/real_plan.rs."""

BRIDGE = "br0"
INTERFACE = "eth0"

MTU_BYTES = 1500
"""A bridge's without ports; with them it has the least of theirs, and forwards what each takes."""

IPV6_MTU_BYTES = 1280
"""The least on which there is IPv6 (RFC 8200, 5)."""

UP_S = 20.0
UP_POLL_S = 0.05
"""How long links are given to come up, and how often they are looked at. [assumed]"""

_PLAIN = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""Names that can be a part of a namespace's name; others are numbered, after a plus."""


@dataclass(frozen=True)
class Network:
    """The network of one run."""

    token: str
    """What its namespaces' names have, and those of no other run."""
    plan: RealHosts

    def host(self, number: int) -> str:
        """The namespace of a host, by its number in the run."""
        name = next(host["name"] for host in self.plan["hosts"] if host["number"] == number)
        return self._namespace(name, f"+h{number}")

    def switch(self, number: int) -> str:
        """The namespace of a switch."""
        return self._namespace(self.plan["switches"][number], f"+s{number}")

    def _namespace(self, name: str, otherwise: str) -> str:
        plain = name if _PLAIN.fullmatch(name) else otherwise
        return f"{PREFIX}{self.token}-{plain}"

    def build(self) -> None:
        """Makes namespaces, bridges and links; raises `SimulationError` with what fails."""
        tools.call("ip", lines=self._links())
        for number in range(len(self.plan["switches"])):
            switch = self.switch(number)
            tools.call("ip", "-n", switch, lines=self._ports(number))
            tools.call("bridge", "-n", switch, lines=self._stations(number))
        for namespace, _, lines in self._shaping():
            tools.call("tc", "-n", namespace, lines=lines)

    def wait_until_up(self) -> None:
        """Waits until every link is up and every port forwards, once the hosts are set up.

        Linux tells bridges and queues of a link that has come up once a second
        (net/core/link_watch.c), and until then frames are lost without a trace.

        Raises `SimulationError` that names the link that does not come up.
        """
        deadline_s = time.monotonic() + UP_S
        for _, end, _ in self._ends():
            namespace, device = self._where(end)
            while not _is_up(namespace, device, is_port=end["kind"] == "switch"):
                if time.monotonic() > deadline_s:
                    raise SimulationError(f"{namespace}: {device} is not up after {UP_S:.0f} s")
                time.sleep(UP_POLL_S)

    def counted(self) -> Counted:
        """Frames and drops so far."""
        frames = 0
        drops: list[CountedPort] = []

        def lost(place: str, cause: str, frames: int) -> None:
            if frames:
                drops.append(CountedPort(place=place, cause=cause, frames=frames))

        for link, end, other in self._ends():
            namespace, device = self._where(end)
            (state,) = tools.asked("ip", "-s", "-n", namespace, "link", "show", "dev", device)
            sent = state["stats64"]["tx"]
            frames += sent["packets"]
            lost(self._place(other), "backlog-full", sent["dropped"])
            queues = tools.asked("tc", "-s", "-n", namespace, "qdisc", "show", "dev", device)
            by_kind = {queue["kind"]: queue for queue in queues}
            full = by_kind["tbf"]["drops"]
            cause = "tx-queue-full" if end["kind"] == "host" else "queue-limit"
            lost(self._place(end), cause, full)
            if shaping.is_impaired(link):
                # netem counts what the queue behind it refuses, too.
                name = f"{self._name(end)}-{self._name(other)}"
                lost(name, "link-loss", by_kind["netem"]["drops"] - full)
        return Counted(frames=frames, drops=drops)

    def remove(self) -> None:
        """Ends what runs in its namespaces and removes them."""
        remove(self.token)

    def _links(self) -> Iterator[str]:
        for host in self.plan["hosts"]:
            yield f"netns add {self.host(host['number'])}"
        for number in range(len(self.plan["switches"])):
            yield f"netns add {self.switch(number)}"
        macs = {host["number"]: host["mac"] for host in self.plan["hosts"]}
        for link in self.plan["links"]:
            first, second = (self._end(end, link, macs) for end in link["ends"])
            yield f"link add {first} type veth peer {second}"

    def _end(self, end: RealEnd, link: RealLink, macs: dict[int, str]) -> str:
        namespace, device = self._where(end)
        address = f"address {macs[end['number']]} " if end["kind"] == "host" else ""
        return f"name {device} mtu {link['mtu_bytes']} {address}netns {namespace}"

    def _ports(self, number: int) -> Iterator[str]:
        yield f"link add name {BRIDGE} type bridge stp_state 0 mcast_snooping 0"
        least = MTU_BYTES
        for link, end, _ in self._ends():
            if end["kind"] == "switch" and end["number"] == number:
                port = self._where(end)[1]
                mtu = link["mtu_bytes"]
                yield f"link set dev {port}{_without_ipv6(mtu)} master {BRIDGE}"
                yield f"link set dev {port} up"
                least = min(least, mtu)
        yield f"link set dev {BRIDGE}{_without_ipv6(least)} up"

    def _stations(self, number: int) -> Iterator[str]:
        """Which port leads to which host."""
        for _, end, other in self._ends():
            if end["kind"] != "switch" or end["number"] != number:
                continue
            reached = self._hosts_behind(other, ("switch", number))
            for host in self.plan["hosts"]:
                if host["number"] in reached:
                    yield f"fdb add {host['mac']} dev {self._where(end)[1]} master static"

    def _hosts_behind(self, end: RealEnd, before: tuple[str, int]) -> set[int]:
        """The hosts that are reached over `end` from `before`, in a network that is a tree."""
        if end["kind"] == "host":
            return {end["number"]}
        here = (end["kind"], end["number"])
        return {
            host
            for _, own, other in self._ends()
            if (own["kind"], own["number"]) == here and (other["kind"], other["number"]) != before
            for host in self._hosts_behind(other, here)
        }

    def _shaping(self) -> Iterator[tuple[str, str, list[str]]]:
        for link, end, _ in self._ends():
            namespace, device = self._where(end)
            yield namespace, device, shaping.lines(device, link, end)

    def _ends(self) -> Iterator[tuple[RealLink, RealEnd, RealEnd]]:
        """Every end of every link, and the end at the other side."""
        for link in self.plan["links"]:
            first, second = link["ends"]
            yield link, first, second
            yield link, second, first

    def _where(self, end: RealEnd) -> tuple[str, str]:
        """The namespace and the device of an end."""
        if end["kind"] == "host":
            return self.host(end["number"]), INTERFACE
        return self.switch(end["number"]), f"port{end['port']}"

    def _name(self, end: RealEnd) -> str:
        if end["kind"] == "host":
            return next(h["name"] for h in self.plan["hosts"] if h["number"] == end["number"])
        return self.plan["switches"][end["number"]]

    def _place(self, end: RealEnd) -> str:
        """As the table `drops` has places."""
        port = "" if end["kind"] == "host" else f":{end['port']}"
        return f"{self._name(end)}{port}"


def _is_up(namespace: str, device: str, *, is_port: bool) -> bool:
    (link,) = tools.asked("ip", "-n", namespace, "link", "show", "dev", device)
    if not is_port:
        return bool(link["operstate"] == "UP")
    (port,) = tools.asked("bridge", "-n", namespace, "link", "show", "dev", device)
    return bool(link["operstate"] == "UP" and port["state"] == "forwarding")


def _without_ipv6(mtu_bytes: int) -> str:
    """Keeps a switch from having addresses of its own, which it would tell its neighbours of.

    A device whose MTU is too small for IPv6 has none of it, and nothing to set.
    """
    has = mtu_bytes >= IPV6_MTU_BYTES and Path("/proc/sys/net/ipv6").exists()
    return " addrgenmode none" if has else ""


def remove(token: str) -> None:
    """Ends what runs in the namespaces of a run, by their processes' ids, and removes them."""
    namespaces = there_are(token)
    for namespace in namespaces:
        for process in tools.call("ip", "netns", "pids", namespace).split():
            with suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
    for namespace in namespaces:
        with suppress(SimulationError):
            tools.call("ip", "netns", "del", namespace)


def there_are(token: str = "") -> list[str]:
    """The namespaces of a run, or of all runs."""
    names = (one["name"] for one in tools.asked("ip", "netns", "list"))
    before = f"{PREFIX}{token}-" if token else PREFIX
    return [name for name in names if name.startswith(before)]


def probe(token: str, links: Iterable[RealLink]) -> None:
    """Sees whether this machine's kernel has what such a network takes.

    Raises `InputError` with all that it lacks.
    """
    namespace = f"{PREFIX}{token}-probe"
    wants_netem = any(shaping.is_impaired(link) for link in links)
    try:
        tools.call("ip", "netns", "add", namespace)
    except SimulationError as error:
        raise InputError(
            f"this machine makes no network namespaces ({error}); in a container it must be "
            "privileged"
        ) from error
    lacking = []
    try:
        inside = ("-n", namespace)
        for what, module, line in (
            ("virtual links", "veth", "link add name eth0 type veth peer name eth1"),
            ("bridges", "bridge", f"link add name {BRIDGE} type bridge"),
        ):
            lacking += _tried(what, module, "ip", *inside, *line.split())
        if not lacking:
            queue = "qdisc add dev eth0 root tbf rate 1gbit burst 10000 limit 10000"
            lacking += _tried("token buckets", "sch_tbf", "tc", *inside, *queue.split())
            if wants_netem:
                queue = "qdisc add dev eth1 root netem delay 1ms"
                lacking += _tried(
                    f"delays of links from {SHORTEST_DELAY} on, and loss",
                    "sch_netem",
                    "tc",
                    *inside,
                    *queue.split(),
                )
    finally:
        remove(token)
    if lacking:
        raise InputError(f"this machine's kernel lacks {'; '.join(lacking)}")


def _tried(what: str, module: str, program: str, *arguments: str) -> list[str]:
    try:
        tools.call(program, *arguments)
    except SimulationError:
        return [f"{module}, for {what} (modprobe {module}, or a kernel that was built with it)"]
    return []
