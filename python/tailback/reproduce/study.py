"""From a study's name to its runs, its reports and the verdict on each of its claims."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from tailback.analysis.view import View
from tailback.analysis.words import few
from tailback.compare.checks import Check
from tailback.compare.studies import claims_for
from tailback.compare.terminal import checks_table
from tailback.errors import InputError, Interrupted
from tailback.nearest import meant
from tailback.report import write_report
from tailback.report.write import write_several
from tailback.results import Results
from tailback.sweep.progress import OnProgress, Progress

if TYPE_CHECKING:
    from rich.table import Table

    from tailback.scenario import Scenario

STUDIES: Mapping[str, tuple[str, ...]] = {
    "incast": ("incast-8mb",),
    "incast-rto": ("incast-rto", "incast-rto-dctcp"),
    "ecn-switch": ("ecn-switch",),
    "l2-congestion": ("l2-congestion", "l2-congestion-single-hop"),
    "node-pairs": ("node-pairs", "node-pairs-automatic", "node-pairs-30min"),
    "lambda-rings": ("lambda-udp", "lambda-tcp", "lambda-batching", "lambda-direct", "loss-mesh"),
}
"""Study -> the built-in scenarios that have published figures to be held against."""

PUBLISHED: Mapping[str, tuple[str, ...]] = {
    "incast": ("incast-8mb", "incast-4mb", "incast-striped"),
    **{
        study: STUDIES[study]
        for study in ("node-pairs", "ecn-switch", "l2-congestion", "lambda-rings")
    },
}
"""The five published studies at their published size."""

ShowProgress = Callable[["Scenario"], AbstractContextManager[OnProgress | None]]
"""Gives what is told of a scenario's progress while it runs."""


@dataclass(frozen=True)
class Outcome:
    """One scenario of a study.

    Attributes:
        results: its run folder.
        report: its report.
        checks: its claims.
    """

    results: Results
    report: Path
    checks: list[Check]


@dataclass(frozen=True)
class Reproduction:
    """A study run again.

    Attributes:
        study: its name.
        outcomes: one per scenario.
    """

    study: str
    outcomes: list[Outcome]

    @property
    def checks(self) -> list[Check]:
        """All claims of the study."""
        return [check for outcome in self.outcomes for check in outcome.checks]

    @property
    def holds(self) -> bool:
        """Whether every claim that could be checked is within its limit."""
        return all(check.verdict != "outside" for check in self.checks)

    @property
    def verdict(self) -> str:
        """How many claims hold, in one sentence."""
        outside = sum(check.verdict == "outside" for check in self.checks)
        judged = outside + sum(check.verdict == "within" for check in self.checks)
        return f"{judged - outside} of {judged} claims are within their limits."

    def table(self) -> "Table":
        """Return the verdict on each claim, for a terminal."""
        return checks_table(self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the reproduction as plain values, for JSON."""
        return {
            "study": self.study,
            "holds": self.holds,
            "scenarios": [
                {
                    "name": outcome.results.name,
                    "results": str(outcome.results.path),
                    "report": str(outcome.report),
                    "checks": [check.to_dict() for check in outcome.checks],
                }
                for outcome in self.outcomes
            ],
        }


def reproduce(
    study: str = "incast",
    *,
    folder: str | Path | None = None,
    jobs: int | None = None,
    progress: ShowProgress | None = None,
) -> Reproduction:
    """Run a published study, write its reports, and hold it against what was published.

    Args:
        study: a name in `STUDIES`.
        folder: where the run folders are: `FOLDER/SCENARIO` each. One that is there is used as
            it is, one that is not is run. By default `results`, and what is there is used only
            if it was made by this version from the same scenario.
        jobs: runs at a time; by default one per CPU core.
        progress: shows how far a scenario is while it runs.

    Raises:
        InputError: there is no such study, or a folder holds something else.
        RunsFailed: some runs failed.
        Interrupted: by Ctrl-C; the same call goes on from there.
    """
    if study not in STUDIES:
        remedy = meant(study, STUDIES, f"there are {', '.join(STUDIES)}")
        raise InputError(f"{study}: no such study; {remedy}")
    parent = None if folder is None else Path(folder)
    with ThreadPoolExecutor(1) as beside:
        found: list[Future[Outcome]] = []
        for name in STUDIES[study]:
            _raise_failed(found)
            found.append(beside.submit(_outcome, _made(name, parent, jobs, progress)))
        return Reproduction(study, [outcome.result() for outcome in found])


def reproduce_all(
    *,
    folder: str | Path | None = None,
    jobs: int | None = None,
    progress: ShowProgress | None = None,
) -> tuple[list[Reproduction], Path]:
    """Run the five published studies at their published size; write one report on all of them.

    Arguments and errors are those of `reproduce`. The answer's second part is the report.
    """
    parent = None if folder is None else Path(folder)
    names = [name for names in PUBLISHED.values() for name in names]
    one_run = [name for name in names if _is_one_run(name)]
    # A report is written beside the next scenario's runs: it keeps one core busy, and not for long.
    with ThreadPoolExecutor(1) as beside, _ahead(one_run, parent) as ahead:
        outcomes: dict[str, Future[Outcome]] = {}
        for name in names:
            _raise_failed(outcomes.values())
            results = ahead[name].result() if name in ahead else _made(name, parent, jobs, progress)
            outcomes[name] = beside.submit(_outcome, results)
        found = [
            Reproduction(study, [outcomes[name].result() for name in names])
            for study, names in PUBLISHED.items()
        ]
    verdicts = " ".join(f"{one.study}: {one.verdict}" for one in found)
    report = write_several(
        "Five studies of congestion in Ethernet networks",
        f"Each study run again by its scenarios and held against what it published. {verdicts}",
        [outcome.results for one in found for outcome in one.outcomes],
        (parent or Path("results")) / "studies.html",
    )
    return found, report


def _raise_failed(outcomes: Iterable[Future[Outcome]]) -> None:
    """Raise what a report failed of, if one has by now: before the next scenario's runs begin."""
    for outcome in outcomes:
        if outcome.done():
            outcome.result()


def _is_one_run(name: str) -> bool:
    from tailback.scenario import load

    return len(load(name).plan.runs) == 1


@contextmanager
def _ahead(names: Sequence[str], parent: Path | None) -> Iterator[Mapping[str, Future[Results]]]:
    """Run scenarios of one run beside the others: alone one leaves all cores but one idle."""
    stop = Event()

    def until_stopped(_: Progress) -> None:
        if stop.is_set():
            raise Interrupted

    def make(name: str) -> Results:
        shown = nullcontext(until_stopped)
        return _made(name, parent, 1, lambda _: shown)

    with ThreadPoolExecutor(1) as pool:
        try:
            yield {name: pool.submit(make, name) for name in names}
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _outcome(results: Results) -> Outcome:
    claims = claims_for(results.name)
    return Outcome(
        results=results,
        report=write_report(results),
        checks=claims.judge(View(results)) if claims else [],
    )


def _made(
    name: str, parent: Path | None, jobs: int | None, progress: ShowProgress | None
) -> Results:
    return _existing(name, parent) or _run(name, parent, jobs, progress)


def _existing(name: str, parent: Path | None) -> Results | None:
    path = (parent or Path("results")) / name
    if not path.exists():
        return None
    if parent is None:
        return _current(name, path)
    results = Results(path)
    if results.name != name:
        raise InputError(f"{path}: holds {results.name}, not {name}; name another folder")
    unlike = View(results).departures
    if unlike:
        raise InputError(
            f"{path}: was not run as {name} is built in, but with other {few(unlike)}; "
            "name another folder"
        )
    return results


def _current(name: str, path: Path) -> Results | None:
    """The results at `path`, if this version would make the same ones."""
    from tailback.results.machine import versions
    from tailback.scenario import load

    try:
        results = Results(path)
    except InputError:
        return None
    manifest = results.manifest
    same = (
        manifest["scenario_hash"] == load(name).plan.hash
        and manifest["versions"]["tailback"] == versions()["tailback"]
    )
    return results if same else None


def _run(
    name: str, parent: Path | None, jobs: int | None, progress: ShowProgress | None
) -> Results:
    from tailback.api import run
    from tailback.scenario import load

    scenario = load(name)
    out = None if parent is None else parent / name
    with progress(scenario) if progress else nullcontext() as on_progress:
        return run(scenario, out=out, jobs=jobs, on_progress=on_progress)
