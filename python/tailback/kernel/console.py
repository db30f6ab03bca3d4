"""What a kernel prints on its console, and what it means."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

SECCOMP_WORKS = "Checking that seccomp filters can be installed...OK"
"""arch/um/os-Linux/start_up.c of 7.2; followed by `missing` or `error` where it falls back."""

EARLY = ("Core dump limits", "\tsoft -", "\thard -", "Checking ")
"""How the lines begin that every kernel prints before it starts."""

LINES = 3
"""Of one kernel's last words."""
LINES_OF_ALL = 30


def userspace(consoles: Iterable[Path]) -> Literal["seccomp", "ptrace"]:
    """How these kernels run their programs: by seccomp, or, if any had to, by ptrace, which gives
    the same tables and is slower.
    """
    works = all(SECCOMP_WORKS in path.read_text(errors="replace") for path in consoles)
    return "seccomp" if works else "ptrace"


def last_words(consoles: Iterable[Path]) -> str:
    """The ends of what kernels have printed, where it is more than that they start and power down;
    each line with the name of the folder it is from.
    """
    lines = []
    for path in consoles:
        said = [
            line
            for line in path.read_text(errors="replace").splitlines()
            if line.strip() and not line.startswith(EARLY) and "Power down" not in line
        ]
        lines += [f"    {path.parent.name}: {line}" for line in said[-LINES:]]
    return "\n".join(lines[-LINES_OF_ALL:])
