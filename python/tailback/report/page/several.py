"""Several run folders on one page: of each what answers its question first."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from tailback.analysis.view import View
from tailback.compare.studies import claims_for
from tailback.report.page.contents import contents
from tailback.report.page.facts import duration
from tailback.report.page.model import Cell, Figure, Page, Section, Table

_KEPT = ("main", "shown", "lost-at", "network", "published")
"""Sections of a folder's own report that stand on the common page."""


def several(title: str, description: str, views: Sequence[View]) -> Page:
    """Return one page with the claims and main figures of all folders, in their order.

    It begins with a table of what holds and what does not, which leads to all else.
    """
    pages = [(view, contents(view, _KEPT)) for view in views]
    sections = [_named(view, section) for view, page in pages for section in page.sections]
    spans = [_span(view.results.manifest) for view in views]
    return Page(
        title=title,
        description=description,
        strap=f"{len(views)} scenarios · {duration(taken_s(spans))} in all",
        facts=[(view.results.name, page.strap) for view, page in pages],
        findings=[],
        sections=[_overview(pages), *sections],
        scenario=json.dumps(
            {view.results.name: view.results.manifest["scenario_hash"] for view in views}, indent=2
        ),
        listed=False,
    )


def _overview(pages: Iterable[tuple[View, Page]]) -> Section:
    """A row a scenario: how many claims hold, which do not, and where all of it is."""
    heads = ("Study", "Scenario", "Claims that hold", "What does not hold", "On this page")
    rows: list[list[Cell]] = []
    before = ""
    for view, page in pages:
        name = view.results.name
        claims = claims_for(name)
        study = claims.source.rstrip(".") if claims else ""
        marked = [row for table in _claims(page) for row in table.rows]
        held = [row[0].text for row in marked if row[-1].mark == "within"]
        missed = [row[0].text for row in marked if row[-1].mark == "outside"]
        judged = len(held) + len(missed)
        departs = claims is not None and view.departures
        links = [(section.title, f"{name}-{section.key}") for section in page.sections]
        rows.append(
            [
                Cell(study if study != before else ""),
                Cell(name),
                Cell(
                    f"{len(held)} of {judged}" if judged else "not judged" * bool(departs),
                    mark="outside" if missed else "" if departs else "within",
                ),
                Cell("; ".join(missed)),
                Cell("", links=links),
            ]
        )
        before = study
    return Section("held", "What holds", tables=[Table([Cell(head) for head in heads], rows)])


def _claims(page: Page) -> list[Table]:
    """The table of claims, if the page has one."""
    return [table for s in page.sections if s.key == "published" for table in s.tables[:1]]


def _span(manifest: Mapping[str, Any]) -> tuple[float, float]:
    started_s = datetime.fromisoformat(manifest["started"]).timestamp()
    return started_s, started_s + float(manifest["duration_s"])


def taken_s(spans: Iterable[tuple[float, float]]) -> float:
    """Return the time in which any of these spans went on: some ran side by side."""
    total_s, end_s = 0.0, float("-inf")
    for start, end in sorted(spans):
        total_s += max(0.0, end - max(start, end_s))
        end_s = max(end_s, end)
    return total_s


def _named(view: View, section: Section) -> Section:
    """The section with keys and title of its own among those of other folders."""
    name = view.results.name

    def own(figure: Figure) -> Figure:
        return replace(figure, key=f"{name}-{figure.key}")

    return replace(
        section,
        key=f"{name}-{section.key}",
        title=f"{name}: {section.title[:1].lower()}{section.title[1:]}",
        figures=[own(figure) for figure in section.figures],
        small=[own(figure) for figure in section.small],
    )
