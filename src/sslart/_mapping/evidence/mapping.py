"""Evidence mapping of one network: which labels are kept, when settings are chosen, and the fitted regression."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from sslart._art.network import Network
from sslart._art.row_keys import row_keys
from sslart._data.classes import ClassTable
from sslart._data.labels import UNLABELLED, Labels
from sslart._data.samples import Table
from sslart._data.saved import MAX_SEED, saved_whole
from sslart._mapping.base import Segment
from sslart._mapping.evidence.design import BOXES_IN_GRAPH, BoxSet, LabelledSet, places_in_class
from sslart._mapping.evidence.families import FAMILIES, family_of
from sslart._mapping.evidence.kept_labels import LabelReservoir
from sslart._mapping.evidence.many.classes import MANY_CLASSES, warn_of_usual_settings
from sslart._mapping.evidence.readout import Readout
from sslart._mapping.evidence.selection import Solution, choose, choose_by_some, is_chosen_by_some, learn
from sslart._mapping.evidence.settings import (
    DEFAULT_MIXTURE,
    MAX_SETTING,
    MIN_SETTING,
    N_BLOCKS,
    BasisSpec,
    EvidenceSettings,
    Mixture,
)
from sslart._mapping.left_out import LeftOut
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.deferred import CachesValues
from sslart._utils.params import check_number
from sslart._utils.text import list_text

MAX_BOXES = 4000
MAX_BOXES_OF_CLASSES = 6000  # where there are as many classes
BOXES_PER_CLASS = 2  # at least, that take part
BOXES_IN_OLD_GRAPH = 1500  # of files without their number
N_HEAVIEST = 16  # mixtures that predict by some of the labels
AS_BEFORE, LEFT_OUT = 0, 1  # in files: how left-out labels are predicted


@dataclass(frozen=True, eq=False)
class EvidenceMapping(CachesValues):
    """All boxes contribute to every prediction, and a ridge regression on the labelled samples gives their weights.

    Immutable: every call that learns makes a new one.

    Attributes
    ----------
    settings : EvidenceSettings
    network : Network or None
        The boxes; None before anything is learnt.
    class_table : ClassTable
    reservoir : LabelReservoir
        The labelled samples that are kept.
    mixtures : tuple of Mixture
        What leave-one-out has chosen; empty without a label.
    chosen : Solution or None
        The solution that the choice came with, where it is that of the boxes and labels as they are.
    as_before : bool
        Whether it comes from a file of before copies were left out together: then left-out labels are predicted as
        they were.
    settings_by_labels : bool
        Whether labels have chosen the settings; they cannot where classes are many and too few have two labels.
    n_in_graph : int
        How many boxes the graph of boxes has at most.
    """

    settings: EvidenceSettings
    network: Network | None = None
    class_table: ClassTable = field(default_factory=ClassTable)
    reservoir: LabelReservoir = field(default_factory=LabelReservoir)
    mixtures: tuple[Mixture, ...] = ()
    chosen: Solution | None = None
    as_before: bool = False
    settings_by_labels: bool = True
    n_in_graph: int = BOXES_IN_GRAPH

    uses_evidence = True
    one_to_one = False

    def check_classes(self, owner: str, class_table: ClassTable) -> None:
        """Raise a ValueError where a class weight is that of a class that `fit` has no label of."""
        given, classes = self.settings.class_weight, class_table.classes.tolist()
        unknown = [] if given is None or isinstance(given, str) else [label for label in given if label not in classes]
        if unknown:
            known = list_text([str(label) for label in classes])
            raise ValueError(
                f"class_weight names {unknown[0]!r}, which is no class in y: the classes are {known}. Correct the "
                f"name, or leave it out of class_weight of {owner}."
            )

    def segments(self, codes: IntArray, n_classes: int) -> list[Segment]:
        """Cut samples of a stream where settings are chosen anew: at the same labels however the stream is cut.

        That is where the second class comes, given how many are known, and where labels are 2, 3, 4, 6, 8, 12, 16, ...
        Of several such places in one call only the last leads to a choice: a choice does not depend on those before.
        """
        known = np.flatnonzero(codes != UNLABELLED)
        numbers = self.reservoir.n_seen + 1 + np.arange(len(known))
        is_time = _is_time_to_choose(numbers)
        if n_classes < 2:
            others = codes[known] != (0 if n_classes or not len(known) else codes[known[0]])
            is_time[np.flatnonzero(others)[:1]] = True
        ends = (known[is_time] + 1).tolist()
        segments = [Segment(slice(start, end), end == ends[-1]) for start, end in zip([0, *ends], ends, strict=False)]
        rest = slice(ends[-1] if ends else 0, len(codes))
        return segments if rest.start == len(codes) else [*segments, Segment(rest, False)]

    def learned(
        self,
        network: Network,
        class_table: ClassTable,
        table: Table,
        codes: IntArray,
        labels: Labels,
        *,
        choose: bool,
        is_last: bool,
    ) -> EvidenceMapping:
        """Return the mapping after its network has learnt samples.

        Parameters
        ----------
        network : Network
            With the boxes as they are now.
        class_table : ClassTable
        table : Table
        codes : array of length n_samples
            Class codes, -1 where unlabelled.
        labels : Labels
            With the groups and weights of the samples.
        choose : bool
            Whether to choose settings anew.
        is_last : bool
            Whether no more samples follow in this call.
        """
        known = codes != UNLABELLED
        own = labels[known]
        reservoir = self.reservoir.adding(
            table[known],
            codes[known],
            self.settings.max_labels,
            self.settings.seed,
            weights=own.weights,
            groups=own.groups,
        ).of_columns(network.encoder.categorical)
        mixtures = self.mixtures or ((DEFAULT_MIXTURE,) if len(reservoir) else ())
        mapping = replace(
            self, network=network, class_table=class_table, reservoir=reservoir, mixtures=mixtures, chosen=None
        )
        return mapping._with_choice(is_last) if choose and len(class_table.seen) > 1 else mapping

    def _with_choice(self, is_last: bool) -> EvidenceMapping:
        nodes = self._landmarks()
        labelled = replace(self._labelled_set(nodes), block_of=None)
        if is_chosen_by_some(labelled):
            return self._with_choice_by_some(labelled, nodes, is_last)
        solution = choose(labelled, self.settings.fixed, nodes)
        final = solution if is_last else None
        reservoir = self.reservoir.with_blocks(labelled.blocks)
        return replace(self, mixtures=solution.mixtures, chosen=final, reservoir=reservoir, settings_by_labels=True)

    def _with_choice_by_some(self, labelled: LabelledSet, nodes: IntArray, is_last: bool) -> EvidenceMapping:
        choice = choose_by_some(labelled, self.settings.fixed)
        final = learn(replace(labelled, block_of=choice.blocks), choice.mixtures, nodes) if is_last else None
        if is_last and not choice.by_labels:
            warn_of_usual_settings(labelled.n_classes)
        reservoir = self.reservoir.with_blocks(choice.blocks)
        return replace(
            self, mixtures=choice.mixtures, chosen=final, reservoir=reservoir, settings_by_labels=choice.by_labels
        )

    @cached_property
    def solution(self) -> Solution:
        """The regression on the labels kept and the boxes as they are, solved when it is first needed."""
        if self.chosen is not None:
            return self.chosen
        nodes = self._landmarks()
        return learn(self._labelled_set(nodes), self.mixtures, nodes)

    @property
    def readout(self) -> Readout:
        """The terms of the regression."""
        return self.solution.readout

    def _landmarks(self) -> IntArray:
        """Return the nodes that take part: those that have met a label first, then those of most samples."""
        assert self.network is not None
        nodes = self.network.nodes
        n = nodes.n_nodes
        labels = nodes.labels[:n]
        order = np.lexsort((np.arange(n), -nodes.support[:n], labels == UNLABELLED))
        if len(self.class_table.seen) > MANY_CLASSES:  # the largest boxes of each class first
            place = places_in_class(labels[order] - UNLABELLED)
            place[labels[order] == UNLABELLED] = BOXES_PER_CLASS
            order = order[np.argsort(np.minimum(place, BOXES_PER_CLASS), kind="stable")]
        return order[: max(MAX_BOXES, self._n_wanted_boxes())]

    def _n_wanted_boxes(self) -> int:
        """Return how many boxes take part at least, so that there are two of each class, or at least one."""
        n_classes = len(self.class_table.seen)
        return max(min(BOXES_PER_CLASS * n_classes, MAX_BOXES), min(n_classes, MAX_BOXES_OF_CLASSES))

    def _labelled_set(self, nodes: IntArray) -> LabelledSet:
        assert self.network is not None
        lower, upper = self.network.nodes.boxes()
        kept = self.reservoir.whole()
        return LabelledSet(
            self.network.encode(kept.table),
            self.class_table.order_of_seen()[kept.codes],
            len(self.class_table.seen),
            BoxSet(
                lower[nodes],
                upper[nodes],
                self.network.nodes.support[nodes],
                self._n_wanted_boxes(),
                self.n_in_graph,
            ),
            np.array([feature.category is not None for feature in self.network.encoder.features]),
            self.settings.seed,
            self.as_before,
            None if (kept.weights == 1).all() else kept.weights,
            kept.groups if kept.groups.any() else None,
            self._class_weights(),
            keys=row_keys(self.network.encoder.varying(kept.table)),
            block_of=kept.blocks,
            column_of=np.array([feature.column for feature in self.network.encoder.features], dtype=np.int64),
        )

    def _class_weights(self) -> FloatArray | str | None:
        """Return how much each class learnt so far counts."""
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
        """Whether each label kept is predicted rightly by the others alone."""
        return np.asarray(self.solution.left_out.argmax(axis=1) == self.solution.classes)

    @property
    def left_out(self) -> LeftOut:
        """What the other labels alone predict for each label kept."""
        solution = self.solution
        return LeftOut(
            self.class_table.with_unseen(self.readout.probabilities(solution.left_out)),
            np.sort(self.class_table.sorted_codes())[solution.classes],
            solution.groups.weights,
            solution.rows,
            solution.groups.numbers,
            solution.groups.kind,
        )

    @property
    def kept_labels(self) -> tuple[Table, IntArray]:
        """The labelled samples that are kept, and their class codes."""
        whole = self.reservoir.whole()
        return whole.table, whole.codes

    def proba_by_some(self, rows: IntArray, coded: FloatArray) -> FloatArray:
        """Return the probabilities of coded samples by some of the labels kept, with boxes and settings as they are.

        Of many mixtures, those that count most take part: it is for many such calls.
        """
        few = LabelReservoir((self.reservoir.whole()[rows],), self.reservoir.n_seen)
        heaviest = sorted(self.solution.mixtures, key=lambda one: -one.weight)[:N_HEAVIEST]
        total = sum(one.weight for one in heaviest)
        mixtures = tuple(one._replace(weight=one.weight / total, without=()) for one in heaviest if one.weight)
        readout = replace(self, reservoir=few, mixtures=mixtures, chosen=None).readout
        return self.class_table.with_unseen(readout.probabilities(readout.scores(coded, None)))

    def loo_recall(self) -> FloatArray:
        """Return the share of the labels of each class that the others alone predict; of all where a class has none."""
        right, classes, weights = self.loo_right, self.solution.classes, self.solution.groups.weights
        recall = np.full(len(self.class_table.classes), self.loo_accuracy)
        for order, index in enumerate(np.sort(self.class_table.sorted_codes())):
            own = classes == order
            if own.any():
                recall[index] = np.average(right[own], weights=weights[own])
        return recall

    def with_network(self, network: Network) -> EvidenceMapping:
        """Return the mapping, and what was made of it, with another object for the same network."""
        other = copy.copy(self)
        vars(other)["network"] = network
        return other

    def anew(self, network: Network, class_table: ClassTable, reservoir: LabelReservoir, seed: int) -> EvidenceMapping:
        """Return the mapping of other boxes and labels, for which settings are chosen anew."""
        mixtures = (DEFAULT_MIXTURE,) if len(reservoir) else ()
        settings = self.settings._replace(seed=seed)
        mapping = EvidenceMapping(settings, network, class_table, reservoir, mixtures)
        return mapping._with_choice(is_last=True) if len(class_table.seen) > 1 else mapping

    def with_columns(self, network: Network, n_columns: int) -> EvidenceMapping:
        """Return the mapping after its network has got further columns, missing in all samples learnt so far."""
        return replace(self, network=network, reservoir=self.reservoir.with_columns(n_columns), chosen=None)

    def to_state(self) -> dict[str, Any]:
        """Return what must be saved: plain values and arrays."""
        return {
            "reservoir": self.reservoir.to_state() if len(self.reservoir) else None,
            "mixtures": [
                {
                    "specs": [list(spec) for spec in one.specs],
                    "ridge": one.ridge,
                    "weight": one.weight,
                    "without": list(one.without),
                }
                for one in self.mixtures
            ],
            "seed": self.settings.seed,
            "left_out": AS_BEFORE if self.as_before else LEFT_OUT,
            "settings_by_labels": self.settings_by_labels,
            "n_in_graph": self.n_in_graph,
        }

    @classmethod
    def from_state(
        cls, state: dict[str, Any], settings: EvidenceSettings, network: Network, class_table: ClassTable
    ) -> EvidenceMapping:
        """Return the mapping of a saved state, after checking that it can be one."""
        n_classes, seed = len(class_table.seen), saved_whole(state, "seed", 0, MAX_SEED - 1)
        left_out = state.get("left_out", AS_BEFORE)
        n_columns = network.encoder.n_columns
        reservoir = LabelReservoir()
        if state["reservoir"] is not None:
            reservoir = LabelReservoir.from_state(state["reservoir"], n_columns, n_classes, seed)
            network.encoder.check(reservoir.whole().table)
        mixtures = tuple(_mixture(one) for one in state["mixtures"])
        fits = bool(len(reservoir)) == bool(mixtures) == bool(n_classes)
        by_labels = state.get("settings_by_labels", True)  # files of before many classes have none
        n_in_graph = state.get("n_in_graph", BOXES_IN_OLD_GRAPH)
        fits = fits and left_out in (AS_BEFORE, LEFT_OUT) and type(by_labels) is bool
        fits = fits and n_in_graph in (BOXES_IN_GRAPH, BOXES_IN_OLD_GRAPH)
        if not fits:
            raise ValueError("the evidence of the model does not fit its classes")
        settings = settings._replace(seed=seed)
        as_before = left_out == AS_BEFORE
        return cls(settings, network, class_table, reservoir, mixtures, None, as_before, by_labels, n_in_graph)


def _mixture(state: dict[str, Any]) -> Mixture:
    """Return a mixture of a saved state, after checking that it can be one."""
    specs = tuple(BasisSpec(*spec) for spec in state["specs"])
    families = {family.kind: family for family in FAMILIES}
    if not specs or any(not isinstance(spec.kind, str) or spec.kind not in families for spec in specs):
        raise ValueError("the model has a basis of an unknown kind")
    uses_ridge = all(families[spec.kind].uses_ridge for spec in specs)
    if not uses_ridge and len(specs) > 1:
        raise ValueError("the model mixes bases that cannot be mixed")
    without = tuple(state.get("without", ()))
    if len(without) not in (0, N_BLOCKS):
        raise ValueError("the model has weights for another number of blocks")
    for weight in (state["weight"], *without):
        check_number("a mixture", "weight", weight, 0, 1)
    check_number("a mixture", "ridge", state["ridge"], MIN_SETTING if uses_ridge else 0, MAX_SETTING)
    for spec in specs:
        check_number("a basis", "rank_weight", spec.rank_weight, 0, 1)
        check_number("a basis", "bandwidth", spec.bandwidth, *families[spec.kind].bandwidth_range)
    return Mixture(specs, state["ridge"], state["weight"], without)


def _is_time_to_choose(numbers: IntArray) -> BoolArray:
    """Return which numbers are two or more and a power of two, or half as much more."""
    thirds = numbers // 3
    power, half_more = ((n > 0) & (n & (n - 1) == 0) for n in (numbers, thirds))
    return np.asarray((numbers > 1) & (power | ((numbers % 3 == 0) & half_more)))
