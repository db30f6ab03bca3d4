"""`tailback reproduce`."""

from pathlib import Path

import click

from tailback.cli.options import json_option


@click.command("reproduce")
@click.argument("study", default="incast")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Where the results folders are, one per scenario; one that is there is used as it is. "
    "By default results, where only what this version would make again is used.",
)
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    metavar="N",
    help="Runs at a time; by default one per CPU core. Does not change the results.",
)
@json_option
def command(study: str, out: Path | None, jobs: int | None, *, as_json: bool) -> None:
    """Run a published study and hold it against what was published.

    STUDY is incast (the default), incast-rto or ecn-switch. Writes a report per scenario and
    prints, for each claim of the study, what was published, what this run gives, and whether it is
    within the limit. A claim outside its limit is a finding, not a failure: the exit code stays 0.

    STUDY may also be response-functions: every congestion control's mean window under loss, and
    what is known of senders on one link, against closed forms. It takes minutes and leaves no
    results folder. Or tcp-parity: modelled TCP against real kernels, segment by segment. Or
    congestion-parity: every congestion control against real kernels, by goodput, losses and queue.
    """
    if study == "response-functions":
        _response_functions(jobs, as_json=as_json)
        return
    if study == "tcp-parity":
        from tailback.cli.parity import show

        show(out, as_json=as_json)
        return
    if study == "congestion-parity":
        from tailback.cli.congestion import show_parity

        show_parity(out, jobs, as_json=as_json)
        return
    from tailback.cli import console
    from tailback.cli.progress import shown
    from tailback.reproduce import reproduce

    found = reproduce(study, folder=out, jobs=jobs, progress=shown)
    if as_json:
        console.print_json(found.to_dict())
        return
    console.print_table(found.table())
    console.out.out(found.verdict)
    for outcome in found.outcomes:
        console.out.out(f"Report: {outcome.report}")


def _response_functions(jobs: int | None, *, as_json: bool) -> None:
    from rich.progress import Progress

    from tailback.cli import console
    from tailback.reproduce.response import response_functions

    with Progress(console=console.err, transient=True) as progress:
        task = progress.add_task("Closed forms", total=None)
        found = response_functions(
            jobs=jobs,
            on_progress=lambda done, of: progress.update(task, completed=done, total=of),
        )
    if as_json:
        console.print_json(found.to_dict())
        return
    for table in found.tables():
        console.print_table(table)
    console.out.out("* outside the form's range: a window below a dozen, or timeouts.")
    console.out.out(found.verdict)
