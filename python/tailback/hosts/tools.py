"""Programs of the system that make networks: ip, bridge, tc (iproute2)."""

import json
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tailback.errors import InputError, SimulationError
from tailback.kernel.guest import which

PROGRAMS = ("ip", "bridge", "tc")

CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}
"""What making network namespaces takes (capabilities(7)), with its bit (linux/capability.h)."""

A_SYSCTL = "/proc/sys/net/ipv4/ping_group_range"
"""One that hosts are given."""

PATIENCE_S = 60.0
"""How long such a program may take. [assumed]"""


def check() -> None:
    """Raises `InputError` with all that this machine or user lacks to make namespaces."""
    lacking = [
        f"{name} (on Debian: apt-get install iproute2)" for name in PROGRAMS if which(name) is None
    ]
    mask = _capabilities()
    missing = [name for name, bit in CAPABILITIES.items() if not mask >> bit & 1]
    if missing:
        lacking.append(f"{' and '.join(missing)} (run it as root: sudo tailback run …)")
    elif not os.access(A_SYSCTL, os.W_OK):
        lacking.append("a /proc/sys that can be written (in a container: privileged)")
    if lacking:
        raise InputError(f"network namespaces need {'; '.join(lacking)}")


def _capabilities() -> int:
    """The capabilities in force, as /proc/self/status has them."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    mask = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return int(mask[1], 16) if mask else 0


def call(program: str, *arguments: str, lines: Iterable[str] | None = None) -> str:
    """Runs a program, with `lines` as its batch; gives what it prints.

    Raises `SimulationError` with what it says if it fails.
    """
    batch = None if lines is None else "".join(f"{line}\n" for line in lines)
    if batch is not None:
        arguments = (*arguments, "-batch", "-")
    done = ended([which(program) or program, *arguments], batch or "")
    if done.returncode:
        said = "; ".join(done.stderr.split("\n")).strip("; ")
        raise SimulationError(f"{program} {' '.join(arguments)}: {said or 'failed'}")
    return done.stdout


def ended(command: list[str], typed: str = "") -> "subprocess.CompletedProcess[str]":
    """Runs a command to its end; raises `SimulationError` if it takes longer than `PATIENCE_S`."""
    try:
        return subprocess.run(
            command,
            input=typed,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
    except subprocess.TimeoutExpired as error:
        raise SimulationError(
            f"{' '.join(command)}: is not done after {PATIENCE_S:.0f} s"
        ) from error


def asked(program: str, *arguments: str) -> list[dict[str, Any]]:
    """What a program prints as JSON."""
    found: list[dict[str, Any]] = json.loads(call(program, "-j", *arguments) or "[]")
    return found
