"""Writers of one model take turns; readers need none: they take the published value once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

LOCK = "_turn"  # the attribute of an estimator; copies and pickles have their own

Model = TypeVar("Model")
Result = TypeVar("Result")


def turn_of(model: Any) -> threading.RLock:
    """Return the lock that a method holds while it learns."""
    attributes = vars(model)
    lock: threading.RLock | None = attributes.get(LOCK)
    return attributes.setdefault(LOCK, threading.RLock()) if lock is None else lock


def shallow_copy(model: Model) -> Model:
    """Return another estimator with the same parameters and the same fitted model."""
    other = object.__new__(type(model))
    vars(other).update({name: value for name, value in vars(model).items() if name != LOCK})
    return other


class UnavailableError(ValueError, AttributeError):
    """Raised for an attribute that the model lacks in its present state; `hasattr` then returns False."""


def available(method: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Let an attribute that has no value raise an `UnavailableError`."""

    @wraps(method)
    def of_model(self: Any) -> Result:
        try:
            return method(self)
        except AttributeError:
            raise
        except ValueError as error:
            raise UnavailableError(str(error)) from error

    return of_model
