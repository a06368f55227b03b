"""Validation of parameters and of saved state: the value in its plain type, or a ValueError with a remedy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sslart._utils.arrays import FloatArray

AUTO = "auto"
MAX_COUNT = 2**53  # of samples: whole numbers up to here are exact in double precision
MAX_SEED = 2**32
WITHOUT_SAMPLES = (
    "This model was saved without samples (samples=False): it predicts and explains, but it has no samples to learn on "
    "from, to be merged by, or to show. Load the file saved with samples, or fit again."
)

Scalar = TypeVar("Scalar", bound=np.generic)


def check_number(
    owner: str, name: str, value: Any, low: float, high: float | None = None, *, open_low: bool = False
) -> float:
    """Return a parameter as a float, or raise a ValueError that names its range."""
    inside = (
        (type(value) is float or isinstance(value, Real))
        and not isinstance(value, bool | np.bool_)
        and -1e300 < value < 1e300  # type: ignore[operator]
        and (float(value) > low if open_low else float(value) >= low)
        and (high is None or float(value) <= high)
    )
    if not inside:
        limits = f"{'(' if open_low else '['}{low:g}, {'inf)' if high is None else f'{high:g}]'}"
        raise ValueError(f"{name} of {owner} must be a number in {limits}, got {value!r}.")
    return float(value)


def check_whole(owner: str, name: str, value: Any, low: int = 1, *, or_none: bool = False) -> int | None:
    """Return a parameter that counts something from one up, or from a higher number; None where that is allowed."""
    if value is None and or_none:
        return None
    if not isinstance(value, Integral) or isinstance(value, bool) or not low <= int(value) < 2**31:
        raise ValueError(
            f"{name} of {owner} must be a whole number from {low} up, below 2**31{', or None' if or_none else ''}, "
            f"got {value!r}."
        )
    return int(value)


def check_half_life(owner: str, value: Any, *, allow_auto: bool = False) -> float | str | None:
    """Return after how many samples a sample counts half; None for never, "auto" where that is allowed."""
    if value is None:
        return None
    if isinstance(value, str) and value == AUTO:
        if allow_auto:
            return AUTO
        raise ValueError(
            f"half_life='auto' of {owner} needs evidence mapping, whose labels choose it: use AutoSSLART or "
            "mapping='evidence', or give a number of samples."
        )
    try:
        return check_number(owner, "half_life", value, 1)
    except ValueError:
        auto = ", 'auto'" if allow_auto else ""
        raise ValueError(
            f"half_life of {owner} must be a number of samples from 1 up{auto}, or None to forget nothing, got "
            f"{value!r}."
        ) from None


def check_flag(owner: str, name: str, value: Any) -> bool:
    """Return a parameter that is on or off."""
    if not isinstance(value, bool | np.bool_) and value not in (0, 1):
        raise ValueError(f"{name} of {owner} must be True or False, got {value!r}.")
    return bool(value)


def check_jobs(owner: str, value: Any) -> int | None:
    """Return a number of threads as scikit-learn counts them."""
    if value is not None and (not isinstance(value, Integral) or isinstance(value, bool) or value == 0):
        raise ValueError(f"n_jobs of {owner} must be None, a number of threads, or -1 for all cores, got {value!r}.")
    return None if value is None else int(value)


def check_option(owner: str, name: str, value: Any, options: tuple[str, ...]) -> str:
    """Return a parameter that names one of several options."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} of {owner} must be one of {', '.join(map(repr, options))}, got {value!r}.")
    return value


def check_bounds(owner: str, bounds: Any, n_columns: int) -> tuple[FloatArray, FloatArray] | None:
    """Return (lower, upper) as two arrays with a value per column, or None; NaN where a limit is not known."""
    if bounds is None:
        return None
    cure = (
        f"bounds of {owner} must be (lower, upper), each a number or one number per feature ({n_columns}), with "
        "lower <= upper; NaN in both where the limits of a feature are not known"
    )
    try:
        lower, upper = (np.broadcast_to(np.asarray(side, dtype=np.float64), n_columns).copy() for side in bounds)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{cure}. Got {bounds!r}.") from error
    unknown = np.isnan(lower) | np.isnan(upper)
    if (np.isnan(lower) != np.isnan(upper)).any() or np.isinf(lower).any() or np.isinf(upper).any():
        raise ValueError(f"{cure}. Got {bounds!r}.")
    if (lower[~unknown] > upper[~unknown]).any():
        column = int(np.flatnonzero(lower > upper)[0])
        raise ValueError(f"{cure}. Feature {column} has {lower[column]:g} > {upper[column]:g}.")
    return lower, upper


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
    """Return an array of a saved state, of a type, of the length of each axis (None: any), with values in a range.

    NaN is in no range but the one without limits. `missing` takes its place where the state has none.
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


def check_certainty(owner: str, name: str, given: Any) -> float | None:
    """Return a certainty, or None for what holds on average; a ValueError where it is none."""
    if given is None:
        return None
    found = check_number(owner, name, given, 0, 1, open_low=True)
    if found == 1:
        raise ValueError(f"{name} of {owner} must be below 1: no number of labels makes a limit of error certain.")
    return found
