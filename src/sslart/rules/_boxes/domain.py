"""Domain of rules: features, scales, and classes; and rules as boxes in the unit cube."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._art.backend import encode
from sslart._art.geometry import distances
from sslart._data.encoder import Encoder
from sslart._data.samples import SampleReader
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.rules._boxes.rule import Rule, RuleCondition
from sslart.rules._boxes.scales import Scale

MAX_DISTANCES = 2**22  # how many distances are in memory at a time


@dataclass(frozen=True, eq=False)
class Domain:
    """The features and classes of the model that rules are made of. It does not keep the model itself.

    Attributes
    ----------
    encoder : Encoder
        From the user's units to the unit cube.
    scales : tuple of Scale
        One per feature.
    classes : array
        The classes, sorted.
    n_members : int
        Members of the ensemble; 1 for a single model.
    reader : SampleReader
        Checks samples as the model does.
    uses_evidence : bool
        Whether the model has evidence mapping, so that rules have evidence.
    """

    encoder: Encoder
    scales: tuple[Scale, ...]
    classes: NDArray[Any]
    n_members: int
    reader: SampleReader
    uses_evidence: bool

    @property
    def noun(self) -> str:
        """Noun for a rule: "Box", or in an ensemble "Boxes", a group of boxes with the same text."""
        return "Box" if self.n_members == 1 else "Boxes"

    def encode(self, X: Any) -> FloatArray:
        """Return samples in the unit cube, NaN where missing, or raise an error with a remedy."""
        table = self.reader.read(X)
        self.encoder.check(table)
        return encode(self.encoder, self.encoder.matrix(table))[0]

    def conditions(self, lower: FloatArray, upper: FloatArray) -> list[tuple[RuleCondition, ...]]:
        """Return the conditions of each box."""
        by_feature = (
            scale.conditions(lower[:, scale.positions], upper[:, scale.positions], self.encoder)
            for scale in self.scales
        )
        return list(zip(*by_feature, strict=True))

    def spans(self, lower: FloatArray, upper: FloatArray) -> BoolArray:
        """Tell for each box (row) and feature (column) whether every value meets the condition."""
        by_feature = [scale.spans(lower[:, scale.positions], upper[:, scale.positions]) for scale in self.scales]
        return np.array(by_feature).T

    def levels(self, lower: FloatArray, upper: FloatArray) -> tuple[IntArray, IntArray]:
        """Return first and last level of each box (row) and feature (column); 1 for categories."""
        low = np.ones((len(lower), len(self.scales)), dtype=np.int64)
        high = low.copy()
        for column, scale in enumerate(self.scales):
            if scale.categories is None and len(scale.positions):
                position = scale.positions[0]
                low[:, column], high[:, column] = scale.levels(lower[:, position]), scale.levels(upper[:, position])
        return low, high

    def widen(self, lower: FloatArray, upper: FloatArray, which: BoolArray) -> None:
        """Let boxes span the whole range of some features, in place: rows are boxes, columns features."""
        for column, scale in enumerate(self.scales):
            rows = np.flatnonzero(which[:, column])[:, None]
            lower[rows, scale.positions], upper[rows, scale.positions] = 0.0, 1.0

    def boxes(self, rules: Sequence[Rule]) -> tuple[FloatArray, FloatArray]:
        """Return the region allowed by the conditions of each rule, as boxes in the unit cube."""
        shape = (len(rules), len(self.encoder.features))
        lower, upper = np.full(shape, np.nan), np.full(shape, np.nan)
        numeric = [(column, scale) for column, scale in enumerate(self.scales) if scale.categories is None]
        for column, scale in numeric:
            for row, rule in enumerate(rules):
                condition = rule.conditions[column]
                if not condition.full_range:
                    lower[row, scale.positions] = condition.low_value
                    upper[row, scale.positions] = condition.high_value
        lower, upper = encode(self.encoder, lower)[0], encode(self.encoder, upper)[0]
        lower[np.isnan(lower)], upper[np.isnan(upper)] = 0.0, 1.0
        for column, scale in enumerate(self.scales):
            if scale.categories is None:
                continue
            for row, rule in enumerate(rules):
                condition = rule.conditions[column]
                if not condition.full_range:
                    allowed = condition.categories or ()
                    inside = np.array([category in allowed for category in scale.categories], dtype=np.float64)
                    upper[row, scale.positions] = inside
                    lower[row, scale.positions] = inside if len(allowed) == 1 else 0.0
        return lower, upper

    def nearest(self, rules: Sequence[Rule], coded: FloatArray) -> IntArray:
        """Return for each coded sample the index of the nearest rule; on ties by `precedence`."""
        order = precedence(rules)
        lower, upper = (side[order] for side in self.boxes(rules))
        step = max(1, MAX_DISTANCES // len(rules))
        parts = [coded[start : start + step] for start in range(0, len(coded), step)]
        return np.concatenate([order[distances(part, lower, upper).argmin(axis=1)] for part in parts])


def precedence(rules: Sequence[Rule]) -> IntArray:
    """Return the indices of rules in the order that decides ties: by falling confidence factor, then the first."""
    return np.argsort([-rule.confidence_factor for rule in rules], kind="stable")
