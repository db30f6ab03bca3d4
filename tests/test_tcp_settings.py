"""docs/models/tcp-settings.md is complete, its defaults are the profiles', its tests are there."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/models/tcp-settings.md").read_text(encoding="utf-8")
SYSCTLS, SOCKETS = PAGE.split("## Sysctls")[1].split("## Socket options")
SCHEMA = json.loads((ROOT / "schema/scenario.schema.json").read_text(encoding="utf-8"))
RENAMED = ("rmem_max", "wmem_max", "rto_min", "rto_max")
OF_THE_INTERFACE = ("tso", "gso_max_segs")
WITHOUT_EFFECT = ("tcp_retries1",)


def rows(part: str) -> dict[str, list[str]]:
    """Each named row of a table: the other cells."""
    lines = [line for line in part.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first.strip("`"): others for first, *others in cells if len(others) in {1, 3}}


def sockets() -> dict[str, list[str]]:
    return rows(SOCKETS.split("## Linux 7.2 has")[0])


def properties(name: str) -> dict[str, Any]:
    found: dict[str, Any] = SCHEMA["$defs"][name]["properties"]
    return found


@pytest.fixture(scope="module")
def tests() -> set[str]:
    """Names of all Rust tests of the TCP."""
    sources = (ROOT / "crates/tcp/src").rglob("*.rs")
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    return set(re.findall(r"#\[test\]\s+fn (\w+)\(", text))


def test_every_sysctl_and_option_is_on_the_page_and_no_other() -> None:
    others = {*RENAMED, *OF_THE_INTERFACE}
    stack = {n for n in properties("Stack") if n.startswith("tcp_") or n in others}
    assert set(rows(SYSCTLS)) == stack
    assert set(sockets()) == set(properties("SocketConfig"))


@pytest.mark.parametrize(("column", "profile"), [(0, "linux-7.2"), (1, "linux-2.6.18")])
def test_the_defaults_are_the_profiles(column: int, profile: str) -> None:
    preset = ROOT / f"crates/tcp/presets/{profile}.toml"
    values = tomllib.loads(preset.read_text(encoding="utf-8"))
    for name, cells in rows(SYSCTLS).items():
        value = values.get(name, False)
        shown = " ".join(map(str, value)) if isinstance(value, list) else str(value)
        assert cells[column].lower() == shown.lower(), name


def test_each_names_a_test_that_there_is(tests: set[str]) -> None:
    for name, cells in (rows(SYSCTLS) | sockets()).items():
        if name not in WITHOUT_EFFECT:
            assert cells[-1].strip("`") in tests, name
