"""Conversion of values to JSON; arrays are moved to a list and replaced by their index.

What JSON has no notation for is an object with one key that starts with ``$``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._utils.validation import saved_array, saved_whole

DTYPES = ("<f8", "<i8", "|u1", "<u2", "<u4")
MAX_DEPTH = 64  # of lists in lists

_FLOATS = {repr(value): value for value in (math.nan, math.inf, -math.inf)}


def to_plain(value: Any, arrays: list[NDArray[Any]], depth: int = 0) -> Any:
    """Return a value as JSON can hold it; arrays go to the list and leave their number."""
    if depth > MAX_DEPTH:
        raise ValueError(f"sslart.save cannot write a value that is nested more than {MAX_DEPTH} levels deep.")

    def inner(one: Any) -> Any:
        return to_plain(one, arrays, depth + 1)

    if isinstance(value, dict):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: inner(one) for key, one in value.items()}
        return {"$dict": [[inner(key), inner(one)] for key, one in value.items()]}
    if isinstance(value, list):
        return [inner(one) for one in value]
    if isinstance(value, tuple):
        return {"$tuple": [inner(one) for one in value]}
    if isinstance(value, np.random.RandomState):
        return {"$random_state": inner(value.get_state(legacy=False))}
    if hasattr(value, "__array__"):
        return _array_to_plain(np.asarray(value), arrays)
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": repr(value)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"sslart.save cannot write a {type(value).__name__}: {value!r}.")


def _array_to_plain(array: NDArray[Any], arrays: list[NDArray[Any]]) -> Any:
    if array.ndim == 0:
        return to_plain(array.item(), arrays)
    stored = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if stored.dtype.str not in DTYPES:
        stored = np.ascontiguousarray(array, dtype="<f8")
    arrays.append(stored)
    return {"$array": len(arrays) - 1}


class PlainReader:
    """Reader of the output of `to_plain`; each array is read exactly once.

    Parameters
    ----------
    arrays : list of arrays
    """

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self._left = dict(enumerate(arrays))

    def read(self, value: Any, depth: int = 0) -> Any:
        """Return the value that `to_plain` converted, or raise a ValueError."""
        if depth > MAX_DEPTH:
            raise ValueError(f"it has a value that is nested more than {MAX_DEPTH} levels deep")
        if isinstance(value, list):
            return [self.read(one, depth + 1) for one in value]
        if not isinstance(value, dict):
            return value
        if not any(key.startswith("$") for key in value):
            return {key: self.read(one, depth + 1) for key, one in value.items()}
        match value:
            case {"$tuple": list(ones)} if len(value) == 1:
                return tuple(self.read(ones, depth + 1))
            case {"$dict": list(pairs)} if len(value) == 1:
                return self._dict(self.read(pairs, depth + 1))
            case {"$array": int(number)} if len(value) == 1 and type(number) is int and number in self._left:
                return self._left.pop(number)
            case {"$float": str(text)} if len(value) == 1 and text in _FLOATS:
                return _FLOATS[text]
            case {"$random_state": dict(state)} if len(value) == 1:
                return _random_state(self.read(state, depth + 1))
        raise ValueError(f"it has a value that cannot be read: {value!r:.60}")

    @staticmethod
    def _dict(pairs: list[Any]) -> dict[Any, Any]:
        read = dict(pairs)
        if len(read) < len(pairs):
            raise ValueError("it has a dict with a key that comes twice")
        return read

    def check_all_read(self) -> None:
        """Raise a ValueError where an array was not read."""
        if self._left:
            raise ValueError("it has an array that belongs to nothing")


def _random_state(state: dict[str, Any]) -> np.random.RandomState:
    inner = {f"{name} of the random state": value for name, value in state["state"].items()}
    saved_array(inner, "key of the random state", np.uint32, 624)
    saved_whole(inner, "pos of the random state", 0, 624)  # numpy takes any position and reads beyond the key
    saved_whole(state, "has_gauss", 0, 1)
    random_state = np.random.RandomState()
    random_state.set_state(state)
    return random_state
