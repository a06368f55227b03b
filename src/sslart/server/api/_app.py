"""The application: all routes, wrapped in the middleware."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from fastapi import FastAPI

from sslart.server.api._access import Access
from sslart.server.api._context import Context
from sslart.server.api._errors import add_handlers
from sslart.server.api._gate import Gate
from sslart.server.api._metrics import Metrics
from sslart.server.api._openapi import TITLE, described
from sslart.server.api._paths import (
    admin,
    events,
    examples,
    explaining,
    exporting,
    inference,
    jobs,
    labelling,
    learning,
    models,
    predicting,
    samples,
    studies,
)
from sslart.server.models._registry import Registry

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
# paths are compared in this order for every request: what is asked most comes first
PATHS = (
    *(predicting, inference, learning, models, explaining, samples, labelling, studies, exporting, examples),
    *(jobs, events, admin),
)
ROUTERS = tuple(one.router for one in PATHS)


def create_app(
    hub: Registry,
    *,
    hosts: Iterable[str] = LOOPBACK,
    needs_token: bool = False,
    log_all: bool = False,
    pages: Callable[[Access], Any] | None = None,
) -> Any:
    """Return the service as an ASGI application. It starts the hub when it is started, and stops it at the end.

    Parameters
    ----------
    hub : Registry
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
        hub.start()
        try:
            yield
        finally:
            context.threads.close()
            context.long_threads.close()
            hub.stop()

    app = FastAPI(
        title=TITLE,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    metrics, access = Metrics(hub), Access(hub.store, needs_token=needs_token)
    context = app.state.context = Context(hub, metrics, access)
    for router in ROUTERS:
        app.include_router(router)
    add_handlers(app, ROUTERS)
    app.openapi = cache(lambda: described(app, ROUTERS))  # type: ignore[method-assign]
    served = None if pages is None else pages(access)
    names = (one.lower() for one in hosts)
    return Gate(app, access, metrics, hub.limits, names, log_all=log_all, pages=served)
