"""The application: all paths, behind the gate."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from sslart.server.api import _admin, _events, _explaining, _inference, _jobs, _learning, _models, _predicting
from sslart.server.api._access import Access
from sslart.server.api._context import Context
from sslart.server.api._errors import add_handlers
from sslart.server.api._gate import Gate
from sslart.server.api._json import add_openapi
from sslart.server.api._metrics import Metrics
from sslart.server.api._schemas import Problem
from sslart.server.models._hub import Hub

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
DESCRIPTION = "Models that learn while they predict, explain their predictions, and lose nothing that was acknowledged."
_STATUSES = {
    400: "The request cannot be read.",
    401: "A token is needed.",
    403: "The token does not allow it, or the request comes from another site.",
    404: "There is no such model, row or job.",
    408: "The request came too slowly.",
    409: "It does not go with what is there.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The service is not called so.",
    422: "The request is not as described.",
    429: "Too much waits: try again after the seconds in Retry-After.",
    501: "A package that this needs is not installed.",
    503: "It cannot be done now: the model or the store says why.",
    507: "The disk is full.",
}


def create_app(hub: Hub, *, hosts: Iterable[str] = LOOPBACK, needs_token: bool = False, log_all: bool = False) -> Any:
    """Return the service as an ASGI application. It starts the hub when it is started, and stops it at the end.

    Parameters
    ----------
    hub : Hub
    hosts : iterable of str
        The names by which the service may be called.
    needs_token : bool, default=False
        Whether a token is needed also where the store has none.
    log_all : bool, default=False
        Whether every request is logged.
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

    problems: dict[int | str, dict[str, Any]] = {
        status: {"description": words, "model": Problem} for status, words in _STATUSES.items()
    }
    app = FastAPI(
        title="sslart",
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        responses=problems,
    )
    metrics, access = Metrics(hub), Access(hub.store, needs_token=needs_token)
    context = app.state.context = Context(hub, metrics, access)
    # paths are compared in this order for every request: what is asked most comes first
    for part in (_predicting, _inference, _learning, _models, _explaining, _jobs, _events, _admin):
        app.include_router(part.router)
    add_handlers(app)
    add_openapi(app)
    return Gate(app, access, metrics, hub.limits, (one.lower() for one in hosts), log_all=log_all)
