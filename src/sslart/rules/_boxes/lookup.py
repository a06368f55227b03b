"""The number of the box rule behind each prediction, as `rules_of` with kind "boxes" numbers them."""

from __future__ import annotations

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._mapping.evidence.boxes import PackedBoxes
from sslart._mapping.model_view import ModelView, PredictionBatch
from sslart._utils.arrays import IntArray
from sslart.rules._boxes.extract import box_groups, domain_of
from sslart.rules._boxes.scales import DEFAULT_LEVELS

NO_RULE = -1
ROWS_PER_PART = 2048


class RuleNumbers:
    """Numbers of the box rules of a model, looked up without making the rules.

    Where one box decides a prediction, its rule is meant. Where many do, in an ensemble or with evidence mapping, it is
    the nearest rule of the predicted class.

    Parameters
    ----------
    view : ModelView
    """

    def __init__(self, view: ModelView) -> None:
        if view.uses_one_box:
            return
        found = box_groups(view, domain_of(view, DEFAULT_LEVELS, None))
        single = len(view.members) == 1
        numbers = np.array([own[0] for own in found.nodes]) if single else np.arange(1, len(found.nodes) + 1)
        self._of_class = [
            (label, numbers[own], PackedBoxes.of(found.lower[own], found.upper[own]))
            for label in np.unique(found.labels).tolist()
            for own in [found.labels == label]
        ]

    def __call__(self, batch: PredictionBatch, indices: IntArray) -> IntArray:
        """Return the number of the rule for each sample and the class predicted for it, by index; -1 where that is."""
        if batch.view.uses_one_box:
            return np.where(indices == UNLABELLED, NO_RULE, batch.all_nodes()[0])
        numbers = np.full(len(indices), NO_RULE)
        for label, own, boxes in self._of_class:
            rows = np.flatnonzero(indices == label)
            for start in range(0, len(rows), ROWS_PER_PART):
                part = rows[start : start + ROWS_PER_PART]
                numbers[part] = own[boxes.distances(batch.coded[0][part]).argmin(axis=1)]
        return numbers
