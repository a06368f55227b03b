"""The application: all routes wrapped in the middleware, and their description at /openapi.json."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from sslart import __version__
from sslart.server.api import _admin, _inference, _models, _predicting, _samples, _studies
from sslart.server.api._endpoint import JSON, Context, body_of, scope_of
from sslart.server.api._errors import STATUSES, add_handlers
from sslart.server.api._inference import InferRequest
from sslart.server.api._metrics import Metrics
from sslart.server.api._middleware import OPEN_PATHS, Access, Middleware
from sslart.server.api._schemas import Problem
from sslart.server.models._registry import Registry

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
# paths are compared in this order for every request: what is asked most comes first
ROUTERS = (
    *(_predicting.router, _inference.router, _models.learning, _models.router, _predicting.explaining),
    *(_samples.router, _samples.labelling, _studies.router, _models.job_router, _admin.event_router, _admin.router),
)
REF = "#/components/schemas/{model}"
TITLE = "sslart"
DESCRIPTION = """Models learn while they predict, explain their predictions, and lose nothing that was acknowledged.

On the machine where the service runs, no token is needed until one is made; beyond it, every request needs one."""
TOKEN = {"type": "http", "scheme": "bearer", "description": "a token that `sslart serve DIR --add-token NAME` printed"}
EVERYWHERE = (400, 403, 421)
WITH_A_TOKEN = (401, 429, 503)


def create_app(
    registry: Registry,
    *,
    hosts: Iterable[str] = LOOPBACK,
    needs_token: bool = False,
    log_all: bool = False,
    pages: Callable[[Access], Any] | None = None,
) -> Any:
    """Return the service as an ASGI application. It starts the registry when it is started, and stops it at the end.

    Parameters
    ----------
    registry : Registry
    hosts : iterable of str
        The names by which the service may be called.
    needs_token : bool, default=False
        Whether a token is needed also where the store has none.
    log_all : bool, default=False
        Whether every request is logged.
    pages : callable, default=None
        Returns an ASGI application with pages for browsers, which answers below /studio/ without a token.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        context.remove_old_uploads()
        registry.start()
        try:
            yield
        finally:
            context.threads.close()
            context.long_threads.close()
            registry.stop()

    app = FastAPI(
        title=TITLE,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    metrics, access = Metrics(registry), Access(registry.store, needs_token=needs_token)
    context = app.state.context = Context(registry, metrics, access)
    for router in ROUTERS:
        app.include_router(router)
    add_handlers(app, ROUTERS)
    app.openapi = cache(lambda: described(app, ROUTERS))  # type: ignore[method-assign]
    served = None if pages is None else pages(access)
    names = (one.lower() for one in hosts)
    return Middleware(app, access, metrics, registry.limits, names, log_all=log_all, pages=served)


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
    found = body_of(route)
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
