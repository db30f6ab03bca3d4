"""The guests' root: a private folder that a kernel sees as its file system, read-only.

It holds the agent as the first program (crates/agent), the folders in which it mounts, and, where
a scenario asks for them, programs of this machine with the libraries they are linked with.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tailback.errors import InputError

MOUNT_POINTS = ("proc", "sys", "dev", "tmp", "run", "host")
"""As in crates/agent/src/root.rs."""

AGENT = "tailback-agent"
"""The agent's name among programs."""

PLACES = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Where programs are looked for beside $PATH: `tc` is often in none of a user's."""

PACKAGES = {"tc": "iproute2", "ip": "iproute2", "ss": "iproute2", "iperf3": "iperf3"}
"""Debian packages of programs that scenarios ask for most."""


def agent() -> Path:
    """The agent, statically linked: $TAILBACK_AGENT, or the one that `make build` puts here."""
    named = os.environ.get("TAILBACK_AGENT")
    path = Path(named) if named else Path(__file__).parents[1] / "_agent"
    if not path.exists():
        raise InputError(f"{path}: the guests' agent is not there; `make build` builds it")
    return path


def has(program: str) -> bool:
    """Whether this machine has a program of that name."""
    return which(program) is not None


def prepare(root: Path, programs: Iterable[str] = ()) -> None:
    """Makes `root` a guest's root with these programs; raises `InputError` with all that this
    machine does not have.
    """
    found = find(programs)
    for name in MOUNT_POINTS:
        (root / name).mkdir(parents=True, exist_ok=True)
    shutil.copy2(agent(), root / "init")
    (root / "bin").mkdir(exist_ok=True)
    for name, path in found.items():
        _copy(path, root / "bin" / Path(name).name)
        for library in _libraries(path):
            _copy(library, root / library.relative_to("/"))


def find(programs: Iterable[str]) -> dict[str, Path]:
    """Where this machine has these programs; raises `InputError` with all that it does not have."""
    found = {name: which(name) for name in dict.fromkeys(programs)}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        packages = sorted({PACKAGES.get(name, name) for name in missing})
        raise InputError(
            f"guests are to run {', '.join(missing)}, which this machine does not have; "
            f"on Debian, as root: apt-get install {' '.join(packages)}"
        )
    return {name: Path(path) for name, path in found.items() if path is not None}


def which(program: str) -> str | None:
    """Where this machine has a program of that name; the agent is one, for what it does alone."""
    if program == AGENT:
        return str(agent())
    places = os.pathsep.join([os.environ.get("PATH", ""), *PLACES])
    return shutil.which(program, path=places)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        shutil.copy2(source, target)


def _libraries(program: Path) -> list[Path]:
    """What the program is linked with, the loader among it; none if it is static or a script."""
    listing = subprocess.run(
        ["ldd", str(program)], capture_output=True, text=True, check=False, env={"LC_ALL": "C"}
    )
    return [Path(path) for path in re.findall(r"(?:^|=>)\s*(/\S+) \(0x", listing.stdout, re.M)]
