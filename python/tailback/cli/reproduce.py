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

    STUDY is incast (the default), incast-rto, node-pairs, ecn-switch, l2-congestion, lambda-rings,
    or studies: the five published ones at their published size, with one report. Writes a report
    per scenario and prints, for each claim of the study, what was published, what this run gives,
    and whether it is within the limit. A claim outside its limit is a finding, not a failure: the
    exit code stays 0.

    STUDY may also be response-functions: every congestion control's mean window under loss, and
    what is known of senders on one link, against closed forms. It takes minutes and leaves a
    figure. Or congestion-gallery: figures of each on one bottleneck. Or tcp-parity: modelled TCP
    against real kernels, segment by segment. Or congestion-parity: every congestion control
    against real kernels, by goodput, losses and queue.
    """
    if study == "response-functions":
        from tailback.cli.congestion import show_response

        show_response(out, jobs, as_json=as_json)
        return
    if study == "congestion-gallery":
        from tailback.cli.congestion import show_gallery

        show_gallery(out, jobs)
        return
    if study == "tcp-parity":
        from tailback.cli.parity import show

        show(out, as_json=as_json)
        return
    if study == "congestion-parity":
        from tailback.cli.congestion import show_parity

        show_parity(out, jobs, as_json=as_json)
        return
    if study == "studies":
        _show_all(out, jobs, as_json=as_json)
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


def _show_all(out: Path | None, jobs: int | None, *, as_json: bool) -> None:
    from tailback.cli import console
    from tailback.cli.progress import shown
    from tailback.reproduce import reproduce_all

    found, report = reproduce_all(folder=out, jobs=jobs, progress=shown)
    if as_json:
        studies = [one.to_dict() for one in found]
        console.print_json({"studies": studies, "report": str(report)})
        return
    for one in found:
        console.print_table(one.table())
        console.out.out(f"{one.study}: {one.verdict}")
    console.out.out(f"Report: {report}")
