"""`tailback kernel`: build, list, check, remove."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tailback.cli.options import json_option

if TYPE_CHECKING:
    from tailback.kernel.build import Step, Tell


@click.group("kernel")
def command() -> None:
    """Real Linux kernels as hosts: build, list, check, remove.

    A kernel is User-Mode Linux: a process that runs a real Linux kernel, with the simulator's
    clock and network.
    """


@command.command("build")
@click.option(
    "--source",
    type=click.Path(path_type=Path, exists=True),
    metavar="TREE|TARBALL",
    help="A kernel's source, 7.2 or newer. By default Debian's linux-source-7.2, or -7.3.",
)
@click.option(
    "--hz",
    type=click.Choice(["100", "1000"]),
    default="1000",
    show_default=True,
    help="Ticks a second; what timers are rounded to.",
)
@click.option(
    "--name",
    metavar="NAME",
    help="Call it so: runs take it by kernel.version = NAME, and no others do. One of that name is "
    "replaced.",
)
@click.option(
    "--config",
    "settings",
    multiple=True,
    metavar="CONFIG_X=y",
    help="A setting of the kernel beyond those it has here; can be given several times.",
)
@click.option(
    "--keep",
    is_flag=True,
    help="Leave what was compiled (0.6 GB): the next build of this tree compiles what has changed.",
)
@click.option("--again", is_flag=True, help="Build it even if it is there, all anew.")
def build(
    source: Path | None,
    hz: str,
    name: str | None,
    settings: tuple[str, ...],
    *,
    keep: bool,
    again: bool,
) -> None:
    """Build a kernel and keep it; runs use the one built last without a name.

    Needs a compiler and 1 GB of disk while it builds, no privilege, and a few minutes. Ctrl-C
    leaves what is done; the same command goes on from there.
    """
    from tailback.cli import console
    from tailback.kernel import build as building
    from tailback.kernel import cache, recipe
    from tailback.kernel import source as sources

    origin = sources.Given(source) if source is not None else sources.Package()
    with _shown() as tell:
        kernel = building.build(
            origin,
            int(hz),
            name=None if name is None else cache.check_name(name),
            config=[recipe.setting(text) for text in settings],
            again=again,
            keep=keep,
            tell=tell,
        )
    console.out.out(f"Linux {kernel.version}, HZ {kernel.hz}: {kernel.program}")
    if kernel.is_named:
        console.out.out(f'runs take it by kernel.version = "{kernel.name}"')


@command.command("list")
@json_option
def listing(*, as_json: bool) -> None:
    """The kernels that have been built; * marks the one that runs use."""
    from rich.table import Table

    from tailback.cli import console
    from tailback.kernel import cache

    kernels = cache.installed()
    if as_json:
        console.print_json(
            [
                {
                    "name": kernel.name,
                    "version": kernel.version,
                    "hz": kernel.hz,
                    "source": kernel.source,
                    "config": kernel.config,
                    "program": str(kernel.program),
                    "default": kernel.is_default,
                }
                for kernel in kernels
            ]
        )
        return
    if not kernels:
        console.err.out(f"no kernels in {cache.folder()}; `tailback kernel build` makes one")
        return
    table = Table("", "kernel", "version", "HZ", "source", box=None, pad_edge=False)
    for kernel in kernels:
        mark = "*" if kernel.is_default else ""
        table.add_row(mark, kernel.name, kernel.version, str(kernel.hz), kernel.source)
    console.print_table(table)


@command.command("check")
@click.argument("kernel", required=False)
@json_option
def check(kernel: str | None, *, as_json: bool) -> None:
    """Boot a kernel and say what works.

    KERNEL is a name of `list`, a version, or the path of a program; by default the one that runs
    use. The exit code is 1 if something that runs need does not work.
    """
    from rich.table import Table

    from tailback.cli import console
    from tailback.kernel import check as checking

    findings = checking.check(kernel)
    if as_json:
        console.print_json([vars(finding) for finding in findings])
    else:
        table = Table("", "what", "found", box=None, pad_edge=False)
        for finding in findings:
            mark = "ok" if finding.works else "FAILS" if finding.needed else "no"
            table.add_row(mark, finding.what, finding.found)
        console.print_table(table)
    if any(finding.needed and not finding.works for finding in findings):
        raise click.exceptions.Exit(1)


@command.command("remove")
@click.argument("kernels", nargs=-1, required=True)
def remove(kernels: tuple[str, ...]) -> None:
    """Remove kernels, and what was left of their builds.

    KERNELS are names of `list`. Runs that ask for none then take the newest that is left.
    """
    from tailback.cli import console
    from tailback.kernel import build as building

    for kernel in building.remove(kernels):
        console.out.out(f"removed {kernel.title}")


@contextmanager
def _shown() -> "Iterator[Tell]":
    """Shows a build's steps: a bar, or, where stderr is no terminal, a line for each."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from tailback.cli import console

    if not console.err.is_terminal:
        said: list[str] = []

        def line(step: "Step") -> None:
            if step.what not in said:
                said.append(step.what)
                console.err.out(step.what)

        yield line
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console.err) as progress:
        task = progress.add_task("starting", total=1.0)
        yield lambda step: progress.update(task, description=step.what, completed=step.fraction)
