"""`tailback export`."""

import sys
from pathlib import Path

import click


@click.command("export")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--table", default="summary", show_default=True, help="Which table.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "parquet", "jsonl", "flent"]),
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
    help="File to write; by default standard output. With flent a folder, by default flent.",
)
def command(folder: Path, table: str, kind: str, output: Path | None) -> None:
    """A table of a results folder as CSV, Parquet or JSON lines.

    Or, with flent, each run of a test of Flent's as a file that Flent opens.
    """
    from tailback.export.tables import encoded
    from tailback.results import Results
    from tailback.results.storage import explained, write_bytes

    if kind == "flent":
        from tailback.cli import console
        from tailback.export import export_flent

        for path in export_flent(Results(folder), output or Path("flent")):
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
