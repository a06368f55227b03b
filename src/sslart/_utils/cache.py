"""Lazy and cached values, safe with several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

MAX_OF_A_KIND = 4  # such as those of the newest readouts, of which a stream makes ever more

Made = TypeVar("Made")
_NOTHING: Any = object()


def changed(one: Made, **changes: Any) -> Made:
    """Return a dataclass with some fields replaced and caches dropped: quicker than `replace`.

    All fields must be arguments of its constructor, which does nothing else.
    """
    known, fields = vars(one), type(one).__dataclass_fields__  # type: ignore[attr-defined]
    other = object.__new__(type(one))
    vars(other).update(known if len(known) == len(fields) else {name: known[name] for name in fields}, **changes)
    return other


class CachesValues:
    """An immutable object with cached values (such as a `cached_property`) that is safe to copy concurrently.

    The state to copy or pickle is a dict of its own: nothing that another thread makes meanwhile is added to it. A
    cached value that is the object itself is left out, since files of skops hold no cycles.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in list(vars(self).items()) if value is not self}


class Deferred(Generic[Made]):
    """A value that is made once, as late as possible, of things that do not change meanwhile."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._lock = threading.RLock()
        self._make: Callable[[], Made] | None = make

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


class Cache:
    """A thread-safe cache by key; of each kind of key only the most recent few entries stay.

    The kind of a key is its first part or, where it has no parts, its class.
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}

    def __reduce__(self) -> tuple[type[Cache], tuple[()]]:
        return Cache, ()  # a copy makes its own

    def __len__(self) -> int:
        return len(self._made)

    def get_or_compute(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the value of a key, which is made where it is not there."""
        found: Made = self._made.get(key, _NOTHING)
        if found is _NOTHING:
            found = make()
            alike = [one for one in list(self._made) if _kind(one) == _kind(key)]
            for one in alike[: max(len(alike) + 1 - MAX_OF_A_KIND, 0)]:
                self._made.pop(one, None)
            self._made[key] = found
        return found


def _kind(key: Hashable) -> Hashable:
    return key[0] if isinstance(key, tuple) else type(key)
