"""What is made when it is first read, or just before that which it is made of changes."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


class Deferred(Generic[Made]):
    """A value that is made once, as late as possible.

    Parameters
    ----------
    make : callable
    sources : iterable of Changing
        What the value is made of: before one of them changes, the value is made.
    """

    def __init__(self, make: Callable[[], Made], sources: Iterable[Changing]) -> None:
        self._lock = threading.RLock()
        self._make: Callable[[], Made] | None = make
        for source in sources:
            source.make_before_change(self)

    def get(self) -> Made:
        """Return the value, made now if it was not made before."""
        with self._lock:
            if self._make is not None:
                self._made, self._make = self._make(), None
            return self._made

    def __getstate__(self) -> dict[str, Any]:
        return {"_made": self.get()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._lock, self._make, self._made = threading.RLock(), None, state["_made"]


class Changing:
    """Something that changes in place, such as a network that learns."""

    _waiting: weakref.WeakSet[Deferred[Any]] | None = None

    def make_before_change(self, value: Deferred[Any]) -> None:
        """Have a value made before the next change, unless it is made or forgotten until then."""
        if self._waiting is None:
            self._waiting = weakref.WeakSet()
        self._waiting.add(value)

    def about_to_change(self) -> None:
        """Make all values that are made of what this is now."""
        if self._waiting is not None:
            for value in list(self._waiting):
                value.get()
            self._waiting = None
