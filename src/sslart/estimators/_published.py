"""Reading and learning at the same time: readers see a model as it was last published, whole.

A call that reads works on a snapshot of the model. A call that learns works on a draft, and publishes it by one
assignment when it is complete; calls that learn publish one after another. If a call fails or is interrupted, its draft
is forgotten and the model is as it was.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from sslart._art.network import Network
from sslart._utils.changes import Changes, Reader


class Published(Protocol):
    """An estimator that is read and learns at the same time."""

    def _networks(self) -> list[Network]:
        """Return the networks of the estimator; none before it has learnt."""


Model = TypeVar("Model", bound=Published)
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

READER = "_held"  # what marks a snapshot

_writers: weakref.WeakKeyDictionary[Any, threading.RLock] = weakref.WeakKeyDictionary()
_writers_lock = threading.Lock()


def snapshot_of(model: Model) -> Model:
    """Return a model as it was last published. While the snapshot lives, nothing that it refers to changes."""
    if READER in vars(model):
        return model
    while True:
        networks = model._networks()
        reader = Reader([network.readers for network in networks])
        snapshot = shallow_copy(model)
        if snapshot._networks() == networks:
            vars(snapshot)[READER] = reader
            return snapshot


def reads(method: Callable[Concatenate[Any, Arguments], Result]) -> Callable[Concatenate[Any, Arguments], Result]:
    """Let a method of an estimator read a snapshot, so that another thread may learn meanwhile."""

    @wraps(method)
    def of_snapshot(self: Any, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return method(snapshot_of(self), *args, **kwargs)

    return of_snapshot


class UnavailableError(ValueError, AttributeError):
    """Raised by an attribute that a model does not have as it is: `hasattr` is then False, and raises nothing."""


def reads_attribute(method: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Let an attribute of an estimator read a snapshot; where it has no value, it raises an `UnavailableError`."""

    @wraps(method)
    def of_snapshot(self: Any) -> Result:
        try:
            return method(snapshot_of(self))
        except AttributeError:
            raise
        except ValueError as error:
            raise UnavailableError(str(error)) from error

    return of_snapshot


@contextmanager
def draft_of(model: Model) -> Iterator[tuple[Model, Changes]]:
    """Yield a draft of a model to learn with, and what gets its changes in place; publish the draft at the end.

    If the block fails or is interrupted, wherever that happens, the model is as it was.
    """
    with _turn_of(model):
        before = dict(vars(model))
        draft, changes = shallow_copy(model), Changes()
        try:
            yield draft, changes
            _publish(model, before, vars(draft))
        except BaseException:
            changes.take_back()
            _publish(model, vars(draft), before)
            raise
        finally:
            changes.end()


def shallow_copy(model: Model) -> Model:
    """Return another object of the same class with the same attributes."""
    other = object.__new__(type(model))
    vars(other).update(vars(model))
    return other


def _turn_of(model: Any) -> threading.RLock:
    with _writers_lock:
        return _writers.setdefault(model, threading.RLock())


def _publish(model: Any, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Give a model what differs from before: at once, and without what has been set on it by others meanwhile."""
    changed = {name: value for name, value in after.items() if name not in before or before[name] is not value}
    removed = before.keys() - after.keys()
    if removed:
        kept = {name: value for name, value in vars(model).items() if name not in removed}
        model.__dict__ = {**kept, **changed}
    else:
        vars(model).update(changed)
