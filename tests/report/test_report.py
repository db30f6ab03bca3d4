"""The report: one file that loads nothing, for any sweep."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from synthetic import incast_folder, sweep_folder
from tailback.analysis import View
from tailback.report import default_path, write_report
from tailback.report.page.contents import contents
from tailback.results import Results


class Parts(HTMLParser):
    """What a page refers to, its charts' specifications, its words."""

    def __init__(self) -> None:
        super().__init__()
        self.references: list[str] = []
        self.specs: dict[str, dict[str, Any]] = {}
        self.labels: list[str] = []
        self.words: list[str] = []
        self._inside = ""
        self._key = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self._inside, self._key = tag, values.get("id") or ""
        self.references += [v for k, v in attrs if k in {"src", "href", "srcset", "data"} and v]
        if values.get("class") == "chart":
            self.labels.append(values.get("aria-label") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script" and self._key.startswith("spec-"):
            self.specs[self._key] = json.loads(data)
        elif self._inside not in {"script", "style"}:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def parsed(folder: Path) -> tuple[str, Parts]:
    html = write_report(folder).read_text(encoding="utf-8")
    parts = Parts()
    parts.feed(html)
    return html, parts


@pytest.fixture(scope="module")
def incast(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Parts]:
    return parsed(incast_folder(tmp_path_factory.mktemp("r") / "incast", off=0.06))


def test_it_loads_nothing(incast: tuple[str, Parts]) -> None:
    html, parts = incast
    assert all(reference.startswith("#") for reference in parts.references), parts.references
    assert "@import" not in html
    assert not re.search(r"url\(\s*['\"]?(https?:)?//", html)
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)\s*=\s*['\"]?(https?:)?//", html)
    data = json.dumps(parts.specs)
    assert '"url"' not in data


def test_it_holds_every_part(incast: tuple[str, Parts]) -> None:
    _, parts = incast
    for part in (
        "135 % longer with arista-7124s than with cisco-nexus-5010",
        "Completion time and goodput",
        "Queue, losses and repairs",
        "Against what was published",
        "Of 8 claims that could be checked, 8 hold.",
        "How completion times are distributed",
        "Anatomy of one transaction",
        "Total duration (s)",
        "seed 1",
        "A CPU",
        "c0ffeec0ffeec0ff",
        "1 min 2 s",
    ):
        assert part in parts.text, part
    keys = {key.removeprefix("spec-").split("-")[0] for key in parts.specs}
    assert keys >= {
        "completion_ms_mean",
        "goodput_mbps_mean",
        "switch_drops_mean",
        "retransmissions_mean",
        "timeouts_mean",
        "errors",
        "excess",
        "distribution",
        "ecdf",
        "anatomy",
    }


def test_every_chart_is_described(incast: tuple[str, Parts]) -> None:
    _, parts = incast
    assert len(parts.labels) == len(parts.specs) > 10
    assert all(len(label) > 30 for label in parts.labels)


def test_published_points_lie_over_ours(incast: tuple[str, Parts]) -> None:
    _, parts = incast
    layers = parts.specs["spec-completion_ms_mean"]["layer"]
    assert [layer["mark"]["type"] for layer in layers] == ["line", "point", "point"]
    assert layers[-1]["mark"]["filled"] is False


@pytest.mark.parametrize(
    "axes",
    [
        {},
        {"servers": [1]},
        {"switch": ["a", "b"]},
        {"switch": ["a", "b"], "servers": [1]},
        {"rto_min": ["200ms", "1ms"], "rto_jitter": [0.0, 0.5], "servers": [1, 2, 4]},
        {"cc": ["reno", "bic"], "ecn": [True, False], "rtt": ["1ms", "9ms"], "n": [1, 5000]},
        {"network.link.rate": ["1Gbit", "10Gbit"]},
        {"a: b": ["x", "y"], '"q"': ["it's", "<b>"], "n[0]": [1, 2, 3]},
    ],
    ids=lambda axes: "+".join(axes) or "none",
)
def test_any_sweep_has_a_report(tmp_path: Path, axes: dict[str, list[Any]]) -> None:
    _, parts = parsed(sweep_folder(tmp_path / "r", axes))
    varied = [name for name, values in axes.items() if len(values) > 1]
    assert ("spec-completion_ms_mean" in parts.specs) == bool(varied)
    assert "spec-ecdf" in parts.specs
    assert "published" not in parts.text
    assert "Total data (MB)" in parts.text


def test_a_command_in_a_description_is_set_as_code(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "r", {})
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["description"] = "`tailback <b>export</b>` writes <i>it</i>."
    path.write_text(json.dumps(manifest))
    html, _ = parsed(folder)
    said = "<code>tailback &lt;b&gt;export&lt;/b&gt;</code> writes &lt;i&gt;it&lt;/i&gt;."
    assert said in html


def test_one_server_only_has_a_report(tmp_path: Path) -> None:
    _, parts = parsed(incast_folder(tmp_path / "r", servers=[1]))
    assert "Not seen in any run: drops at the switch" in parts.text
    assert "spec-switch_drops_mean" not in parts.specs


def test_text_from_a_scenario_cannot_become_markup(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "r", {"switch": ["<b>bold</b>", "</script><script>"]})
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["title"] = "<img src=//elsewhere>"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    html, parts = parsed(folder)
    assert "<b>bold" not in html
    assert parts.references == [r for r in parts.references if r.startswith("#")]
    assert "<img src=//elsewhere>" in parts.text


def test_the_file_goes_into_the_folder_or_where_told(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "r", {})
    assert write_report(folder) == default_path(folder) == folder / "report.html"
    assert write_report(folder, tmp_path / "new" / "a.html").is_file()


def test_the_same_results_give_the_same_page(tmp_path: Path) -> None:
    folder = incast_folder(tmp_path / "r", servers=[1, 4])
    pages = [contents(View(Results(folder))) for _ in range(2)]
    assert pages[0] == pages[1]
