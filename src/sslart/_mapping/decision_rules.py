"""Parameters of decisions: costs of wrong predictions (`decision_costs`), and `max_error`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.samples import plain_value
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.text import list_text
from sslart._utils.validation import check_number

BALANCED = "balanced"
SHOWN_CLASSES = 10  # in a message
MAX_COST = 1e300  # so that sums of costs do not overflow
Costs = dict[tuple[Any, Any], float] | str  # by pairs (true class, predicted class), or BALANCED


def check_costs(owner: str, given: Any) -> None:
    """Raise a ValueError if `decision_costs` is invalid for any classes."""
    if isinstance(given, str) and given == BALANCED:
        return
    if isinstance(given, Mapping):
        for pair, cost in given.items():
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(
                    f"decision_costs of {owner} has the key {pair!r}: each key must be a pair (true class, predicted "
                    "class), as in {('ill', 'healthy'): 10}."
                )
            if not _is_number(cost):
                raise ValueError(
                    f"decision_costs of {owner} must be numbers, got {cost!r} for a sample of class {pair[0]!r} that "
                    f"is predicted as {pair[1]!r}."
                )
        return
    _matrix(owner, given)


def cost_matrix(
    owner: str, given: Any, classes: NDArray[Any], counts: Callable[[], NDArray[Any]] | None = None
) -> FloatArray | None:
    """Return `decision_costs` as a matrix, true × predicted in the order of the classes; None if not set.

    Pairs missing in a dict cost 1 if wrong and 0 if right. `counts` returns the number of labels of each class, for
    "balanced"; None, if costs are only validated: one label each.
    """
    if given is None:
        return None
    check_costs(owner, given)
    if isinstance(given, str):
        return balanced_costs(np.zeros(len(classes)) if counts is None else counts())
    if not isinstance(given, Mapping):
        matrix = _matrix(owner, given)
        if len(matrix) != len(classes):
            raise ValueError(
                f"decision_costs of {owner} has {len(matrix)} rows and columns, and the model {len(classes)} "
                f"classes: {_listed(classes)}. Give one row for each true class and one column for each predicted "
                "class in this order, or a dict from (true, predicted) to the cost."
            )
        return matrix
    place = {label: index for index, label in enumerate(classes.tolist())}
    costs = 1.0 - np.eye(len(classes))
    for pair, cost in given.items():
        names = [plain_value(name) for name in pair]
        for name in names:
            if name not in place or isinstance(name, bool) != (classes.dtype.kind == "b"):
                raise ValueError(
                    f"decision_costs of {owner} names the class {name!r}, which the model does not have. Its classes "
                    f"are {_listed(classes)}; partial_fit(..., classes=...) announces classes that come later."
                )
        costs[place[names[0]], place[names[1]]] = float(cost)
    return costs


def balanced_costs(counts: NDArray[Any]) -> FloatArray:
    """Return costs inversely proportional to class frequencies, given the number of labels of each class.

    One label is added to each class, since the frequency of a rare class is uncertain, and predicted probabilities are
    smoothed as well.
    """
    n = 1 + counts
    return np.asarray((n.sum() / (len(n) * n))[:, None] * (1.0 - np.eye(len(n))))


def expected_costs(proba: FloatArray, costs: FloatArray) -> FloatArray:
    """Return the expected cost of predicting each class, shape (n_samples, n_classes).

    Classes are summed in order, so that ONNX and other implementations get the same bits.
    """
    total = proba[:, :1] * costs[0]
    for index in range(1, len(costs)):
        total = total + proba[:, index : index + 1] * costs[index]
    return np.asarray(total)


def cheapest(proba: FloatArray, costs: FloatArray) -> IntArray:
    """Return the class index of the lowest expected cost, the first on ties."""
    return np.asarray(expected_costs(proba, costs).argmin(axis=1))


def _matrix(owner: str, given: Any) -> FloatArray:
    """Return a square matrix of finite numbers."""
    try:
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        matrix = np.empty(0)
    if (
        matrix.ndim != 2
        or matrix.shape[0] != matrix.shape[1]
        or not len(matrix)
        or not (np.abs(matrix) < MAX_COST).all()
    ):
        raise ValueError(
            f"decision_costs of {owner} must be a square matrix of numbers, one row for each true class and one column "
            "for each predicted class, or a dict from (true, predicted) to the cost, or 'balanced', or None; got "
            f"{given!r}."
        )
    return matrix


def _is_number(cost: Any) -> bool:
    is_real = isinstance(cost, Real) and not isinstance(cost, bool | np.bool_)
    return is_real and bool(abs(cost) < MAX_COST)


def _listed(classes: NDArray[Any]) -> str:
    return list_text([repr(label) for label in classes.tolist()], SHOWN_CLASSES)


@dataclass(frozen=True)
class ErrorLevels:
    """The largest share of wrong predictions among the answered, in all or by predicted class."""

    overall: float | None  # for all predictions together
    by_class: tuple[tuple[int, float], ...]  # for the predictions of some classes, each class by itself
    certainty: float | None  # with which that holds for the model; None: on average over training sets

    def each(self) -> Iterator[tuple[int | None, float]]:
        """Yield every level with the class that it is for; None: for all predictions together."""
        if self.overall is not None:
            yield None, self.overall
        yield from self.by_class

    def of_class(self, index: int) -> float | None:
        """Return the level that holds for predictions of a class; None where there is none."""
        return dict(self.by_class).get(index, self.overall)


def check_max_error(owner: str, given: Any) -> None:
    """Raise a ValueError if `max_error` is invalid for any classes."""
    if not isinstance(given, Mapping):
        _check_level(owner, "max_error", given)
        return
    if not given:
        raise ValueError(f"max_error of {owner} is an empty dict: name at least one class, or give None or a number.")
    for name, level in given.items():
        _check_level(owner, f"max_error[{name!r}]", level)


def _check_level(owner: str, name: str, level: Any) -> float:
    return check_number(owner, name, level, 0, 1, open_low=True)


def error_levels(owner: str, given: Any, certainty: float | None, classes: NDArray[Any]) -> ErrorLevels | None:
    """Return `max_error` by the indices of the sorted classes; None where there is none."""
    if given is None:
        return None
    check_max_error(owner, given)
    if not isinstance(given, Mapping):
        return ErrorLevels(float(given), (), certainty)
    place = {(type(label), label): index for index, label in enumerate(classes.tolist())}
    by_class = []
    for name, level in given.items():
        plain = plain_value(name)
        if (type(plain), plain) not in place:
            raise ValueError(
                f"max_error of {owner} names the class {name!r}, which the model does not have. Its classes are "
                f"{_listed(classes)}."
            )
        by_class.append((place[type(plain), plain], float(level)))
    return ErrorLevels(None, tuple(by_class), certainty)
