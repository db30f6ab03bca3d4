"""`tailback export`."""

import sys
from pathlib import Path

import click

PER_RUN = ("flent", "iperf3", "pcapng")
"""Formats in which a run is a file; `tailback.export` has a function for each."""


@click.command("export")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--table", default="summary", show_default=True, help="Which table.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "parquet", "jsonl", *PER_RUN]),
    default="csv",
    show_default=True,
    help="In which format.",
)
@click.option(
    "-o",
    "--out",
    "--output",
    "output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write; by default standard output. A folder with flent, iperf3 and pcapng; by "
    "default one of that name.",
)
def command(folder: Path, table: str, kind: str, output: Path | None) -> None:
    """A table of a results folder as CSV, Parquet or JSON lines.

    Or a file for each run: with flent of a test of Flent's, for Flent; with iperf3 of that
    workload, as `iperf3 --json` prints it; with pcapng the frames that it captured.
    """
    from tailback.export.tables import encoded
    from tailback.results import Results
    from tailback.results.storage import explained, write_bytes

    if kind in PER_RUN:
        from tailback import export
        from tailback.cli import console

        for path in getattr(export, f"export_{kind}")(Results(folder), output or Path(kind)):
            console.out.out(str(path))
        return
    if output is not None and output.is_dir():
        raise click.UsageError(f"{output} is a folder: name a file with -o")
    content = encoded(Results(folder).table(table), kind)
    if output is not None:
        with explained(output, "name a file that can be written with -o"):
            output.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(output, content)
        return
    if kind == "parquet" and sys.stdout.isatty():
        raise click.UsageError("Parquet is no text for a terminal: name a file with -o")
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
