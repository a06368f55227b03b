"""Events as they happen, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.responses import Response, StreamingResponse

from sslart.server.api._access import actor
from sslart.server.api._context import ContextOf
from sslart.server.api._errors import ApiError
from sslart.server.models._events import Events, Listener

SECONDS_BETWEEN_SIGNS = 15.0
KINDS = ("decision", "drift", "job", "labels", "learnt", "properties", "rejected", "state")

router = APIRouter(tags=["events"])


@router.get(
    "/v1/events",
    response_class=Response,
    responses={200: {"description": "Events.", "content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: Annotated[str | None, Query(max_length=100, description="of one model only")] = None,
    kind: Annotated[list[str], Query(max_length=10, description=f"of {', '.join(KINDS)}; all if not given")] = [],  # noqa: B006
    last_event_id: Annotated[int | None, Header(ge=0, lt=2**63, description="the last event that is known")] = None,
) -> Response:
    """Stream events. A client that sends Last-Event-ID receives the events it missed, except decisions."""
    other = [one for one in kind if one not in KINDS]
    if other:
        raise ValueError(f"There are no events {other[0]!r}; there are {', '.join(KINDS)}.")
    listener = context.hub.events.listen(asyncio.get_running_loop(), frozenset(kind), model, last_event_id)
    if listener is None:
        raise ApiError(429, "Too many listen to events already.", {"retry-after": "30"})
    return StreamingResponse(_stream(context.hub.events, listener), media_type="text/event-stream")


async def _stream(events: Events, listener: Listener) -> AsyncIterator[bytes]:
    try:
        yield f"id: {listener.after}\n: listening\n\n".encode()  # who is cut off before an event comes back with it
        async for event in listener.events(SECONDS_BETWEEN_SIGNS):
            if event is None:
                yield b": still there\n\n"
                continue
            data = json.dumps({"model": event.model, **event.data})
            yield f"id: {event.number}\nevent: {event.kind}\ndata: {data}\n\n".encode()
    finally:
        events.leave(listener)
