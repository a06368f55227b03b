"""Values as JSON can hold them: arrays go to a list of their own and leave their number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

DTYPES = ("<f8", "<i8", "|u1", "<u4")


def to_plain(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return a value as JSON can hold it; arrays go to the list and leave their number."""
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: to_plain(one, arrays) for key, one in value.items()}
        return {"$dict": [[to_plain(key, arrays), to_plain(one, arrays)] for key, one in value.items()]}
    if isinstance(value, list):
        return [to_plain(one, arrays) for one in value]
    if isinstance(value, tuple):
        return {"$tuple": [to_plain(one, arrays) for one in value]}
    if isinstance(value, np.random.RandomState):
        return {"$random_state": to_plain(value.get_state(legacy=False), arrays)}
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


def from_plain(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return what `to_plain` was given."""
    if isinstance(value, list):
        return [from_plain(one, arrays) for one in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$tuple": ones}:
            return tuple(from_plain(ones, arrays))
        case {"$dict": pairs}:
            return dict(from_plain(pairs, arrays))
        case {"$array": number}:
            return arrays[number]
        case {"$float": text}:
            return float(text)
        case {"$random_state": state}:
            return _random_state(from_plain(state, arrays))
    return {key: from_plain(one, arrays) for key, one in value.items()}


def _random_state(state: dict[str, Any]) -> np.random.RandomState:
    key, position = state["state"]["key"], state["state"]["pos"]
    # numpy takes any position and reads beyond the key
    if key.shape != (624,) or key.dtype != np.uint32 or not (type(position) is int and 0 <= position <= 624):
        raise ValueError("the random state of the model is not valid")
    random_state = np.random.RandomState()
    random_state.set_state(state)
    return random_state
