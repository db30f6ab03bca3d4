"""What an inventory's machines are, as they say themselves."""

import ipaddress
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass

from tailback.errors import InputError, SimulationError
from tailback.hosts.inventory import Inventory, Machine
from tailback.hosts.ssh import BEGINNING, Shells

ABOUT = r"""
PATH=$PATH:/usr/sbin:/sbin
printf 'system %s\n' "$(uname -sm)"
printf 'release %s\n' "$(uname -r)"
printf 'boot %s\n' "$(cat /proc/sys/kernel/random/boot_id)$(readlink /proc/self/ns/net)"
printf 'user %s\n' "$(id -u)"
if [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; then echo 'root yes'; fi
printf 'ports %s\n' "$(cat /proc/sys/net/ipv4/ip_local_port_range)"
for one in /sys/class/net/*; do
  printf 'interface %s %s %s\n' "${one##*/}" "$(cat "$one/mtu")" "$(cat "$one/speed" 2>/dev/null)"
done
command -v ip >/dev/null || echo 'lacks ip'
ip -o -4 address show 2>/dev/null | while read -r _ name _ address _; do
  printf 'address %s %s\n' "${address%/*}" "$name"
done
"""
"""A shell's script; each line of what it prints is a word and what it is about."""

SYSTEM = "Linux x86_64"
"""What the agent is built for."""

LOOKS = 20
"""How often a machine's clock is asked; the quickest answer counts."""


@dataclass(frozen=True)
class About:
    """A machine, as it is found."""

    machine: Machine
    release: str
    """Of its kernel."""
    interface: str
    """The one that has its address."""
    mtu_bytes: int
    speed_mbps: int | None
    """As its driver says it; None if it does not."""
    is_root: bool
    """Whether the agent may change sysctls."""
    kernel: str
    """Which kernel and network namespace it is: machines with the same are one."""
    own_ports: tuple[int, int]
    """The first and the last of the ports that the kernel gives to those who connect."""

    def said(self) -> str:
        """In a line."""
        speed = f", {self.speed_mbps} Mbit/s" if self.speed_mbps else ""
        return (
            f"{self.machine.address} on {self.interface} (MTU {self.mtu_bytes}{speed}), "
            f"Linux {self.release}"
        )


def look_at(shells: Shells, machine: Machine) -> About:
    """Asks a machine what it is.

    Raises `SimulationError` that says why it cannot be a host.
    """
    said: dict[str, list[list[str]]] = {}
    for line in shells.run(machine, ABOUT).splitlines():
        name, *words = line.split()
        said.setdefault(name, []).append(words)

    def failed(why: str) -> SimulationError:
        return SimulationError(f"{machine.name} ({machine.ssh}): {why}")

    def one(name: str) -> str:
        lines = said.get(name, [])
        if not lines or not lines[0]:
            raise failed(f"it does not say its {name}; is it Linux with iproute2?")
        return " ".join(lines[0])

    if one("system") != SYSTEM:
        raise failed(f"it is {one('system')}, and the agent is for {SYSTEM}")
    if "lacks" in said:
        raise failed("it has no ip (on Debian: apt-get install iproute2)")
    addresses = {words[0]: words[1] for words in said.get("address", []) if len(words) == 2}
    interface = addresses.get(machine.address)
    if interface is None and ipaddress.IPv4Address(machine.address).is_loopback:
        interface = "lo"
    if interface is None:
        raise failed(
            f"no interface has {machine.address}; it has {', '.join(addresses) or 'no addresses'}"
        )
    is_root = one("user") == "0" or (machine.sudo and "root" in said)
    if machine.sudo and not is_root:
        raise failed("sudo asks for a password, or there is none: allow it without (sudoers(5))")
    ports = one("ports").split()
    mtus = {words[0]: words[1:] for words in said.get("interface", [])}
    mtu, *speed = mtus.get(interface, ["0"])
    return About(
        machine=machine,
        release=one("release"),
        interface=interface,
        mtu_bytes=int(mtu),
        speed_mbps=int(speed[0]) if speed and speed[0].isdigit() else None,
        is_root=is_root,
        kernel=one("boot"),
        own_ports=(int(ports[0]), int(ports[-1])),
    )


def check_apart(inventory: Inventory, found: Iterable[About]) -> None:
    """Raises `InputError` if two hosts would set one machine's sysctls."""
    names: dict[str, str] = {}
    pairs = []
    for about in found:
        other = names.setdefault(about.kernel, about.machine.name)
        if other != about.machine.name:
            pairs.append(f"{other} and {about.machine.name}")
    if pairs and not inventory.keep_sysctls:
        raise InputError(
            f"{inventory.path}: {', '.join(pairs)} are one machine, whose sysctls two hosts would "
            'set: write sysctls = "leave"'
        )


def _line(process: "subprocess.Popen[bytes]") -> str:
    # It is a pipe.
    return process.stdout.readline().decode(errors="replace")  # type: ignore[union-attr]


@dataclass(frozen=True)
class ClockFound:
    """A machine's clock, held against this one's."""

    ahead_ns: int
    within_ns: int
    """How far that may be wrong: half of the quickest question and answer."""
    start_s: float
    """From the start of a program there until its first answer."""


def clock_of(shells: Shells, machine: Machine, agent: str) -> ClockFound:
    """Asks a machine for its time, over the connection that there is."""
    began_s = time.monotonic()
    asked = shells.start(machine, f"exec {agent} --clock", subprocess.PIPE, subprocess.PIPE)
    looks = []
    start_s = 0.0
    try:
        while _line(asked) not in (f"{BEGINNING}\n", ""):
            pass
        for _ in range(LOOKS):
            before_ns = time.time_ns()
            try:
                # Both are pipes.
                asked.stdin.write(b"\n")  # type: ignore[union-attr]
                asked.stdin.flush()  # type: ignore[union-attr]
                there_ns = int(_line(asked))
            except (BrokenPipeError, ValueError) as error:
                said = asked.communicate()[1].decode(errors="replace").strip()
                raise SimulationError(
                    f"{machine.name} ({machine.ssh}): the agent does not run: {said}"
                ) from error
            after_ns = time.time_ns()
            start_s = start_s or time.monotonic() - began_s
            looks.append((after_ns - before_ns, there_ns - (before_ns + after_ns) // 2))
    finally:
        asked.kill()
        asked.communicate()
    took_ns, ahead_ns = min(looks)
    return ClockFound(ahead_ns=ahead_ns, within_ns=took_ns // 2, start_s=start_s)
