"""Validation of labels given by the user: the labelled samples, and their classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from sslart._data.masks import without_mask
from sslart._data.samples import Table, is_all, is_missing, plain_value
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

UNLABELLED = -1
MAX_PRESENTATIONS = 100
USUAL_KINDS = "iubfUO"  # of arrays that scikit-learn takes as they are
NO_TRUTH = (
    "y has no labelled sample to score against: give the true classes of some samples. In cross-validation, "
    "cv=sslart.model_selection.StratifiedLabelledKFold() gives test folds of labelled samples."
)


@dataclass(frozen=True)
class Labels:
    """Class labels and which samples have one.

    Attributes
    ----------
    values : array of length n_samples
        Labels as integers, booleans or strings. Where `known` is False: -1 if the user wrote that, else anything.
    known : boolean array of length n_samples
        Which samples are labelled.
    groups : array of int of length n_samples, or None
        A key of the group of each sample, 0 where it has none; None: no sample has one.
    weights : array of length n_samples, or None
        How much each sample counts, above 0; None: one each.
    """

    values: NDArray[Any]
    known: BoolArray
    groups: IntArray | None = None
    weights: FloatArray | None = None

    def __getitem__(self, rows: Any) -> Labels:
        if is_all(rows, len(self.known)):
            return self
        return Labels(
            self.values[rows],
            self.known[rows],
            None if self.groups is None else self.groups[rows],
            None if self.weights is None else self.weights[rows],
        )

    @property
    def presentations(self) -> IntArray | None:
        """Number of times boxes learn each sample: its rounded weight, from 1 to `MAX_PRESENTATIONS`; None: once."""
        if self.weights is None:
            return None
        return np.clip(np.rint(self.weights), 1, MAX_PRESENTATIONS).astype(np.int64)

    @classmethod
    def none(cls, n_samples: int) -> Labels:
        """Return the labels of samples that have none."""
        return cls(np.zeros(n_samples, dtype=np.int64), np.zeros(n_samples, dtype=bool))

    def with_class_minus_one(self) -> Labels:
        """Return the labels with -1 treated as an ordinary class."""
        return replace(self, known=self.known | self._minus_one())

    def _minus_one(self) -> BoolArray:
        # a sample without a label has the value 0, so every -1 was written by the user
        return np.asarray((self.values == UNLABELLED) & (self.values.dtype.kind == "i"))

    def are_plus_and_minus_one(self) -> bool:
        """Return True if y uses the {-1, 1} convention: with -1 as unlabelled, one class would be left."""
        named = self.values[self.known | self._minus_one()]
        return bool(self._minus_one().any()) and set(np.unique(named).tolist()) == {UNLABELLED, 1}


def read_labels(y: Any, table: Table) -> Labels:
    """Return y as `Labels`: -1 among integers, None, NaN and pandas.NA mean unlabelled."""
    y = without_mask(y)
    array = np.asarray(y) if isinstance(getattr(y, "dtype", None), np.dtype) else _array_of_list(y)
    if array.ndim == 1 and array.dtype.kind in USUAL_KINDS and len(array) == len(table):
        array = np.ascontiguousarray(array)  # nothing to check: streams bring labels one at a time
    else:
        array = column_or_1d(array, warn=True, dtype=array.dtype)
        check_consistent_length(table.values, array)
    if array.dtype == object:
        array, known = _read_objects(array)
    elif array.dtype.kind == "f":
        array, known = _read_floats(array)
    elif array.dtype.kind == "i":
        return Labels(array, np.asarray(array != UNLABELLED))
    else:
        known = np.ones(len(array), dtype=bool)
    if array.dtype.kind == "u":
        array = _integers(array.tolist())
        return Labels(array, known)
    if array.dtype.kind not in "ibU":
        raise ValueError(
            f"Unknown label type: {array.dtype}. Labels are integers, strings or booleans; -1, None or NaN mean "
            "unlabelled."
        )
    if array.dtype.kind == "i":
        known &= array != UNLABELLED
    return Labels(array, known)


def _array_of_list(y: Any) -> NDArray[Any]:
    # np.asarray would turn the NaN of ["a", nan] into the string "nan", and large integers beside a NaN into floats
    values = y.to_list() if hasattr(y, "to_list") else y.tolist() if hasattr(y, "tolist") else y
    if isinstance(values, list) and str in set(map(type, values)):
        return np.array(values, dtype=object)
    array = np.asarray(values)
    return array if array.dtype.kind in "iub" else np.array(values, dtype=object)


def _read_floats(values: NDArray[Any]) -> tuple[NDArray[Any], BoolArray]:
    known = ~np.isnan(values)
    if np.isinf(values).any():
        raise ValueError(_INFINITE_LABEL)
    if (values[known] != np.rint(values[known])).any():
        check_classification_targets(values[known])
    return _integers([int(value) for value in np.where(known, values, 0).tolist()]), known


_INFINITE_LABEL = "Input y contains infinity: a label is a class, or NaN where it is not known."


def _integers(values: list[int]) -> NDArray[np.int64]:
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        raise ValueError(
            "y has an integer beyond 64 bits as a class. Give such classes as strings, with None where unlabelled."
        ) from None


PLAIN_TYPES = frozenset({str, int, bool, type(None)})  # of which every value is what it seems


def _read_objects(values: NDArray[np.object_]) -> tuple[NDArray[Any], BoolArray]:
    plain = values.tolist()
    if not PLAIN_TYPES.issuperset(map(type, plain)):
        other = next(value for value in plain if type(value) not in PLAIN_TYPES)
        gap = other if is_missing(other) else None  # of a long column, mostly one and the same object
        plain = [
            None if value is gap else value if type(value) in PLAIN_TYPES else plain_value(value) for value in plain
        ]
    known = np.array([value is not None for value in plain], dtype=bool)
    kinds = {_kind(value) for value in plain if value is not None}
    if not kinds:
        return np.zeros(len(plain), dtype=np.int64), known
    if len(kinds) > 1:
        raise ValueError(
            f"Labels of several kinds in y: {', '.join(sorted(kinds))}. Give all classes as strings, or all as "
            "integers."
        )
    kind = kinds.pop()
    if kind == "string":
        _refuse_nul_at_the_end(plain)
        return np.array([value if value is not None else "" for value in plain], dtype=str), known
    if kind == "boolean":
        return np.array([bool(value) for value in plain]), known
    if kind == "number":
        if any(isinstance(value, float) and not np.isfinite(value) for value in plain if value is not None):
            raise ValueError(_INFINITE_LABEL)
        if any(value is not None and value != int(value) for value in plain):
            check_classification_targets(np.array([value for value in plain if value is not None], dtype=np.float64))
        return _integers([0 if value is None else int(value) for value in plain]), known
    raise ValueError(
        f"Unknown label type: {kind}. Labels are integers, strings or booleans; -1, None or NaN mean unlabelled."
    )


def _refuse_nul_at_the_end(names: list[str | None]) -> None:
    """Raise a ValueError for a class that NumPy would take for another: its strings lose every NUL at their end."""
    for name in names:
        if name is not None and name.endswith("\0"):
            raise ValueError(
                f"y has the class {name!r}, which ends with a NUL character: NumPy cannot distinguish it from "
                f"{name.rstrip(chr(0))!r}. Rename it, or remove the character: label.rstrip('\\0')."
            )


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "number" if isinstance(value, Real) else type(value).__name__
