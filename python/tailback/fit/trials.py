"""Tries out values: makes the runs that the target needs and scores what they give.

Every trial uses the same seeds, so that two trials differ by their values and not by chance.
The runs of all trials of a batch share the cores of the machine.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, cast

import polars as pl

from tailback._native import Control, Plan
from tailback.backends import Backend
from tailback.errors import InputError, RunsFailed, ScenarioError
from tailback.fit.objective import Score, score
from tailback.fit.parameter import Parameter
from tailback.fit.target import ROW, Target
from tailback.records import PlannedRun
from tailback.scenario import Scenario
from tailback.sweep.local import execute
from tailback.sweep.progress import Progress

Values = tuple[str, ...]
"""One TOML value for each parameter; none for the scenario as it is."""


@dataclass(frozen=True)
class Trial:
    """What one set of values gave.

    Attributes:
        values: as TOML, in the order of the parameters; empty for the scenario as it is.
        score: its errors; `None` where the values contradict one another, so that no run
            can be made.
        predicted: one line for each row of the target, in its order; `None` likewise.
    """

    values: Values
    score: Score | None
    predicted: pl.DataFrame | None

    @property
    def error(self) -> float:
        """The weighted error; infinite where no run can be made."""
        return self.score.error if self.score is not None else float("inf")


@dataclass(frozen=True)
class Laboratory:
    """Everything that trials have in common.

    Attributes:
        scenario: what is run; parameters are set on top of its own overrides.
        parameters: what varies.
        target: what is predicted.
        weights: metric -> weight of its error.
        backend: what makes the runs.
        jobs: runs at a time.
    """

    scenario: Scenario
    parameters: Sequence[Parameter]
    target: Target
    weights: Mapping[str, float]
    backend: Backend
    jobs: int

    def scenario_with(self, values: Values) -> Scenario:
        """The scenario with these values."""
        if not values:
            return self.scenario
        pairs = zip(self.parameters, values, strict=True)
        return self.scenario.override(*(f"{p.path}={value}" for p, value in pairs))

    def with_seed(self, seed: int) -> Self:
        """The same laboratory with another seed."""
        return replace(self, scenario=self.scenario.set("run.seed", seed))

    def try_all(
        self, batch: Sequence[Values], on_progress: Callable[[float], None] | None = None
    ) -> list[Trial]:
        """One trial for each set of values, all their runs side by side.

        Args:
            batch: the sets.
            on_progress: called with the share of the batch that is done, several times a second.

        Raises:
            RunsFailed: a run failed; that is a defect, not a bad value.
            InputError: the runs do not give a metric that is fitted to.
        """
        plans: list[Plan | None] = []
        for values in batch:
            try:
                plans.append(self.scenario_with(values).plan)
            except ScenarioError:
                plans.append(None)
        work = _Batch(self.backend, plans, self.target.wanted)
        summaries: dict[int, pl.DataFrame] = {}

        def tell(progress: Progress) -> None:
            if on_progress is not None:
                on_progress(progress.work_fraction)

        failures = execute(
            # Of a plan the engine reads the runs alone.
            cast(Plan, work),
            work,
            save=lambda index, tables: summaries.__setitem__(index, tables["summary"]),
            jobs=self.jobs,
            on_progress=tell,
        )
        for index, error in failures.items():
            number, run = work.tasks[index]
            words = ", ".join(batch[number]) or "the scenario as it is"
            raise RunsFailed(f"run {run} with {words}: {error}") from error
        by_trial: list[dict[int, pl.DataFrame]] = [{} for _ in batch]
        for index, (number, run) in enumerate(work.tasks):
            by_trial[number][run] = summaries[index]
        return [self._trial(values, found) for values, found in zip(batch, by_trial, strict=True)]

    def _trial(self, values: Values, summaries: Mapping[int, pl.DataFrame]) -> Trial:
        if not summaries:
            return Trial(values, None, None)
        metrics = list(self.weights)
        lines = []
        for row, indices in enumerate(self.target.runs):
            runs = pl.concat([summaries[index] for index in indices])
            if missing := [m for m in metrics if m not in runs.columns]:
                raise InputError(
                    f"--metrics: the runs do not give {', '.join(missing)}; "
                    f"they give {', '.join(runs.columns)}"
                )
            # What a run has none of (NaN) is as far off as zero: an error of 100 %.
            means = pl.col(metrics).cast(pl.Float64).fill_nan(0.0).mean()
            lines.append(runs.select(pl.lit(row).alias(ROW), means))
        predicted = pl.concat(lines)
        return Trial(values, score(self.target, predicted, self.weights), predicted)


class _Batch:
    """The runs of several plans as those of one, for the sweep's engine."""

    def __init__(
        self, backend: Backend, plans: Sequence[Plan | None], wanted: Sequence[int]
    ) -> None:
        self._backend = backend
        self._plans = plans
        self.name = backend.name
        self.tasks: list[tuple[int, int]] = []
        """Number of the plan and the run's index in it."""
        self.runs: list[PlannedRun] = []
        for number, plan in enumerate(plans):
            runs = plan.runs if plan is not None else []
            for run in runs:
                if run["index"] in wanted:
                    self.runs.append({**run, "index": len(self.tasks)})
                    self.tasks.append((number, run["index"]))

    def run(self, _plan: Plan, index: int, control: Control) -> Mapping[str, pl.DataFrame]:
        number, run = self.tasks[index]
        plan = self._plans[number]
        if plan is None:
            raise AssertionError("no task belongs to a plan that there is not")
        return self._backend.run(plan, run, control)
