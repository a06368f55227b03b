"""The description of the service at /openapi.json: bodies, problems, tokens and scopes of every path."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from sslart import __version__
from sslart.server.api._access import scope_of
from sslart.server.api._gate import OPEN_PATHS
from sslart.server.api._json import JSON, body_model
from sslart.server.api._schemas.answers import Problem
from sslart.server.api._schemas.tensors import InferRequest

REF = "#/components/schemas/{model}"
TITLE = "sslart"
DESCRIPTION = """Models learn while they predict, explain their predictions, and lose nothing that was acknowledged.

On the machine where the service runs, no token is needed until one is made; beyond it, every request needs one."""
TOKEN = {"type": "http", "scheme": "bearer", "description": "a token that `sslart serve DIR --add-token NAME` printed"}
STATUSES = {
    400: "The request cannot be read.",
    401: "A token is needed.",
    403: "The token does not allow it, or the request comes from another site.",
    404: "There is no such model, row, job or token.",
    408: "The body came too slowly.",
    409: "It does not go with what is there.",
    413: "The body is too large.",
    415: "The body is not JSON, or is packed.",
    421: "The service is not called so.",
    422: "The request is not as described, or does not fit the model, or a fit has failed.",
    429: "Too much waits: try again after the seconds in Retry-After.",
    501: "A package that this needs is not installed.",
    503: "It cannot be done now: try again after the seconds in Retry-After.",
    507: "The disk is full.",
}
EVERYWHERE = (400, 403, 421)
WITH_A_TOKEN = (401, 429, 503)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI descriptions of errors specific to a path."""
    return {status: {"model": Problem, "description": STATUSES[status]} for status in statuses}


def described(app: FastAPI, routers: Iterable[APIRouter]) -> dict[str, Any]:
    """Return the description of all paths."""
    found = get_openapi(title=TITLE, version=__version__, description=DESCRIPTION, routes=app.routes)
    components = found.setdefault("components", {})
    components["securitySchemes"] = {"token": TOKEN}
    schemas = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for model in (Problem, InferRequest):
        _add_schema(schemas, model)
    for route in (route for router in routers for route in router.routes if isinstance(route, APIRoute)):
        for method in route.methods or ():
            operation = found["paths"][route.path_format][method.lower()]
            _add_body(operation, route, schemas)
            _add_scope(operation, route)
            _add_problems(operation, route.path)
    return found


def _add_schema(schemas: dict[str, Any], model: Any) -> str:
    """Describe a model, and return the reference to it."""
    schema = model.model_json_schema(ref_template=REF)
    schemas.update(schema.pop("$defs", {}))
    schemas[model.__name__] = schema
    return REF.format(model=model.__name__)


def _add_body(operation: dict[str, Any], route: APIRoute, schemas: dict[str, Any]) -> None:
    for dependency in route.dependant.dependencies:
        found = body_model(dependency.call)
        if found is not None:
            reference = {"$ref": _add_schema(schemas, found.model)}
            operation["requestBody"] = {"required": not found.optional, "content": {JSON: {"schema": reference}}}


def _add_scope(operation: dict[str, Any], route: APIRoute) -> None:
    scope = scope_of(route)
    if scope is not None:
        operation["description"] += f"\n\nA token needs the scope `{scope}`."
    if route.path not in OPEN_PATHS:
        operation["security"] = [{"token": []}, {}]


def _add_problems(operation: dict[str, Any], path: str) -> None:
    statuses = list(EVERYWHERE)
    if path not in OPEN_PATHS:
        statuses += WITH_A_TOKEN
    if operation.get("parameters"):
        statuses.append(422)
    if "{" in path:
        statuses.append(404)
    if "requestBody" in operation:
        statuses += [408, 413, 415, 422]
    answers = operation["responses"]
    for status in statuses:
        content = {JSON: {"schema": {"$ref": REF.format(model="Problem")}}}
        if str(status) not in answers or status == 422:  # FastAPI has described 422 in its own way
            answers[str(status)] = {"description": STATUSES[status], "content": content}
    operation["responses"] = dict(sorted(answers.items()))
