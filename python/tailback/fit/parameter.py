"""A parameter to be fitted: a path, two bounds, and the steps between them.

Bounds are written as in a scenario file, `900KB..1400KB`, both with the same unit. What a path
or a value may be is the scenario model's to say: every bound is checked by it, and so is the
number of decimals that a value may have.
"""

import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tailback._native import quantity
from tailback.errors import Problem, ScenarioError
from tailback.scenario import Scenario
from tailback.toml_value import toml_value

Scale = Literal["linear", "log"]
Steps = tuple[str, ...]
"""The keys of a path, outermost first."""

LOG_BEYOND = 20.0
"""A range whose high bound is more than this many times its low one is searched in logarithms."""

STEPS = 1000
"""A range is cut into at least this many steps, where its values allow as fine ones."""

_FORM = re.compile(
    r"(?P<path>[^=]+)=(?P<low>.+?)\.\.(?P<high>[^:]+)(?::(?P<scale>log|linear))?", re.DOTALL
)
_VALUE = re.compile(r"(?P<number>-?\d[\d_]*(?:\.\d+)?)\s*(?P<unit>[A-Za-zµ/%]*)")


@dataclass(frozen=True)
class Parameter:
    """One value of a scenario and where it is sought.

    Positions are numbers from 0 (`low`) to 1 (`high`) along the scale.

    Attributes:
        path: as `--set` takes it.
        low: least value, in `unit`.
        high: greatest value, in `unit`.
        unit: as in scenario files; empty for plain numbers.
        scale: how positions spread between the bounds.
        decimals: digits after the point that values are rounded to.
    """

    path: str
    low: float
    high: float
    unit: str
    scale: Scale
    decimals: int

    def value(self, position: float) -> str:
        """The value at a position, as TOML: a quoted quantity, or a plain number."""
        at = min(max(position, 0.0), 1.0)
        if self.scale == "log":
            number = self.low * (self.high / self.low) ** at
        else:
            number = self.low + (self.high - self.low) * at
        text = f"{min(max(number, self.low), self.high):.{self.decimals}f}"
        if "." in text:
            text = text.rstrip("0").rstrip(".")
        return f'"{text}{self.unit}"' if self.unit else text

    def position(self, value: str) -> float | None:
        """Where a value stands, as TOML; `None` of one that has no place on the scale."""
        number = self._number(plain(value))
        if number is None:
            return None
        if self.scale == "log":
            return math.log(number / self.low) / math.log(self.high / self.low) if number else None
        return (number - self.low) / (self.high - self.low)

    def _number(self, text: str) -> float | None:
        """A value in the bounds' unit, whatever its own."""
        size, one = quantity(text), quantity(f"1{self.unit}")
        if size is not None and one is not None and size[0] == one[0]:
            return size[1] / one[1]
        try:
            return float(text.removesuffix(self.unit))
        except ValueError:
            return None

    def steps(self, scenario: Scenario) -> Steps:
        """The keys of the full path; a value's name alone is looked up in the scenario."""
        value: object = tomllib.loads(f"{self.path} = 0")
        steps: list[str] = []
        while isinstance(value, dict):
            key, value = next(iter(value.items()))
            steps.append(key)
        return tuple(steps) if len(steps) > 1 else _differing(self, scenario)[0]

    def current(self, scenario: Scenario) -> str | None:
        """The value in the scenario as it is, as TOML; `None` where it has none."""
        value: object = scenario.resolved
        presets = scenario.resolved["preset"]
        for step in _differing(self, scenario)[0]:
            below = value.get(step) if isinstance(value, dict) else None
            if below is None:  # not said here: it is the preset's that this begins with
                name = value.get("preset") if isinstance(value, dict) else value
                below = _in_preset(presets, name, step)
            value = below
        return None if value is None else toml_value(value)

    @property
    def range(self) -> str:
        """The bounds as written, with the scale where it is logarithmic."""
        low, high = (plain(self.value(end)) for end in (0.0, 1.0))
        return f"{low}..{high}" + (":log" if self.scale == "log" else "")


def parameters(texts: Sequence[str], scenario: Scenario) -> list[Parameter]:
    """The parameters that `PATH=LOW..HIGH[:log|:linear]` texts name.

    Raises `ScenarioError` with everything that is wrong in any of them.
    """
    problems: list[Problem] = []
    found: list[Parameter] = []
    for text in texts:
        parsed = _parse(text)
        if isinstance(parsed, Parameter):
            wrong = _refused(parsed, text, scenario)
            problems += wrong
            if not wrong:
                found.append(_with_decimals(parsed, scenario))
        else:
            problems.append(parsed)
    paths = [parameter.path for parameter in found]
    for path in sorted({path for path in paths if paths.count(path) > 1}):
        problems.append(_problem(path, path, "is given twice", "give each parameter once"))
    if not texts:
        problems.append(_problem("", "", "no parameter is given", "add --param PATH=LOW..HIGH"))
    if problems:
        raise ScenarioError(problems)
    return found


def plain(value: str) -> str:
    """A TOML value as people read it: without quotes."""
    return value.strip('"')


def _parse(text: str) -> Parameter | Problem:
    form = _FORM.fullmatch(text.strip())
    if form is None:
        return _problem(text, text, "is not PATH=LOW..HIGH", "for example stack.rto_min=1ms..200ms")
    path = form["path"].strip()
    low, high = (_VALUE.fullmatch(form[end].strip()) for end in ("low", "high"))
    if low is None or high is None:
        bad = form["low"] if low is None else form["high"]
        return _problem(text, path, f"{bad!r} is not a number with a unit", "for example 900KB")
    if low["unit"] != high["unit"]:
        return _problem(
            text,
            path,
            f"the bounds have different units ({low['unit'] or 'none'}, {high['unit'] or 'none'})",
            "write both with the same unit",
        )
    least, most = float(low["number"]), float(high["number"])
    if least >= most:
        return _problem(text, path, "the low bound is not below the high one", "LOW..HIGH")
    scale: Scale = "log" if least > 0 and most / least > LOG_BEYOND else "linear"
    if form["scale"] == "log" and least <= 0:
        return _problem(text, path, "a logarithmic range begins above 0", "raise the low bound")
    if form["scale"] is not None:
        scale = "log" if form["scale"] == "log" else "linear"
    first_step = (most - least) / STEPS
    if scale == "log":
        first_step = least * math.expm1(math.log(most / least) / STEPS)
    written = max(len(end["number"].partition(".")[2]) for end in (low, high))
    decimals = max(-math.floor(math.log10(first_step)), written, 0)
    return Parameter(path, least, most, low["unit"], scale, decimals)


def _refused(parameter: Parameter, text: str, scenario: Scenario) -> list[Problem]:
    """What the scenario model has against either bound, or against there being two of them."""
    problems: dict[str, Problem] = {}
    for end in (0.0, 1.0):
        override = f"{parameter.path}={parameter.value(end)}"
        for problem in scenario.override(override).check():
            if problem["severity"] != "error":
                continue
            if problem["source"] == f"--set {override}":
                problem["source"] = f"--param {text}"
            problems.setdefault(f"{problem['path']} {problem['reason']}", problem)
    if not problems and not _differing(parameter, scenario):
        reason = "changes nothing in this scenario"
        remedy = "name a value, or a preset, that its runs use"
        return [_problem(text, parameter.path, reason, remedy)]
    return list(problems.values())


def _with_decimals(parameter: Parameter, scenario: Scenario) -> Parameter:
    """The parameter with as many decimals as the model accepts, up to its own number."""
    for decimals in range(parameter.decimals, 0, -1):
        # One step above the low bound has a digit in the last place.
        number = f"{parameter.low + 10.0**-decimals:.{decimals}f}"
        value = f'"{number}{parameter.unit}"' if parameter.unit else number
        checked = scenario.override(f"{parameter.path}={value}").check()
        if not any(problem["severity"] == "error" for problem in checked):
            return replace(parameter, decimals=decimals)
    return replace(parameter, decimals=0)


def _differing(parameter: Parameter, scenario: Scenario) -> list[Steps]:
    """Where the scenario as resolved differs between the two bounds."""
    low, high = (
        scenario.override(f"{parameter.path}={parameter.value(end)}").resolved for end in (0.0, 1.0)
    )
    return list(_differences(low, high))


def _in_preset(presets: dict[str, dict[str, Any]], name: object, step: str) -> object:
    return next((of_kind[name].get(step) for of_kind in presets.values() if name in of_kind), None)


def _differences(a: object, b: object, at: Steps = ()) -> Iterator[Steps]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            yield from _differences(a.get(key), b.get(key), (*at, key))
    elif a != b:
        yield at


def _problem(text: str, path: str, reason: str, remedy: str) -> Problem:
    return Problem(
        path=path,
        source=f"--param {text}".rstrip(),
        line=None,
        column=None,
        reason=reason,
        remedy=remedy,
        severity="error",
    )
