"""`tailback reproduce`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import click

from tailback.cli.options import json_option


@click.command("reproduce")
@click.argument("study", default="incast")
@click.option(
    "-o",
    "--out",
    "--output",
    "out",
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
@click.option(
    "--drawn",
    type=click.IntRange(min=1),
    metavar="N",
    help="With tcp-parity and qdisc-parity: the first N cases that were drawn by lot too.",
)
@click.option(
    "--wide",
    type=click.IntRange(min=1),
    metavar="N",
    help="With tcp-parity: the first N cases of a wider lot too (closed windows, resets, both ways "
    "lossy, socket options).",
)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="With congestion-parity: only cells of this group (flows, hosts, marking, fast, incast, "
    "short, loss) or congestion control. Repeat it for more.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PATH=VALUE",
    help="With tcp-parity: a setting of all cases, over their own, as kernel.version=mine. Repeat "
    "it for more, and name a folder for what comes of it.",
)
@json_option
def command(
    study: str,
    out: Path | None,
    jobs: int | None,
    drawn: int | None,
    wide: int | None,
    only: tuple[str, ...],
    settings: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    """Run a published study and hold it against what was published.

    STUDY is incast (the default), incast-rto, node-pairs, ecn-switch, l2-congestion, lambda-rings,
    or studies: the five published ones at their published size, with one report. Writes a report
    per scenario and prints, for each claim of the study, what was published, what this run gives,
    and whether it is within the limit. A claim outside its limit is a finding, not a failure: the
    exit code stays 0.

    STUDY may also be response-functions: every congestion control's mean window under loss, and
    what is known of senders on one link, against closed forms. It takes minutes and leaves a
    figure. Or congestion-gallery: figures of each on one bottleneck. Or tcp-parity: modelled TCP
    against real kernels, segment by segment. Or qdisc-parity: modelled queue disciplines against
    real kernels' own, frame by frame. Or congestion-parity: every congestion control
    against real kernels, by goodput, losses and queue. Or l2-robustness: how often the findings of
    l2-congestion hold where what that study does not say is drawn.
    """
    if drawn and study not in ("tcp-parity", "qdisc-parity"):
        from tailback.errors import InputError

        raise InputError(
            f"--drawn: {study} has no cases drawn by lot; tcp-parity and qdisc-parity have"
        )
    if wide and study != "tcp-parity":
        from tailback.errors import InputError

        raise InputError(f"--wide: {study} has no cases of a wider lot; tcp-parity has")
    if only and study != "congestion-parity":
        from tailback.errors import InputError

        raise InputError(f"--only: {study} has no groups of cells; congestion-parity has")
    if settings and study != "tcp-parity":
        from tailback.errors import InputError

        raise InputError(f"--set: {study} runs as it is; tcp-parity takes settings")
    asked = _Asked(out, jobs, as_json, drawn or 0, wide or 0, only, settings)
    other = _OTHERS.get(study)
    if other is None:
        _show_one(study, asked)
    else:
        other(asked)


@dataclass(frozen=True)
class _Asked:
    """What was asked for besides the study."""

    out: Path | None
    jobs: int | None
    as_json: bool
    drawn: int
    wide: int
    only: tuple[str, ...]
    settings: tuple[str, ...]


def _show_one(study: str, asked: _Asked) -> None:
    from tailback.cli import console
    from tailback.cli.progress import shown
    from tailback.errors import InputError
    from tailback.nearest import among
    from tailback.reproduce import STUDIES, reproduce

    if study not in STUDIES:
        raise InputError(f"{study}: no such study; {among(study, [*STUDIES, *_OTHERS])}")
    found = reproduce(study, folder=asked.out, jobs=asked.jobs, progress=shown)
    if asked.as_json:
        console.print_json(found.to_dict())
        return
    console.print_table(found.table())
    console.out.out(found.verdict)
    for outcome in found.outcomes:
        console.out.out(f"Report: {outcome.report}")


def _show_all(asked: _Asked) -> None:
    from tailback.cli import console
    from tailback.cli.progress import shown
    from tailback.reproduce import reproduce_all

    found, report = reproduce_all(folder=asked.out, jobs=asked.jobs, progress=shown)
    if asked.as_json:
        studies = [one.to_dict() for one in found]
        console.print_json({"studies": studies, "report": str(report)})
        return
    for one in found:
        console.print_table(one.table())
        console.out.out(f"{one.study}: {one.verdict}")
    console.out.out(f"Report: {report}")


def _show_response(asked: _Asked) -> None:
    from tailback.cli.congestion import show_response

    show_response(asked.out, asked.jobs, as_json=asked.as_json)


def _show_gallery(asked: _Asked) -> None:
    from tailback.cli.congestion import show_gallery

    show_gallery(asked.out, asked.jobs)


def _show_tcp_parity(asked: _Asked) -> None:
    from tailback.cli.parity import show

    show(asked.out, asked.drawn, asked.wide, asked.settings, as_json=asked.as_json)


def _show_queue_parity(asked: _Asked) -> None:
    from tailback.cli.parity import show_queues

    show_queues(asked.out, asked.drawn, as_json=asked.as_json)


def _show_congestion_parity(asked: _Asked) -> None:
    from tailback.cli.congestion import show_parity

    show_parity(asked.out, asked.jobs, asked.only, as_json=asked.as_json)


def _show_robustness(asked: _Asked) -> None:
    from tailback.cli.congestion import show_robustness

    show_robustness(asked.out, asked.jobs, as_json=asked.as_json)


_OTHERS: Mapping[str, Callable[[_Asked], None]] = MappingProxyType(
    {
        "studies": _show_all,
        "response-functions": _show_response,
        "congestion-gallery": _show_gallery,
        "tcp-parity": _show_tcp_parity,
        "qdisc-parity": _show_queue_parity,
        "congestion-parity": _show_congestion_parity,
        "l2-robustness": _show_robustness,
    }
)
"""What `tailback reproduce` runs besides single studies."""
