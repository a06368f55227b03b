"""The files of the page, and the exchange of a code for a token: an ASGI application below /studio/."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sslart.server.api._access import Access
from sslart.server.api._errors import ApiError
from sslart.studio._sessions import Sessions

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
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".md": "text/plain; charset=utf-8",
}
START = "index.html"


class Page(NamedTuple):
    """A file as it is sent."""

    content: bytes
    kind: str
    tag: str


def pages(code: str) -> Callable[[Access], Any]:
    """Return a factory of the studio application, given the tokens of the service.

    Parameters
    ----------
    code : str
        Opens the studio once.
    """

    def application(access: Access) -> Any:
        sessions, all_files = Sessions(access, code), _read(files("sslart.studio").joinpath("static"), "")

        async def file(request: Request) -> Response:
            page = all_files.get(request.path_params["path"] or START)
            if page is None:
                return JSONResponse({"error": "There is no such page."}, 404, HEADERS)
            headers = {**HEADERS, "etag": page.tag}
            if request.headers.get("if-none-match") == page.tag:
                return Response(status_code=304, headers=headers)
            return Response(page.content, 200, headers, page.kind)

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

        return Starlette(
            routes=[
                Route("/studio/session", session, methods=["POST"]),
                Route("/studio/{path:path}", file, methods=["GET"]),
            ]
        )

    return application


def _read(folder: Any, prefix: str) -> dict[str, Page]:
    """Return all files below a folder by their path."""
    found: dict[str, Page] = {}
    for entry in folder.iterdir():
        if entry.is_dir():
            found |= _read(entry, f"{prefix}{entry.name}/")
        elif (ending := entry.name[entry.name.rfind(".") :]) in KINDS:
            content = entry.read_bytes()
            found[prefix + entry.name] = Page(content, KINDS[ending], f'"{sha256(content).hexdigest()[:32]}"')
    return found
