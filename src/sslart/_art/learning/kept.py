"""A bounded, thread-safe cache of derived values."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

MAX_OF_A_KIND = 4  # such as those of the newest readouts, of which a stream makes ever more

Made = TypeVar("Made")

_NOTHING: Any = object()


class Kept:
    """A thread-safe cache by key; of each kind of key only the most recent few entries stay.

    The kind of a key is its first part or, where it has no parts, its class.
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}

    def __reduce__(self) -> tuple[type[Kept], tuple[()]]:
        return Kept, ()  # a copy makes its own

    def __len__(self) -> int:
        return len(self._made)

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
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
