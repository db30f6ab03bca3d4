"""`tailback check`."""

import click

from tailback.cli.options import json_option, scenario_argument, scenario_from, set_option


@click.command("check")
@scenario_argument
@set_option
@json_option
@click.pass_context
def command(
    ctx: click.Context, scenario: str, overrides: tuple[str, ...], *, as_json: bool
) -> None:
    """All that is wrong in a scenario file, each with its place and what would be right.

    Exits with 2 if there are errors, with 0 if there are none or only warnings.
    """
    from tailback.analysis.words import counted
    from tailback.backends.sim import Simulator
    from tailback.cli import console
    from tailback.errors import InputError, ScenarioError, describe

    try:
        found = scenario_from(scenario, overrides)
        problems = found.check()
        if not any(problem["severity"] == "error" for problem in problems):
            problems += found.check_programs()
    except ScenarioError as error:  # a .dat file that cannot be imported
        problems = error.problems
    bad = any(problem["severity"] == "error" for problem in problems)
    if as_json:
        console.print_json({"ok": not bad, "problems": problems})
    else:
        for problem in problems:
            console.err.out(f"{problem['severity']}: {describe(problem)}")
        if not bad:
            runs = found.plan.runs
            iterations = sum(run["iterations"] for run in runs)
            counts = f"{counted(len(runs), 'run')}, {counted(iterations, 'iteration')}"
            console.out.out(f"{found.name}: ok, {counts}")
            try:
                Simulator().check(found.plan)
            except InputError as error:
                # Sound all the same: another backend can make its runs.
                console.out.out(f"not with backend sim: {error}")
                ctx.exit(0)
            for why in sorted({run["whole"] or "" for run in runs}):
                said = "runs can take several" if not why else f"one a run, since {why}"
                console.out.out(f"--threads: {said}")
    ctx.exit(2 if bad else 0)
