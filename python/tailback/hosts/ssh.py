"""Machines that are reached by the system's `ssh`: what works by hand works here.

One connection a machine, which all that follows shares (ssh_config(5), ControlMaster).
"""

import shlex
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Self, TypeVar

from tailback.errors import InputError, SimulationError
from tailback.hosts.inventory import Inventory, Machine
from tailback.kernel.guest import which
from tailback.private import private_folder

T = TypeVar("T")

CONNECT_S = 10
"""How long a connection may take to come about. [assumed]"""

PATIENCE_S = 120.0
"""How long a command beside the agents' own may take. [assumed]"""

BEGINNING = "tailback: begins here"
"""What a script says first: a login shell's own files may have said something before."""

LINGER_S = 60
"""How long a shared connection stays without use if this program is killed. [assumed]"""


def run_folder() -> AbstractContextManager[Path]:
    """A folder of this program's on this machine.

    Its prefix is not that of agents' folders, which nobody has locked until they begin.
    """
    return private_folder(Path(tempfile.gettempdir()), "tailback.")


@dataclass
class Shells:
    """Shells on an inventory's machines; a context, at whose end the connections are closed."""

    inventory: Inventory
    _sockets: Path = field(init=False)
    _held: ExitStack = field(init=False, default_factory=ExitStack)

    def __enter__(self) -> Self:
        if which("ssh") is None:
            raise InputError("there is no ssh (on Debian: apt-get install openssh-client)")
        # A socket's path is short (unix(7)).
        self._sockets = self._held.enter_context(run_folder())
        return self

    def __exit__(self, *_: object) -> None:
        for machine in self.inventory.machines:
            with suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(
                    [*self._ssh(machine, "-O", "exit")],
                    capture_output=True,
                    check=False,
                    timeout=CONNECT_S,
                )
        self._held.close()

    def run(
        self, machine: Machine, script: str, typed: bytes = b"", *, to_its_end: bool = False
    ) -> str:
        """Runs a shell's script to its end, by Ctrl-C too if it says so; gives what it prints.

        Raises `SimulationError` that names the machine, with what it says.
        """
        try:
            done = subprocess.run(
                self._command(machine, script),
                input=typed,
                capture_output=True,
                check=False,
                timeout=PATIENCE_S,
                start_new_session=to_its_end,
            )
        except subprocess.TimeoutExpired as error:
            raise SimulationError(
                f"{machine.name} ({machine.ssh}): nothing for {PATIENCE_S:.0f} s"
            ) from error
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
            raise SimulationError(
                f"{machine.name} ({machine.ssh}): {said or f'failed with {done.returncode}'}"
            )
        return said_by_script(done.stdout.decode(errors="replace"))

    def start(
        self, machine: Machine, script: str, out: BinaryIO | int, errors: BinaryIO | int
    ) -> "subprocess.Popen[bytes]":
        """Starts a script that goes on; it sees the end of its input when this process ends."""
        return subprocess.Popen(
            self._command(machine, script),
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=errors,
            start_new_session=True,
        )

    def _command(self, machine: Machine, script: str) -> list[str]:
        # Whatever the user's shell is, sh reads it.
        script = f"echo {shlex.quote(BEGINNING)}\n{script}"
        return [*self._ssh(machine), f"exec sh -c {shlex.quote(script)}"]

    def _ssh(self, machine: Machine, *arguments: str) -> list[str]:
        config = self.inventory.ssh_config
        options = {
            "BatchMode": "yes",
            "ConnectTimeout": CONNECT_S,
            "ControlMaster": "auto",
            "ControlPath": self._sockets / "%C",
            "ControlPersist": LINGER_S,
            "ServerAliveInterval": 5,
            "ServerAliveCountMax": 6,
        }
        given = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        own = ["-F", str(config)] if config is not None else []
        return [which("ssh") or "ssh", "-T", *own, *given, *arguments, "--", machine.ssh]


def said_by_script(printed: str) -> str:
    """What a script has printed, of all that came."""
    before, beginning, after = printed.partition(f"{BEGINNING}\n")
    return after if beginning else before


def on_all(machines: list[Machine], work: Callable[[Machine], T]) -> list[T]:
    """Does something with all machines at once, and gives what came of it in their order.

    Raises `SimulationError` with all that failed.
    """

    def tried(machine: Machine) -> T | SimulationError:
        try:
            return work(machine)
        except SimulationError as error:
            return error

    with ThreadPoolExecutor(max_workers=max(1, len(machines))) as pool:
        results = list(pool.map(tried, machines))
    failed = [str(result) for result in results if isinstance(result, SimulationError)]
    if failed:
        raise SimulationError("; ".join(failed))
    return [result for result in results if not isinstance(result, SimulationError)]
