"""manifest.json: what a run folder holds and where it came from."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

from tailback.errors import InputError
from tailback.results import absent
from tailback.results.machine import machine, versions
from tailback.results.storage import write_json
from tailback.scenario import Scenario

FILE_NAME = "manifest.json"
FORMAT = 1
"""Version of the layout of a run folder."""


_KINDS: dict[str, type | tuple[type, ...]] = {
    "status": str,
    "name": str,
    "title": str,
    "description": str,
    "scenario": dict,
    "scenario_hash": str,
    "seed": int,
    "runs": int,
    "parameters": list,
    "backend": str,
    "versions": dict,
    "machine": dict,
    "started": str,
    "duration_s": (int, float),
}
"""What the keys that are read are of."""
_WITHIN = {
    "parameters": list,
    "versions": dict,
    "machine": dict,
    "kernels": dict,
    "not_applied": list,
    "tables": list,
    "digests": dict,
}
"""Of those, and of those that need not be there, the ones that hold texts and numbers."""


class Manifest(TypedDict):
    """The keys of manifest.json."""

    format: int
    status: Literal["running", "interrupted", "failed", "complete"]
    name: str
    title: str
    description: str
    study: str | None
    scenario: dict[str, Any]
    """As resolved: presets filled in, overrides applied."""
    scenario_hash: str
    seed: int
    runs: int
    """Runs planned."""
    parameters: list[str]
    """The swept parameters, first axis first; each is a column of every table."""
    backend: str
    versions: dict[str, str]
    machine: dict[str, Any]
    jobs: int
    started: str
    """UTC, ISO 8601."""
    duration_s: float
    """Wall-clock seconds at work, all sittings together."""
    kernels: NotRequired[dict[str, str]]
    """Of runs on real hosts: versions of their kernels, by where they run."""
    not_applied: NotRequired[list[str]]
    """What the scenario says and was not done, a sentence each; absent where all was."""
    tables: NotRequired[list[str]]
    """The tables in the folder, once it is complete."""
    digests: NotRequired[dict[str, str]]
    """SHA-256 of each table's file, in hexadecimal."""


def new(scenario: Scenario, backend: str, jobs: int) -> Manifest:
    """The manifest of a folder that is about to be filled."""
    plan = scenario.plan
    resolved = scenario.resolved
    runs = plan.runs
    return Manifest(
        format=FORMAT,
        status="running",
        name=resolved["name"],
        title=resolved.get("title") or resolved["name"],
        description=resolved.get("description") or "",
        study=resolved.get("study"),
        scenario=resolved,
        scenario_hash=plan.hash,
        seed=int(resolved["run"]["seed"]),
        runs=len(runs),
        parameters=[name for name, _ in runs[0]["parameters"]] if runs else [],
        backend=backend,
        versions=versions(),
        machine=machine(),
        jobs=jobs,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        duration_s=0.0,
    )


def read(folder: Path) -> Manifest:
    """The manifest in `folder`; raises `InputError` if it is no run folder."""
    path = folder / FILE_NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found = content["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(absent.why(folder, FILE_NAME, error)) from error
    if found != FORMAT:
        raise InputError(
            f"{folder}: was written in format {found}, this version reads {FORMAT}; "
            "run the scenario again, or use the version that wrote it"
        )
    if wrong := _wrong(content):
        raise InputError(
            f"{path}: is damaged ({', '.join(wrong)}); "
            "copy the folder anew, or run the scenario again"
        )
    manifest: Manifest = content
    return manifest


def _wrong(content: dict[str, Any]) -> list[str]:
    """The keys whose values are not what they ought to be."""
    wrong = [key for key, kind in _KINDS.items() if not isinstance(content.get(key), kind)]
    if wrong:
        return wrong
    wrong = [key for key, kind in _WITHIN.items() if not _all(content.get(key, kind()), kind)]
    scenario = content["scenario"]
    if not all(isinstance(scenario.get(key), dict) for key in ("network", "workload")):
        wrong.append("scenario")
    return wrong


def _all(values: object, kind: type) -> bool:
    """Whether these are texts, or of the machine numbers too, in a list or a table."""
    if not isinstance(values, kind) or not isinstance(values, dict | list):
        return False
    within = values.values() if isinstance(values, dict) else values
    return all(isinstance(value, str | int | float) for value in within)


def write(folder: Path, manifest: Manifest) -> None:
    """Writes or replaces the manifest in `folder`."""
    write_json(folder / FILE_NAME, manifest)


def difference(old: Manifest, now: Manifest) -> str | None:
    """Why the runs of `old` cannot be continued as `now`; None if they can."""
    if old["backend"] != now["backend"]:
        return f"it is of backend {old['backend']}, this is {now['backend']}"
    if old["versions"]["tailback"] != now["versions"]["tailback"]:
        return (
            f"it is of version {old['versions']['tailback']}, this is {now['versions']['tailback']}"
        )
    if old["scenario_hash"] == now["scenario_hash"]:
        return None
    if old["name"] != now["name"]:
        return f"it is of the scenario '{old['name']}', this is '{now['name']}'"
    if old["seed"] != now["seed"]:
        return f"its seed is {old['seed']}, this one's {now['seed']}"
    return "it is of another version of this scenario"
