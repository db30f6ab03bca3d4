"""What a page is made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tailback.report.charts.data import AnyChart


@dataclass(frozen=True)
class Figure:
    """A chart with its sentence above and its reading aid below.

    Attributes:
        key: unique in the page.
        title: one sentence computed from the data.
        caption: how to read the chart.
        description: what it shows, for those who do not see it.
        spec: the chart as Vega-Lite, without title and configuration: the page has its own.
    """

    key: str
    title: str
    caption: str
    description: str
    spec: dict[str, Any]

    @classmethod
    def of(
        cls, key: str, chart: AnyChart, title: str = "", caption: str = "", *, half: bool = False
    ) -> "Figure":
        """Return a figure of `chart`; without `title` the chart's own stands above it.

        One that is `half` as wide as the page has the entries of its legends one below the other.
        """
        # Against the schema of Vega-Lite charts are held in the tests, where it costs no user time.
        spec: dict[str, Any] = chart.to_dict(validate=False)
        spec.pop("config", None)
        if half:
            spec["config"] = {"legend": {"columns": 1}}
        own = spec.pop("title", "")
        words = own if isinstance(own, dict) else {"text": own}
        subtitle = " ".join(words.get("subtitle", []))
        return cls(
            key=key,
            title=title or words["text"],
            caption=" ".join(part for part in (subtitle, caption) if part),
            description=spec.get("description", ""),
            spec=spec,
        )


@dataclass(frozen=True)
class Cell:
    """A table's cell: text, whether it is a number, and a mark that colours it.

    `links` are words and the sections of the page that they lead to; they stand after the text.
    """

    text: str
    number: bool = False
    mark: str = ""
    links: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Table:
    """A table with heads in words; numbers are aligned right."""

    heads: list[Cell]
    rows: list[list[Cell]]
    caption: str = ""


@dataclass(frozen=True)
class Choice:
    """Figures of which the page shows one set at a time, picked from a list.

    Attributes:
        key: unique in the page.
        label: what is picked, in words.
        options: value in words -> its figures.
        first: whether the page begins with the first of them, or the last.
    """

    key: str
    label: str
    options: dict[str, list[Figure]]
    first: bool = False


@dataclass(frozen=True)
class Section:
    """A part of the page under one heading; `below` is folded under its figures."""

    key: str
    title: str
    lead: str = ""
    figures: list[Figure] = field(default_factory=list)
    small: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    below: Table | None = None
    choice: Choice | None = None
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """The whole report.

    With `listed` it begins with links to all of its sections; a page of many has a table for that.
    """

    title: str
    description: str
    strap: str
    facts: list[tuple[str, str]]
    findings: list[str]
    sections: list[Section]
    scenario: str
    listed: bool = True
