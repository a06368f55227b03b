"""Basis of the updates between two selections of settings: few functions, so that a label costs little."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from sslart._art.backend import backend
from sslart._mapping.evidence.bases.base import Term
from sslart._mapping.evidence.bases.boxes import BoxGroup, BoxTerm
from sslart._mapping.evidence.bases.linear import LinearTerm
from sslart._mapping.evidence.rank_scaler import RankScaler
from sslart._mapping.evidence.readout import Readout
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.parallel import stop_flag

MAX_BOXES = 128  # an update costs the square of the number of functions
MAX_FEATURES = 128  # of more, none has a trend of its own
RANK_WEIGHT = 0.5
BANDWIDTH = 0.125
MIDDLE = 0.5
RIDGE = 0.1
RIDGE_OF_SCORES = 1.0
N_PARTS = 2  # of the functions: all, and those without boxes


@dataclass(frozen=True)
class UpdateBasis:
    """The scores by the last choice of settings, the first boxes, a constant, and a trend in each feature.

    Attributes
    ----------
    scaler : RankScaler
    group : BoxGroup
    n_classes : int
    """

    scaler: RankScaler
    group: BoxGroup
    n_classes: int
    _packed: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, readout: Readout, lower: FloatArray, upper: FloatArray) -> UpdateBasis:
        """Return the functions that go with a readout; `lower` and `upper`: corners of its boxes."""
        lower, upper = lower[:MAX_BOXES], upper[:MAX_BOXES]
        n_boxes, n_features = lower.shape
        reached = lower <= upper
        low, high = (readout.scaler.blend(side, RANK_WEIGHT) for side in (lower, upper))
        corners = np.where(reached, low, lower), np.where(reached, high, upper)
        group = BoxGroup(RANK_WEIGHT, np.arange(n_features), np.ones(n_features), np.arange(n_boxes), *corners)
        return cls(readout.scaler, group, len(readout.bias))

    @property
    def _n_trends(self) -> int:
        n_features = len(self.group.features)
        return n_features if n_features <= MAX_FEATURES else 0

    @property
    def n_functions(self) -> int:
        """Number of functions."""
        return self.n_classes + len(self.group.boxes) + 1 + self._n_trends

    @cached_property
    def ridges(self) -> FloatArray:
        """λ of each function."""
        return np.repeat([RIDGE_OF_SCORES, RIDGE], [self.n_classes, self.n_functions - self.n_classes])

    @cached_property
    def parts(self) -> tuple[IntArray, ...]:
        """Functions of each regression: all functions, and all but those of boxes."""
        every = np.arange(self.n_functions)
        return every, np.delete(every, slice(self.n_classes, self.n_classes + len(self.group.boxes)))

    @cached_property
    def first_weights(self) -> FloatArray:
        """Initial weights, shape (n_functions, n_classes), under which scores do not change."""
        return np.eye(self.n_functions, self.n_classes)

    def values(self, coded: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the functions at coded samples, shape (n_samples, n_functions), given their scores."""
        values = np.empty((len(coded), self.n_functions))
        self._functions().values(np.ascontiguousarray(coded), scores, values, stop_flag())
        return values

    def weighted(self, coded: FloatArray, scores: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sums of the functions at coded samples times weights, shape (n_functions, n_classes)."""
        sums = scores.copy()
        self._functions().weigh(np.ascontiguousarray(coded), sums, weights, stop_flag())
        return sums

    def _functions(self) -> Any:
        """Return the functions as the backend takes them, packed once."""
        module = backend()
        if module not in self._packed:
            boxes = self.group.packed
            self._packed[module] = module.StreamFunctions(
                *self.scaler.tables(),
                RANK_WEIGHT,
                boxes.lower,
                boxes.upper,
                boxes.n_boxes,
                BANDWIDTH * len(self.group.features),
                MIDDLE,
                self._n_trends,
            )
        return self._packed[module]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_packed": {}}

    def updated(self, readout: Readout, weights: FloatArray) -> Readout:
        """Return the readout that adds the functions with these weights."""
        of_scores, of_boxes, constant, slopes = np.split(
            weights, np.cumsum([self.n_classes, len(self.group.boxes), 1]), axis=0
        )
        terms: list[Term] = [term.mixed(of_scores) for term in readout.terms]
        if len(of_boxes):
            terms.append(BoxTerm(self.group, BANDWIDTH, of_boxes.T[None]))
        if len(slopes):
            centre = np.full(len(self.group.features), MIDDLE)
            terms.append(LinearTerm(RANK_WEIGHT, centre, slopes))
        bias = readout.bias @ of_scores + constant[0]
        return replace(readout, terms=tuple(terms), bias=bias)
