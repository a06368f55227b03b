"""The number of the rule behind each prediction, as the rule set of the model numbers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sslart._data.classes import Label
from sslart._mapping.evidence.bases.packed_boxes import PackedBoxes
from sslart._mapping.model_view import view_of
from sslart._utils.arrays import IntArray
from sslart.rules._rules_of import rules_of

NO_RULE = -1
ROWS_PER_PART = 2048


class RuleNumbers:
    """Numbers of the rules of a model, computed once and then looked up.

    Where one box decides a prediction, its rule is meant. Where many do, in an ensemble or with evidence mapping, it is
    the nearest rule of the predicted class.

    Parameters
    ----------
    model : fitted FuzzyARTMAP, SSLART or WESSLART
    """

    def __init__(self, model: Any) -> None:
        self._view = view_of(model)
        rules = rules_of(model, kind="boxes")
        self._domain = rules._domain
        self._of_node = np.full(sum(member.n_nodes for member in self._view.members), NO_RULE)
        for number, rule in zip(rules.numbers, rules, strict=True):
            self._of_node[list(rule.nodes)] = number
        lower, upper = self._domain.boxes(rules)
        labels = [rule.label for rule in rules]
        self._of_class: dict[Label, tuple[IntArray, PackedBoxes]] = {}
        for label in set(labels):
            own = np.flatnonzero([one == label for one in labels])
            self._of_class[label] = np.array(rules.numbers)[own], PackedBoxes.of(lower[own], upper[own])

    def __call__(self, X: Any, labels: Sequence[Label | None]) -> IntArray:
        """Return the number of the rule for each sample and its predicted label; -1 where the label is None.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        labels : sequence of class or None
            What the model predicts for each sample, None where it abstains.
        """
        if self._view.uses_one_box:
            (member,) = self._view.members
            nodes = member.first_labelled(member.encode(self._view.read(X)))  # the same at every depth that predicts
            predicted = np.array([label is not None for label in labels])
            return np.where(predicted, self._of_node[nodes], NO_RULE)
        coded = self._domain.encode(X)
        numbers = np.full(len(labels), NO_RULE)
        for label, (own, boxes) in self._of_class.items():
            rows = np.flatnonzero([one == label for one in labels])
            for start in range(0, len(rows), ROWS_PER_PART):
                part = rows[start : start + ROWS_PER_PART]
                numbers[part] = own[boxes.distances(coded[part]).argmin(axis=1)]
        return numbers
