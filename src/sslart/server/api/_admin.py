"""Endpoints for operators: tokens, backups, audit log, metrics, health and events."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import Header, Path, Query
from pydantic import Field
from starlette.responses import Response, StreamingResponse

from sslart.server.api._endpoint import Actor, After, ContextOf, Most, Scope, answer, endpoint, new_router, of_kind
from sslart.server.api._errors import ApiError
from sslart.server.api._metrics import CONTENT_TYPE
from sslart.server.api._schemas import listing
from sslart.server.models._events import Events, Listener
from sslart.server.models._settings import NAME, Closed

SECONDS_BETWEEN_SIGNS = 15.0
KINDS = ("decision", "drift", "job", "labels", "learnt", "properties", "rejected", "state")

router = new_router("admin")
event_router = new_router("events")
logger = logging.getLogger("sslart.server")


class TokenRequest(Closed):
    """A new token."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    scope: Annotated[str, Field(pattern="^(read|learn|admin)$")] = "read"


class BackupRequest(Closed):
    """A backup of the database, in the folder backups next to it."""

    name: Annotated[str, Field(pattern=NAME)]


class Ready(Closed):
    """Readiness of the service: true once the models have replayed their journals."""

    ready: bool
    writable: bool = Field(description="whether the database can be written")
    models: dict[str, int] = Field(description="number of models in each state")


class TokenEntry(Closed):
    """A token, without its secret."""

    name: str
    scopes: list[Scope]
    created: float = Field(description="seconds since 1970")


class NewToken(Closed):
    """A new token with its secret, which is shown only once."""

    name: str
    scope: Scope
    token: str = Field(description="send it as Authorization: Bearer TOKEN")


class Backup(Closed):
    """A backup of the database."""

    file: str = Field(description="path in the folder of the database")
    bytes: int


class AuditEntry(Closed):
    """Entry of the audit log: actor, action, and time."""

    entry: int
    time: float = Field(description="seconds since 1970")
    actor: str
    action: str
    model: str = Field(description="name of the model; empty if the entry is not about one")
    detail: dict[str, Any]


Live = listing("Live", "Liveness of the service.", live=bool)
Tokens = listing("Tokens", "All tokens.", tokens=list[TokenEntry])
Audit = listing("Audit", "The audit log, the oldest entry first.", audit=list[AuditEntry])


@endpoint(router, "GET /livez", Live, scope=None)
async def live() -> Any:
    """Return a constant: the service is alive."""
    return {"live": True}


@endpoint(router, "GET /readyz", Ready, scope=None, responses={503: {"model": Ready, "description": "Not yet."}})
async def ready(context: ContextOf) -> Any:
    """Return the readiness of the service: journals replayed, and database writable."""
    registry = context.registry
    states = sorted(one.state for one in registry.models())
    found = {
        "ready": registry.is_ready,
        "writable": registry.store.why_not_writable is None,
        "models": {state: states.count(state) for state in states},
    }
    return answer(found, 200 if found["ready"] else 503)


@endpoint(router, "GET /metrics", responses=of_kind("Metrics.", "text/plain", is_text=True))
async def metrics(context: ContextOf) -> Any:
    """Return the metrics in the format of Prometheus."""
    return Response(context.metrics.text(), media_type=CONTENT_TYPE)


@endpoint(router, "GET /v1/tokens", Tokens, scope="admin")
async def list_tokens(context: ContextOf) -> Any:
    """Return all tokens, without their secrets."""
    known = context.access.known()
    return {"tokens": [{"name": one.name, "scopes": sorted(one.scopes), "created": one.created} for one in known]}


@endpoint(router, "POST /v1/tokens", NewToken, scope="admin", status=201, errors=(409,))
async def add_token(context: ContextOf, actor: Actor, body: TokenRequest) -> Any:
    """Add a token. Its secret is shown only once. As soon as a token exists, every request needs one.

    The first token must have the scope admin, since otherwise nobody could add another.
    """
    known = context.access.known()
    if not known and body.scope != "admin":
        raise ApiError(409, "Once a token exists, every request needs one: give the first one the scope admin.")
    if body.name in {one.name for one in known}:
        raise ApiError(409, f"There is already a token named {body.name!r}: revoke it first, or give another name.")
    secret = await context.threads.run(context.access.add, body.name, body.scope)
    await context.registry.note_in_audit(actor, "add token", "", {"name": body.name, "scope": body.scope})
    return {"name": body.name, "scope": body.scope, "token": secret}


@endpoint(router, "DELETE /v1/tokens/{name}", scope="admin", status=204)
async def revoke_token(
    context: ContextOf,
    actor: Actor,
    name: Annotated[str, Path(min_length=1, max_length=100, description="the name of the token")],
) -> None:
    """Revoke a token: it is refused from now on."""
    if name not in {one.name for one in context.access.known()}:
        raise ApiError(404, f"There is no token named {name!r}.")
    await context.threads.run(context.access.revoke, name)
    await context.registry.note_in_audit(actor, "revoke token", "", {"name": name})


@endpoint(router, "POST /v1/backup", Backup, scope="admin", status=201, errors=(409, 507))
async def backup(context: ContextOf, actor: Actor, body: BackupRequest) -> Any:
    """Write a backup of the database into the folder backups next to it, while requests continue."""
    store = context.registry.store
    target = store.folder / "backups" / f"{body.name}.db"
    if target.exists():
        raise ApiError(409, f"There is already a backup {target.name}: give another name.")

    def work() -> int:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        store.backup(target)
        return target.stat().st_size

    try:
        n_bytes = await context.long_threads.run(work)
    except OSError as error:
        logger.exception("no backup")
        raise ApiError(507, "The backup could not be written: see the log of the service.") from error
    await context.registry.note_in_audit(actor, "backup", "", {"name": target.name})
    return {"file": f"backups/{target.name}", "bytes": n_bytes}


@endpoint(router, "GET /v1/audit", Audit, scope="admin")
def audit(context: ContextOf, after: After = 0, most: Most = 100) -> Any:
    """Return the audit log, the oldest entry first; labels are at /v1/models/NAME/labels."""
    rows = context.reader.execute(
        "SELECT id, time, actor, action, model, detail FROM audit WHERE id > ? ORDER BY id LIMIT ?", (after, most)
    )
    names = ("entry", "time", "actor", "action", "model")
    return {"audit": [{**dict(zip(names, row[:-1], strict=True)), "detail": json.loads(row[-1])} for row in rows]}


@endpoint(event_router, "GET /v1/events", responses=of_kind("Events.", "text/event-stream", is_text=True))
async def events(
    context: ContextOf,
    model: Annotated[str | None, Query(max_length=100, description="events of this model only")] = None,
    kind: Annotated[
        list[str], Query(max_length=10, description=f"kinds of events: {', '.join(KINDS)}; default: all")
    ] = [],  # noqa: B006
    last_event_id: Annotated[int | None, Header(ge=0, lt=2**63, description="the last event received")] = None,
) -> Any:
    """Stream events. A client that sends Last-Event-ID receives the events it missed, except decisions."""
    other = [one for one in kind if one not in KINDS]
    if other:
        raise ValueError(f"Unknown kind of event {other[0]!r}: choose from {', '.join(KINDS)}.")
    source = context.registry.events
    listener = source.listen(asyncio.get_running_loop(), frozenset(kind), model, last_event_id)
    if listener is None:
        raise ApiError(429, "Too many clients are listening to events.", {"retry-after": "30"})
    return StreamingResponse(_stream(source, listener), media_type="text/event-stream")


async def _stream(source: Events, listener: Listener) -> AsyncIterator[bytes]:
    try:
        yield f"id: {listener.after}\n: listening\n\n".encode()  # for a reconnection before the first event
        async for event in listener.events(SECONDS_BETWEEN_SIGNS):
            if event is None:
                yield b": still there\n\n"
                continue
            data = json.dumps({"model": event.model, **event.data})
            yield f"id: {event.number}\nevent: {event.kind}\ndata: {data}\n\n".encode()
    finally:
        source.leave(listener)
