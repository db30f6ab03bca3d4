"""What a fit gives."""

from collections.abc import Mapping
from dataclasses import dataclass

from tailback.analysis.words import percent
from tailback.fit.objective import Score
from tailback.fit.parameter import Parameter
from tailback.fit.sensitivity import Sensitivity
from tailback.fit.target import Target
from tailback.scenario import Scenario


@dataclass(frozen=True)
class Fitted:
    """One parameter's result.

    Attributes:
        parameter: path and bounds.
        value: the fitted value, as TOML.
        before: the value in the scenario as it is, as TOML; `None` where it has none.
        sensitivity: `None` if the fit was interrupted before it was known.
    """

    parameter: Parameter
    value: str
    before: str | None
    sensitivity: Sensitivity | None

    @property
    def at_bound(self) -> bool:
        """Whether the value is at an end of its range, which may then be too narrow."""
        return self.value in {self.parameter.value(0.0), self.parameter.value(1.0)}


@dataclass(frozen=True, repr=False)
class Fit:
    """A finished or interrupted fit. Errors are fractions: 0.1 is 10 %.

    Attributes:
        scenario: what was run, with the iterations and the seed of the fit.
        target: what it was fitted to.
        weights: metric -> weight.
        fitted: the parameters.
        score: the errors with the values of `fitted`.
        before: the errors of the scenario as it is.
        tried: the least error of those that the search tried.
        evaluations: sets of values that the search tried.
        budget: evaluations that were allowed.
        other_seeds: seed -> errors of the optimum with it. The search has chosen the optimum
            for its own seed, so that the error there is a little too good.
        interrupted: whether the user stopped it before it was done.
    """

    scenario: Scenario
    target: Target
    weights: Mapping[str, float]
    fitted: tuple[Fitted, ...]
    score: Score
    before: Score
    tried: float
    evaluations: int
    budget: int
    other_seeds: Mapping[int, Score]
    interrupted: bool

    def __repr__(self) -> str:
        """In a notebook: what was found, not all that it was found with."""
        values = ", ".join(f"{one.parameter.path} = {one.value}" for one in self.fitted)
        before, after = (percent(found.error) for found in (self.before, self.score))
        return f"<Fit {values}: error {after}, {before} before>"

    @property
    def seed(self) -> int:
        """The seed that the search used."""
        return int(self.scenario.resolved["run"]["seed"])

    @property
    def iterations(self) -> list[int]:
        """Iterations of the runs, each number once."""
        wanted = set(self.target.wanted)
        return sorted({r["iterations"] for r in self.scenario.plan.runs if r["index"] in wanted})

    @property
    def worse_than_before(self) -> bool:
        """Whether the scenario as it is predicts the rows better than any values tried."""
        return self.before.error < self.tried

    @property
    def kept(self) -> bool:
        """Whether the values of `fitted` are those before, which were better."""
        return self.worse_than_before and self.score == self.before
