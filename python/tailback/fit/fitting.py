"""The whole of a fit: checks, search, a test against chance, sensitivity."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from tailback.backends import Backend, backend_named
from tailback.errors import InputError, Interrupted
from tailback.fit.objective import Score, check_usable, weights
from tailback.fit.parameter import parameters
from tailback.fit.result import Fit, Fitted
from tailback.fit.search import BudgetSpent, Point, search
from tailback.fit.sensitivity import Sensitivity, neighbours, sensitivities
from tailback.fit.target import choose_rows, read_table
from tailback.fit.trials import Laboratory, Trial, Values
from tailback.results.machine import cores
from tailback.scenario import Scenario, load

BUDGET = 30
"""Evaluations for each parameter, unless the caller says how many in all."""

OTHER_SEEDS = 2
"""Seeds beyond the fit's own that the optimum is tried with."""


T = TypeVar("T")


@dataclass(frozen=True)
class Progress:
    """A snapshot, several times a second.

    Attributes:
        fraction: share of the work that is done, 0 to 1.
        evaluations: sets of values that the search has tried so far.
        planned: those that it may try.
        best: the best of them; `None` before the first.
        tried: sets of values tried so far in all: the scenario as it is, the search's, other
            seeds and sensitivities.
        in_all: those that there will be, as far as is known.
    """

    fraction: float
    evaluations: int
    planned: int
    best: Trial | None
    tried: int
    in_all: int


OnProgress = Callable[[Progress], None]


def fit(
    scenario: Scenario | str | Path,
    *,
    to: str,
    params: Sequence[str],
    rows: Sequence[str] = (),
    metrics: str | None = None,
    budget: int | None = None,
    iterations: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    even_if_worse: bool = False,
    backend: str | Backend = "sim",
    on_progress: OnProgress | None = None,
) -> Fit:
    """Searches the values of parameters that predict rows of a table best.

    The values that the scenario has already stay where none that was tried is better.
    Ctrl-C ends the search early: the best so far is the result.

    Args:
        scenario: a scenario, or the name or path of one. Its sweep says which rows can be
            predicted.
        to: `published:NAME`, a results folder, or a CSV file with our column names.
        params: `PATH=LOW..HIGH`, with `:log` or `:linear` for the scale; the path as
            `--set` takes it, the bounds with their unit.
        rows: `COLUMN=VALUE[,VALUE…]` or `COLUMN=LOW..HIGH`; by default all rows.
        metrics: `METRIC[=WEIGHT],…`; by default completion time, and drops with half its weight.
        budget: sets of values to try; by default 30 for each parameter. Sensitivity and
            the other seeds come on top.
        iterations: replaces the workload's iterations.
        seed: replaces the scenario's seed.
        jobs: runs at a time; by default as many as there are CPU cores.
        even_if_worse: takes the best that was tried even where the values before are better.
        backend: what makes the runs.
        on_progress: called several times a second.

    Raises:
        ScenarioError: the scenario or a parameter is wrong.
        InputError: the table, its rows or the metrics are wrong.
        RunsFailed: a run failed.
        Interrupted: by Ctrl-C before there was any result.
    """
    if not isinstance(scenario, Scenario):
        scenario = load(scenario)
    if iterations is not None:
        scenario = scenario.set("workload.iterations", iterations)
    if seed is not None:
        scenario = scenario.set("run.seed", seed)
    if isinstance(backend, str):
        backend = backend_named(backend)
    laboratory = _laboratory(scenario, to, params, rows, metrics, backend, jobs or cores())
    budget = budget or BUDGET * len(params)
    return _Fitting(laboratory, budget, on_progress, keeps=not even_if_worse).fit()


def _laboratory(
    scenario: Scenario,
    to: str,
    params: Sequence[str],
    rows: Sequence[str],
    metrics: str | None,
    backend: Backend,
    jobs: int,
) -> Laboratory:
    """Checks everything before the first run; raises all that is wrong at once."""
    scenario.plan  # noqa: B018 - of a wrong scenario nothing more can be said
    wrong: list[InputError] = []

    def checked(check: Callable[[], T]) -> T | None:
        try:
            return check()
        except InputError as error:
            wrong.append(error)
            return None

    found = checked(lambda: parameters(params, scenario))
    table = checked(lambda: read_table(to, rows, scenario))
    weighed, target = None, None
    if table is not None:
        weighed = checked(lambda: weights(metrics, table))
        target = checked(lambda: choose_rows(table, rows, scenario))
    if len(wrong) == 1:
        raise wrong[0]
    if found is None or target is None or weighed is None:
        raise InputError("\n".join(str(error) for error in wrong))
    check_usable(weighed, target)
    return Laboratory(scenario, found, target, weighed, backend, jobs)


class _Fitting:
    """The state of a fit: what has been tried, and how far it is."""

    def __init__(
        self, laboratory: Laboratory, budget: int, on_progress: OnProgress | None, *, keeps: bool
    ) -> None:
        self._laboratory = laboratory
        self._keeps = keeps
        self._current = [p.current(laboratory.scenario) for p in laboratory.parameters]
        self._before: Trial | None = None
        self._parameters = laboratory.parameters
        self._budget = budget
        self._on_progress = on_progress
        self._trials: dict[Values, Trial] = {}
        self._evaluations = 0
        self._made = 0
        steps = neighbours(self._parameters, self._values((0.5,) * len(self._parameters)))
        self._planned = 1 + budget + OTHER_SEEDS + len(steps)

    def fit(self) -> Fit:
        seeds: dict[int, Score] = {}
        found: list[Sensitivity] = []
        interrupted = False
        try:
            self._before = self._make(self._laboratory, [()])[0]
            search(self._errors, len(self._parameters), self._budget)
            seeds = self._other_seeds()
            found = self._sensitivities(seeds)
        except KeyboardInterrupt:
            interrupted = True
        before, tried, best = self._before, self._best_tried, self._best
        if before is None or before.score is None or tried is None or best is None:
            raise Interrupted("interrupted before there was any result")
        if tried.score is None or best.score is None:
            raise InputError(
                "no values within the bounds give a scenario that can be run; "
                f"check one with --set, such as {self._words(tried.values)}"
            )
        return Fit(
            scenario=self._laboratory.scenario,
            target=self._laboratory.target,
            weights=self._laboratory.weights,
            fitted=tuple(
                Fitted(
                    parameter,
                    best.values[number],
                    self._current[number],
                    found[number] if found else None,
                )
                for number, parameter in enumerate(self._parameters)
            ),
            score=best.score,
            before=before.score,
            tried=tried.error,
            evaluations=self._evaluations,
            budget=self._budget,
            other_seeds=seeds,
            interrupted=interrupted,
        )

    @property
    def _best_tried(self) -> Trial | None:
        """Of those that the search tried; the first of equals."""
        return min(self._trials.values(), key=lambda trial: trial.error, default=None)

    @property
    def _best(self) -> Trial | None:
        """The same, or the values before where they are better and stay then."""
        tried, before = self._best_tried, self._before
        values = tuple(value for value in self._current if value is not None)
        known = len(values) == len(self._parameters)
        if tried is None or before is None or before.error >= tried.error:
            return tried
        return replace(before, values=values) if self._keeps and known else tried

    def _values(self, point: Point) -> Values:
        return tuple(p.value(at) for p, at in zip(self._parameters, point, strict=True))

    def _words(self, values: Values) -> str:
        pairs = zip(self._parameters, values, strict=True)
        return " ".join(f"--set {p.path}={value}" for p, value in pairs)

    def _errors(self, points: Sequence[Point]) -> list[float]:
        """The errors at some points, for the search; each set of values is tried once."""
        wanted = [self._values(point) for point in points]
        new = [values for values in dict.fromkeys(wanted) if values not in self._trials]
        if self._evaluations + len(new) > self._budget:
            raise BudgetSpent
        for trial in self._make(self._laboratory, new):
            self._trials[trial.values] = trial
        self._evaluations += len(new)
        return [self._trials[values].error for values in wanted]

    def _other_seeds(self) -> dict[int, Score]:
        best = self._best
        if best is None or best.score is None:
            return {}
        self._planned = self._made + OTHER_SEEDS + len(neighbours(self._parameters, best.values))
        seed = int(self._laboratory.scenario.resolved["run"]["seed"])
        scores = {}
        for other in range(seed + 1, seed + 1 + OTHER_SEEDS):
            trial = self._make(self._laboratory.with_seed(other), [best.values])[0]
            if trial.score is not None:
                scores[other] = trial.score
        return scores

    def _sensitivities(self, seeds: Mapping[int, Score]) -> list[Sensitivity]:
        best = self._best
        if best is None or best.score is None:
            return []
        wanted = neighbours(self._parameters, best.values)
        known = dict(self._trials)
        new = [values for values in dict.fromkeys(wanted.values()) if values not in known]
        self._planned = self._made + len(new)  # what the search has tried is known
        known |= {trial.values: trial for trial in self._make(self._laboratory, new)}
        self._tell(0)
        around = {key: known[values] for key, values in wanted.items()}
        errors = [best.error, *(score.error for score in seeds.values())]
        return sensitivities(self._parameters, best, around, max(errors) - min(errors))

    def _make(self, laboratory: Laboratory, batch: Sequence[Values]) -> list[Trial]:
        trials = laboratory.try_all(batch, lambda part: self._tell(part * len(batch)))
        self._made += len(batch)
        return trials

    def _tell(self, making: float) -> None:
        if self._on_progress is not None:
            tried, in_all = self._made + making, max(self._planned, 1)
            fraction = min(tried / in_all, 1.0)
            self._on_progress(
                Progress(
                    fraction,
                    self._evaluations,
                    self._budget,
                    self._best_tried,
                    int(tried),
                    in_all,
                )
            )
