"""The number of the rule behind each answer, as `sslart rules` numbers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sslart._mapping.evidence.packed_boxes import Speakers
from sslart._utils.arrays import IntArray

NO_RULE = 0
ROWS_PER_PIECE = 2048


class RuleNumbers:
    """Rules of a model, ready to be looked up.

    Where one box answers, its rule is meant. Where many do, in an ensemble or with evidence mapping, it is the rule
    nearest to the sample among those that name the answer.

    Parameters
    ----------
    model : fitted FuzzyARTMAP, SSLART or WESSLART
    """

    def __init__(self, model: Any) -> None:
        self.model, rules = model, model.rules()
        self.domain = rules._domain
        self.one_box_answers = not (hasattr(model, "estimators_") or self.domain.has_evidence)
        self.of_node = np.zeros(int(model.n_nodes_), dtype=np.int64)
        for number, rule in enumerate(rules, start=1):
            self.of_node[list(rule.nodes)] = number
        lower, upper = self.domain.boxes(rules)
        labels = [rule.label for rule in rules]
        self.of_class: dict[Any, tuple[IntArray, Speakers]] = {}
        for label in set(labels):
            places = np.flatnonzero([one == label for one in labels])
            self.of_class[label] = places + 1, Speakers.of(lower[places], upper[places])

    def __call__(self, samples: Any, answers: Sequence[Any]) -> IntArray:
        """Return the number for each answer; 0 where there is none."""
        answered = np.array([answer is not None for answer in answers])
        if self.one_box_answers:
            return np.where(answered, self.of_node[self.model.apply(samples)], NO_RULE)
        coded = self.domain.code(self.domain.encoder.matrix(self.domain.read(samples)))
        numbers = np.full(len(answers), NO_RULE)
        for label, (own, speakers) in self.of_class.items():
            rows = np.flatnonzero([answer == label for answer in answers])
            for start in range(0, len(rows), ROWS_PER_PIECE):
                piece = rows[start : start + ROWS_PER_PIECE]
                distances = speakers.distances(coded[piece], np.zeros(1, dtype=np.uint8))
                numbers[piece] = own[distances.argmin(axis=1)]
        return numbers
