"""How much the fit depends on each parameter, around the optimum."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailback.fit.objective import changes
from tailback.fit.parameter import Parameter
from tailback.fit.target import ROW
from tailback.fit.trials import Trial, Values

SHIFTS = (-0.10, -0.05, 0.05, 0.10)
"""Steps away from the optimum, as shares of the parameter's range on its scale."""

FLAT = 0.005
"""A parameter is flat if no step changes the error by more than this."""


@dataclass(frozen=True)
class Step:
    """What one parameter's step gives while the others stay.

    Attributes:
        shift: share of the range.
        value: the value there, as TOML.
        error_change: change of the error, as a fraction: 0.01 is one percentage point.
        metric_changes: metric -> change of its sum over the rows, as a fraction of it.
    """

    shift: float
    value: str
    error_change: float
    metric_changes: Mapping[str, float]


@dataclass(frozen=True)
class Sensitivity:
    """All steps of one parameter; those that the bounds or its grid leave no room for are absent.

    Attributes:
        steps: from the lowest to the highest.
        flat: whether the error hardly depends on it, so that the value says little.
        within_chance: whether other seeds change the error as much as any step does, so that
            the runs are too short, or too unsteady, to tell.
    """

    steps: tuple[Step, ...]
    flat: bool
    within_chance: bool

    @property
    def remark(self) -> str:
        """What to think of the value, in words; empty if it is well determined."""
        if self.flat:
            return "flat: the error hardly depends on it"
        if self.within_chance:
            return "uncertain: other seeds change the error as much"
        return ""


def neighbours(parameters: Sequence[Parameter], values: Values) -> dict[tuple[int, float], Values]:
    """The sets of values to try: (number of the parameter, shift) -> values."""
    found = {}
    for number, parameter in enumerate(parameters):
        here = parameter.position(values[number])
        if here is None:
            continue
        for shift in SHIFTS:
            if 0.0 <= here + shift <= 1.0:
                value = parameter.value(here + shift)
                if value != values[number]:
                    found[number, shift] = (*values[:number], value, *values[number + 1 :])
    return found


def sensitivities(
    parameters: Sequence[Parameter],
    best: Trial,
    around: Mapping[tuple[int, float], Trial],
    chance: float,
) -> list[Sensitivity]:
    """One for each parameter.

    Args:
        parameters: those that were fitted.
        best: the optimum.
        around: the trials of `neighbours`.
        chance: by how much the error changes with the seed alone.
    """
    found = []
    for number in range(len(parameters)):
        steps = tuple(
            _step(shift, trial.values[number], best, trial)
            for (which, shift), trial in around.items()
            if which == number
        )
        greatest = max((abs(step.error_change) for step in steps), default=0.0)
        found.append(Sensitivity(steps, bool(steps) and greatest <= FLAT, greatest <= chance))
    return found


def _step(shift: float, value: str, best: Trial, trial: Trial) -> Step:
    if best.predicted is None or trial.predicted is None:
        return Step(shift, value, float("inf"), {})
    metrics = [column for column in best.predicted.columns if column != ROW]
    return Step(
        shift,
        value,
        trial.error - best.error,
        changes(metrics, best.predicted, trial.predicted),
    )
