"""Validation of saved state: arrays and numbers, else a ValueError."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

MAX_COUNT = 2**53  # of samples: whole numbers up to here are exact in double precision
MAX_SEED = 2**32


WITHOUT_SAMPLES = (
    "This model was saved without samples (samples=False): it predicts and explains, but it has no samples to learn on "
    "from, to be merged by, or to show. Load the file saved with samples, or fit again."
)


def require(holds: Any, what: str) -> None:
    """Raise a ValueError unless something holds that is true of every model."""
    if not holds:
        raise ValueError(f"{what} of the model hold values that no model can have")


def saved_array(
    state: Mapping[str, Any],
    name: str,
    dtype: type[Scalar],
    *shape: int | None,
    low: float = -math.inf,
    high: float = math.inf,
    missing: NDArray[Scalar] | None = None,
) -> NDArray[Scalar]:
    """Return an array of a saved state.

    Parameters
    ----------
    state : mapping
    name : str
    dtype : type
    *shape : int or None
        Length of each axis; None where any will do.
    low, high : float
        The values it may have; NaN is none of them unless they are without limit.
    missing : array, optional
        Takes its place where the state has none of that name.
    """
    array = state.get(name, missing) if missing is not None else state[name]
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != len(shape):
        raise ValueError(f"{name!r} of the model is not an array of the kind that it must be")
    if any(wanted is not None and found != wanted for wanted, found in zip(shape, array.shape, strict=True)):
        raise ValueError(f"{name!r} of the model has the shape {array.shape}, which does not fit its other arrays")
    if (low, high) != (-math.inf, math.inf):
        require(((array >= low) & (array <= high)).all(), repr(name))
    return array


def saved_whole(state: Mapping[str, Any], name: str, low: int, high: int) -> int:
    """Return a whole number of a saved state, from the lowest to the highest that it may be."""
    value = state[name]
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{name!r} of the model must be a whole number from {low} to {high}, got {value!r:.40}")
    return value
