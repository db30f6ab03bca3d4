"""`tailback hosts check`: every machine of an inventory, reached and asked."""

from dataclasses import dataclass
from pathlib import Path

from tailback.errors import InputError, SimulationError
from tailback.hosts.inventory import load
from tailback.hosts.machines import check_apart, look_at
from tailback.hosts.ssh import Shells, on_all
from tailback.hosts.there import installed
from tailback.kernel.guest import agent


@dataclass(frozen=True)
class Found:
    """A machine, and what was found of it."""

    host: str
    ssh: str
    address: str
    interface: str
    mtu_bytes: int
    speed_mbps: int | None
    release: str
    sysctls: str
    """Whether runs may set them."""
    clock_ahead_ms: float
    clock_within_ms: float


def check(path: Path) -> list[Found]:
    """Reaches all machines and runs the agent there; raises `InputError` with all that fails."""
    inventory = load(path)
    machines = list(inventory.machines)
    try:
        with Shells(inventory) as shells:
            found = on_all(machines, lambda one: look_at(shells, one))
            with installed(shells, agent(), dict(enumerate(machines))) as there:
                clocks = dict(there.clocks)
    except SimulationError as error:
        raise InputError(str(error)) from None
    check_apart(inventory, found)
    return [
        Found(
            host=about.machine.name,
            ssh=about.machine.ssh,
            address=about.machine.address,
            interface=about.interface,
            mtu_bytes=about.mtu_bytes,
            speed_mbps=about.speed_mbps,
            release=about.release,
            sysctls="stay" if inventory.keep_sysctls else "set" if about.is_root else "no root",
            clock_ahead_ms=clocks[about.machine.name].ahead_ns / 1e6,
            clock_within_ms=clocks[about.machine.name].within_ns / 1e6,
        )
        for about in found
    ]
