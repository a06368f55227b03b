"""The regression of evidence mapping: the labels and boxes as they were when settings were last chosen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from sslart._art.backend import row_keys
from sslart._art.network import Network
from sslart._data.labels import UNLABELLED, ClassTable
from sslart._mapping.evidence.design import BoxSet, LabelledSet, places_in_class
from sslart._mapping.evidence.families import FAMILIES, family_of
from sslart._mapping.evidence.kept_labels import LabelReservoir
from sslart._mapping.evidence.many.classes import warn_of_usual_settings
from sslart._mapping.evidence.selection import Solution, choose, choose_by_some, is_chosen_by_some, learn
from sslart._mapping.evidence.settings import MANY_CLASSES, NO_BLOCK, EvidenceSettings, FixedSettings, Mixture
from sslart._mapping.evidence.stream.recent import Recent
from sslart._mapping.left_out import LeftOut
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.cache import CachesValues

MAX_BOXES = 4000  # that take part in a regression; many classes may need more
MAX_BOXES_OF_CLASSES = 6000  # where there are as many classes
BOXES_PER_CLASS = 2  # at least, that take part


@dataclass(frozen=True, eq=False)
class Regression(CachesValues):
    """A ridge regression on labelled samples, with the boxes as basis functions. Immutable.

    Attributes
    ----------
    settings : EvidenceSettings
    network : Network or None
        The boxes as they were at the last choice of settings; None before the first.
    class_table : ClassTable
    reservoir : LabelReservoir
        The labelled samples that were kept then.
    mixtures : tuple of Mixture
        What leave-one-out has chosen; empty without a label.
    chosen : Solution or None
        The solution that the choice came with, where it is that of the boxes and labels as they are.
    settings_by_labels : bool
        Whether labels have chosen the settings; they cannot where classes are many and too few have two labels.
    recent : Recent
        What has come since.
    """

    settings: EvidenceSettings
    network: Network | None = None
    class_table: ClassTable = field(default_factory=ClassTable)
    reservoir: LabelReservoir = field(default_factory=LabelReservoir)
    mixtures: tuple[Mixture, ...] = ()
    chosen: Solution | None = None
    settings_by_labels: bool = True
    recent: Recent = field(default_factory=Recent)

    def with_choice(self, is_last: bool, fixed: FixedSettings) -> Self:
        """Return the regression with the settings that the labels choose; `fixed`: those that they do not."""
        nodes = self._landmarks()
        labelled = replace(self._labelled_set(nodes), block_of=None)
        if is_chosen_by_some(labelled):
            return self._with_choice_by_some(labelled, fixed, nodes, is_last)
        solution = choose(labelled, fixed, nodes)
        final = self._of_all(solution) if is_last else None
        reservoir = self.reservoir.with_blocks(self._blocks_of_all(labelled.blocks))
        return replace(self, mixtures=solution.mixtures, chosen=final, reservoir=reservoir, settings_by_labels=True)

    def _with_choice_by_some(self, labelled: LabelledSet, fixed: FixedSettings, nodes: IntArray, is_last: bool) -> Self:
        choice = choose_by_some(labelled, fixed)
        final = None
        if is_last:
            final = self._of_all(learn(replace(labelled, block_of=choice.blocks), choice.mixtures, nodes))
        if is_last and not choice.by_labels:
            warn_of_usual_settings(labelled.n_classes)
        reservoir = self.reservoir.with_blocks(self._blocks_of_all(choice.blocks))
        return replace(
            self, mixtures=choice.mixtures, chosen=final, reservoir=reservoir, settings_by_labels=choice.by_labels
        )

    @cached_property
    def solution(self) -> Solution:
        """The regression on the stored labels and the current boxes, solved on first use."""
        if self.chosen is not None:
            return self.chosen
        if self.network is None:
            raise ValueError("The model has not learnt a label yet. Let it learn labelled samples first.")
        nodes = self._landmarks()
        return self._of_all(learn(self._labelled_set(nodes), self.mixtures, nodes))

    def _of_all(self, solution: Solution) -> Solution:
        """Return the solution with the places of its labels among all that are kept."""
        used = self.recent.used(self.reservoir)
        return solution if used is None else replace(solution, rows=used[solution.rows])

    def _blocks_of_all(self, blocks: IntArray) -> IntArray:
        """Return the blocks of the labels that take part as blocks of all labels kept."""
        used = self.recent.used(self.reservoir)
        if used is None:
            return blocks
        every = np.full(len(self.reservoir), NO_BLOCK)
        every[used] = blocks
        return every

    def _landmarks(self) -> IntArray:
        """Return the boxes used as landmarks: boxes with labels first, then those of the largest support."""
        assert self.network is not None
        nodes = self.network.nodes
        n = nodes.n_nodes
        labels = nodes.labels
        order = np.lexsort((np.arange(n), -nodes.support, labels == UNLABELLED))
        if len(self.class_table.seen) > MANY_CLASSES:  # the largest boxes of each class first
            place = places_in_class(labels[order] - UNLABELLED)
            place[labels[order] == UNLABELLED] = BOXES_PER_CLASS
            order = order[np.argsort(np.minimum(place, BOXES_PER_CLASS), kind="stable")]
        return order[: max(MAX_BOXES, self._n_wanted_boxes())]

    def _n_wanted_boxes(self) -> int:
        """Return the smallest number of landmarks: two per class if possible, else one."""
        n_classes = len(self.class_table.seen)
        return max(min(BOXES_PER_CLASS * n_classes, MAX_BOXES), min(n_classes, MAX_BOXES_OF_CLASSES))

    def _labelled_set(self, nodes: IntArray) -> LabelledSet:
        assert self.network is not None
        lower, upper = self.network.nodes.boxes()
        kept, used = self.reservoir.whole(), self.recent.used(self.reservoir)
        if used is not None:
            kept = kept[used]
        weights = kept.weights * self.recent.shares_of(kept.times)
        return LabelledSet(
            self.network.encode(kept.table),
            self.class_table.order_of_seen()[kept.codes],
            len(self.class_table.seen),
            BoxSet(lower[nodes], upper[nodes], self.network.nodes.support_of(nodes), self._n_wanted_boxes()),
            np.array([feature.category is not None for feature in self.network.encoder.features]),
            self.settings.seed,
            None if (weights == 1).all() else weights,
            kept.groups if kept.groups.any() else None,
            self._class_weights(),
            keys=row_keys(self.network.encoder.varying(kept.table)),
            block_of=kept.blocks,
            column_of=np.array([feature.column for feature in self.network.encoder.features], dtype=np.int64),
        )

    def _class_weights(self) -> FloatArray | str | None:
        """Return the weight of each class learnt so far."""
        given = self.settings.class_weight
        if given is None or isinstance(given, str):
            return given
        learnt = self.class_table.classes[np.sort(self.class_table.sorted_codes())]
        return np.array([given.get(label, 1.0) for label in learnt.tolist()], dtype=np.float64)

    @property
    def family_weights(self) -> dict[str, float]:
        """The weight of each family of bases in the mixtures; they sum to one."""
        weights = dict.fromkeys((family.name for family in FAMILIES), 0.0)
        for mixture in self.solution.mixtures:
            for spec in mixture.specs:
                weights[family_of(spec).name] += mixture.weight / len(mixture.specs)
        return {family: weight for family, weight in weights.items() if weight}

    @property
    def loo_accuracy(self) -> float:
        """Share of the labels that are predicted rightly by the others alone; copies of a sample count one together."""
        return float(np.average(self.loo_right, weights=self.solution.groups.weights))

    @property
    def loo_right(self) -> BoolArray:
        """Mask of stored labels whose leave-one-out prediction is correct."""
        return np.asarray(self.solution.left_out.argmax(axis=1) == self.solution.classes)

    @property
    def left_out(self) -> LeftOut:
        """Leave-one-out predictions of the stored labels."""
        solution = self.solution
        return LeftOut(
            self.class_table.with_unseen(solution.readout.probabilities(solution.left_out)),
            np.sort(self.class_table.sorted_codes())[solution.classes],
            solution.groups.weights,
            solution.rows,
            solution.groups.numbers,
            solution.groups.kind,
        )

    def loo_recall(self) -> FloatArray:
        """Return the share of the labels of each class that the others alone predict; of all where a class has none."""
        right, classes, weights = self.loo_right, self.solution.classes, self.solution.groups.weights
        recall = np.full(len(self.class_table.classes), self.loo_accuracy)
        for order, index in enumerate(np.sort(self.class_table.sorted_codes())):
            own = classes == order
            if own.any():
                recall[index] = np.average(right[own], weights=weights[own])
        return recall
