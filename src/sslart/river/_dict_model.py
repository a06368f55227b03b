"""A model that learns from dicts: features by name, missing or new at any time."""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sslart._data.labels import UNLABELLED
from sslart._data.ranks.tables import RANK
from sslart._data.samples import is_missing
from sslart._drift.events import DriftEvent, FeatureShift
from sslart._utils.arrays import FloatArray
from sslart.estimators._fitted import shallow_copy

Sample = Mapping[Hashable, Any]
Label = bool | str | int


class DictModel:
    """A model that learns from dicts: the column of each feature, and how often each class has been learnt.

    Parameters
    ----------
    estimator : estimator or None
        As the user gave it.
    default : estimator
        Takes its place if that is None.
    kinds : tuple of classes
        Estimators that the user may give.

    Attributes
    ----------
    model : estimator
        What learns.
    is_category : dict from key to bool
        The features in the order of the columns, and whether each is a category.
    label_counts : dict from class to int
    """

    def __init__(self, estimator: Any, default: Any, kinds: tuple[type, ...]) -> None:
        if estimator is not None and not isinstance(estimator, kinds):
            raise TypeError(
                f"estimator must be one of {', '.join(kind.__name__ for kind in kinds)}, got "
                f"{type(estimator).__name__}. For other models of scikit-learn there is river.compat."
            )
        self.model: Any = clone(default if estimator is None else estimator)
        if isinstance(self.model.bounds, Iterable) and any(np.ndim(side) for side in self.model.bounds):
            raise ValueError("bounds must be two numbers for all features here: the features of a dict have no order.")
        if self.model.scaling == RANK:
            raise ValueError(
                "scaling='rank' needs many samples in the first call, and a stream begins with one: leave scaling at "
                "its default here, or give the logarithm of features whose values are crowded."
            )
        self.is_category: dict[Hashable, bool] = {}
        self.label_counts: dict[Label, int] = {}

    def class_shares(self) -> tuple[list[Label], FloatArray]:
        """Return the classes learnt so far, sorted, and their shares of the labels."""
        classes = sorted(self.label_counts)
        counts = np.array([self.label_counts[label] for label in classes], dtype=np.float64)
        return classes, counts / counts.sum()

    def learn(self, samples: Iterable[Sample], labels: Iterable[Label | None]) -> None:
        """Learn samples in their order, those without a new feature together; all of them, or none."""
        together = list(zip(samples, labels, strict=True))
        before = {"model": shallow_copy(self.model), "is_category": {**self.is_category}}
        before["label_counts"] = {**self.label_counts}
        try:
            self._learn(together)
        except BaseException:
            vars(self).update(before)
            raise

    def _learn(self, together: list[tuple[Sample, Label | None]]) -> None:
        rows: list[list[Any]] = []
        known: list[Label | None] = []
        for x, given in together:
            label = None if is_missing(given) else given.item() if isinstance(given, np.generic) else given
            new = self._new_keys(x)
            if new:
                self._learn_rows(rows, known)
                rows, known = [], []
                self._learn_with_new_keys(x, label, new)
                continue
            row = self._row(x)
            if _has_value(row):
                rows.append(row)
                known.append(label)
        self._learn_rows(rows, known)

    def read(self, samples: list[Sample]) -> tuple[list[int], Any]:
        """Return the indices of samples with a value in a known feature, and these samples as model input."""
        rows = [self._row(x) for x in samples]
        known = [index for index, row in enumerate(rows) if _has_value(row)]
        return known, self._as_samples([rows[index] for index in known]) if known else None

    def named_copy(self) -> Any:
        """Return a copy of the model with the names of the features."""
        model = copy.deepcopy(self.model)
        if self.is_category:
            model.__sslart_with_names__([str(key) for key in self.is_category])
        return model

    def drifts(self) -> list[DriftEvent]:
        """Return the drifts found so far, with the keys of the features that moved."""
        events: list[DriftEvent] = self.model.drift_ if self.is_category and self.model.__sklearn_is_fitted__() else []
        keys = list(self.is_category)

        def named(feature: FeatureShift) -> FeatureShift:
            column, is_category, category = feature.name.removeprefix("x").partition("=")
            return replace(feature, name=f"{keys[int(column)]}{is_category}{category}")

        return [replace(event, features=tuple(map(named, event.features))) for event in events]

    def _new_keys(self, x: Sample) -> list[Hashable]:
        if x.keys() <= self.is_category.keys():
            return []
        new = [key for key, value in x.items() if key not in self.is_category and not is_missing(value)]
        try:
            return sorted(new)  # type: ignore[type-var]
        except TypeError:
            return sorted(new, key=repr)

    def _learn_with_new_keys(self, x: Sample, label: Label | None, new: list[Hashable]) -> None:
        """Learn a sample with new features."""
        kinds = [isinstance(x[key], str | bool | np.bool_) for key in new]
        if self.is_category:
            self.model.__sslart_add_columns__(kinds)
        self.is_category.update(zip(new, kinds, strict=True))
        self._learn_rows([self._row(x)], [label])

    def _learn_rows(self, rows: list[list[Any]], labels: list[Label | None]) -> None:
        if not rows:
            return
        if UNLABELLED in labels and UNLABELLED not in self.label_counts:
            self.model.partial_fit(self._as_samples(rows), labels, classes=[UNLABELLED])
        else:
            self.model.partial_fit(self._as_samples(rows), labels)
        for label in labels:
            if label is not None:
                self.label_counts[label] = self.label_counts.get(label, 0) + 1

    def _row(self, x: Sample) -> list[Any]:
        """Return the values of a sample in the order of the columns."""
        return [
            _category(key, x.get(key)) if is_category else _number(key, x.get(key))
            for key, is_category in self.is_category.items()
        ]

    def _as_samples(self, rows: list[list[Any]]) -> Any:
        if not any(self.is_category.values()):
            return np.array(rows, dtype=np.float64)
        kinds = [object if is_category else np.float64 for is_category in self.is_category.values()]
        return _Frame(
            [np.array(column, dtype=kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
        )


class _Frame:
    """As much of a data frame as sslart reads: to make one of a single row takes pandas long."""

    def __init__(self, columns: list[NDArray[Any]]) -> None:
        self._columns = columns
        self.columns = range(len(columns))
        self.dtypes = [column.dtype for column in columns]
        self.shape = len(columns[0]), len(columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, column: int) -> NDArray[Any]:
        return self._columns[column]


def _has_value(row: list[Any]) -> bool:
    return any(value is not None and value == value for value in row)


def _number(key: Hashable, value: Any) -> float:
    if is_missing(value):
        return math.nan
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(
            f"Feature {key!r} is a number and has the value {value!r}. Give a finite number, None where it is missing, "
            "or strings or booleans from the first sample on where it is a category."
        )
    return number


def _category(key: Hashable, value: Any) -> str | bool | int | float | None:
    if is_missing(value):
        return None
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, str | bool | int | float):
        raise ValueError(f"Feature {key!r} is a category and has the value {value!r}: give a string or a boolean.")
    return plain
