"""`tailback reproduce congestion-parity`: modelled congestion controls against real kernels."""

from pathlib import Path

from rich.progress import Progress

from tailback.cli import console


def show_parity(folder: Path | None, jobs: int | None, *, as_json: bool) -> None:
    """Run all cells, print what holds and what differs, and draw the windows."""
    from tailback.reproduce.congestion import congestion_parity
    from tailback.reproduce.congestion.draw import draw

    folder = folder or Path("results/congestion-parity")
    with Progress(console=console.err, transient=True) as progress:
        task = progress.add_task("Kernels and models", total=None)
        found = congestion_parity(
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
    console.out.out(f"Windows of both, over each other: {figures[0].parent}")
