"""Samples as one network encodes them, with how far each value lies beyond the learnt range."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sslart._art.geometry import gaps
from sslart._data.encoder import Encoder
from sslart._data.samples import Table
from sslart._utils.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class EncodedSamples:
    """Samples in the user's units and in the unit cube.

    Attributes
    ----------
    encoder : Encoder
    names : list of str
        Name of each column.
    table : Table
    coded : array of shape (n_samples, n_coded_features)
        Samples in the unit cube, NaN where missing.
    beyond : array of shape (n_samples, n_coded_features)
        How many ranges each value lies beyond the learnt range.
    """

    encoder: Encoder
    names: list[str]
    table: Table
    coded: FloatArray
    beyond: FloatArray

    @classmethod
    def of(cls, encoder: Encoder, names: list[str], table: Table, coded: FloatArray) -> EncodedSamples:
        """Return a table that is coded already, with how far its values lie beyond the range."""
        matrix = encoder.matrix(table)
        beyond: FloatArray = np.zeros_like(coded)
        known = encoder.lower <= encoder.upper
        out = ((matrix < encoder.lower) | (matrix > encoder.upper)) & known
        if out.any():
            matrix = encoder.on_scale(matrix)
            lower, upper = (np.where(known, end, 0.0) for end in encoder.ends)
            span = upper - lower
            with np.errstate(over="ignore"):
                ranges = np.maximum(lower - matrix, matrix - upper) / np.where(span > 0, span, 1.0)
            beyond = np.where(out, np.where(span > 0, np.minimum(ranges, 1e300 / matrix.shape[1]), 1.0), 0.0)
        return cls(encoder, names, table, coded, beyond)

    def __len__(self) -> int:
        return len(self.coded)

    def distances(self, lower: FloatArray, upper: FloatArray, rows: Any = slice(None)) -> FloatArray:
        """Return the distance to boxes per coded feature, in ranges; 0 where value or side is missing."""
        coded = self.coded[rows]
        outside = gaps(coded, lower, upper) + self.beyond[rows]
        return np.where(np.isnan(coded) | (lower > upper), 0.0, outside)

    def rows(self, rows: IntArray) -> EncodedSamples:
        """Return the given rows; a row may be given several times."""
        return EncodedSamples(self.encoder, self.names, self.table[rows], self.coded[rows], self.beyond[rows])

    def categories(self, column: int) -> tuple[list[int], list[Any]]:
        """Return where the categories of a column are coded, and which they are."""
        features = self.encoder.features
        positions = [position for position, feature in enumerate(features) if feature.column == column]
        return positions, [features[position].category for position in positions]

    @property
    def numeric(self) -> list[int]:
        """Numeric columns that vary: their features come first, in this order."""
        return self.encoder.numeric

    @cached_property
    def numeric_names(self) -> list[str]:
        """Names of these columns."""
        return [self.names[column] for column in self.numeric]

    @cached_property
    def constants(self) -> dict[int, float | Any]:
        """The columns that have shown one value only, and that value."""
        return {
            feature.column: value if feature.category is None else feature.category
            for feature, value in self.encoder.constant.items()
        }
