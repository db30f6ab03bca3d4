"""`tailback reproduce` of what is no study: parity, gallery, response functions, robustness."""

from collections.abc import Sequence
from pathlib import Path

from rich.progress import Progress

from tailback.cli import console


def show_parity(
    folder: Path | None, jobs: int | None, only: Sequence[str], *, as_json: bool
) -> None:
    """Run all cells, or those named, print what holds and what differs, and draw the windows."""
    from tailback.reproduce.congestion import congestion_parity, named
    from tailback.reproduce.congestion.draw import draw

    folder = folder or Path("results/congestion-parity")
    chosen = named(only)
    with Progress(console=console.err, transient=True) as progress:
        task = progress.add_task("Kernels and models", total=None)
        found = congestion_parity(
            chosen,
            folder=folder,
            jobs=jobs,
            on_progress=lambda done, of: progress.update(task, completed=done, total=of),
        )
    figures = draw(found, folder / "figures")
    if as_json:
        console.print_json(found.to_dict())
        return
    for table in found.tables():
        console.print_table(table)
    console.out.out(found.verdict)
    if figures:
        console.out.out(f"Windows of both, over each other: {figures[0].parent}")


def show_gallery(folder: Path | None, jobs: int | None) -> None:
    """Draw every congestion control on one bottleneck."""
    from tailback.reproduce.gallery import gallery, write

    folder = folder or Path("results/congestion-gallery")
    with Progress(console=console.err, transient=True) as progress:
        task = progress.add_task("Bottlenecks", total=None)
        found = gallery(
            jobs=jobs,
            on_progress=lambda done, of: progress.update(task, completed=done, total=of),
        )
    files = write(found, folder)
    console.out.out(f"{len(files)} figures: {folder}")


def show_response(folder: Path | None, jobs: int | None, *, as_json: bool) -> None:
    """Measure every response function, print the tables, draw the windows."""
    from tailback.reproduce.response import response_functions
    from tailback.reproduce.response.draw import draw
    from tailback.reproduce.response.page import keep, write

    folder = folder or Path("results/response-functions")
    with Progress(console=console.err, transient=True) as progress:
        task = progress.add_task("Closed forms", total=None)
        found = response_functions(
            jobs=jobs,
            on_progress=lambda done, of: progress.update(task, completed=done, total=of),
        )
    keep(found, folder)
    figure = draw(found, folder)
    report = write(found, folder / "report.html")
    if as_json:
        console.print_json(found.to_dict())
        return
    for table in found.tables():
        console.print_table(table)
    console.out.out(
        "* outside the form's range: fewer than a dozen round trips between losses, a window below "
        "two dozen, or timeouts."
    )
    console.out.out(found.verdict)
    console.out.out(f"Figure: {figure}")
    console.out.out(f"Report: {report}")


def show_robustness(folder: Path | None, jobs: int | None, *, as_json: bool) -> None:
    """Run what the L2 study may have been, and print how often each finding holds."""
    from tailback.reproduce.robust import robustness

    with Progress(console=console.err, transient=True) as progress:
        task = progress.add_task("Draws", total=None)
        found = robustness(
            folder=folder or Path("results/l2-robustness"),
            jobs=jobs,
            on_progress=lambda done, of: progress.update(task, completed=done, total=of),
        )
    if as_json:
        console.print_json(found.to_dict())
        return
    console.print_table(found.table())
