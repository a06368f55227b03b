"""Events come as they happen, and those that were missed come later."""

from __future__ import annotations

import asyncio
import queue
import threading
from pathlib import Path

import pytest
from service import flowers, rows_of
from wire import Wire

from sslart.client import AsyncClient, Client, Event, EventStream, WrongRequestError
from sslart.server import serve

ROWS = rows_of(flowers())


def heard(events: EventStream, **data: object) -> Event:
    """Return the next event with these data; it must come within a minute."""
    found: queue.Queue[Event] = queue.Queue()

    def listen() -> None:
        found.put(next(event for event in events if data.items() <= event.data.items()))

    threading.Thread(target=listen, daemon=True).start()
    return found.get(timeout=60)


def test_decisions_are_heard_from_the_call_on(tmp_path: Path) -> None:
    with serve(tmp_path) as service, Client(service.url) as client:
        client.fit("flowers", flowers(), label="species")
        with client.events("flowers", ["decision"]) as events:
            decided = client.decide("flowers", ROWS[:2])
            first = heard(events)
            second = heard(events)
        assert [(one.kind, one.model, one.data["row"], one.data["class"]) for one in (first, second)] == [
            ("decision", "flowers", row, class_) for row, class_ in zip(decided.rows, decided.classes, strict=True)
        ]
        assert first.id < second.id


def test_what_was_missed_while_the_connection_was_lost_comes_first(tmp_path: Path) -> None:
    with (
        serve(tmp_path) as service,
        Wire(service.url) as wire,
        Client(service.url) as client,
        Client(wire.url) as listener,
    ):
        client.fit("flowers", flowers(), label="species")
        with listener.events(kinds=["job"], after=0) as events:
            first = heard(events, state="done")
            wire.is_cut = True
            wire.cut()
            job = client.refit("flowers")
            wire.is_cut = False
            second = heard(events, state="done")
        assert (first.data["sequence"], second.data["sequence"]) == (job.sequence - 1, job.sequence)
        assert wire.n_connections > 1


def test_listening_goes_on_after_the_service_was_started_again(tmp_path: Path) -> None:
    service = serve(tmp_path)
    with Client(service.url) as client:
        client.create("flowers")
        with client.events(kinds=["state"]) as events:
            service.stop()
            with serve(tmp_path, port=int(service.url.rpartition(":")[2])):
                assert client.ready(wait=30)
                client.delete("flowers")
                assert heard(events, state="deleted").model == "flowers"


def test_events_of_a_kind_that_is_none_are_refused(tmp_path: Path) -> None:
    refused = pytest.raises(WrongRequestError, match="Unknown kind of event 'noise'")
    with serve(tmp_path) as service, Client(service.url) as client, refused:
        client.events(kinds=["noise"])


@pytest.mark.slow
def test_events_can_be_awaited(tmp_path: Path) -> None:
    async def first(url: str) -> Event:
        async with AsyncClient(url) as client:
            await client.fit("flowers", flowers(), label="species")
            async with client.events(kinds=["decision"]) as events:
                await client.decide("flowers", ROWS[:1])
                async for event in events:
                    return event
        raise AssertionError("no event")

    with serve(tmp_path) as service:
        event = asyncio.run(asyncio.wait_for(first(service.url), 60))
    assert (event.kind, event.data["class"]) == ("decision", "setosa")


@pytest.mark.slow
def test_those_who_await_are_connected_again(tmp_path: Path) -> None:
    async def scene(url: str, wire: Wire) -> None:
        async with AsyncClient(url) as client, AsyncClient(wire.url) as listener, listener.events() as events:
            for name in ("first", "second"):
                await client.create(name)
                while (await anext(events)).model != name:
                    pass
                wire.cut()

    with serve(tmp_path) as service, Wire(service.url) as wire:
        asyncio.run(asyncio.wait_for(scene(service.url, wire), 60))
        assert wire.n_connections > 1
