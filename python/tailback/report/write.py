"""From a run folder to its report."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import vl_convert

from tailback.analysis.beside import named
from tailback.analysis.view import View
from tailback.report.page.contents import contents
from tailback.report.page.model import Page
from tailback.report.page.several import several
from tailback.report.page.template import asset, environment, stylesheet
from tailback.report.plots import Plots
from tailback.report.theme import DARK, LIGHT
from tailback.results import Results
from tailback.results.damage import blamed
from tailback.results.storage import explained, write_bytes

_VEGA_LITE = "6.4"
"""Version of Vega-Lite that Altair writes for."""
_EXPORTS = "window.vegaEmbed = vegaEmbed;"
"""What the page's own script uses of the bundle."""


def default_path(results: str | Path) -> Path:
    """Where the report of a run folder goes unless told otherwise: into the folder."""
    return Path(results) / "report.html"


def write_report(
    results: str | Path | Results,
    out: str | Path | None = None,
    beside: Sequence[str | Path | Results] = (),
) -> Path:
    """Write the report of a run folder as one HTML file; return its path.

    The file needs no network: Vega, Vega-Lite, styles and data are in it.

    Args:
        results: a folder that `tailback run` has written, or its `Results`.
        out: the file to write, replaced if it is there; by default `report.html` in the folder.
        beside: other results of the same sweep, drawn and compared beside these.

    Raises:
        InputError: one of them is no finished run folder, or they do not fit together.
        StorageError: `out` cannot be written.
    """
    source = _results(results)
    path = default_path(source.path) if out is None else Path(out)
    html = render(source, [_results(other) for other in beside])
    with explained(path, "name a file in a folder that can be written (-o FILE.html)"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, html.encode())
    return path


def write_pngs(results: str | Path | Results, folder: str | Path) -> list[Path]:
    """Write the report's charts as PNG files into `folder`; return their paths."""
    found = _results(results)
    with blamed([found]):
        return Plots(found).save(folder)


def write_several(title: str, description: str, of: Sequence[Results], out: Path) -> Path:
    """Write one report on several run folders: claims and main figures of each; return `out`.

    Raises:
        StorageError: `out` cannot be written.
    """
    return write_page(several(title, description, [View(results) for results in of]), out)


def write_page(page: Page, out: Path) -> Path:
    """Write a page of one's own sections and figures; return `out`.

    Raises:
        StorageError: `out` cannot be written.
    """
    with explained(out, "name a file in a folder that can be written"):
        out.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(out, _html(page).encode())
    return out


def render(results: Results, beside: Sequence[Results] = ()) -> str:
    """Return the report as HTML, with other results beside these."""
    with blamed([results, *beside]):
        return _html(contents(View(results, named(results, beside))))


def _html(page: Page) -> str:
    return (
        environment("tailback.report")
        .get_template("report.html.jinja")
        .render(
            page=page,
            themes={"light": LIGHT, "dark": DARK},
            style=stylesheet(),
            script=asset("tailback.report", "report.js"),
            bundle=_vega(),
            written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        )
    )


def _results(of: str | Path | Results) -> Results:
    return of if isinstance(of, Results) else Results(of)


@cache
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script."""
    bundle = vl_convert.javascript_bundle(_EXPORTS, _VEGA_LITE)
    # Within a page, "</script" would end the script wherever it stands.
    return bundle.replace("</script", "<\\/script")
