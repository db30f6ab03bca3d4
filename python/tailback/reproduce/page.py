"""Pages of what is measured without a run folder: tables as on the terminal, and figures."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tailback.report.page.model import Cell, Page, Section, Table

if TYPE_CHECKING:
    import rich.table


def page(
    title: str, description: str, verdict: str, sections: Sequence[Section], *, made: str
) -> Page:
    """Return a report's page: the verdict on top, then the sections.

    Args:
        title: what was measured.
        description: how.
        verdict: what was found, in a sentence.
        sections: tables and figures.
        made: the command that makes it.
    """
    from tailback.results.machine import versions

    return Page(
        title=title,
        description=description,
        strap=verdict,
        facts=[("Command", made), *versions().items()],
        findings=[],
        sections=list(sections),
        scenario="",
    )


def table(of: "rich.table.Table") -> Table:
    """Return a terminal's table as one of the page."""
    numbers = [column.justify == "right" for column in of.columns]
    heads = [
        Cell(str(column.header), number=number)
        for column, number in zip(of.columns, numbers, strict=True)
    ]
    rows = zip(*(column.cells for column in of.columns), strict=True)
    return Table(
        heads=heads,
        rows=[
            [Cell(str(text), number=number) for text, number in zip(row, numbers, strict=True)]
            for row in rows
        ],
        caption=str(of.title or ""),
    )
