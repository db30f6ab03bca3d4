"""What the server shows: the list of results, their reports, their tables."""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from tailback.errors import InputError
from tailback.export.tables import KINDS, encoded
from tailback.report.page.facts import duration
from tailback.report.page.template import asset, environment, stylesheet
from tailback.report.write import render
from tailback.results import Results, SoFar
from tailback.results.manifest import FILE_NAME
from tailback.serve.folders import Folders, Listed

_KEPT = 8
"""Reports that are kept as they were made: a few megabytes each."""


class Missing(InputError):
    """There is no such thing in the folder that is served."""


class Shelf:
    """The run folders in a folder, looked at anew each time."""

    def __init__(self, base: Path) -> None:
        if not base.is_dir():
            raise InputError(f"{base}: is no folder; `tailback run` writes results, into `results`")
        self._folders = Folders(base.resolve())
        self._reports: OrderedDict[tuple[object, ...], str] = OrderedDict()
        self._lock = Lock()

    def index(self) -> str:
        """The list of all results, as a page."""
        made = environment("tailback.serve")
        made.filters |= {"when": _when, "lasted": duration}
        return made.get_template("index.html.jinja").render(
            base=self._folders.base,
            found=self._folders.listed(),
            pages=[path.name for path in self._folders.pages()],
            kinds=KINDS,
            style=stylesheet() + asset("tailback.serve", "index.css"),
            script=asset("tailback.serve", "index.js"),
        )

    def report(self, keys: Sequence[str]) -> str:
        """The report of the results `keys[0]`, with the others beside it.

        Raises:
            Missing: there are none of this name.
            InputError: no run of them is finished, they are damaged, or do not fit together.
        """
        if not keys:
            raise InputError("no results are named; tick some in the list")
        chosen = [self._find(key) for key in dict.fromkeys(keys)]
        key = tuple(
            (one.key, (one.path / FILE_NAME).stat().st_mtime_ns, one.done) for one in chosen
        )
        with self._lock:
            if key in self._reports:
                self._reports.move_to_end(key)
                return self._reports[key]
        results = [
            Results(one.path) if one.state == "complete" else SoFar(one.path) for one in chosen
        ]
        html = render(results[0], results[1:])
        with self._lock:
            self._reports[key] = html
            while len(self._reports) > _KEPT:
                self._reports.popitem(last=False)
        return html

    def table(self, key: str, name: str, kind: str) -> bytes:
        """One table of some results, in one of `KINDS`.

        Raises:
            Missing: there is no such table.
            InputError: there is no such kind, or the table is damaged.
        """
        one = self._find(key)
        if name not in one.tables:
            raise Missing(f"{key}: has no table '{name}'")
        return encoded(Results(one.path).table(name), kind)

    def page(self, name: str) -> bytes:
        """A report that lies in the folder itself.

        Raises:
            Missing: there is none of this name.
        """
        for path in self._folders.pages():
            if path.name == name:
                return path.read_bytes()
        raise Missing(f"{name}: there is no such page")

    def _find(self, key: str) -> Listed:
        # Only what was found is ever opened: a key is compared, and no part of a path.
        for one in self._folders.listed():
            if one.key == key:
                return one
        raise Missing(f"{key}: there are no such results")


def _when(started: str) -> str:
    return started[:16].replace("T", " ")
