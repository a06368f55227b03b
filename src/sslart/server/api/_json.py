"""JSON in and out: bodies are checked against their model at once, answers are written as they are."""

from __future__ import annotations

import asyncio
import json
from typing import Any, TypeVar

from fastapi import Depends, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from starlette.responses import Response

from sslart import __version__
from sslart.server.api._errors import ApiError

Body = TypeVar("Body", bound=BaseModel)

JSON = "application/json"
LARGE = 2**17  # bytes, beyond which other requests would wait
REF = "#/components/schemas/{model}"
_BODIES: dict[Any, type[BaseModel]] = {}  # of the functions that read bodies


def answer(values: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return plain values as JSON."""
    content = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(content.encode(), status, headers, JSON)


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
            return await asyncio.to_thread(model.model_validate_json, content)
        return model.model_validate_json(content)

    _BODIES[read] = model
    return Depends(read)


def add_openapi(app: FastAPI) -> None:
    """Describe the bodies that `body_of` reads in /openapi.json, as those that FastAPI reads are."""

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]


def _described(app: FastAPI) -> dict[str, Any]:
    found = get_openapi(title=app.title, version=__version__, description=app.description, routes=app.routes)
    schemas = found.setdefault("components", {}).setdefault("schemas", {})
    for route in app.routes:
        for dependency in getattr(getattr(route, "dependant", None), "dependencies", ()):
            model = _BODIES.get(dependency.call)
            if model is None:
                continue
            schema = model.model_json_schema(ref_template=REF)
            schemas.update(schema.pop("$defs", {}))
            schemas[model.__name__] = schema
            reference = {"$ref": REF.format(model=model.__name__)}
            for method in route.methods:  # type: ignore[attr-defined]
                operation = found["paths"][route.path][method.lower()]  # type: ignore[attr-defined]
                operation["requestBody"] = {"required": True, "content": {JSON: {"schema": reference}}}
    return found
