"""The ASGI application: all routes, the middleware, and the OpenAPI description."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from sslart.server.api import _admin, _inference, _models, _predicting, _samples, _studies
from sslart.server.api._endpoint import BODIES, REF, Context
from sslart.server.api._errors import add_handlers
from sslart.server.api._inference import InferRequest
from sslart.server.api._metrics import Metrics
from sslart.server.api._middleware import Access, Middleware
from sslart.server.models._registry import Registry

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
# routes are matched in this order: the most frequent come first
_ROUTERS = (
    *(_predicting.router, _inference.router, _models.learning, _models.router, _predicting.explaining),
    *(_samples.router, _samples.labelling, _studies.router, _models.job_router, _admin.event_router, _admin.router),
)
# not by include_router, which builds every route anew for each application: half a second
ROUTES = [route for router in _ROUTERS for route in router.routes]
TITLE = "sslart"
DESCRIPTION = """Models that learn while they predict, explain their predictions, and write durably.

On the machine of the service, no token is needed until one is created; from others, every request needs one."""
TOKEN = {"type": "http", "scheme": "bearer", "description": "a token that `sslart serve DIR --add-token NAME` printed"}


def create_app(
    registry: Registry,
    *,
    hosts: Iterable[str] = LOOPBACK,
    needs_token: bool = False,
    log_all: bool = False,
    pages: Callable[[Access], Any] | None = None,
) -> Any:
    """Return the service as an ASGI application, which starts and stops the registry.

    The options are those of `sslart.server.serve`.
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
        routes=ROUTES,
    )
    metrics, access = Metrics(registry), Access(registry.store, needs_token=needs_token)
    context = app.state.context = Context(registry, metrics, access)
    add_handlers(app)
    app.openapi = described  # type: ignore[method-assign]
    served = None if pages is None else pages(access)
    names = frozenset(one.lower() for one in hosts)
    return Middleware(app, access, metrics, registry.limits, names, log_all, served)


@cache
def described() -> dict[str, Any]:
    """Return the OpenAPI description of all paths."""
    found = get_openapi(title=TITLE, version=version("sslart"), description=DESCRIPTION, routes=ROUTES)
    found["components"]["securitySchemes"] = {"token": TOKEN}
    models: list[type[BaseModel]] = [InferRequest, *BODIES.values()]
    for model in models:
        schema = model.model_json_schema(ref_template=REF)
        found["components"]["schemas"] |= {**schema.pop("$defs", {}), model.__name__: schema}
    return found
