"""JSON in and out: bodies are checked against their model at once, answers are written as they are."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel
from starlette.responses import Response

from sslart.server.api._errors import ApiError

Body = TypeVar("Body", bound=BaseModel)

JSON = "application/json"
LARGE = 2**17  # bytes, beyond which other requests would wait


class ReadBody(NamedTuple):
    """What a function reads: the model of the body, and whether there may be none."""

    model: type[BaseModel]
    optional: bool


_BODIES: dict[Any, ReadBody] = {}


def answer(values: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return plain values as JSON."""
    try:
        text = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        content = text.encode()
    except UnicodeEncodeError:  # a model from a file may have names that are no text
        content = json.dumps(values, allow_nan=False).encode()
    except ValueError as error:  # which would be that of a wrong request
        raise RuntimeError("an answer is no JSON") from error
    return Response(content, status, headers, JSON)


def body_of(model: type[Body], *, optional: bool = False) -> Any:
    """Return what reads the body of a request as JSON; an optional one may be empty."""

    async def read(request: Request) -> Body:
        content = await request.body()
        if optional and not content:
            return model()
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != JSON:
            raise ApiError(
                415, f"The body must be JSON: send the header Content-Type: {JSON}; curl does so with --json."
            )
        if len(content) > LARGE:
            threads = request.app.state.context.threads  # few, since 16 MB of JSON may take a gigabyte
            found: Body = await threads.run(model.model_validate_json, content)
            return found
        return model.model_validate_json(content)

    _BODIES[read] = ReadBody(model, optional)
    return Depends(read)


def body_model(function: Any) -> ReadBody | None:
    """Return the model of what a dependency reads; None of others."""
    return _BODIES.get(function)
