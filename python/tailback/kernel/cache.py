"""The kernels that have been built, in the user's cache directory.

Each has a folder of its own, named by version, HZ and a hash of what it was made from, or by the
name that its builder gave it. In it are the program `linux`, its configuration `config` and
`kernel.json`. The link `default` names the one that runs use.
"""

import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from tailback.errors import InputError

PROGRAM = "linux"
DESCRIPTION = "kernel.json"
DEFAULT = "default"


@dataclass(frozen=True)
class Kernel:
    """A kernel that was built."""

    path: Path
    """Its folder."""
    version: str
    """As the source's Makefile says, such as 7.2.13."""
    hz: int
    """Ticks a second."""
    source: str
    """Where the source came from."""
    recipe: str
    """Hash of configuration and edits."""
    edits: tuple[str, ...]
    """What was changed in the source."""
    config: tuple[str, ...] = ()
    """What its builder has configured beyond the recipe."""
    work: str = ""
    """The folder, beside it, in which it was compiled; it is there if it was to be kept."""

    @property
    def name(self) -> str:
        """The folder's name, by which commands name it."""
        return self.path.name

    @property
    def is_named(self) -> bool:
        """Whether its builder gave it a name."""
        return self.name != name_of(self.version, self.hz, self.recipe)

    @property
    def title(self) -> str:
        """Its name, and what tells it from what had that name before."""
        own = name_of(self.version, self.hz, self.recipe)
        return f"{self.name} ({own})" if self.is_named else self.name

    @property
    def program(self) -> Path:
        """The kernel itself."""
        return self.path / PROGRAM

    @property
    def is_default(self) -> bool:
        """Whether runs use it."""
        link = folder() / DEFAULT
        return link.is_symlink() and link.resolve() == self.path.resolve()

    def write(self) -> None:
        """Writes its description into its folder."""
        facts = {name: value for name, value in asdict(self).items() if name != "path"}
        facts["bytes"] = self.program.stat().st_size
        (self.path / DESCRIPTION).write_text(json.dumps(facts, indent=2) + "\n")


def name_of(version: str, hz: int, recipe: str) -> str:
    """What a kernel is called that nobody gave a name."""
    return f"{version}-hz{hz}-{recipe}"


def check_name(name: str) -> str:
    """A name for a kernel; raises `InputError` where it is none."""
    if name == DEFAULT or not re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]{0,63}", name):
        raise InputError(
            f"--name {name}: not a name for a kernel: a letter, then letters, digits, points, "
            f"hyphens or underscores, and not {DEFAULT!r}"
        )
    return name


def folder() -> Path:
    """Where kernels are kept: $XDG_CACHE_HOME/tailback/kernels."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tailback" / "kernels"


def installed() -> list[Kernel]:
    """All kernels that are complete, by name."""
    kernels = (_read(path.parent) for path in sorted(folder().glob(f"*/{DESCRIPTION}")))
    return [kernel for kernel in kernels if kernel is not None and kernel.name != DEFAULT]


def find(wanted: str | None = None, hz: int | None = None) -> Kernel:
    """The kernel to use: the default, or the newest of that version or name and HZ.

    One that has a name is taken for its version only where there is no other.

    Raises `InputError` that says how to get one.
    """
    link = folder() / DEFAULT
    if wanted is None and hz is None and link.exists():
        kernel = _read(link.resolve())
        if kernel is not None:
            return kernel
    having = installed()
    fitting = [
        kernel
        for kernel in having
        if (wanted is None or kernel.name == wanted or _is_of(kernel.version, wanted))
        and (hz is None or kernel.hz == hz)
    ]
    if fitting:
        return max(
            fitting,
            key=lambda one: (
                one.name == wanted,
                not one.is_named,
                _order(one.version),
                one.is_default,
            ),
        )
    asked = " ".join(part for part in (wanted, f"with HZ {hz}" if hz is not None else None) if part)
    there = ", ".join(kernel.name for kernel in having)
    raise InputError(
        f"there is no kernel {asked}".rstrip()
        + (f"; there are {there}" if there else f" in {folder()}")
        + "; `tailback kernel build` makes one"
    )


def named(name: str) -> Kernel:
    """The kernel of exactly that name; raises `InputError` with those that are there."""
    having = {kernel.name: kernel for kernel in installed()}
    if name not in having:
        there = f"there are {', '.join(having)}" if having else f"there is none in {folder()}"
        raise InputError(f"there is no kernel called {name}; {there}")
    return having[name]


def make_default(kernel: Kernel) -> None:
    """Lets runs use this kernel."""
    link = folder() / DEFAULT
    fresh = folder() / f".{DEFAULT}.{os.getpid()}"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(kernel.name)
    fresh.replace(link)


def _read(path: Path) -> Kernel | None:
    try:
        facts = json.loads((path / DESCRIPTION).read_text())
        kernel = Kernel(
            path=path,
            version=str(facts["version"]),
            hz=int(facts["hz"]),
            source=str(facts["source"]),
            recipe=str(facts["recipe"]),
            edits=tuple(map(str, facts["edits"])),
            config=tuple(map(str, facts.get("config", ()))),
            work=str(facts.get("work", "")),
        )
        # Those of before have no size.
        whole = facts.get("bytes") in {None, kernel.program.stat().st_size}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return kernel if whole and os.access(kernel.program, os.X_OK) else None


def _is_of(version: str, wanted: str) -> bool:
    """Whether 7.2.13 is a 7.2; 7.20.1 is not."""
    return version == wanted or version.startswith(wanted + ".")


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split(".") if part.isdigit())
