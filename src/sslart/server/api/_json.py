"""JSON bodies and responses: bodies are validated against their model, responses are written unchecked."""

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
    """Body that a dependency reads: its model, and its optionality."""

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
    """Return a dependency that parses the request body as JSON; an optional body may be empty."""

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
    """Return the model of the body that a dependency reads; None for other dependencies."""
    return _BODIES.get(function)
