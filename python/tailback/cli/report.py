"""`tailback report`."""

from collections.abc import Sequence
from pathlib import Path

import click


@click.command("report")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    "--output",
    "output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File to write; by default DIR/report.html.",
)
@click.option(
    "--png",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Save each chart as a PNG file in this folder too.",
)
@click.option(
    "--beside",
    "beside",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Other results of the same sweep, such as another backend's, drawn and compared beside "
    "these; may be given several times.",
)
def command(folder: Path, output: Path | None, png: Path | None, beside: tuple[Path, ...]) -> None:
    """One HTML file with the charts of a results folder; it opens offline.

    DIR may also be a folder of `tailback reproduce response-functions`.
    """
    from tailback.cli import console
    from tailback.report import write_pngs

    if _closed_forms(folder, output):
        return
    write(folder, output, beside)
    for path in write_pngs(folder, png) if png is not None else ():
        console.out.out(f"Chart: {path}")


def _closed_forms(folder: Path, output: Path | None) -> bool:
    """Write the report on closed forms if the folder has those."""
    from tailback.cli import console
    from tailback.reproduce.response.page import kept
    from tailback.reproduce.response.page import write as write_forms

    found = kept(folder)
    if found is None:
        return False
    console.out.out(f"Report: {write_forms(found, output or folder / 'report.html')}")
    return True


def write(folder: Path, output: Path | None = None, beside: Sequence[Path] = ()) -> None:
    """Writes the report and says where it is."""
    from tailback.cli import console
    from tailback.report import write_report

    console.out.out(f"Report: {write_report(folder, output, beside)}")
