"""Which machines a scenario's hosts are: a TOML file of the user's.

```toml
first_port = 20000          # agents listen from here on
sysctls = "set"             # or "leave": machines keep theirs
ssh_config = "lab.ssh"      # as `ssh -F`; by default the user's own

[hosts.host0]
ssh = "lab1"                # as `ssh` takes it; by default the host's name
address = "10.1.0.1"        # in the network that is measured
sudo = true                 # the agent runs by `sudo -n`
folder = "/tmp"             # where it is put
```
"""

import ipaddress
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tailback.errors import InputError
from tailback.nearest import meant

FIRST_PORT = 20_000
"""Above what services have that are common, below what Linux gives to those who connect
(net.ipv4.ip_local_port_range is 32768 to 60999 by default)."""

LEAST_PORT = 1024
"""Those below take privilege."""

PORTS = 65_536

FOLDER = "/tmp"  # noqa: S108 - the agent's own folder in it is made by mktemp
"""Where agents are put."""

T = TypeVar("T")

_DESTINATION = re.compile(r"[A-Za-z0-9_.@:%\[\]/-]+")
_FOLDER = re.compile(r"/[A-Za-z0-9_./-]*")


@dataclass(frozen=True)
class Machine:
    """One machine."""

    name: str
    """As the inventory has it."""
    ssh: str
    address: str
    sudo: bool
    folder: str


@dataclass(frozen=True)
class Inventory:
    """The machines there are, in the file's order."""

    path: Path
    machines: tuple[Machine, ...]
    first_port: int
    keep_sysctls: bool
    ssh_config: Path | None

    def for_hosts(self, names: Iterable[str]) -> dict[str, Machine]:
        """The machine of each of a scenario's hosts: that of the same name, or, where no name is
        the same, one after the other.

        Raises `InputError` if there are too few.
        """
        names = list(names)
        by_name = {machine.name: machine for machine in self.machines}
        if not by_name.keys() & set(names):
            found = dict(zip(names, self.machines, strict=False))
        else:
            found = {name: by_name[name] for name in names if name in by_name}
        missing = [name for name in names if name not in found]
        if missing:
            raise InputError(
                f"{self.path}: the scenario has {len(names)} hosts that do something, and for "
                f"{', '.join(missing)} there is no machine: add [hosts.{missing[0]}] with its "
                "address"
            )
        return found


def load(path: str | Path) -> Inventory:
    """Reads an inventory; raises `InputError` with all that is wrong in it."""
    path = Path(path)
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from None
    reader = _Reader(path)
    found = reader.inventory(given)
    if reader.problems:
        raise InputError("\n".join(f"{path}: {problem}" for problem in reader.problems))
    return found


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []

    def inventory(self, given: Mapping[str, Any]) -> Inventory:
        self._known(given, "", ("first_port", "sysctls", "ssh_config", "hosts"))
        none: dict[str, object] = {}
        hosts = self._value(given, "hosts", none, lambda v: isinstance(v, dict), "a table")
        machines = tuple(self._machine(name, table) for name, table in hosts.items())
        if not hosts:
            self.problems.append('hosts: there are none; add [hosts.NAME] with address = "…"')
        taken: dict[str, str] = {}
        for machine in machines:
            other = taken.setdefault(machine.address, machine.name)
            if machine.address and other != machine.name:
                self.problems.append(
                    f"hosts.{machine.name}.address: {machine.address} is {other}'s too"
                )
        config = self._value(given, "ssh_config", "", _is_text, "a path")
        ssh_config = self.path.parent / Path(config).expanduser() if config else None
        if ssh_config is not None and not ssh_config.exists():
            self.problems.append(
                f"ssh_config: there is no file {ssh_config}; a path is relative to the inventory"
            )
        sysctls = ("set", "leave")
        return Inventory(
            path=self.path,
            machines=machines,
            first_port=self._value(
                given,
                "first_port",
                FIRST_PORT,
                lambda v: type(v) is int and LEAST_PORT <= v < PORTS,
                f"a port from {LEAST_PORT} on",
            ),
            keep_sysctls=self._value(
                given, "sysctls", "set", lambda v: v in sysctls, '"set" or "leave"'
            )
            == "leave",
            ssh_config=ssh_config,
        )

    def _machine(self, name: str, table: object) -> Machine:
        where = f"hosts.{name}."
        if not isinstance(table, dict):
            self.problems.append(f'hosts.{name}: not a table; write [hosts.{name}] address = "…"')
            table = {"address": ""}
        self._known(table, where, ("ssh", "address", "sudo", "folder"))
        if "ssh" not in table and not _is_destination(name):
            self.problems.append(
                f"{where}ssh: is missing, and {name!r} is not a destination as ssh(1) takes it"
            )
        if "address" not in table:
            self.problems.append(f"{where}address: is missing; the host's address in the network")
        return Machine(
            name=name,
            ssh=self._value(
                table,
                "ssh",
                name,
                lambda v: _is_text(v) and _is_destination(v),
                "a destination as ssh(1) takes it",
                where,
            ),
            address=self._value(table, "address", "", _is_ipv4, "an IPv4 address", where),
            sudo=self._value(
                table,
                key="sudo",
                otherwise=False,
                is_right=_is_flag,
                what="true or false",
                where=where,
            ),
            folder=self._value(
                table,
                "folder",
                FOLDER,
                lambda v: _is_text(v) and _FOLDER.fullmatch(v),
                "an absolute path of letters, digits, and . _ -",
                where,
            ),
        )

    def _known(self, table: Mapping[str, object], where: str, known: tuple[str, ...]) -> None:
        for key in table:
            if key not in known:
                remedy = meant(key, known, f"there are {', '.join(known)}")
                self.problems.append(f"{where}{key}: no such key; {remedy}")

    def _value(
        self,
        table: Mapping[str, Any],
        key: str,
        otherwise: T,
        is_right: Callable[[Any], object],
        what: str,
        where: str = "",
    ) -> T:
        value = table.get(key, otherwise)
        if key in table and not is_right(value):
            self.problems.append(f"{where}{key}: {value!r} is not {what}")
            return otherwise
        found: T = value
        return found


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_destination(text: str) -> bool:
    return not text.startswith("-") and _DESTINATION.fullmatch(text) is not None


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_ipv4(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(ipaddress.IPv4Address(value))
    except ValueError:
        return False
