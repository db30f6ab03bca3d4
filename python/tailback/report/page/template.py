"""Pages from templates, and the look that all pages share."""

import re
from importlib.resources import files

import jinja2
from markupsafe import Markup, escape

from tailback.report.theme import FONT

_BACKTICKS = re.compile("`([^`]+)`")


def environment(package: str) -> jinja2.Environment:
    """Return what makes pages from the templates in a package's folder `page`."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "page"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["code"] = _code
    return made


def stylesheet() -> str:
    """Return the styles of all pages."""
    return f":root {{ --font: {FONT}; }}\n{asset('tailback.report', 'report.css')}"


def asset(package: str, name: str) -> str:
    """Return a text in a package's folder `page`."""
    return files(package).joinpath("page", name).read_text(encoding="utf-8")


def _code(text: str) -> Markup:
    """Text in which backticks stand around commands and paths, as in the scenario's file."""
    return Markup(_BACKTICKS.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped
