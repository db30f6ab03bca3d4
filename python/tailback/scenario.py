"""Scenarios as the user holds them: a text, where it came from, and overrides.

What a scenario means is decided in Rust, in one place; here nothing is parsed.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from tailback import _native
from tailback.errors import InputError, Problem
from tailback.given import given_path
from tailback.nearest import meant
from tailback.toml_value import toml_document, toml_value


class Scenario:
    """One scenario: network, hosts, TCP stacks, workload and sweep.

    Args:
        source: TOML text, or a mapping of the same structure. Quantities are strings with a
            unit, such as "10Gbit", "500ns", "8MB", "9000B".
        file_name: the name that errors give.
        base_dir: the folder that relative paths in the scenario start from.
        overrides: `path=value` each, value in TOML or a bare string.

    Scenarios never change: `set` gives a new one.

    Raises:
        InputError: `source` is neither text nor a mapping.
    """

    def __init__(
        self,
        source: str | Mapping[str, object],
        *,
        file_name: str = "scenario",
        base_dir: str | Path | None = None,
        overrides: Iterable[str] = (),
    ) -> None:
        if not isinstance(source, str | Mapping):
            raise InputError(
                f"{source!r}: a scenario is TOML text or a mapping, not {type(source).__name__}; "
                "tailback.load takes a name or a path"
            )
        self.text = source if isinstance(source, str) else toml_document(source)
        if isinstance(overrides, str):
            raise InputError(f"{overrides!r}: overrides are a list of texts, not one text")
        self.file_name = file_name
        self.base_dir = None if base_dir is None else str(base_dir)
        self.overrides = tuple(overrides)
        for text in (self.text, *self.overrides):
            _check_text(text)

    def set(self, path: str, value: object) -> Self:
        """The same scenario with one value replaced, e.g. `.set("workload.servers", 9)`."""
        return self.override(f"{path}={toml_value(value)}")

    def override(self, *overrides: str) -> Self:
        """The same scenario with `path=value` texts applied, as `--set` does."""
        return type(self)(
            self.text,
            file_name=self.file_name,
            base_dir=self.base_dir,
            overrides=[*self.overrides, *overrides],
        )

    def check(self) -> list[Problem]:
        """All problems, errors and warnings; an empty list if there are none."""
        return _native.check(self.text, self.file_name, list(self.overrides), self.base_dir)

    def check_programs(self) -> list[Problem]:
        """What is wrong with its congestion controls in Python, if it is sound otherwise: the first
        problem. Their text is executed to find out.
        """
        try:
            self.plan.check_programs()
        except InputError as error:
            path, _, said = str(error).partition(": ")
            reason, _, remedy = said.partition("; ")
            return [
                Problem(
                    path=path,
                    source=self.file_name,
                    line=None,
                    column=None,
                    reason=reason,
                    remedy=remedy,
                    severity="error",
                )
            ]
        return []

    @cached_property
    def plan(self) -> _native.Plan:
        """The scenario resolved, with its runs; raises `ScenarioError` with all problems."""
        return _native.Plan.from_text(
            self.text, self.file_name, list(self.overrides), self.base_dir
        )

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The scenario as resolved: presets filled in, overrides applied."""
        resolved: dict[str, Any] = json.loads(self.plan.scenario_json)
        return resolved

    @property
    def name(self) -> str:
        """The scenario's own name."""
        return str(self.resolved["name"])

    def __repr__(self) -> str:
        overrides = "".join(f", {override}" for override in self.overrides)
        return f"<Scenario {self.file_name}{overrides}>"


def built_in() -> dict[str, Scenario]:
    """The scenarios that come with Tailback, by name."""
    return {
        item["name"]: Scenario(item["text"], file_name=item["path"]) for item in _native.built_in()
    }


def load(name_or_path: str | Path, others: Iterable[str] = ()) -> Scenario:
    """A scenario by its built-in name, or from a `.toml` or client-side `.dat` file.

    Raises `InputError` if there is none, which asks for the nearest name there is; `others` are
    names that may have been meant beside scenarios'. The content is checked when it is first used.
    """
    if isinstance(name_or_path, Mapping):
        raise InputError("a mapping is no name of a scenario; tailback.Scenario takes it")
    path = given_path(name_or_path, "a scenario is named by its name or")
    name = str(name_or_path)
    try:
        exists, is_dir = path.exists(), path.is_dir()
    except OSError as error:  # a name that is too long
        raise InputError(f"{name}: cannot be read: {error.strerror}") from error
    if path.suffix in {".toml", ".dat"} or (exists and not is_dir):
        return _from_file(path)
    known = built_in()
    if name in known:
        return known[name]
    if is_dir:
        is_run = (path / "manifest.json").is_file()
        remedy = "`tailback report` shows it" if is_run else "give a .toml file in it"
        what = "a results folder" if is_run else "a folder"
        raise InputError(f"{name}: is {what}, not a scenario; {remedy}")
    names = [*known, *others]
    file = path.with_name(f"{path.name}.toml")
    remedy = (
        f"did you mean '{file}'?"
        if file.is_file()
        else meant(name, [*_files_beside(path), *names], f"built in are {', '.join(names)}")
    )
    kinds = "scenario or preset" if len(names) > len(known) else "scenario"
    raise InputError(f"{name}: no such file, and no built-in {kinds} of this name; {remedy}")


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise InputError(f"{text!r}: an override is a text, path=value")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        wrong = text[error.start : error.end]
        raise InputError(f"{wrong!r}: is half a character; a scenario is Unicode text") from error


def _files_beside(path: Path) -> list[str]:
    """The scenario files in the folder of a file that there is not, named as it was."""
    try:
        return [
            str(path.with_name(file.name))
            for file in sorted(path.parent.iterdir())
            if file.suffix in {".toml", ".dat"}
        ]
    except OSError:  # no folder, or none of ours
        return []


def _from_file(path: Path) -> Scenario:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        near = "" if path.exists() else meant(str(path), _files_beside(path), "")
        why = "; ".join(filter(None, (str(error.strerror), near)))
        raise InputError(f"{path}: cannot be read: {why}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not a text file in UTF-8") from error
    if path.suffix == ".dat":
        text = _native.dat_to_toml(text, str(path))
    return Scenario(text, file_name=str(path), base_dir=path.parent)
