"""The server: who may look, what is asked for, and what it answers.

It stays on the loopback unless told otherwise, and answers only who has the token: in the address
at first, then in a cookie; programs give it as `Authorization: Bearer TOKEN`. It takes nothing but
GET.
"""

import asyncio
import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from html import escape
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler

from tailback.errors import InputError, TailbackError
from tailback.serve.shelf import Missing, Shelf

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8470
_TOKEN = re.compile("[A-Za-z0-9._~-]+")
_EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not bound to
_HEADERS = {
    # A report holds its own script, and Vega compiles expressions.
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}


class _Handler(RequestHandler):
    """What all have in common: the token, headers, errors in words."""

    def initialize(self, server: "Server") -> None:
        self.server = server

    def set_default_headers(self) -> None:
        self.clear_header("Server")
        for name, value in _HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        given = self.get_query_argument("token", None)
        if given is not None and self.server.opens(given):
            self.set_cookie(self.server.cookie, given, httponly=True, samesite="Lax")
            # The token is not to stay in the address, which is copied, and shown to others.
            arguments = self.request.query_arguments
            rest = [(name, one) for name in arguments if name != "token" for one in arguments[name]]
            path = (
                f"/{self.request.path.lstrip('/')}"  # two slashes would begin another host's name
            )
            self.redirect("?".join(filter(None, [path, urlencode(rest)])))
            return
        scheme, _, bearer = self.request.headers.get("Authorization", "").partition(" ")
        shown = bearer if scheme.lower() == "bearer" else self.get_cookie(self.server.cookie, "")
        if not self.server.opens(shown or ""):
            self.say(HTTPStatus.FORBIDDEN, "open the address that `tailback serve` has printed")

    async def made(self, make: Callable[[], str | bytes], **headers: str) -> None:
        """Answer with what `make` gives, which may take seconds: on another thread.

        `headers` are of that answer, and of no error; their names are written with `_` for `-`.
        """
        try:
            loop = asyncio.get_running_loop()
            content = await loop.run_in_executor(self.server.pool, make)
        except Missing as error:
            self.say(HTTPStatus.NOT_FOUND, str(error))
        except TailbackError as error:
            self.say(HTTPStatus.BAD_REQUEST, str(error))
        except OSError as error:  # finished, or removed, since the list was made
            self.say(HTTPStatus.NOT_FOUND, f"{error.filename}: {error.strerror}; look again")
        else:
            for name, value in headers.items():
                self.set_header(name.replace("_", "-"), value)
            self.finish(content)

    def say(self, status: HTTPStatus, words: str) -> None:
        """Answer with an error."""
        self.set_status(status)
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(
            "<!doctype html><meta charset=utf-8><title>Tailback</title>"
            "<body style='font: 16px/1.5 system-ui, sans-serif; margin: 40px; max-width: 70ch'>"
            f"<h1>{status.phrase}</h1><p>{escape(words)}</p><p><a href='./'>All results</a></p>"
        )

    def write_error(self, status_code: int, **_: object) -> None:
        status = HTTPStatus(status_code)
        self.say(status, status.description or status.phrase)


class _Index(_Handler):
    async def get(self) -> None:
        await self.made(self.server.shelf.index)


class _Report(_Handler):
    async def get(self) -> None:
        keys = self.get_query_arguments("of")
        await self.made(lambda: self.server.shelf.report(keys))


class _Page(_Handler):
    async def get(self) -> None:
        name = self.get_query_argument("name", "")
        await self.made(lambda: self.server.shelf.page(name))


class _Table(_Handler):
    async def get(self) -> None:
        key, name, kind = (self.get_query_argument(one, "") for one in ("of", "name", "kind"))
        kind = kind or "csv"
        await self.made(
            lambda: self.server.shelf.table(key, name, kind),
            Content_Type=_TYPES.get(kind, ""),
            Content_Disposition=f'attachment; filename="{_plain(key)}-{_plain(name)}.{kind}"',
        )


def _plain(text: str) -> str:
    """A text as part of a file's name, whatever the header's and the reader's rules."""
    return "".join(
        one if (one.isascii() and one.isalnum()) or one in "-_." else "-" for one in text
    )


class _Nothing(_Handler):
    def get(self) -> None:
        self.say(HTTPStatus.NOT_FOUND, f"{self.request.path}: there is no such page")


class Server:
    """Shows the results in a folder to a browser.

    Args:
        folder: where run folders are, or a run folder.
        host: the address to listen on.
        port: the port; 0 is any that is free.
        token: what lets a browser in, of letters, digits and `-._~`; by default one that nobody can
            guess.

    Raises:
        InputError: there is no such folder, the address cannot be listened on, or the token does
            not fit into an address.
    """

    def __init__(
        self,
        folder: str | Path = "results",
        *,
        host: str = LOOPBACK,
        port: int = DEFAULT_PORT,
        token: str | None = None,
    ) -> None:
        self.shelf = Shelf(Path(folder))
        self._token = token or secrets.token_urlsafe(16)
        if not _TOKEN.fullmatch(self._token):
            raise InputError("a token is of letters, digits and -._~ alone, as it is in an address")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family)
        except OSError as error:
            # create_server's own words repeat the address.
            reason = str(error.strerror or error).partition(" (while attempting")[0]
            raise InputError(
                f"{host}, port {port}: cannot be listened on: {reason}; "
                "give another --port (0: any that is free), or an address of this machine as --host"
            ) from error
        self._socket.settimeout(0)
        self.host, self.port = host, int(self._socket.getsockname()[1])
        self.cookie = f"tailback-{self.port}"
        # Two: the list is not to wait for a report.
        self.pool = ThreadPoolExecutor(2, thread_name_prefix="page")

    @property
    def address(self) -> str:
        """What opens it in a browser, token and all."""
        host = LOOPBACK if self.host in _EVERYWHERE else self.host
        name = f"[{host}]" if ":" in host else host
        return f"http://{name}:{self.port}/?{urlencode({'token': self._token})}"

    @property
    def is_open(self) -> bool:
        """Whether others than this machine can reach it."""
        return not ipaddress.ip_address(self._socket.getsockname()[0]).is_loopback

    def opens(self, given: str) -> bool:
        """Whether this is the token."""
        return hmac.compare_digest(given.encode(), self._token.encode())

    async def run(self, until: asyncio.Event) -> None:
        """Answer until `until` is set."""
        given = {"server": self}
        application = Application(
            [
                ("/", _Index, given),
                ("/report", _Report, given),
                ("/table", _Table, given),
                ("/page", _Page, given),
            ],
            default_handler_class=_Nothing,
            default_handler_args=given,
            compress_response=True,
            log_function=lambda _: None,
        )
        http = HTTPServer(application)
        http.add_socket(self._socket)
        try:
            await until.wait()
        finally:
            http.stop()
            await http.close_all_connections()
            self.close()

    def close(self) -> None:
        """Listen no more: for one that is not to run, or has."""
        self._socket.close()
        self.pool.shutdown(cancel_futures=True)
