"""Hosts for tests: whether this machine makes namespaces, and machines that SSH reaches."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tailback.errors import InputError
from tailback.hosts import namespaces, tools
from tailback.kernel.guest import which

HOSTS = ("127.0.0.2", "127.0.0.3", "127.0.0.4")
"""This machine, at several of its loopback's addresses."""

SERVER = """
ListenAddress {address}:{port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
PermitRootLogin yes
"""

CLIENT = """
Host {host}
  HostName {address}
  Port {port}
  User {user}
  IdentityFile {folder}/user
  UserKnownHostsFile {folder}/known
  StrictHostKeyChecking accept-new
"""


@cache
def unable() -> str:
    """What keeps this user or kernel from making namespaces; nothing if nothing does."""
    assert all(which(name) for name in tools.PROGRAMS), "apt-get install iproute2"
    try:
        tools.check()
        namespaces.probe("test", [])
    except InputError as error:
        return str(error)
    return ""


@dataclass(frozen=True)
class Laboratory:
    """A server for each machine, and the client's configuration."""

    folder: Path

    def inventory(
        self, addresses: Iterable[str], *, top: str = 'sysctls = "leave"', each: str = ""
    ) -> Path:
        """Writes an inventory of machines host0, host1, … with these addresses."""
        (self.folder / "agents").mkdir(exist_ok=True)
        text = f'{top}\nssh_config = "client"\n'
        for number, address in enumerate(addresses):
            text += (
                f'[hosts.host{number}]\nssh = "lab{number}"\naddress = "{address}"\n'
                f'folder = "{self.folder / "agents"}"\n{each}\n'
            )
        path = self.folder / "lab.toml"
        path.write_text(text)
        return path

    def left(self) -> list[str]:
        """What runs have left on the machines."""
        return sorted(path.name for path in (self.folder / "agents").iterdir())


@contextmanager
def laboratory(
    folder: Path,
    inside: Iterable[tuple[list[str], str]] = (([], "127.0.0.1"),),
    more: str = "",
) -> Iterator[Laboratory]:
    """Servers, each started with the words before it and listening at an address, lab0 and so on.

    One server stands for all machines where there is one. `more` is for their configuration.
    """
    for program in ("sshd", "ssh", "ssh-keygen"):
        assert which(program), f"{program}: apt-get install openssh-server openssh-client"
    for key in ("host", "user"):
        made = [which("ssh-keygen") or "", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)]
        subprocess.run(made, check=True)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # where sshd drops its privileges
    client = ""
    servers = []
    inside = list(inside)
    try:
        for number, (before, address) in enumerate(inside):
            port = 22 if before else _free_port()
            names = f"lab{number}" if len(inside) > 1 else "lab*"
            values = {"folder": folder, "address": address, "port": port}
            (folder / f"server{number}").write_text(SERVER.format(**values) + more)
            client += CLIENT.format(host=names, user=getpass.getuser(), **values)
            command = [which("sshd") or "", "-D", "-e", "-f", str(folder / f"server{number}")]
            log = (folder / f"log{number}").open("wb")
            servers.append(subprocess.Popen([*before, *command], stderr=log))
            log.close()
        (folder / "client").write_text(client)
        for number in range(len(inside)):
            _wait_for(folder / f"log{number}", "Server listening")
        yield Laboratory(folder)
    finally:
        for server in servers:
            server.terminate()
            server.wait()
        shutil.rmtree(folder / "agents", ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _wait_for(log: Path, text: str) -> None:
    for _ in range(200):
        if text in log.read_text(errors="replace"):
            return
        time.sleep(0.05)
    raise AssertionError(f"{log}: {log.read_text(errors='replace')}")
