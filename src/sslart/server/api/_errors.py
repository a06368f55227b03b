"""Error responses of the service: a status, and a message with cause and remedy but no internals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from sslart._utils.text import json_text, printable_lines
from sslart.server.models._published import NoLabelError
from sslart.server.models._settings import with_settings
from sslart.server.models._stored_rows import NoSuchRowError
from sslart.server.models._transactions import ConflictError, NoSuchModelError
from sslart.server.store._database import StoreBusyError, StoreError, sqlite

MAX_MESSAGE = 2000
SHOWN_PROBLEMS = 5
_KINDS = frozenset({"bool", "int", "constrained-int", "float", "str", "constrained-str"})


STATUSES = {
    400: "The request cannot be read.",
    401: "A token is required.",
    403: "The scope of the token is insufficient, or the request comes from another site.",
    404: "Unknown model, row, job or token.",
    408: "The body was sent too slowly.",
    409: "The request conflicts with the current state.",
    413: "The body is too large.",
    415: "The body is not JSON, or is compressed.",
    421: "Unknown host name.",
    422: "The request is invalid or does not fit the model, or a fit has failed.",
    429: "Too many requests: try again after the seconds in Retry-After.",
    501: "A required package is not installed.",
    503: "Temporarily unavailable: try again after the seconds in Retry-After.",
    507: "The disk is full.",
}


class ApiError(Exception):
    """Raised to return an error response."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.headers = status, headers or {}


def error_answer(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error as JSON; control characters in the message are escaped."""
    message = with_settings(printable_lines(message))[:MAX_MESSAGE]
    return Response(json_text({"error": message}), status, headers, "application/json")


_WORDS = {404: "Unknown path.", 405: "This path does not support this method."}
_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (NoSuchModelError, 404),
    (NoSuchRowError, 404),
    (NoLabelError, 409),
    (ConflictError, 409),
    (StoreBusyError, 429),
    (StoreError, 503),
    (ImportError, 501),
    (TimeoutError, 503),
    (ValueError, 422),
    (OverflowError, 422),
    (MemoryError, 503),
)


_WITHOUT_WORDS: dict[type[Exception], str] = {
    TimeoutError: "The request took too long: send fewer rows, or send it again later.",
    MemoryError: "Not enough memory for the request: send fewer rows, or send it again later.",
}


def answer_to(error: Exception) -> Response:
    """Return the response to an exception; unknown exceptions give no details."""
    if isinstance(error, ApiError):
        return error_answer(error.status, str(error), error.headers)
    if isinstance(error, ValidationError | RequestValidationError):
        return error_answer(422, problems_in(error))
    if isinstance(error, HTTPException):  # of an unknown path or method
        words = _WORDS.get(error.status_code, str(error.detail))
        return error_answer(error.status_code, words, dict(error.headers or {}))
    for kind, status in _STATUS:
        if isinstance(error, kind):
            headers = {"retry-after": str(getattr(error, "seconds", 1))} if status in (429, 503) else None
            message = str(error) or _WITHOUT_WORDS.get(kind, "The request is not as described.")
            return error_answer(status, message, headers)
    if isinstance(error, sqlite().Error):
        words = f"The database cannot be read ({error}): run sslart serve DIR --verify, or repair the disk."
        return error_answer(503, words, {"retry-after": "1"})
    return error_answer(500, "Internal error: see the log of the service.")


def problems_in(error: ValidationError | RequestValidationError) -> str:
    """Return a message on the validation errors of a request."""
    found: Sequence[Any]
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_context=False, include_input=False)  # which may be large
    else:
        found = error.errors()
    by_place: dict[str, list[Any]] = {}
    for one in found:
        parts = [str(part) for part in one["loc"] if part not in ("body", "query", "path")]
        if parts and parts[-1] in _KINDS:
            parts.pop()
        by_place.setdefault(".".join(parts) or "the request", []).append(one)
    problems = [f"{place}: {_in_words(some)}" for place, some in list(by_place.items())[:SHOWN_PROBLEMS]]
    more = f"; and {len(by_place) - SHOWN_PROBLEMS} more" if len(by_place) > SHOWN_PROBLEMS else ""
    return f"The request is not as described in /openapi.json: {'; '.join(problems)}{more}."


def _in_words(errors: list[Any]) -> str:
    """Return the validation errors of one field, which may accept several types, as text."""
    nearest = [one for one in errors if not one["type"].endswith("_type")] or errors
    first, *others = (one["msg"] for one in nearest)
    return " or ".join([first, *(one.removeprefix("Input should be ") for one in others)])


def add_handlers(app: FastAPI) -> None:
    """Register handlers that answer all errors with a message."""

    async def handle(request: Request, error: Exception) -> Response:
        answer = answer_to(error)
        if answer.status_code == 405:  # each method of a path is a route of its own
            routes = [route for route in app.routes if isinstance(route, APIRoute)]
            here = {method for one in routes if one.path_regex.match(request.url.path) for method in one.methods or ()}
            answer.headers["allow"] = ", ".join(sorted(here))
        return answer

    kinds: list[Any] = [ApiError, RequestValidationError, ValidationError, HTTPException, Exception]
    for kind in [*kinds, *(kind for kind, _ in _STATUS)]:
        app.add_exception_handler(kind, handle)
