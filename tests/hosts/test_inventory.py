"""Which machines a scenario's hosts are."""

from pathlib import Path

import pytest

from tailback.errors import InputError
from tailback.hosts import inventory

LAB = """
[hosts.host1]
address = "192.0.2.11"
[hosts.host0]
ssh = "me@lab0"
address = "192.0.2.10"
sudo = true
"""


def loaded(tmp_path: Path, text: str) -> inventory.Inventory:
    path = tmp_path / "lab.toml"
    path.write_text(text)
    return inventory.load(path)


def wrong(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as error:
        loaded(tmp_path, text)
    return str(error.value)


def test_what_is_left_out_has_a_default(tmp_path: Path) -> None:
    lab = loaded(tmp_path, LAB)
    assert (lab.first_port, lab.keep_sysctls, lab.ssh_config) == (20_000, False, None)
    first, second = lab.machines
    assert (first.ssh, first.sudo, first.folder) == ("host1", False, inventory.FOLDER)
    assert (second.ssh, second.sudo) == ("me@lab0", True)
    (tmp_path / "x").touch()
    assert loaded(tmp_path, f'ssh_config = "x"\n{LAB}').ssh_config == tmp_path / "x"


def test_hosts_have_the_machine_of_their_name_or_one_after_the_other(tmp_path: Path) -> None:
    lab = loaded(tmp_path, LAB)
    by_name = lab.for_hosts(["host0", "host1"])
    assert by_name["host0"].address == "192.0.2.10"
    in_order = lab.for_hosts(["client", "server"])
    assert in_order["client"].address == "192.0.2.11"
    for names in (["host0", "host2"], ["client", "server", "another"]):
        with pytest.raises(InputError, match=f"for {names[-1]} there is no machine"):
            lab.for_hosts(names)


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    said = wrong(
        tmp_path,
        """
sysctl = "set"
first_port = 80
ssh_config = "none"
[hosts.a]
adress = "192.0.2.10"
[hosts.b]
address = "fd00::1"
ssh = "-oProxyCommand=x"
sudo = "yes"
folder = "tmp; rm"
[hosts."my lab"]
address = "192.0.2.12"
[hosts.c]
address = "192.0.2.11"
[hosts.d]
address = "192.0.2.11"
""",
    ).splitlines()
    for part in (
        "sysctl: no such key; did you mean 'sysctls'?",
        "first_port: 80 is not a port from 1024 on",
        f"ssh_config: there is no file {tmp_path / 'none'}",
        "hosts.my lab.ssh: is missing, and 'my lab' is not a destination",
        "hosts.a.adress: no such key; did you mean 'address'?",
        "hosts.a.address: is missing",
        "hosts.b.address: 'fd00::1' is not an IPv4 address",
        "hosts.b.ssh: '-oProxyCommand=x' is not a destination",
        "hosts.b.sudo: 'yes' is not true or false",
        "hosts.b.folder: 'tmp; rm' is not an absolute path",
        "hosts.d.address: 192.0.2.11 is c's too",
    ):
        assert sum(part in line for line in said) == 1, (part, said)
    assert len(said) == 11


def test_a_file_that_is_none(tmp_path: Path) -> None:
    assert "there are none" in wrong(tmp_path, "")
    assert "lab.toml" in wrong(tmp_path, "[hosts")
    with pytest.raises(InputError, match="No such file"):
        inventory.load(tmp_path / "none.toml")
