"""From which confidence on a model predicts, so that few of its answers are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.samples import plain_value
from sslart._mapping.guarantees.sets import EXACT
from sslart._utils.arrays import BoolArray, FloatArray
from sslart._utils.text import list_text
from sslart._utils.validation import check_number

SHOWN_CLASSES = 10  # in a message
NEVER = np.inf  # the confidence from which on a model predicts, where none is high enough


@dataclass(frozen=True)
class ErrorLevels:
    """The largest share of wrong predictions among the answered, in all or by predicted class.

    Attributes
    ----------
    overall : float or None
        For all predictions together.
    by_class : tuple of (class index, float)
        For the predictions of some classes, each class by itself.
    """

    overall: float | None
    by_class: tuple[tuple[int, float], ...] = ()

    def of_class(self, index: int) -> float | None:
        """Return the level that holds for predictions of a class; None where there is none."""
        return dict(self.by_class).get(index, self.overall)


def check_max_error(owner: str, given: Any) -> None:
    """Raise a ValueError where `max_error` cannot be one, whatever the classes are."""
    if given is None:
        return
    if not isinstance(given, Mapping):
        _check_level(owner, "max_error", given)
        return
    if not given:
        raise ValueError(f"max_error of {owner} is an empty dict: name at least one class, or give None or a number.")
    for name, level in given.items():
        _check_level(owner, f"max_error[{name!r}]", level)


def _check_level(owner: str, name: str, level: Any) -> float:
    return check_number(owner, name, level, 0, 1, open_low=True)


def error_levels(owner: str, given: Any, classes: NDArray[Any]) -> ErrorLevels | None:
    """Return `max_error` by the indices of the sorted classes; None where there is none."""
    check_max_error(owner, given)
    if given is None:
        return None
    if not isinstance(given, Mapping):
        return ErrorLevels(float(given))
    place = {(type(label), label): index for index, label in enumerate(classes.tolist())}
    by_class = []
    for name, level in given.items():
        plain = plain_value(name)
        if (type(plain), plain) not in place:
            listed = list_text([repr(label) for label in classes.tolist()], SHOWN_CLASSES)
            raise ValueError(
                f"max_error of {owner} names the class {name!r}, which the model does not have. Its classes are "
                f"{listed}."
            )
        by_class.append((place[type(plain), plain], float(level)))
    return ErrorLevels(None, tuple(by_class))


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """Guaranteed error and number of answered labels for each confidence threshold, highest first.

    Attributes
    ----------
    confidence : array
        Distinct, falling.
    answered : array
        How many left-out predictions have this confidence or more: the sum of their weights.
    error : array
        The smallest error that can be promised for these.
    """

    confidence: FloatArray
    answered: FloatArray
    error: FloatArray

    @property
    def smallest_error(self) -> float:
        """The smallest error that any confidence threshold guarantees."""
        return float(self.error.min()) if len(self.error) else 1.0

    def place(self, level: float) -> int | None:
        """Return the index of the lowest confidence whose error is at most `level`; None if there is none."""
        suffices = np.flatnonzero(self.error <= level + EXACT)
        return int(suffices[-1]) if suffices.size else None

    def steps(self) -> tuple[FloatArray, FloatArray]:
        """Return the levels, rising, from which on more is answered, and how many then are."""
        order = np.argsort(self.error, kind="stable")
        places = np.maximum.accumulate(order) if len(order) else order
        new = np.diff(places, prepend=-1) > 0
        return self.error[order][new], self.answered[places[new]]

    def least_confidence(self, level: float) -> float:
        """Return from which confidence on samples are answered, so that the error is at most the level.

        0 where all left-out predictions can be answered, `NEVER` where no confidence is high enough.
        """
        place = self.place(level)
        if place is None:
            return NEVER
        return 0.0 if place == len(self.error) - 1 else float(self.confidence[place])


def error_curve(confidence: FloatArray, wrong: BoolArray, weights: FloatArray) -> ErrorCurve:
    """Return the guaranteed error and the number of answered labels for each confidence threshold.

    The error is (1 + wrong) / (1 + answered), both summed over the left-out predictions of at least that confidence:
    the new sample counts as if it were answered, and wrong.

    Parameters
    ----------
    confidence : array of length n_predictions
    wrong : array of bool of length n_predictions
    weights : array of length n_predictions
        They sum to one for each group of samples that belong together.

    Examples
    --------
    >>> import numpy as np
    >>> from sslart._mapping.guarantees.errors import error_curve
    >>> confidence = np.array([0.5, 0.6, 0.7, 0.8, 0.9])
    >>> curve = error_curve(confidence, np.array([True, True, False, False, False]), np.ones(5))
    >>> curve.error
    array([0.5       , 0.33333333, 0.25      , 0.4       , 0.5       ])
    >>> curve.least_confidence(0.25), curve.least_confidence(0.5), curve.least_confidence(0.1)
    (0.7, 0.0, inf)
    """
    order = np.argsort(-confidence, kind="stable")
    values, own = confidence[order], weights[order]
    answered, errors = np.cumsum(own), np.cumsum(own * wrong[order])
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True)) if len(values) else np.zeros(0, dtype=np.int64)
    return ErrorCurve(values[ends], answered[ends], (1.0 + errors[ends]) / (1.0 + answered[ends]))
