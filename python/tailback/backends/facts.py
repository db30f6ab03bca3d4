"""What a backend knows of a plan's runs before they are made."""

from dataclasses import dataclass, field

from tailback.errors import InputError
from tailback.records import RealHost


@dataclass(frozen=True)
class Facts:
    """What the manifest has of a backend beyond its name, and how long its runs take."""

    kernels: dict[str, str] = field(default_factory=dict)
    """Versions of the kernels that are the hosts, by where they run."""
    not_applied: list[str] = field(default_factory=list)
    """What the scenario says and this backend does not do, a sentence each."""
    notes: list[str] = field(default_factory=list)
    """What else to know before they begin, a sentence each."""
    least_s: list[float] = field(default_factory=list)
    """How long each run takes at least, in the order of the plan."""


def check_version(host: RealHost, release: str) -> None:
    """Raises `InputError` if the scenario asks for another kernel than the host has."""
    wanted = host["version"]
    if wanted and not f"{release}.".startswith((f"{wanted}.", f"{wanted}-")):
        raise InputError(
            f"host {host['name']} asks for kernel {wanted} (kernel.version), and its machine's is "
            f"{release}: leave it out, or take --backend kernel"
        )
