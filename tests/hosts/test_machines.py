"""What machines say of themselves."""

import subprocess
from pathlib import Path
from typing import cast

import pytest

from tailback.errors import SimulationError
from tailback.hosts.inventory import Machine
from tailback.hosts.machines import look_at
from tailback.hosts.ssh import BEGINNING, Shells, said_by_script
from tailback.hosts.there import INSTALL

LAB0 = Machine(name="lab0", ssh="lab0", address="192.0.2.10", sudo=False, folder="/none")

ABOUT = """system Linux x86_64
release 6.1.0
boot 1234
user 1000
ports 32768 60999
interface eth0 1500 1000
"""


class Says:
    """A shell whose scripts print this."""

    def __init__(self, text: str) -> None:
        self.text = text

    def run(self, *_: object) -> str:
        return self.text


def test_a_machine_says_what_it_is() -> None:
    about = look_at(cast(Shells, Says(f"{ABOUT}address 192.0.2.10 eth0\n")), LAB0)
    assert (about.interface, about.mtu_bytes, about.speed_mbps) == ("eth0", 1500, 1000)


def test_one_that_lacks_ip_says_so() -> None:
    with pytest.raises(SimulationError, match=r"it has no ip .*iproute2"):
        look_at(cast(Shells, Says(f"{ABOUT}lacks ip\n")), LAB0)


def test_what_a_login_shell_says_is_not_the_scripts() -> None:
    assert said_by_script(f"Welcome\n{BEGINNING}\n1\n2\n") == "1\n2\n"


def test_an_agent_that_came_in_part_is_not_left(tmp_path: Path) -> None:
    script = INSTALL.format(folder=tmp_path, size=10)
    for came, code in ((b"12345", 1), (b"1234567890", 0)):
        done = subprocess.run(["sh", "-c", script], input=came, capture_output=True, check=False)
        assert done.returncode == code
        assert (b"in whole" in done.stderr) == bool(code)
        assert done.stdout.decode().split() == [str(path) for path in tmp_path.iterdir()]
