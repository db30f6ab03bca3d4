"""What was run, on what, and how long it took, as pairs of words."""

import json
from collections.abc import Mapping
from typing import Any

from tailback.analysis.anatomy import Anatomy
from tailback.analysis.axes import Axis
from tailback.analysis.differences import departures, share
from tailback.analysis.view import View
from tailback.analysis.words import few, number, written
from tailback.results.columns import own_column

_CHARACTERS_MAX = 2000
"""A longer text is not read to its end: a description is shorter."""
_ITEMS_MAX = 400
"""Neither is a longer list."""


def facts(view: View) -> list[tuple[str, str]]:
    """Return label and value of each fact, in the order shown."""
    manifest = view.results.manifest
    machine = manifest["machine"]
    cores = machine.get("cores")
    pairs = [
        ("Scenario", manifest["name"]),
        ("Study", manifest["study"] or ""),
        ("Sweep", _sweep(view)),
        ("Size", _runs(view)),
        ("Seed", str(manifest["seed"])),
        ("Scenario hash", manifest["scenario_hash"][:16]),
        ("Backend", manifest["backend"]),
        ("Kernels", ", ".join(f"{k}: {v}" for k, v in manifest.get("kernels", {}).items())),
        ("Not applied", "; ".join(manifest.get("not_applied", []))),
        ("Versions", ", ".join(f"{k} {v}" for k, v in manifest["versions"].items())),
        ("Machine", ", ".join(filter(None, (machine.get("cpu"), f"{cores} cores")))),
        ("Started", manifest["started"].replace("T", " ").replace("+00:00", " UTC")),
        ("Run time", duration(manifest["duration_s"]) + f" with {manifest['jobs']} at a time"),
        ("Speed", _speed(view)),
    ]
    return [(name, value) for name, value in pairs if value]


def strap(view: View) -> str:
    """Return the run in one line: scenario, size, seed, hash, date, run time."""
    manifest = view.results.manifest
    cpu = manifest["machine"].get("cpu")
    parts = (
        manifest["name"],
        _runs(view),
        f"seed {manifest['seed']}",
        f"hash {manifest['scenario_hash'][:8]}",
        manifest["started"][:10],
        duration(manifest["duration_s"]) + (f" on {cpu}" if cpu else ""),
    )
    return " · ".join(parts)


def duration(seconds: float) -> str:
    """Return a duration in words: `1 min 2 s`."""
    if seconds < 60:
        return f"{number(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def unlike(scenario: Mapping[str, Any]) -> str:
    """Return what a run has other than the built-in scenario of its name: nothing, most often."""
    name = scenario.get("name")
    if other := departures(scenario):
        return f"This run differs from the built-in {name} in {few(other)}."
    fewer = share(scenario)
    return f"This run has {' and '.join(fewer)} of the built-in {name}." if fewer else ""


def resolved(scenario: Mapping[str, Any]) -> str:
    """Return the scenario as a text; of what is very long, such as a trace, the beginning."""
    return json.dumps(_shortened(scenario), indent=2, ensure_ascii=False)


def _shortened(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    match value:
        case str() if len(value) > _CHARACTERS_MAX:
            beginning = value[: _CHARACTERS_MAX // 2].rstrip()
            return f"{beginning} … ({len(value):,} characters, all in manifest.json)"
        case list() if len(value) > _ITEMS_MAX:
            kept = [_shortened(item) for item in value[: _ITEMS_MAX // 2]]
            return [*kept, f"… ({len(value):,} in all, in manifest.json)"]
        case list():
            return [_shortened(item) for item in value]
        case Mapping():
            return {key: _shortened(item) for key, item in value.items()}
    return value


def waiting(one: Anatomy) -> str:
    """Return how long a transaction took and how many flows waited for a timeout."""
    flows = 0 if one.waits.is_empty() else one.waits.get_column("flow").n_unique()
    waited = {0: "no flow waited", 1: "one flow waited"}.get(flows, f"{flows} flows waited")
    return f"{number(one.end_us / 1e3)} ms, {waited} for a timeout"


def _sweep(view: View) -> str:
    axes = view.axes
    every = (*axes.varying, *axes.fixed)
    order = {name: i for i, name in enumerate(view.results.parameters)}
    return "; ".join(_axis(a) for a in sorted(every, key=lambda a: order[a.name]))


def _axis(axis: Axis) -> str:
    values = axis.values
    if axis.kind == "numeric" and len(values) > 4:
        return f"{axis.name} {values[0]:g} to {values[-1]:g} ({len(values)} values)"
    return f"{axis.name} {', '.join(written(v) for v in values)}"


def _runs(view: View) -> str:
    summary = view.summary
    text = "one run" if summary.height == 1 else f"{summary.height} runs"
    if "iterations" in summary.columns and not view.timed:
        counts = summary.get_column(own_column(summary, "iterations")).unique().sort().to_list()
        per_run = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
        text += f" of {per_run} transactions"
    repetitions = summary.get_column("repetition").n_unique()
    return text + (f", {repetitions} repetitions" if repetitions > 1 else "")


def _speed(view: View) -> str:
    table = view.optional("performance")
    if table.is_empty() or not {"hops", "cpu_s"} <= set(table.columns):
        return ""
    cpu_s = float(table.get_column(own_column(table, "cpu_s")).sum())
    if cpu_s <= 0:
        return ""
    hops = float(table.get_column(own_column(table, "hops")).sum())
    return f"{number(hops / cpu_s / 1e6)} million packet-hops per CPU second"
