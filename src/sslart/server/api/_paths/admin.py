"""Endpoints for operators: tokens, backups, the audit log, metrics, and health."""

from __future__ import annotations

import json
import logging
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from sslart.server.api._access import actor
from sslart.server.api._context import ContextOf
from sslart.server.api._errors import ApiError
from sslart.server.api._json import answer, body_of
from sslart.server.api._metrics import CONTENT_TYPE
from sslart.server.api._openapi import problems
from sslart.server.api._schemas.requests import BackupRequest, TokenRequest
from sslart.server.api._schemas.service import Audit, Backup, Live, NewToken, Ready, Tokens

router = APIRouter(tags=["admin"])
logger = logging.getLogger("sslart.server")


@router.get("/livez", response_model=Live)
async def live() -> Response:
    """Return a constant: the service answers."""
    return answer({"live": True})


@router.get("/readyz", response_model=Ready, responses={503: {"model": Ready, "description": "Not yet."}})
async def ready(context: ContextOf) -> Response:
    """Return the readiness of the service: journals replayed, and store writable."""
    hub = context.hub
    states = {one.name: one.state for one in hub.models()}
    why_not = hub.store.why_not_writable
    is_ready = hub.is_ready
    return answer(
        {
            "ready": is_ready,
            "writable": why_not is None,
            "models": {state: list(states.values()).count(state) for state in sorted(set(states.values()))},
        },
        200 if is_ready else 503,
    )


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"description": "Metrics.", "content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(context: ContextOf, _: Annotated[str, actor("read")]) -> Response:
    """Return the metrics in the format of Prometheus."""
    return Response(context.metrics.text(), media_type=CONTENT_TYPE)


@router.get("/v1/tokens", response_model=Tokens)
async def list_tokens(context: ContextOf, _: Annotated[str, actor("admin")]) -> Response:
    """Return all tokens, without their secrets."""
    found = [{"name": one.name, "scopes": sorted(one.scopes), "created": one.created} for one in context.access.known()]
    return answer({"tokens": found})


@router.post("/v1/tokens", status_code=201, response_model=NewToken, responses=problems(409))
async def add_token(
    context: ContextOf, who: Annotated[str, actor("admin")], body: Annotated[TokenRequest, body_of(TokenRequest)]
) -> Response:
    """Add a token. Its secret is shown here and nowhere else; once there is one, every request needs one.

    The first one needs the scope admin: without such a token, nobody could add another.
    """
    known = context.access.known()
    if not known and body.scope != "admin":
        raise ApiError(409, "From the first token on, every request needs one: let the first have the scope admin.")
    if body.name in {one.name for one in known}:
        raise ApiError(409, f"There is a token named {body.name!r}: revoke it first, or give another name.")
    secret = await context.threads.run(context.access.add, body.name, body.scope)
    await context.hub.note_in_audit(who, "add token", "", {"name": body.name, "scope": body.scope})
    return answer({"name": body.name, "scope": body.scope, "token": secret}, 201)


@router.delete("/v1/tokens/{name}", status_code=204)
async def revoke_token(
    context: ContextOf,
    who: Annotated[str, actor("admin")],
    name: Annotated[str, Path(min_length=1, max_length=100, description="the name of the token")],
) -> Response:
    """Revoke a token: it is refused from now on."""
    if name not in {one.name for one in context.access.known()}:
        raise ApiError(404, f"There is no token named {name!r}.")
    await context.threads.run(context.access.revoke, name)
    await context.hub.note_in_audit(who, "revoke token", "", {"name": name})
    return Response(status_code=204)


@router.post("/v1/backup", status_code=201, response_model=Backup, responses=problems(409, 507))
async def backup(
    context: ContextOf, who: Annotated[str, actor("admin")], body: Annotated[BackupRequest, body_of(BackupRequest)]
) -> Response:
    """Write a copy of the store into the folder backups next to it, while requests continue."""
    store = context.hub.store
    target = store.folder / "backups" / f"{body.name}.db"
    if target.exists():
        raise ApiError(409, f"There is a backup {target.name}: give another name.")

    def work() -> int:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        store.backup(target)
        return target.stat().st_size

    try:
        n_bytes = await context.long_threads.run(work)
    except OSError as error:
        logger.exception("no backup")
        raise ApiError(507, "No backup could be written: the log of the service has the reason.") from error
    await context.hub.note_in_audit(who, "backup", "", {"name": target.name})
    return answer({"file": f"backups/{target.name}", "bytes": n_bytes}, 201)


@router.get("/v1/audit", response_model=Audit)
async def audit(
    context: ContextOf,
    _: Annotated[str, actor("admin")],
    after: Annotated[int, Query(ge=0, lt=2**63, description="the last entry that is known")] = 0,
    most: Annotated[int, Query(ge=1, le=10_000, description="how many entries at most")] = 100,
) -> Response:
    """Return the audit log, the oldest entry first; labels are at /v1/models/NAME/labels."""

    def work() -> list[dict[str, object]]:
        rows = context.hub.store.reader().execute(
            "SELECT id, time, actor, action, model, detail FROM audit WHERE id > ? ORDER BY id LIMIT ?", (after, most)
        )
        names = ("entry", "time", "actor", "action", "model")
        return [{**dict(zip(names, row[:-1], strict=True)), "detail": json.loads(row[-1])} for row in rows]

    return answer({"audit": await context.threads.run(work)})
