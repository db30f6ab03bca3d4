"""Built-in scenarios with something wrong put in at random, the same each time: they are sound, or
all that is wrong with it is said, a line each, with its place, reason and remedy.
"""

import copy
import random
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import tailback
from helpers import Command
from tailback.toml_value import toml_document, toml_value

NAMES = ("incast-8mb", "l4s", "ecn-flent", "lambda-udp", "dcqcn-incast", "node-pairs")
TIMES = 8
"""Of each scenario and way."""
ODD: tuple[Any, ...] = (
    *(0, -1, 2**31, 2**63 - 1, 2**64, 0.1, 1e308, float("nan"), float("-inf"), True),
    *("", " ", "x", "é日本\u202e", "0s", "1ps", "-1s", "241h", "0B", "1001TB", "1bit", "11Tbit"),
    *("1.5B", "0.3ps", "1 GB", "18446744073709551616B", "10Gbit/s", "٣MB", "2026-11-24"),
    *([], {}, [[]], [{}], {"": 1}, {"kind": "x"}, {"preset": "x"}, ["a", "a"]),
    *({"from": 0, "to": 10**9}, {"from": 3, "to": 1}, {"from": 1, "to": 2, "step": 0}),
    {"label": {"a": 1}, "set": {}},
)
TEXTS = ("[", "{a=", '"', "'''", "1979-05-27", "0x10", "1_000", "+1", "a=b", "1\n[x]\ny=2", "1 # c")
LINE = re.compile(r"(error|warning): \S[^\n]*: [^\n]+; [^\n]+")


def places(table: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401
    """The paths of all values within, tables and lists among them."""
    items = table.items() if isinstance(table, dict) else enumerate(table)
    found = []
    for key, value in items:
        found.append((*before, key))
        if isinstance(value, dict | list):
            found += places(value, (*before, key))
    return found


def within(table: Any, path: tuple[Any, ...]) -> Any:  # noqa: ANN401
    for key in path:
        table = table[key]
    return table


def of_another_kind(rng: random.Random, scenario: dict[str, Any]) -> str:
    """Values replaced, taken out, put in, or moved."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        paths = places(scenario)
        path = rng.choice(paths)
        around = within(scenario, path[:-1])
        match rng.randrange(4):
            case 0:
                around.pop(path[-1])
            case 1 if isinstance(around, dict):
                around[rng.choice(["kind", "preset", "rate", "nothing", ""])] = rng.choice(ODD)
            case 2:
                around[path[-1]] = copy.deepcopy(within(scenario, rng.choice(paths)))
            case _:
                around[path[-1]] = copy.deepcopy(rng.choice(ODD))
    return toml_document(scenario)


def of_other_text(rng: random.Random, text: str) -> str:
    """A file as editors, copies and cuts leave it."""
    at, lines = rng.randrange(len(text)), text.split("\n")
    line = rng.randrange(len(lines))
    match rng.randrange(7):
        case 0:
            return text.replace("\n", "\r\n")
        case 1:
            return f"\ufeff{text}"
        case 2:
            return text[:at]
        case 3:
            return "\n".join([*lines[: line + 1], *lines[line:]])
        case 4:
            return "\n".join([*lines[:line], *lines[line + 1 :]])
        case 5:
            return text[:at] + rng.choice("\0\x1b\u2028\"'[]{}=#\t\\") + text[at:]
        case _:
            depth = rng.choice([100, 20_000])
            return f"{text}\nx = {'[' * depth}{']' * depth}\n"


def override(rng: random.Random, scenario: dict[str, Any]) -> str:
    path = [str(key) for key in rng.choice(places(scenario))]
    if rng.random() < 0.2:
        path[rng.randrange(len(path))] = rng.choice(["", "-1", "9" * 20, "*", "a b", '"', "é"])
    text = rng.choice([toml_value(rng.choice(ODD)), str(rng.choice(ODD)), rng.choice(TEXTS)])
    return f"{'.'.join(path)}{rng.choice(['=', ' = ', '=='])}{text}"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", ["values", "text", "override"])
def test_all_that_is_wrong_is_said(command: Command, tmp_path: Path, name: str, way: str) -> None:
    text = tailback.load(name).text
    path = tmp_path / "mine.toml"
    for seed in range(TIMES):
        rng = random.Random(f"{name} {way} {seed}")  # noqa: S311 - noise, no secret
        scenario = tomllib.loads(text)
        overrides = []
        match way:
            case "values":
                written = of_another_kind(rng, scenario)
            case "text":
                written = of_other_text(rng, text)
            case _:
                written, overrides = text, ["--set", override(rng, scenario)]
        path.write_text(written, encoding="utf-8", newline="")
        answer = command("check", path, *overrides)
        told = (seed, overrides, answer)
        assert answer.code in {0, 2}, told
        lines = answer.err.splitlines()
        assert all(LINE.fullmatch(line) for line in lines), told
        assert (answer.code == 2) == any(line.startswith("error") for line in lines), told
