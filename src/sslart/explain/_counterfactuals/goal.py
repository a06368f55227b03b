"""Whether a changed sample gets the class that is wanted, and how near it is to that."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sslart._art.boxes import NO_LIMIT
from sslart._art.geometry import box_norms
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._mapping.model_view import MemberView, ModelView
from sslart._utils.arrays import BoolArray, FloatArray, IntArray


class Goal:
    """What changed samples should reach: a class, or any class but the present one.

    Parameters
    ----------
    view : ModelView
    sample : Table
        The sample as it is, one row.
    present : int
        Class index that the model predicts for it, -1 for none.
    target : int or None
        Class index that is wanted; None for any other than the present one.
    plausible : bool
        Whether changed samples must be familiar to the model: not novel, or no more so than the sample is.
    """

    def __init__(self, view: ModelView, sample: Table, present: int, target: int | None, *, plausible: bool) -> None:
        self.view, self.sample, self.plausible = view, sample, plausible
        wanted = np.arange(len(view.classes)) != present if target is None else np.arange(len(view.classes)) == target
        learnt = np.zeros(len(wanted), dtype=bool)
        learnt[view.class_table.sorted_codes()] = True
        self.wanted: BoolArray = wanted & learnt
        self.others: BoolArray = ~wanted & learnt

    @cached_property
    def familiar_from(self) -> float:
        """The familiarity from which on a changed sample is not novel, or no more so than the sample is."""
        return min(self.view.novelty_threshold, self.view.score_samples(self.sample).item())

    def is_novel(self, table: Table) -> BoolArray:
        """Return which samples are more unlike what was learnt than nearly all learnt samples, and than the sample."""
        return np.asarray(self.view.score_samples(table) < self.familiar_from)

    def reached(self, table: Table) -> BoolArray:
        """Return which samples the model predicts as wanted."""
        indices = self.view.predict(table).indices
        reached = (indices != UNLABELLED) & self.wanted[indices]
        rows = np.flatnonzero(reached)
        if self.plausible and rows.size:
            reached[rows] = ~self.is_novel(table[rows])
        return np.asarray(reached)

    def margins(self, table: Table) -> FloatArray:
        """Return how much more the model finds for the wanted classes than for others, mean over the members.

        That guides the search; `reached` decides.
        """
        return np.asarray(np.mean([self._margins(member, table) for member in self.view.members], axis=0))

    def _margins(self, member: MemberView, table: Table) -> FloatArray:
        if not self.view.uses_evidence:
            coded, (wanted, others) = member.encode(table), self._labels(member)
            return self._choices(member, coded, wanted) - self._choices(member, coded, others)
        scores = member.scores(member.at_choice.encode(table))
        if self.others.any():
            return np.asarray(scores[:, self.wanted].max(axis=1) - scores[:, self.others].max(axis=1))
        highest = np.sort(scores, axis=1)[:, -2:]  # the model abstains: any class is wanted, by a clear margin
        return np.asarray(highest[:, -1] - highest[:, 0])

    def _labels(self, member: MemberView) -> tuple[IntArray, IntArray]:
        """Return labels of boxes, -1 for all but those of wanted classes; and the same for the boxes against these."""
        labels = member.labels
        wanted = np.where((labels != UNLABELLED) & self.wanted[labels], labels, UNLABELLED)
        against = (wanted == UNLABELLED) & ((labels != UNLABELLED) | (self.view.search_depth != NO_LIMIT))
        return wanted, np.where(against, 0, UNLABELLED)

    def _choices(self, member: MemberView, coded: FloatArray, labels: IntArray) -> FloatArray:
        """Return the choice T = |A ∧ W| / (α + |W|) of the best box that has a label; 0 without such a box."""
        nodes, matches = member.rank(coded, labels=labels)
        present = ~np.isnan(coded[:1])
        lower, upper = member.boxes_of(np.maximum(nodes[:, 0], 0))
        norms = box_norms(present, lower, upper)
        choices = matches[:, 0] * present.sum() / (member.params.choice + norms)
        return np.where(nodes[:, 0] < 0, 0.0, choices)
