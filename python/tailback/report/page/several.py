"""Several run folders on one page: of each what answers its question first."""

import json
from collections.abc import Sequence
from dataclasses import replace

from tailback.analysis.view import View
from tailback.report.page.contents import contents
from tailback.report.page.facts import duration
from tailback.report.page.model import Figure, Page, Section

_KEPT = ("main", "shown", "lost-at", "network", "published")
"""Sections of a folder's own report that stand on the common page."""


def several(title: str, description: str, views: Sequence[View]) -> Page:
    """Return one page with the claims and main figures of all folders, in their order."""
    pages = [(view, contents(view)) for view in views]
    sections = [
        _named(view, section)
        for view, page in pages
        for section in page.sections
        if section.key in _KEPT
    ]
    taken_s = sum(float(view.results.manifest["duration_s"]) for view in views)
    return Page(
        title=title,
        description=description,
        strap=f"{len(views)} scenarios · {duration(taken_s)} in all",
        facts=[(view.results.name, page.strap) for view, page in pages],
        findings=[f"{view.results.name}: {said}" for view, page in pages for said in _held(page)],
        sections=sections,
        scenario=json.dumps(
            {view.results.name: view.results.manifest["scenario_hash"] for view in views}, indent=2
        ),
    )


def _held(page: Page) -> list[str]:
    return [section.lead for section in page.sections if section.key == "published"]


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
