"""Events for subscribers: decisions, drift, progress of jobs, and states of models."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

MAX_KEPT = 1000  # past events kept for clients that reconnect
MAX_WAITING = 1000  # events per listener; a slower listener loses events and gets a "lost" event
MAX_LISTENERS = 100


class Event(NamedTuple):
    """One event: its number, kind, model, and data."""

    number: int
    kind: str
    model: str
    data: dict[str, Any]


class Listener:
    """A subscriber on an event loop, for the events after a number."""

    def __init__(self, loop: asyncio.AbstractEventLoop, kinds: frozenset[str], model: str | None, after: int) -> None:
        self._loop, self._kinds, self._model, self.after = loop, kinds, model, after
        self._waiting: asyncio.Queue[Event | None] = asyncio.Queue(MAX_WAITING)
        self._n_lost, self._is_over = 0, False

    def wants(self, event: Event) -> bool:
        """Return True if an event has a wanted kind and model."""
        return (not self._kinds or event.kind in self._kinds) and self._model in (None, event.model)

    def offer(self, event: Event) -> None:
        """Pass an event on, from any thread."""
        if self.wants(event):
            self._loop.call_soon_threadsafe(self._put, event)

    def end(self) -> None:
        """End the stream of events, from any thread."""
        self._is_over = True
        self._loop.call_soon_threadsafe(self._put, None)

    def _put(self, event: Event | None) -> None:
        try:
            self._waiting.put_nowait(event)
        except asyncio.QueueFull:
            self._n_lost += event is not None

    async def events(self, seconds: float) -> AsyncIterator[Event | None]:
        """Yield events until the end; yield None after `seconds` without one."""
        while not self._is_over:
            try:
                event = await asyncio.wait_for(self._waiting.get(), seconds)
            except TimeoutError:
                event = None
            if event is None:
                yield None
                continue
            if self._n_lost:
                n_lost, self._n_lost = self._n_lost, 0
                yield Event(event.number, "lost", "", {"events": n_lost})
            yield event


class Events:
    """All events of a service."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = int(time.time() * 1000)  # numbers keep increasing after a restart
        self._kept: deque[Event] = deque(maxlen=MAX_KEPT)
        self._listeners: set[Listener] = set()

    @property
    def n_listeners(self) -> int:
        """Number of subscribers."""
        return len(self._listeners)

    def publish(self, kind: str, model: str, data: dict[str, Any], *, keep: bool = True) -> None:
        """Publish an event to all subscribers; without subscribers, an event that is not kept costs nothing."""
        if not keep and not self._listeners:
            return
        with self._lock:
            self._last += 1
            event = Event(self._last, kind, model, data)
            if keep:
                self._kept.append(event)
            listeners = list(self._listeners)
        for one in listeners:
            one.offer(event)

    def listen(
        self, loop: asyncio.AbstractEventLoop, kinds: frozenset[str], model: str | None, after: int | None
    ) -> Listener | None:
        """Return a new subscriber that first receives the kept events after a number; None if there are too many."""
        with self._lock:
            if len(self._listeners) >= MAX_LISTENERS:
                return None
            listener = Listener(loop, kinds, model, self._last if after is None else after)
            for event in self._kept:
                if event.number > listener.after:
                    listener.offer(event)
            self._listeners.add(listener)
        return listener

    def end(self) -> None:
        """End all streams when the service stops."""
        with self._lock:
            listeners = list(self._listeners)
        for one in listeners:
            one.end()

    def leave(self, listener: Listener) -> None:
        """Forget a listener."""
        with self._lock:
            self._listeners.discard(listener)
