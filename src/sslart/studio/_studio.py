"""The studio: the service on this machine, a page for browsers below /studio/, and a code that opens it once."""

from __future__ import annotations

import hmac
import json
import mimetypes
import re
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sslart.client import Client, ServiceError
from sslart.server._service import Options, run
from sslart.server.api._errors import ApiError
from sslart.server.api._middleware import Access
from sslart.server.models._settings import Limits

MAX_TOKENS = 10  # of browsers: the oldest are revoked
PREFIX = "studio-"
USED = (
    "This address was used before, or is of an earlier start: start sslart studio again, and open the address that it "
    "prints."
)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "worker-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
HOST = "127.0.0.1"
PORT = 8708
MAX_NAME = 60
TABLE_TOKEN = f"{PREFIX}table"
SECONDS_TO_START = 600.0

mimetypes.add_type("text/javascript", ".js")  # the registry of Windows may say otherwise, and browsers then refuse it


class Sessions:
    """The code that opens the studio once, and the tokens of the browsers that have used one."""

    def __init__(self, access: Access, code: str) -> None:
        self._access, self._code, self._lock = access, code, threading.Lock()

    def token(self, code: str, client: str) -> str:
        """Return a new token for a code, which is then used up, or raise an ApiError."""
        wait = self._access.failures.seconds_to_wait(client)
        if wait:
            raise ApiError(429, "Too many wrong codes: try again later.", {"retry-after": str(wait)})
        with self._lock:
            if not self._code or not hmac.compare_digest(code.encode(), self._code.encode()):
                self._access.failures.add(client)
                raise ApiError(401, USED)
            self._code = ""
            own = [one for one in self._access.known() if one.name.startswith(PREFIX)]
            for token in sorted(own, key=lambda one: one.created)[: max(0, len(own) - MAX_TOKENS + 1)]:
                self._access.revoke(token.name)
            return self._access.add(f"{PREFIX}{secrets.token_hex(4)}", "admin")


def new_code() -> str:
    """Return a random code."""
    return secrets.token_urlsafe(24)


class StaticPages(StaticFiles):
    """The files of the studio, with the headers that protect a page in a browser."""

    def file_response(self, *args: Any, **options: Any) -> Response:
        """Return a file, or that it has not changed."""
        answer = super().file_response(*args, **options)
        answer.headers.update(HEADERS)
        return answer


def pages(code: str) -> Callable[[Access], Any]:
    """Return a factory of the studio application, given the tokens of the service; `code` opens it once."""

    def application(access: Access) -> Any:
        sessions = Sessions(access, code)

        async def missing(*_: Any) -> Response:
            return JSONResponse({"error": "There is no such page."}, 404, HEADERS)

        async def session(request: Request) -> Response:
            headers = {**HEADERS, "cache-control": "no-store"}
            try:
                given = json.loads(await request.body())["code"]
                token = sessions.token(str(given), request.client.host if request.client else "unknown")
            except ApiError as error:
                return JSONResponse({"error": str(error)}, error.status, {**headers, **error.headers})
            except (ValueError, KeyError, TypeError):
                return JSONResponse({"error": 'Send {"code": CODE} as JSON.'}, 422, headers)
            return JSONResponse({"token": token}, 200, headers)

        static = StaticPages(packages=[("sslart.studio", "static")], html=True)
        routes = [Route("/studio/session", session, methods=["POST"]), Mount("/studio", static)]
        return Starlette(routes=routes, exception_handlers={404: missing})

    return application


@dataclass(frozen=True)
class Studio:
    """Options of the studio."""

    folder: Path  # where models, rows and labels are kept
    table: Path | None = None  # to begin with
    label: str | None = None  # its column with the classes
    name: str | None = None  # of the model that the table makes; that of the file if not given
    port: int | None = None  # None: 8708, or any that is free where that is not
    opens_browser: bool = True


def launch(studio: Studio, tell: Callable[[str], None] = print) -> None:
    """Serve the page until a signal comes; `tell` gets sentences for the user."""
    if studio.table is not None and not studio.table.is_file():
        raise FileNotFoundError(f"There is no file {studio.table}: check the name.")
    code, known = new_code(), list[Access]()

    def application(access: Access) -> Any:
        known.append(access)
        return pages(code)(access)

    def started(address: str) -> None:
        model = None if studio.table is None else studio.name or model_name(studio.table)
        page = f"{address}/studio/#code={code}" + ("" if model is None else f"&model={model}")
        tell(f"The studio keeps its models in {studio.folder}.")
        tell(f"Open this address in a browser; it can be used once:\n{page}")
        tell("Press Ctrl+C to stop. Nothing is lost: start it again to go on.")
        if model is not None:
            learn = (studio, model, address, known[0], tell)
            threading.Thread(target=_add_table, args=learn, name="table", daemon=True).start()
        if studio.opens_browser:
            threading.Thread(target=webbrowser.open, args=(page,), name="browser", daemon=True).start()

    port = free_port() if studio.port is None else studio.port
    run(Options(studio.folder, HOST, port, limits=Limits(keep_samples=True)), started, application)


def _add_table(studio: Studio, model: str, address: str, access: Access, tell: Callable[[str], None]) -> None:
    """Make a model of the table, unless there is one of its name."""
    assert studio.table is not None
    if any(one.name == TABLE_TOKEN for one in access.known()):
        access.revoke(TABLE_TOKEN)
    token = access.add(TABLE_TOKEN, "learn")
    try:
        with Client(address, token) as client:
            client.ready(wait=SECONDS_TO_START)
            if any(one["name"] == model for one in client.models()):
                tell(f"There is a model {model!r} already: the page goes on with it. --as NAME makes another.")
            else:
                client.fit(model, studio.table, label=studio.label)
    except (ServiceError, OSError, ValueError) as error:
        tell(f"{studio.table} was not learnt: {error}")
    finally:
        access.revoke(TABLE_TOKEN)


def model_name(table: Path) -> str:
    """Return a name for the model of a table."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", table.stem).strip("-._")[:MAX_NAME] or "table"


def free_port() -> int:
    """Return the usual port, so that a browser knows the page again, or 0 where another program has it."""
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((HOST, PORT))
        except OSError:
            return 0
        return PORT
