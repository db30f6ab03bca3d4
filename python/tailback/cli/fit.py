"""`tailback fit`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tailback.cli.options import json_option, scenario_argument, scenario_from, set_option

if TYPE_CHECKING:
    from tailback.fit import Fit
    from tailback.fit.fitting import OnProgress, Progress
    from tailback.scenario import Scenario


@click.command("fit")
@scenario_argument
@click.option(
    "--to",
    required=True,
    metavar="TABLE",
    help="What to fit to: published:NAME, a results folder, or a CSV file with our column names.",
)
@click.option(
    "--param",
    "params",
    multiple=True,
    required=True,
    metavar="PATH=LOW..HIGH",
    help="A value to search, by a path that --set takes, and its bounds with their unit, e.g. "
    "'preset.switch.arista-7124s.buffer.shared=900KB..1400KB'. End with :log or :linear to "
    "choose the scale. Can be given several times.",
)
@click.option(
    "--rows",
    multiple=True,
    metavar="COLUMN=VALUES",
    help="Rows to fit to, e.g. switch=arista-7124s, servers=2,9,23 or servers=2..23. Can be given "
    "several times; by default all rows.",
)
@click.option(
    "--metrics",
    metavar="METRIC[=WEIGHT],…",
    help="What to fit, and its weight. By default completion_ms_mean=1,switch_drops_mean=0.5.",
)
@set_option
@click.option(
    "--iterations",
    type=click.IntRange(min=1),
    metavar="N",
    help="Iterations of each run; by default the scenario's own.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Replaces the seed.")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="EVALUATIONS",
    help="Sets of values to try; by default 30 for each parameter.",
)
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    metavar="N",
    help="Runs at a time; by default one per CPU core. Does not change the result.",
)
@click.option(
    "--even-if-worse",
    is_flag=True,
    help="Take the best that was tried even where the values before predict the rows better; by "
    "default these stay.",
)
@click.option(
    "-o",
    "--out",
    "--output",
    "output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Overlay file to write, with the values and what they were fitted to.",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    scenario: str,
    to: str,
    params: tuple[str, ...],
    rows: tuple[str, ...],
    metrics: str | None,
    overrides: tuple[str, ...],
    iterations: int | None,
    seed: int | None,
    budget: int | None,
    jobs: int | None,
    output: Path | None,
    *,
    even_if_worse: bool,
    as_json: bool,
) -> None:
    """Search the values of parameters that predict a table best.

    Prints value, error and sensitivity of each. A scenario takes the overlay file that -o writes
    with overlay = ["FILE"]. Ctrl-C keeps the best so far, and exits with 130.
    """
    from tailback.cli import console
    from tailback.fit import fit, write_overlay
    from tailback.fit.overlay import check_free, reproduces
    from tailback.fit.record import record

    if output is not None:
        check_free(output)
    found_scenario = scenario_from(scenario, overrides)
    with _shown(found_scenario, params) as on_progress:
        found = fit(
            found_scenario,
            to=to,
            params=params,
            rows=rows,
            metrics=metrics,
            budget=budget,
            iterations=iterations,
            seed=seed,
            jobs=jobs,
            even_if_worse=even_if_worse,
            on_progress=on_progress,
        )
    if output is not None:
        write_overlay(found, output)
        if not reproduces(found, output):
            console.err.out(
                f"warning: the scenario with {output} is not the one that was fitted; "
                "compare `tailback show --resolved` with the values above"
            )
    if as_json:
        console.print_json({**record(found), "overlay": str(output) if output else None})
    else:
        _print(found)
        if output is not None:
            console.out.out(f"Overlay: {output}")
    if found.interrupted:
        console.err.out("interrupted; this is the best so far")
        ctx.exit(130)


@contextmanager
def _shown(scenario: "Scenario", params: tuple[str, ...]) -> "Iterator[OnProgress]":
    """The sweep's progress bar, and a line for every improvement."""
    from tailback.cli import console
    from tailback.cli.progress import shown
    from tailback.sweep.progress import Progress as SweepProgress

    best = float("inf")
    paths = [param.partition("=")[0].strip() for param in params]
    with shown(scenario, "evaluations") as on_sweep:

        def tell(progress: "Progress") -> None:
            nonlocal best
            on_sweep(SweepProgress(progress.tried, progress.in_all, progress.fraction))
            if progress.best is not None and progress.best.error < best:
                best = progress.best.error
                values = zip(paths, progress.best.values, strict=True)
                words = ", ".join(f"{path} = {value}" for path, value in values)
                console.err.print(f"{progress.evaluations}: error {best:.2%} with {words}")

        yield tell


def _print(found: "Fit") -> None:
    """What it was fitted to, values and errors, then the sensitivities."""
    from rich.table import Table

    from tailback.cli import console
    from tailback.fit.overlay import before_better, rows_in_words
    from tailback.fit.parameter import plain

    console.out.out(f"Fitted to {found.target.label}, rows {rows_in_words(found)}")
    table = Table("parameter", "range", box=None, pad_edge=False)
    table.add_column("before", justify="right")
    table.add_column("fitted", justify="right", style="bold")
    table.add_column("")
    for fitted in found.fitted:
        remarks = ["at the end of its range"] * fitted.at_bound
        if fitted.sensitivity is not None and fitted.sensitivity.remark:
            remarks.append(fitted.sensitivity.remark)
        table.add_row(
            fitted.parameter.path,
            fitted.parameter.range,
            plain(fitted.before or ""),
            plain(fitted.value),
            ", ".join(remarks),
        )
    console.print_table(table)
    console.out.print()
    table = Table("error", box=None, pad_edge=False)
    for heading in ("weight", "before", "fitted"):
        table.add_column(heading, justify="right")
    table.add_column("worst")
    for metric, weight in found.weights.items():
        before, after = found.before.by_metric[metric], found.score.by_metric[metric]
        table.add_row(metric, f"{weight:g}", f"{before:.2%}", f"{after:.2%}")
    table.add_row(
        "weighted mean",
        "",
        f"{found.before.error:.2%}",
        f"{found.score.error:.2%}",
        found.score.worst,
    )
    for seed, score in found.other_seeds.items():
        table.add_row(f"  with seed {seed}", "", "", f"{score.error:.2%}", score.worst)
    console.print_table(table)
    if found.worse_than_before:
        console.out.out(before_better(found))
    _print_sensitivity(found)


def _print_sensitivity(found: "Fit") -> None:
    from rich.table import Table

    from tailback.cli import console
    from tailback.fit.parameter import plain

    if not any(fitted.sensitivity for fitted in found.fitted):
        return
    console.out.print()
    table = Table("sensitivity", box=None, pad_edge=False)
    for heading in ("of range", "value", "error", *found.weights):
        table.add_column(heading, justify="right")
    for fitted in found.fitted:
        for number, step in enumerate(fitted.sensitivity.steps if fitted.sensitivity else ()):
            table.add_row(
                "" if number else fitted.parameter.path,
                f"{step.shift:+.0%}",
                plain(step.value),
                f"{step.error_change * 100:+.2f} points",
                *(f"{step.metric_changes.get(m, float('nan')):+.1%}" for m in found.weights),
            )
    console.print_table(table)
