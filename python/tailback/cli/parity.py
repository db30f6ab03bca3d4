"""`tailback reproduce tcp-parity` and `qdisc-parity`: models against real kernels."""

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from tailback.cli import console
from tailback.parity import CaseResult, parity, queue_parity


def show(
    folder: Path | None,
    drawn_by_lot: int,
    wide: int,
    settings: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """Run the cases, print the table, and both traces where they part."""
    with console.err.status("tcp-parity") as status:
        found = parity(
            drawn_by_lot=drawn_by_lot,
            wide=wide,
            settings=settings,
            folder=folder or Path("results/tcp-parity"),
            on_case=status.update,
        )
    if as_json:
        console.print_json(found.to_dict())
        return
    table = Table(title="Modelled TCP against real kernels")
    for head in ("Case", "Modelled end"):
        table.add_column(head)
    table.add_column("Segments alike", justify="right")
    table.add_column("First difference")
    for result in found.results:
        table.add_row(
            result.case,
            "sender" if result.modelled == "client" else "receiver",
            f"{result.alike} of {result.segments}",
            Text(result.verdict, style="" if result.holds else "bold"),
        )
    console.print_table(table)
    for result in found.results:
        if not result.holds:
            _print_traces(result)
    console.out.out(found.verdict)


def show_queues(folder: Path | None, drawn_by_lot: int, *, as_json: bool) -> None:
    """Run the cases of queue disciplines and print the table."""
    with console.err.status("qdisc-parity") as status:
        found = queue_parity(
            drawn_by_lot=drawn_by_lot,
            folder=folder or Path("results/qdisc-parity"),
            on_case=status.update,
        )
    if as_json:
        console.print_json(found.to_dict())
        return
    table = Table(title="Modelled queue disciplines against real kernels")
    table.add_column("Case")
    for head in ("Frames alike", "Dropped", "Marked", "Close", "Drawn, and expected"):
        table.add_column(head, justify="right")
    for one in found.results:
        drawn = f"{one.acted:.0f}, {one.expected:.0f} ± {one.deviation:.0f}" if one.expected else ""
        alike = Text(f"{one.alike} of {one.frames}", style="" if one.holds else "bold")
        table.add_row(one.case, alike, str(one.dropped), str(one.marked), str(one.close), drawn)
    console.print_table(table)
    for one in found.results:
        if one.difference:
            console.out.out(f"{one.case}: {one.difference}")
    console.out.out(found.verdict)


def _print_traces(result: CaseResult) -> None:
    """Both traces side by side around the first difference, which is marked."""
    console.out.out(f"\n{result.case}, {result.modelled} modelled: {result.title}")
    width = max(len(real) for real, _, _ in [("kernel", "", False), *result.lines])
    console.out.out(f"  {'kernel':<{width}} | model")
    for real, ours, here in result.lines:
        console.out.out(f"{'>' if here else ' '} {real:<{width}} | {ours}")
