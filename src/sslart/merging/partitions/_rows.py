"""Rows of partitions as they were given, each with a number and a random key, so that samples of them are fair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.labels import Labels
from sslart._data.samples import concatenated
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, KeyArray

ROWS_IN_PARTITION = 2**40  # at most: the number of a row is that of its partition times this, plus its place in it


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows, ascending by number.

    Attributes
    ----------
    samples : DataFrame or array of shape (n_rows, n_columns)
        As they were given.
    labels : array of objects
        Classes as plain values, None where unlabelled.
    groups : array of int
        Keys of the groups, 0 for none.
    weights : array
    numbers : array of int
        Partition and place of each row as one number.
    """

    samples: Any
    labels: NDArray[np.object_]
    groups: IntArray
    weights: FloatArray
    numbers: IntArray

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: BoolArray | IntArray) -> Rows:
        samples = taken(self.samples, rows)
        return Rows(samples, self.labels[rows], self.groups[rows], self.weights[rows], self.numbers[rows])

    @property
    def labelled(self) -> BoolArray:
        """Mask of labelled rows."""
        return np.array([label is not None for label in self.labels], dtype=bool)

    def names(self) -> list[str]:
        """Return where each row is, for messages."""
        places = zip(*np.divmod(self.numbers, ROWS_IN_PARTITION), strict=True)
        return [f"{row} of partition {partition}" for partition, row in places]

    def among(self, numbers: Iterable[int]) -> BoolArray:
        """Return a mask of the rows with one of these numbers."""
        return np.isin(self.numbers, np.fromiter(numbers, dtype=np.int64))


def taken(samples: Any, rows: BoolArray | IntArray) -> Any:
    """Return some rows of a frame of pandas or polars, or of an array."""
    if hasattr(samples, "iloc"):
        return samples.iloc[rows]
    if hasattr(samples, "filter") and hasattr(samples, "columns"):
        return samples[np.flatnonzero(rows) if rows.dtype == bool else rows]
    return samples[rows]


def joined_rows(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several parts, which have no row in common."""
    if len(parts) == 1:
        return parts[0]
    parts = sorted(parts, key=lambda part: int(part.numbers[0]))
    arrays = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("labels", "groups", "weights", "numbers")
    )
    rows = Rows(concatenated([part.samples for part in parts]), *arrays)
    return rows if (np.diff(rows.numbers) > 0).all() else rows[np.argsort(rows.numbers)]


def lowest(keys: KeyArray, n: int) -> BoolArray:
    """Return a mask of the n rows with the lowest keys: a fair sample."""
    kept = np.ones(len(keys), dtype=bool)
    if len(keys) > n:
        kept[np.argsort(keys, kind="stable")[n:]] = False
    return kept


def numbers_of(number: int, n_rows: int) -> IntArray:
    """Return the number of each row of a partition."""
    return number * ROWS_IN_PARTITION + np.arange(n_rows, dtype=np.int64)


def plain_labels(labels: Labels) -> NDArray[np.object_]:
    """Return labels as plain values, None where unlabelled."""
    plain = np.full(len(labels.known), None, dtype=object)
    plain[labels.known] = np.array([*labels.values[labels.known].tolist(), None], dtype=object)[:-1]
    return plain
