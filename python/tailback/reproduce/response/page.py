"""Closed forms as a report: what was measured is kept, so that it can be drawn again."""

import json
from pathlib import Path

from tailback.report.page.model import Figure, Section
from tailback.report.write import write_page
from tailback.reproduce.page import page, table
from tailback.reproduce.response.draw import windows
from tailback.reproduce.response.run import ResponseFunctions
from tailback.results.storage import explained, write_bytes

KEPT = "response-functions.json"
"""What was measured, beside the report."""


def keep(found: ResponseFunctions, folder: Path) -> None:
    """Write what was measured into the folder.

    Raises:
        StorageError: it cannot be written.
    """
    path = folder / KEPT
    with explained(path, "name a folder that can be written"):
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(path, json.dumps(found.to_dict(), indent=1).encode())


def kept(folder: Path) -> ResponseFunctions | None:
    """Return what was measured in the folder before, if anything was."""
    try:
        text = (folder / KEPT).read_text(encoding="utf-8")
    except OSError:
        return None
    return ResponseFunctions.of_dict(json.loads(text))


def write(found: ResponseFunctions, out: Path) -> Path:
    """Write the report; return its path."""
    of_windows, of_links = (table(one) for one in found.tables())
    sections = [
        Section(
            "windows",
            "Windows under loss",
            lead="A line is a closed form, a point what was measured; a hollow one is outside the "
            "range in which the form applies: fewer than a dozen round trips between losses, a "
            "window below two dozen segments, or timeouts. In the table those have an asterisk.",
            figures=[Figure.of("windows", windows(found))],
            tables=[of_windows],
        ),
        Section(
            "links",
            "On one link",
            lead="What is known of queues, phases and shares where the rate is limited.",
            tables=[of_links],
        ),
    ]
    return write_page(
        page(
            "Congestion controls on their response functions",
            "Ideal ends and one queue; losses as each form assumes them, periodic or random.",
            found.verdict,
            sections,
            made="tailback reproduce response-functions",
        ),
        out,
    )
