"""Leave-one-out predictions of the labels that a model stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sslart._art.backend import multiply
from sslart._data.samples import Table
from sslart._mapping.decision_rules import cheapest
from sslart._mapping.ensemble_votes import MIN_CLASS_WEIGHT
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.cache import CachesValues
from sslart._utils.intervals import Estimate, confidence_sequence, wilson

# kinds of groups: by the user, by the test for dependence between rows, and by one answer about several samples
GIVEN, FOUND, ANSWERS = "given", "found", "answers"
VARIANCE_FACTOR = 2.0  # variance of leave-one-out shares relative to independent samples: see `share`


@dataclass(frozen=True, eq=False)
class LooPredictions(CachesValues):
    """Leave-one-out predictions of the labelled samples that a model stores; a group is left out together."""

    proba: FloatArray  # (n_labels, n_classes): probabilities
    truth: IntArray  # class index of each label
    weights: FloatArray  # weight of each label: the weights of a group sum to one
    rows: IntArray  # indices among the stored labelled samples
    groups: IntArray  # the number of the group of each label
    kind: str  # {"single", "copies", "near copies", "given", "found", "answers"}: the reason of the groups
    costs: FloatArray | None = None  # (n_classes, n_classes): decision costs, if the model has any
    at_random: BoolArray | None = None  # mask of samples that were drawn at random to be labelled; None: all
    # whether these are only the samples drawn at random, while others were chosen: intervals hold at every look
    is_sequential: bool = False

    @cached_property
    def predicted(self) -> IntArray:
        """Class index of the highest probability or, with costs, of the lowest expected cost."""
        return np.asarray(self.proba.argmax(axis=1)) if self.costs is None else cheapest(self.proba, self.costs)

    @property
    def confidence(self) -> FloatArray:
        """The probability of the predicted class."""
        return np.asarray(self.proba[np.arange(len(self.proba)), self.predicted])

    @property
    def highest(self) -> FloatArray:
        """The highest probability."""
        return np.asarray(self.proba.max(axis=1))

    @property
    def right(self) -> BoolArray:
        """Mask of labels that are predicted correctly."""
        return np.asarray(self.predicted == self.truth)

    @property
    def n_labels(self) -> int:
        """Number of labels; the labels of a group count as one."""
        return round(float(self.weights.sum()))

    @cached_property
    def drawn(self) -> LooPredictions:
        """The predictions of the samples that were drawn at random, on which statements of quality rest."""
        if self.at_random is None or self.at_random.all():
            return self
        rows = np.flatnonzero(self.at_random)
        _, place, sizes = np.unique(self.groups[rows], return_inverse=True, return_counts=True)
        return LooPredictions(
            self.proba[rows],
            self.truth[rows],
            1.0 / sizes[place],
            self.rows[rows],
            self.groups[rows],
            self.kind,
            self.costs,
            is_sequential=True,
        )

    def by_class(self) -> FloatArray:
        """Return the number of labels of each class; the labels of a group count as one."""
        return np.asarray(np.bincount(self.truth, self.weights, self.proba.shape[1]), dtype=np.float64)

    @property
    def is_measurable(self) -> bool:
        """False with labels of one class only, or with one of each class, which is always predicted wrongly."""
        counts = self.by_class()
        return bool((counts > 0).sum() >= 2 and counts.max() >= 1.5)

    def share(self, hits: BoolArray, among: BoolArray | None = None) -> Estimate:
        """Return the share of hits among all or some labels, with an interval for new samples.

        Leave-one-out predictions share nearly all their training labels, so that their accuracy has about twice the
        variance of independent samples (Nadeau and Bengio 2003, for as many folds as labels).
        """
        weights = self.weights if among is None else np.where(among, self.weights, 0.0)
        return estimate_of(hits, weights, VARIANCE_FACTOR, is_sequential=self.is_sequential)


def estimate_of(hits: BoolArray, weights: FloatArray, factor: float, *, is_sequential: bool = False) -> Estimate:
    """Return a weighted share with its 95 % interval.

    `factor`: variance relative to independent samples; `is_sequential`: whether the interval shall hold at every look.
    """
    n = round(float(weights.sum()), 6)
    if not n:
        return Estimate(None, None, None, 0, 0)
    value = float(np.average(hits, weights=weights))
    low, high = confidence_sequence(value * n, n) if is_sequential else wilson(value * n / factor, n / factor)
    return Estimate(value, low, high, round(value * n), round(n))


def left_out_by_vote(found: Sequence[LooPredictions], tables: Sequence[Table], *, weighted: bool) -> LooPredictions:
    """Return the leave-one-out predictions of an ensemble, for labels left out in every member.

    `tables` are the labelled samples of the members. With weighted votes, the weight of a member for a class is its
    recall on the other labels.
    """
    keys = [_keys(one, numbers) for one, numbers in zip(found, identities(tables), strict=True)]
    places = [{key: place for place, key in enumerate(own)} for own in keys]
    common = [key for key in places[0] if all(key in place for place in places[1:])]
    rows = np.array([[place[key] for key in common] for place in places], dtype=np.int64)
    proba = np.array([one.proba[own] for one, own in zip(found, rows, strict=True)])
    first = found[0]
    truth, weights = first.truth[rows[0]], first.weights[rows[0]]
    scores = proba
    if weighted:
        right = np.array([one.right[own] for one, own in zip(found, rows, strict=True)])
        scores = proba * np.maximum(_success_without(right, truth, weights, proba.shape[2]), MIN_CLASS_WEIGHT)
    total = scores.sum(axis=0)
    proba_of_vote = total / total.sum(axis=1, keepdims=True)
    groups, at_random = first.groups[rows[0]], None if first.at_random is None else first.at_random[rows[0]]
    return LooPredictions(proba_of_vote, truth, weights, first.rows[rows[0]], groups, first.kind, at_random=at_random)


def _success_without(right: BoolArray, truth: IntArray, weights: FloatArray, n_classes: int) -> FloatArray:
    """Return the leave-one-out recall of each member for each class, (n_members, n_labels, n_classes)."""
    of_class = np.eye(n_classes)[truth] * weights[:, None]
    hits, trials = multiply(right.astype(np.float64), of_class), of_class.sum(axis=0)
    own_hits = right[:, :, None] * of_class
    hits, trials = hits[:, None] - own_hits, trials - of_class
    overall = hits.sum(axis=2, keepdims=True) / np.maximum(trials.sum(axis=1, keepdims=True), 1e-12)
    return np.asarray(np.where(trials > 1e-12, hits / np.maximum(trials, 1e-12), overall))


def identities(tables: Sequence[Table]) -> list[IntArray]:
    """Return a number for each sample of several tables, equal for samples that agree in every value."""
    found: dict[Any, int] = {}
    numbers = []
    for table in tables:
        categories = [table.categories[column] for column in sorted(table.categories)]
        keys = [(values.tobytes(), *own) for values, *own in zip(table.values, *categories, strict=True)]
        numbers.append(np.array([found.setdefault(key, len(found)) for key in keys], dtype=np.int64))
    return numbers


def _keys(left_out: LooPredictions, numbers: IntArray) -> list[tuple[int, int, int]]:
    """Return a key for each label: sample number, class, and index among equal ones."""
    seen: Counter[tuple[int, int]] = Counter()
    keys = []
    for key in zip(numbers[left_out.rows].tolist(), left_out.truth.tolist(), strict=True):
        seen[key] += 1
        keys.append((*key, seen[key]))
    return keys
