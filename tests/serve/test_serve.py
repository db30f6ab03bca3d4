"""The server: who is let in, what it shows, and that it shows nothing else."""

import asyncio
import io
import json
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tailback
from helpers import Command, start
from synthetic import incast_folder
from tailback._native import Control
from tailback.backends.sim import Simulator
from tailback.cli import serve
from tailback.errors import InputError
from tailback.results import Results, SoFar
from tailback.results.folder import PartialFolder, open_folder
from tailback.results.manifest import new
from tailback.serve import DEFAULT_PORT, LOOPBACK, Server
from tailback.serve.folders import Folders

TOKEN = "not-to-be-guessed"  # noqa: S105
BEARER = {"Authorization": f"Bearer {TOKEN}"}


class Browser:
    """Asks one server, and follows nothing."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def ask(self, path: str, *, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
        connection = HTTPConnection(LOOPBACK, self.server.port, timeout=60)
        connection.request(method, path, headers=headers or BEARER)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer, content

    def text(self, path: str, status: int = 200) -> str:
        answer, content = self.ask(path)
        assert answer.status == status, content
        return content.decode()


@contextmanager
def serving(folder: Path) -> Iterator[Browser]:
    server = Server(folder, port=0, token=TOKEN)
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def run() -> None:
        stop = asyncio.Event()
        begun.set_result((asyncio.get_running_loop(), stop))
        await server.run(stop)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    loop, stop = begun.result(timeout=60)
    try:
        yield Browser(server)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(timeout=60)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("shelf")
    incast_folder(base / "ours", servers=[2, 9], iterations=4)
    incast_folder(base / "later" / "theirs & <b>", servers=[2, 9], iterations=4, off=0.1)
    (base / "broken").mkdir()
    (base / "broken" / "manifest.json").write_text("{")
    (base / "studies.html").write_text("all of them")
    (base / "secret.txt").write_text("not shown")
    return base


@pytest.fixture(scope="module")
def browser(shelf: Path) -> Iterator[Browser]:
    with serving(shelf) as browser:
        yield browser


def row(html: str, key: str) -> str:
    """The row of the list that is about `key`."""
    return next(one for one in re.findall("<tr class=.*?</tr>", html, re.S) if f"<td>{key}" in one)


@pytest.mark.parametrize("path", ["/", "/report?of=ours", "/table?of=ours&name=summary", "/none"])
def test_nobody_is_let_in_without_the_token(browser: Browser, path: str) -> None:
    for headers in (
        {"Accept": "*/*"},
        {"Authorization": "Bearer guessed"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Cookie": f"{browser.server.cookie}=guessed"},
        {"Cookie": f"other={TOKEN}"},
    ):
        answer, content = browser.ask(path, **headers)
        assert answer.status == 403
        assert b"ours" not in content
        assert answer.getheader("Set-Cookie") is None
    answer, _ = browser.ask(f"{path}{'&' if '?' in path else '?'}token=guessed", Accept="*/*")
    assert answer.status == 403


def test_the_printed_address_lets_in_and_loses_its_token(browser: Browser) -> None:
    assert browser.server.address.endswith(f"/?token={TOKEN}")
    answer, _ = browser.ask(f"/report?of=ours&token={TOKEN}", Accept="*/*")
    assert answer.status == 302
    assert answer.getheader("Location") == "/report?of=ours"
    cookie = answer.getheader("Set-Cookie") or ""
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    answer, _ = browser.ask("/", Cookie=cookie.partition(";")[0])
    assert answer.status == 200


def test_a_token_leads_to_no_other_host(browser: Browser) -> None:
    answer, _ = browser.ask(f"//example.org/?token={TOKEN}", Accept="*/*")
    assert answer.getheader("Location") == "/example.org/"


def test_it_takes_nothing_but_get(browser: Browser) -> None:
    for method in ("POST", "PUT", "DELETE"):
        answer, _ = browser.ask("/", method=method)
        assert answer.status == 405


def test_pages_load_nothing_and_are_kept_nowhere(browser: Browser) -> None:
    for path in ("/", "/report?of=ours", "/none"):
        answer, _ = browser.ask(path)
        assert (answer.getheader("Content-Security-Policy") or "").startswith("default-src 'none'")
        assert answer.getheader("Cache-Control") == "no-store"
        assert answer.getheader("Referrer-Policy") == "no-referrer"
        assert answer.getheader("Server") is None


def test_the_list_has_what_there_is(browser: Browser) -> None:
    html = browser.text("/")
    assert "Sweep of switch, servers, seed 1." in html
    assert '<a href="report?of=ours">ours</a>' in html
    assert (
        '<a href="report?of=later/theirs%20%26%20%3Cb%3E">later/theirs &amp; &lt;b&gt;</a>' in html
    )
    assert "4 of 1,000 iterations and 4 of 46 points of the built-in incast-8mb" in html
    assert "is not a run folder" in row(html, "broken")
    assert '<a href="page?name=studies.html">' in html
    assert "secret" not in html


def test_a_report_is_that_of_tailback_report(browser: Browser, shelf: Path) -> None:
    out = tailback.report.write_report(shelf / "ours", shelf.parent / "one.html")

    def told(html: str) -> str:
        return re.sub(r"Written \S+ \S+ UTC", "", html)

    assert told(browser.text("/report?of=ours")) == told(out.read_text())
    assert not (shelf / "ours" / "report.html").exists()


def test_several_stand_side_by_side(browser: Browser) -> None:
    html = browser.text("/report?of=ours&of=later/theirs%20%26%20%3Cb%3E")
    assert "Beside other results" in html
    assert "Beside other results" not in browser.text("/report?of=ours&of=ours")


def test_a_report_is_made_anew_when_its_results_are(tmp_path: Path) -> None:
    folder = incast_folder(tmp_path / "ours", servers=[2, 9], iterations=4)
    with serving(tmp_path) as browser:
        first = browser.text("/report?of=ours")
        assert browser.text("/report?of=ours") == first
        manifest = json.loads((folder / "manifest.json").read_text()) | {"title": "Another"}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        assert "<h1>Another</h1>" in browser.text("/report?of=ours")


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        ("csv", pl.read_csv),
        ("parquet", pl.read_parquet),
        ("jsonl", pl.read_ndjson),
    ],
)
def test_a_table_comes_in_each_format(
    browser: Browser, shelf: Path, kind: str, read: Callable[[io.BytesIO], pl.DataFrame]
) -> None:
    answer, content = browser.ask(f"/table?of=ours&name=summary&kind={kind}")
    assert answer.getheader("Content-Disposition") == f'attachment; filename="ours-summary.{kind}"'
    there = pl.read_parquet(shelf / "ours" / "summary.parquet")
    assert read(io.BytesIO(content)).equals(there)


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/none", 404, "there is no such page"),
        ("/report", 400, "no results are named"),
        ("/report?of=../shelf/ours", 404, "there are no such results"),
        ("/report?of=/etc", 404, "there are no such results"),
        ("/report?of=broken", 400, "is not a run folder"),
        ("/table?of=ours&name=../../secret", 404, "has no table"),
        ("/table?of=ours&name=none", 404, "has no table"),
        ("/table?of=ours&name=a%0d%0ab:%22%C4%85", 404, "has no table"),
        ("/table?of=ours&name=summary&kind=xlsx", 400, "there are csv, parquet, jsonl"),
        ("/page?name=secret.txt", 404, "there is no such page"),
        ("/page?name=../studies.html", 404, "there is no such page"),
        ("/table?of=<script>", 404, "&lt;script&gt;: there are no such results"),
        ("/report?of=%ff", 400, "Bad request"),
    ],
)
def test_what_is_not_there_is_said(browser: Browser, path: str, status: int, said: str) -> None:
    answer, content = browser.ask(path)
    assert (answer.status, answer.getheader("Content-Disposition")) == (status, None)
    assert said in content.decode()
    assert "Traceback" not in content.decode()


@pytest.fixture
def unfinished(small: tailback.Scenario, tmp_path: Path) -> PartialFolder:
    """A sweep of four runs, of which two are finished: 3 servers at each switch."""
    folder = open_folder(tmp_path / "out", new(small, "sim", 1))
    for index in (1, 3):
        folder.save(small, index, Simulator().run(small.plan, index, Control()))
    return folder


def test_unfinished_results_are_listed_with_how_far_they_are(unfinished: PartialFolder) -> None:
    with serving(unfinished.path.parent) as browser:
        running = row(browser.text("/"), '<input type="checkbox" name="of" value="out.partial"')
        assert '<a href="report?of=out.partial">out</a>' in running
        assert '<progress value="2" max="4">' in running
        assert '"state">running' in running
        assert "2 of 4" in running
        unfinished.close("interrupted")
        assert '"state">stopped' in browser.text("/")
        # A program that was killed leaves "running" behind, and no lock.
        file = unfinished.path / "manifest.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"status": "running"}))
        assert '"state">stopped' in browser.text("/")


def test_what_is_finished_has_a_report_that_says_so(
    unfinished: PartialFolder, small: tailback.Scenario
) -> None:
    with serving(unfinished.path.parent) as browser:
        html = browser.text("/report?of=out.partial")
        assert "Only 2 of 4 runs are finished so far." in html
        assert "Not judged. Only 2 of 4 runs" in html
        for index in (0, 2):
            unfinished.save(small, index, Simulator().run(small.plan, index, Control()))
        assert "Only 4 of 4 runs" in browser.text("/report?of=out.partial")
        so_far = {name: SoFar(unfinished.path).table(name) for name in ("summary", "flows")}
        out = unfinished.complete()
        assert all(Results(out).table(name).equals(so_far[name]) for name in so_far)
        assert out.name == "out"
        assert "runs are finished so far" not in browser.text("/report?of=out")
        browser.text("/report?of=out.partial", 404)
    unfinished.close("interrupted")


def test_what_has_no_finished_run_has_no_report(small: tailback.Scenario, tmp_path: Path) -> None:
    open_folder(tmp_path / "out", new(small, "sim", 1)).close("interrupted")
    with serving(tmp_path) as browser:
        assert "0 of 4" in row(browser.text("/"), "</td>\n<td>out")
        assert "no run is finished yet" in browser.text("/report?of=out.partial", 400)


def test_looking_keeps_nobody_from_a_folder(small: tailback.Scenario, tmp_path: Path) -> None:
    open_folder(tmp_path / "out", new(small, "sim", 1)).close("interrupted")
    folders, done = Folders(tmp_path), threading.Event()

    def look() -> None:
        while not done.is_set():
            folders.listed()

    looking = threading.Thread(target=look)
    looking.start()
    try:
        for _ in range(300):
            open_folder(tmp_path / "out", new(small, "sim", 1)).close("interrupted")
    finally:
        done.set()
        looking.join()


@pytest.mark.parametrize(
    "damage",
    [
        lambda manifest: manifest["scenario"].pop("name"),
        lambda manifest: manifest["scenario"]["sweep"].update(servers=7),
        lambda manifest: manifest["scenario"].update(sweep="x", workload={}),
        lambda manifest: manifest.update(runs="x"),
    ],
)
def test_one_damaged_folder_does_not_hide_the_others(
    tmp_path: Path, damage: Callable[[dict[str, Any]], object]
) -> None:
    incast_folder(tmp_path / "good", servers=[2], iterations=2)
    file = incast_folder(tmp_path / "bad", servers=[2], iterations=2) / "manifest.json"
    manifest = json.loads(file.read_text())
    damage(manifest)
    file.write_text(json.dumps(manifest))
    with serving(tmp_path) as browser:
        html = browser.text("/")
    assert '<a href="report?of=good">' in html
    assert "bad" in html


def test_a_token_fits_into_an_address_and_a_cookie(tmp_path: Path) -> None:
    for token in ("two words", "a;b", "\u0105", "a\n"):
        with pytest.raises(InputError, match="a token is of letters"):
            Server(tmp_path, port=0, token=token)


def test_the_command_listens_where_the_server_does() -> None:
    defaults = {option.name: option.default for option in serve.command.params}
    assert (defaults["host"], defaults["port"]) == (LOOPBACK, DEFAULT_PORT)


def test_a_run_folder_itself_can_be_served(shelf: Path) -> None:
    with serving(shelf / "ours") as browser:
        assert '<a href="report?of=.">.</a>' in browser.text("/")
        assert "<h1>Incast" in browser.text("/report?of=.")


def test_an_empty_folder_says_what_to_do(tmp_path: Path) -> None:
    with serving(tmp_path) as browser:
        assert "tailback run incast-8mb" in browser.text("/")


def test_tokens_are_not_alike(tmp_path: Path) -> None:
    with closing(Server(tmp_path, port=0)) as one, closing(Server(tmp_path, port=0)) as other:
        tokens = {server.address.partition("token=")[2] for server in (one, other)}
    assert len(tokens) == 2
    assert min(map(len, tokens)) >= 20


def test_it_stays_on_the_loopback_unless_told_otherwise(tmp_path: Path) -> None:
    with closing(Server(tmp_path, port=0)) as server:
        assert not server.is_open
    with closing(Server(tmp_path, port=0, host="0.0.0.0")) as server:  # noqa: S104
        assert server.is_open
        assert server.address.startswith("http://127.0.0.1:")


def test_what_cannot_be_served_is_refused(tmp_path: Path, command: Command) -> None:
    answer = command("serve", tmp_path / "none")
    assert answer.code == 2
    assert "is no folder" in answer.err
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        answer = command("serve", tmp_path, "--port", str(taken.getsockname()[1]))
    assert answer.code == 2
    assert "cannot be listened on: Address already in use; give another --port" in answer.err
    with pytest.raises(InputError, match="cannot be listened on"):
        Server(tmp_path, host="192.0.2.1", port=0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_an_address_and_ends_quietly(
    tmp_path: Path, number: signal.Signals
) -> None:
    process: subprocess.Popen[str] = start("serve", tmp_path, "--port", "0")
    assert process.stdout is not None
    said = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", said)
    assert found, said
    with closing(HTTPConnection(LOOPBACK, int(found[1]), timeout=60)) as connection:
        connection.request("GET", "/", headers={"Authorization": f"Bearer {found[2]}"})
        assert connection.getresponse().status == 200
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert err == "Ctrl-C ends it.\n"
