"""Lazy values, computed on first use; safe with several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


def changed(one: Made, **changes: Any) -> Made:
    """Return a dataclass with some fields replaced and caches dropped: quicker than `replace`.

    All fields must be arguments of its constructor, which does nothing else.
    """
    known, other = vars(one), object.__new__(type(one))
    fields = type(one).__dataclass_fields__  # type: ignore[attr-defined]
    vars(other).update({name: known[name] for name in fields}, **changes)
    return other


class CachesValues:
    """An immutable object with cached values (such as a `cached_property`) that is safe to copy concurrently.

    The state to copy or pickle is a dict of its own: nothing that another thread makes meanwhile is added to it.
    """

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))


class Deferred(Generic[Made]):
    """A value that is made once, as late as possible, of things that do not change meanwhile.

    Parameters
    ----------
    make : callable
    """

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
