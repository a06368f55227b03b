"""Lazy and cached values, thread-safe."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

MAX_OF_A_KIND = 4  # newest entries kept per kind, since a stream makes ever more versions

Made = TypeVar("Made")
_NOTHING: Any = object()


def changed(one: Made, **changes: Any) -> Made:
    """Return a dataclass with some fields replaced and without caches: a faster `dataclasses.replace`.

    All fields must be arguments of its constructor, which must do nothing else.
    """
    known, fields = vars(one), type(one).__dataclass_fields__  # type: ignore[attr-defined]
    other = object.__new__(type(one))
    vars(other).update(known if len(known) == len(fields) else {name: known[name] for name in fields}, **changes)
    return other


class CachesValues:
    """Mixin for immutable objects with cached values (such as `cached_property`) that are safe to copy concurrently.

    The state to copy or pickle is a snapshot, which caches filled by other threads cannot change. A cached value that
    is the object itself is omitted, since skops files cannot have cycles.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in list(vars(self).items()) if value is not self}


class Deferred(Generic[Made]):
    """A lazily computed value; its inputs must not change."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._lock = threading.RLock()
        self._make: Callable[[], Made] | None = make

    def get(self) -> Made:
        """Return the value; compute it on first use."""
        with self._lock:
            if self._make is not None:
                self._made, self._make = self._make(), None
            return self._made

    def __getstate__(self) -> dict[str, Any]:
        return {"_made": self.get()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._lock, self._make, self._made = threading.RLock(), None, state["_made"]


class Cache:
    """A thread-safe cache by key, which keeps the most recent few entries of each kind of key.

    The kind of a key is its first element or, if it is not a tuple, its class.
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}

    def __reduce__(self) -> tuple[type[Cache], tuple[()]]:
        return Cache, ()  # copies start with an empty cache

    def __len__(self) -> int:
        return len(self._made)

    def get_or_compute(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the cached value of a key; compute it if missing."""
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
