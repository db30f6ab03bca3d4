"""What a kernel is made from: the configuration and the edits of the source.

The source is as the distribution ships it, but for edits that each say why. The recipe's hash is
part of a kernel's name, so that a changed recipe is a new kernel.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tailback.errors import InputError, TailbackError

HERE = Path(__file__).parent
CONFIG = HERE / "kernel.config"
UNNEEDED = HERE / "unneeded.txt"
"""Patterns of what need not be unpacked, for tar --exclude-from: other architectures, drivers of
hardware, documentation; never a Kconfig or a Makefile."""

HZ_AS_SHIPPED = 100


@dataclass(frozen=True)
class Edit:
    """One change of one file: a text that must be there exactly once, and what stands for it."""

    file: str
    before: str
    after: str
    why: str

    def apply(self, tree: Path) -> None:
        """Changes the file; one that is changed already stays as it is."""
        path = tree / self.file
        text = path.read_text()
        if self.after in text:
            return
        if text.count(self.before) != 1:
            raise TailbackError(
                f"{path}: cannot apply the edit '{self.why}': the text it replaces is not there; "
                "this kernel is too different from 7.2 and 7.3, which are known to work"
            )
        path.write_text(text.replace(self.before, self.after))


@cache
def edits(hz: int) -> tuple[Edit, ...]:
    """The edits for a kernel of that many ticks a second."""
    signature = "ssize_t os_getrandom("
    call = "\treturn getrandom(buf, len, flags);\n"
    clock = "config HZ\n\tint\n\tdefault "
    entropy = (
        Edit(
            file="arch/um/os-Linux/util.c",
            before=call,
            after=f"\tif (entropy_seed)\n\t\treturn seeded_entropy(buf, len);\n{call}",
            why="entropy_seed= makes runs repeat (1)",
        ),
        Edit(
            file="arch/um/os-Linux/util.c",
            before=signature,
            after=(HERE / "entropy.c").read_text() + signature,
            why="entropy_seed= makes runs repeat (2)",
        ),
    )
    if hz == HZ_AS_SHIPPED:
        return entropy
    return (
        *entropy,
        Edit(
            file="arch/um/Kconfig",
            before=f"{clock}{HZ_AS_SHIPPED}\n",
            after=f"{clock}{hz}\n",
            why=f"HZ {hz}: this architecture offers no choice",
        ),
    )


def digest(hz: int, source: str, config: Sequence[str] = (), content: str = "") -> str:
    """Eight hex digits that differ where the configuration, an edit or the source does.

    Args:
        hz: ticks a second.
        source: where the source comes from.
        config: settings over those of the recipe.
        content: tells states of a source apart that comes from the same place.
    """
    parts = [CONFIG.read_text(), source]
    parts += [part for edit in edits(hz) for part in (edit.file, edit.before, edit.after)]
    parts += [part for part in (*config, content) if part]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


def setting(text: str) -> str:
    """A line of a configuration, of one as a user gives it: `CONFIG_X=y`, `X=y` or `X`.

    Raises `InputError` where it is none.
    """
    match = re.fullmatch(r"(?:CONFIG_)?([A-Z0-9_]+)(?:=(.+))?", text)
    value = match[2] or "y" if match else ""
    if match is None or not re.fullmatch(r'[yn]|-?\d+|0x[0-9a-fA-F]+|"[^"\n]*"', value):
        raise InputError(
            f"--config {text}: no setting of a kernel; for instance CONFIG_TCP_CONG_BBR=y "
            "(there are no modules here: y or n, a number, or a text in double quotes)"
        )
    return f"CONFIG_{match[1]}={value}"


def configuration(config: Sequence[str] = ()) -> str:
    """The whole configuration: the recipe's, and settings of the user's over it."""
    names = tuple(line.partition("=")[0] + "=" for line in config)
    lines = [line for line in CONFIG.read_text().splitlines() if not line.startswith(names)]
    return "\n".join([*lines, *config, ""]) if config else CONFIG.read_text()


def settings(config: Sequence[str] = ()) -> list[str]:
    """The lines of the configuration that switch something on."""
    lines = configuration(config).splitlines()
    return [line for line in lines if line.startswith("CONFIG_") and not line.endswith("=n")]
