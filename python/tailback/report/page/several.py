"""Several run folders on one page: of each what answers its question first."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from tailback.analysis.view import View
from tailback.report.page.contents import contents
from tailback.report.page.facts import duration
from tailback.report.page.model import Figure, Page, Section

_KEPT = ("main", "shown", "lost-at", "network", "published")
"""Sections of a folder's own report that stand on the common page."""


def several(title: str, description: str, views: Sequence[View]) -> Page:
    """Return one page with the claims and main figures of all folders, in their order."""
    pages = [(view, contents(view, _KEPT)) for view in views]
    sections = [_named(view, section) for view, page in pages for section in page.sections]
    spans = [_span(view.results.manifest) for view in views]
    return Page(
        title=title,
        description=description,
        strap=f"{len(views)} scenarios · {duration(taken_s(spans))} in all",
        facts=[(view.results.name, page.strap) for view, page in pages],
        findings=[f"{view.results.name}: {said}" for view, page in pages for said in _held(page)],
        sections=sections,
        scenario=json.dumps(
            {view.results.name: view.results.manifest["scenario_hash"] for view in views}, indent=2
        ),
    )


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
