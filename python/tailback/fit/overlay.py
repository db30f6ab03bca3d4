"""The overlay file: the fitted values, and what they were fitted to."""

import tomllib
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from tailback import _native
from tailback.errors import InputError, ScenarioError
from tailback.fit.parameter import plain
from tailback.fit.result import Fit, Fitted
from tailback.fit.sensitivity import SHIFTS
from tailback.results.storage import explained, write_bytes
from tailback.scenario import Scenario
from tailback.toml_value import toml_key


def check_free(path: Path) -> None:
    """Raises `InputError` if an overlay could not be written to `path` later."""
    if path.exists():
        raise InputError(f"{path}: exists and is not overwritten; name another file with -o")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it, or name another file")


def write_overlay(fit: Fit, path: Path) -> None:
    """Writes the overlay of a fit; a scenario names it with `overlay = ["FILE"]`."""
    with explained(path, "name a file that can be written with -o"):
        write_bytes(path, overlay_text(fit).encode())


def overlay_text(fit: Fit) -> str:
    """What the overlay says: comments with its origin, then the values."""
    return "\n".join([*(f"# {line}".rstrip() for line in _origin(fit)), "", *_tables(fit)]) + "\n"


def reproduces(fit: Fit, path: Path) -> bool:
    """Whether the scenario with the overlay is the scenario with the fitted values set."""
    pairs = [f"{f.parameter.path}={f.value}" for f in fit.fitted]
    try:
        with_overlay = _with_overlay(fit.scenario, path).plan.hash
    except ScenarioError:
        return False
    return with_overlay == fit.scenario.override(*pairs).plan.hash


def _with_overlay(scenario: Scenario, path: Path) -> Scenario:
    """The scenario with one overlay more than those it names itself."""
    own: list[str] = []
    for text in (scenario.text, *(o for o in scenario.overrides if o.startswith("overlay="))):
        named = tomllib.loads(text).get("overlay", own)
        own = [named] if isinstance(named, str) else named
    return scenario.set("overlay", [*own, str(path.resolve())])


def _origin(fit: Fit) -> Iterable[str]:
    target = fit.target
    yield f"Written by tailback fit (tailback {_native.__version__}, scipy {version('scipy')})."
    yield 'A scenario takes it with overlay = ["PATH OF THIS FILE"].'
    yield ""
    yield f"Scenario:   {fit.scenario.name}" + "".join(
        f" --set {o}" for o in fit.scenario.overrides
    )
    yield f"Fitted to:  {target.label}" + (f" ({target.source})" if target.source else "")
    yield f"Rows:       {rows_in_words(fit)}"
    yield "Metrics:    " + ", ".join(f"{m} (weight {w:g})" for m, w in fit.weights.items())
    iterations = " to ".join(str(n) for n in dict.fromkeys([fit.iterations[0], fit.iterations[-1]]))
    yield f"Runs:       {iterations} iterations, seed {fit.seed}"
    yield f"Search:     {fit.evaluations} of {fit.budget} evaluations" + (
        ", interrupted" if fit.interrupted else ""
    )
    errors = ", ".join(f"{m} {e:.2%}" for m, e in fit.score.by_metric.items())
    yield f"Error:      {fit.score.error:.2%} ({errors}), {fit.before.error:.2%} before"
    if fit.worse_than_before:
        yield f"            {before_better(fit)}"
    yield f"            worst: {fit.score.worst}"
    if fit.other_seeds:
        others = ", ".join(f"{s.error:.2%} with seed {n}" for n, s in fit.other_seeds.items())
        yield f"            {others}"


def before_better(fit: Fit) -> str:
    """What to say where the search found nothing better than the values before."""
    said = "The values before predict these rows better than any that was tried"
    return f"{said} ({fit.tried:.2%} at best)" + (", and stay." if fit.kept else ".")


def rows_in_words(fit: Fit) -> str:
    """The chosen rows: their number, and along each axis the values."""
    rows = fit.target.rows
    words = [f"{rows.height}"]
    for axis in fit.target.axes:
        values = rows[axis].unique(maintain_order=True).to_list()
        if len(values) > 2 and values == list(range(values[0], values[0] + len(values))):
            words.append(f"{axis} {values[0]} to {values[-1]}")
        else:
            words.append(f"{axis} {', '.join(str(value) for value in values)}")
    return "; ".join(words)


def _tables(fit: Fit) -> Iterable[str]:
    """One table for each parent of a fitted value, in the order of the parameters."""
    tables: dict[tuple[str, ...], list[tuple[str, Fitted]]] = {}
    for fitted in fit.fitted:
        steps = fitted.parameter.steps(fit.scenario)
        tables.setdefault(steps[:-1], []).append((steps[-1], fitted))
    for number, (parents, values) in enumerate(tables.items()):
        if number:
            yield ""
        if parents:
            yield f"[{'.'.join(toml_key(step) for step in parents)}]"
        for key, fitted in values:
            yield f"# {_remark(fitted)}"
            yield f"{toml_key(key)} = {fitted.value}"


def _remark(fitted: Fitted) -> str:
    words = [f"sought in {fitted.parameter.range}"]
    if fitted.before is not None:
        words.append(f"before {plain(fitted.before)}")
    if fitted.at_bound:
        words.append("at the end of its range")
    if fitted.sensitivity is not None:
        words += [
            f"error {step.error_change * 100:+.2f} points at {plain(step.value)}"
            for step in fitted.sensitivity.steps
            if abs(step.shift) == max(SHIFTS)
        ]
        words.append(fitted.sensitivity.remark)
    return "; ".join(word for word in words if word)
