"""Evidence mapping of one network: stored labels, selection of settings, and the fitted regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from sslart._art.backend import row_keys
from sslart._art.network import Network
from sslart._data.labels import UNLABELLED, ClassTable, Labels
from sslart._data.roles import Dependence, Units
from sslart._data.samples import Table
from sslart._mapping.base import Effort, FitSize, Mapping, Segment
from sslart._mapping.evidence.boxes import most_boxes
from sslart._mapping.evidence.dependence import dependent_units
from sslart._mapping.evidence.design import BoxSet, LabelledSet, places_in_class
from sslart._mapping.evidence.families import FAMILIES, family_of, mixture_of
from sslart._mapping.evidence.label_reservoir import AbsentLabels, LabelReservoir, labels_of
from sslart._mapping.evidence.large_scale import MAX_BOXES as MAX_BOXES_OF_MANY
from sslart._mapping.evidence.large_scale import MAX_FUNCTIONS, MAX_LABELS, warn_of_usual_settings
from sslart._mapping.evidence.readout import Readout, SavedContext, Solution
from sslart._mapping.evidence.replicates import Replicates, replicates_of
from sslart._mapping.evidence.selection import MAX_TRIED, choose, choose_by_some, is_chosen_by_some, learn
from sslart._mapping.evidence.settings import (
    DEFAULT_MIXTURE,
    MANY_CLASSES,
    N_BLOCKS,
    NO_BLOCK,
    EvidenceSettings,
    FixedSettings,
    Mixture,
)
from sslart._mapping.evidence.streams import (
    LONG,
    MAX_USED,
    MIN_SHARE,
    Competition,
    StreamState,
    Updates,
    choosing_rows,
)
from sslart._mapping.loo_predictions import FOUND, GIVEN, LooPredictions
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.cache import CachesValues, changed
from sslart._utils.text import list_text
from sslart._utils.validation import WITHOUT_SAMPLES, require

MAX_BOXES = 4000  # used in a regression; many classes may need more
MAX_BOXES_OF_CLASSES = 6000  # used in a regression with as many classes
BOXES_PER_CLASS = 2  # used at least, for each class
N_BASES = 24  # bases in memory during the selection, for the memory estimate
N_CORNERS = 16  # copies of the corners of boxes (scales, weighted, packed), for the memory estimate
N_HEAVIEST = 16  # mixtures used in predictions from a subset of the labels, for speed
MAX_SOLVED = 2 * 10**9  # entries of cubic time in the regressions without each block of labels
MIN_BLOCKS = 4  # of labels, for these regressions
MOST_CLASSES, MOST_FEATURES = 12, 1000  # in these regressions, whose time is linear in both


class Known(NamedTuple):
    """Results known at construction, from learning or from a file."""

    updates: Updates | None = None
    settled: Solution | None = None  # of the regression on all labels kept
    predicted: IntArray | None = None  # the class codes predicted for the samples of the last call


NOTHING_KNOWN = Known()


@dataclass(frozen=True, eq=False)
class EvidenceMapping(CachesValues, Mapping):
    """Evidence mapping: all boxes contribute to every prediction, with weights of a ridge regression on the labels.

    Between two selections of settings the boxes in use are fixed, and each label is a small update of the weights.
    Immutable: every call that learns returns a new mapping.
    """

    uses_evidence = True
    settings: EvidenceSettings
    network: Network | None = None  # the network at the last selection of settings; None before the first
    class_table: ClassTable = field(default_factory=ClassTable)
    reservoir: LabelReservoir = field(default_factory=LabelReservoir)  # the labelled samples stored then
    mixtures: tuple[Mixture, ...] = ()  # selected by leave-one-out; empty without a label
    # the solution found by the selection, if the boxes and labels have not changed since
    chosen: Solution | None = None
    # whether settings were selected by labels; they are defaults if too few of many classes have two labels
    settings_by_labels: bool = True
    recent: StreamState = field(default_factory=StreamState)  # the samples since then
    known: Known = field(default_factory=lambda: NOTHING_KNOWN)
    dependence: Dependence | None = None  # between rows, by which `fit` grouped the labels

    @property
    def max_labels(self) -> int:
        """The maximum number of stored labelled samples."""
        return self.settings.max_labels

    @property
    def weighs_classes(self) -> bool:
        """True if there are class weights."""
        return self.settings.class_weight is not None

    def memory(self, size: FitSize) -> float:
        """Return an upper bound of the memory in bytes: corners of boxes, design matrices, and Gram matrices."""
        n_features, n_labels = size.n_features, size.n_labels
        n_few, n_dual = min(n_labels, MAX_TRIED), min(n_labels, MAX_LABELS)
        n_landmarks = min(size.n_boxes, MAX_BOXES)
        n_used = min(n_landmarks, most_boxes(n_features))
        entries = (N_CORNERS * n_used + 2 * n_landmarks + 4 * n_dual) * n_features
        entries += N_BASES * n_few * (n_used + n_few) + N_BLOCKS * n_few * size.n_classes
        entries += 6 * n_dual * (n_used + n_dual)
        if n_labels > MAX_LABELS:
            n_functions = min(MAX_FUNCTIONS, 18 * n_features) + MAX_BOXES_OF_MANY  # 17 of a curve, one of a trend
            entries += 2 * n_functions**2 + n_labels * (2 * MAX_BOXES_OF_MANY + 3 * n_features + 6 * size.n_classes)
        return 8.0 * entries

    def keeping(self, max_labels: int) -> Self:
        """Return the mapping with another limit on stored labelled samples."""
        return replace(self, settings=self.settings._replace(max_labels=max_labels))

    def check_classes(self, owner: str, class_table: ClassTable) -> None:
        """Raise a ValueError if `class_weight` names a class without labels."""
        given, classes = self.settings.class_weight, class_table.classes.tolist()
        unknown = [] if given is None or isinstance(given, str) else [label for label in given if label not in classes]
        if unknown:
            known = list_text([str(label) for label in classes])
            raise ValueError(
                f"class_weight names {unknown[0]!r}, which is not a class in y: the classes are {known}. Correct the "
                f"name, or leave it out of class_weight of {owner}."
            )

    def segment(self, codes: IntArray, n_classes: int) -> Segment:
        """Return the rows of a stream to learn together: up to the last selection of settings, or all.

        A selection does not depend on earlier ones, so that only the last of several is made. If half-lives compete,
        every selection is made, since it depends on the errors before it.
        """
        if isinstance(self.reservoir, AbsentLabels):
            raise ValueError(WITHOUT_SAMPLES)
        recent = self.recent
        half_life = recent.half_life if self.settings.is_auto else self.settings.candidates[-1]
        rows = choosing_rows(
            codes,
            n_classes,
            recent.n_labels,
            recent.n_samples,
            recent.n_chosen,
            half_life,
            self.settings.max_labels,
        )
        if not len(rows):
            return Segment(slice(0, len(codes)), Effort.NONE)
        row = int(rows[0 if self.settings.is_auto else -1])
        is_new = codes[row] > max(n_classes - 1, codes[:row].max(initial=UNLABELLED))
        is_long = recent.n_samples + row + 1 >= LONG and half_life == np.inf and not is_new
        choice = Effort.CAREFUL if is_long else Effort.QUICK
        return Segment(slice(0, row + 1), choice)

    def learned(
        self,
        network: Network,
        class_table: ClassTable,
        table: Table,
        codes: IntArray,
        labels: Labels,
        *,
        choose: Effort,
        is_last: bool,
        in_order: bool = True,
    ) -> Self:
        """Return the mapping after its network has learnt samples."""
        known = np.flatnonzero(codes != UNLABELLED)
        recent = self.recent.followed_by(self.settings, table, codes, labels, known, in_order=in_order)
        before = None
        if self.settings.is_auto or not choose:
            before = self._going_on(self.class_table if choose else class_table, recent, len(known))
        predicted = before._predicted(codes, known) if before is not None and self.settings.is_auto else None
        if before is not None and not choose:
            mapping = before
        else:
            mapping = self._changed(class_table=class_table, recent=recent)
            competition = None if before is None else before.competition
            mapping = mapping._with_network(network, competition, is_last=is_last, choose=choose, in_order=in_order)
        return changed(mapping, known=mapping.known._replace(predicted=predicted))

    def after_unlabelled(self, class_table: ClassTable) -> Self:
        """Return the mapping after an unlabelled sample that triggers no selection of settings."""
        recent = changed(self.recent, n_samples=self.recent.n_samples + 1)
        return self._keeping_results(class_table=class_table, recent=recent)

    def _keeping_results(self, **changes: Any) -> Self:
        """Return a copy with the given changes that keeps the cached solution and updates."""
        updates: Updates | None = vars(self).get("updates", self.known.updates)
        known = NOTHING_KNOWN if updates is None else Known(updates)
        return changed(self, chosen=vars(self).get("solution", self.chosen), known=known, **changes)

    def _changed(self, **changes: Any) -> Self:
        """Return a copy with the given changes and empty caches."""
        return changed(self, **{"known": NOTHING_KNOWN, **changes})

    @property
    def predicted(self) -> IntArray | None:
        """The class codes predicted for the samples of the last call before learning them; None if not known."""
        return self.known.predicted

    def _predicted(self, codes: IntArray, known: IntArray) -> IntArray | None:
        """Return the class codes predicted for the last samples before learning them; None without updates.

        -1 if a sample has no label, or is the first one of its class.
        """
        updates = self.updates
        if updates is None:
            return None
        found = np.full(len(codes), UNLABELLED)
        learnt = known[codes[known] < len(self.class_table.seen)]
        if len(learnt):
            found[learnt] = np.argsort(self.class_table.order_of_seen())[updates.predicted[-len(learnt) :]]
        return found

    def _going_on(self, class_table: ClassTable, recent: StreamState, n_new: int) -> Self:
        """Return the mapping after further labels, with the same boxes and settings."""
        mapping = self._keeping_results(class_table=class_table, recent=recent)
        updates = mapping.known.updates
        return mapping if updates is None else changed(mapping, known=Known(mapping._updated(updates, n_new)))

    @property
    def competition(self) -> Competition | None:
        """Record of the competing half-lives; None before the first labels of a stream."""
        return None if self.updates is None else self.updates.competition

    def _with_network(
        self,
        network: Network,
        competition: Competition | None,
        *,
        is_last: bool,
        choose: Effort = Effort.CAREFUL,
        in_order: bool = False,
    ) -> Self:
        """Return the mapping with the current boxes and all labels, after selecting settings for them."""
        reservoir = self.reservoir.followed_by(self.recent.labels, self.settings.max_labels)
        reservoir = reservoir.of_columns(network.encoder.categorical)
        half_life = self.recent.half_life_for(self.settings, competition, reservoir.times())
        max_used = MAX_USED[choose] if in_order else None
        recent = replace(self.recent.ended(competition, half_life), max_used=max_used)
        if np.isfinite(half_life) and not self.settings.is_auto:
            reservoir = reservoir.since(recent.n_samples + half_life * np.log2(MIN_SHARE))
        mapping = self._changed(
            network=network,
            reservoir=reservoir,
            mixtures=self.mixtures or ((DEFAULT_MIXTURE,) if len(reservoir) else ()),
            chosen=None,
            recent=recent,
        )
        if not choose or len(self.class_table.seen) < 2:
            return mapping
        fixed = self.settings.fixed
        if choose is Effort.QUICK:
            fixed = fixed._replace(is_coarse=True, known=recent.fit_mixtures)
        mapping = mapping._with_choice(is_last, fixed)
        if in_order:
            return mapping
        return replace(mapping, recent=recent.after_fit(mapping.mixtures, len(reservoir)))

    def _with_choice(self, is_last: bool, fixed: FixedSettings, given: tuple[Mixture, ...] | None = None) -> Self:
        """Return the mapping with settings selected by the labels, or given; `fixed`: those set by the user."""
        nodes = self._landmarks()
        labelled = replace(self._labelled_set(nodes), block_of=None)
        solution: Solution | None
        if is_chosen_by_some(labelled):
            mixtures, blocks, by_labels = choose_by_some(labelled, fixed)
            mixtures = given or mixtures
            solution = learn(replace(labelled, block_of=blocks), mixtures, nodes) if is_last else None
            if is_last and not by_labels:
                warn_of_usual_settings(labelled.n_classes)
        else:
            solution = choose(labelled, fixed, nodes) if given is None else learn(labelled, given, nodes)
            mixtures, blocks, by_labels = solution.mixtures, labelled.blocks, True
        used = self.recent.used(self.reservoir)
        if used is not None:  # convert the blocks of the labels used to blocks of all stored labels
            own, blocks = blocks, np.full(len(self.reservoir), NO_BLOCK)
            blocks[used] = own
        return replace(
            self,
            mixtures=mixtures,
            chosen=self._of_all(solution) if solution is not None and is_last else None,
            reservoir=self.reservoir.with_blocks(blocks),
            settings_by_labels=by_labels,
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

    def dependent_units(self, candidates: Sequence[Units]) -> Units | None:
        """Return the units within which labelled rows depend on each other most; None if not significant."""
        numbers = self.reservoir.whole().numbers
        labelled = self._labelled_set(self._landmarks())
        own = [one.of(numbers) for one in candidates]
        place = dependent_units(labelled, self.solution.mixtures, self.settings.fixed, own)
        return None if place is None else candidates[place]

    def grouped_by(self, units: Units) -> EvidenceMapping:
        """Return the mapping with labels of one unit left out together; settings stay as they are.

        Further rows may be of the same units: settings chosen for new units alone would predict them worse.
        """
        reservoir = self.reservoir.grouped(units.keys)
        keys = units.keys[self.reservoir.whole().numbers]
        dependence = Dependence(units.column, units.order, len(np.unique(keys)), self.loo_accuracy)
        grouped = self._changed(reservoir=reservoir, dependence=dependence, chosen=None)
        return grouped._with_choice(True, self.settings.fixed, self.mixtures)

    def _of_all(self, solution: Solution) -> Solution:
        """Return the solution with the indices of its labels among all stored labels."""
        used = self.recent.used(self.reservoir)
        return solution if used is None else replace(solution, rows=used[solution.rows])

    def _landmarks(self) -> IntArray:
        """Return the boxes used as landmarks: boxes with labels first, then those of the largest support."""
        assert self.network is not None
        nodes = self.network.nodes
        n = nodes.n_nodes
        labels = nodes.labels
        order = np.lexsort((np.arange(n), -nodes.support, labels == UNLABELLED))
        if len(self.class_table.seen) > MANY_CLASSES:  # the largest boxes of every class first
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
            answer_keys=kept.answers if kept.answers.any() else None,
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
        """Leave-one-out accuracy; the labels of a group count one together."""
        return float(np.average(self.solution.loo_right, weights=self.solution.groups.weights))

    def loo_recall(self) -> FloatArray:
        """Return the leave-one-out recall of each class; the accuracy for classes without labels."""
        solution = self.solution
        right, classes, weights = solution.loo_right, solution.classes, solution.groups.weights
        recall = np.full(len(self.class_table.classes), self.loo_accuracy)
        for order, index in enumerate(np.sort(self.class_table.sorted_codes())):
            own = classes == order
            if own.any():
                recall[index] = np.average(right[own], weights=weights[own])
        return recall

    @cached_property
    def updates(self) -> Updates | None:
        """Updates by the labels since the last selection of settings; None if there are no such labels."""
        if self.known.updates is not None:
            return self.known.updates
        if not self.recent.is_learnt or not self.mixtures:
            return None
        return self._updated(self.recent.begun(self, self.solution), len(self.recent.labels))

    def _updated(self, updates: Updates, n_new: int) -> Updates:
        """Return the updates after the last `n_new` labels."""
        assert self.network is not None
        if not n_new:
            return updates
        last, solution, order = self.recent.labels.last(n_new), self.solution, self.class_table.order_of_seen()
        if np.maximum.reduce(last.codes) >= len(order):  # a new class triggers a selection at once
            last = last[np.flatnonzero(last.codes < len(order))]
        if not len(last.codes):
            return updates
        coded = self.network.encode(last.table)
        values = updates.basis.values(coded, solution.readout.scores(coded))
        classes = order[last.codes]
        return updates.after(values, classes, last.weights * solution.class_factors[classes], last.times)

    @property
    def scoring(self) -> EvidenceMapping:
        """The mapping itself."""
        return self

    def scores(self, coded: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Return the score of each class learnt so far, shape (n_samples, n_classes)."""
        scores = self.solution.readout.scores(coded, n_jobs)
        return scores if self.updates is None else self.updates.scores(coded, scores)

    def proba(self, coded: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Return the probability of each class learnt so far, shape (n_samples, n_classes)."""
        return self.solution.readout.probabilities(self.scores(coded, n_jobs))

    @cached_property
    def readout(self) -> Readout:
        """The terms of the regression."""
        readout, updates = self.solution.readout, self.updates
        return readout if updates is None else updates.basis.updated(readout, updates.shared_weights)

    @property
    def replicates(self) -> Replicates | None:
        """The regression without each block of labels; None without labels, or where it would take long."""
        n, n_classes, network = len(self.reservoir), len(self.class_table.seen), self.network
        if network is None or not self.has_samples:
            return None
        if not (1 < n <= MAX_LABELS and 1 < n_classes <= MOST_CLASSES and network.nodes.n_features <= MOST_FEATURES):
            return None
        return network.get_or_compute(("replicates", self.solution), self._replicated)

    def _replicated(self) -> Replicates | None:
        nodes = self._landmarks()
        labelled = self._labelled_set(nodes)
        if len(np.unique(labelled.blocks)) < MIN_BLOCKS:
            return None
        n_solved = max(N_HEAVIEST, MAX_SOLVED // len(labelled.classes) ** 3)
        return replicates_of(labelled, _heaviest(self.solution.mixtures, n_solved), nodes)

    @property
    def kept_labels(self) -> tuple[Table, IntArray]:
        """The stored labelled samples and their class codes."""
        whole = self.all_labels().whole()
        return whole.table, whole.codes

    @property
    def has_samples(self) -> bool:
        """False for a model saved without its labelled samples."""
        return not isinstance(self.reservoir, AbsentLabels)

    @property
    def kept_samples(self) -> Table:
        """The stored labelled samples, or their placeholders in a model saved without samples."""
        labels = self.all_labels()
        return labels.stand_ins() if isinstance(labels, AbsentLabels) else labels.whole().table

    @property
    def n_answers(self) -> int:
        """The number of stored labels, those given by one answer counted once."""
        if not len(self.all_labels()):
            return 0
        answers = self.all_labels().whole().answers
        return int((answers == 0).sum()) + len(np.unique(answers[answers != 0]))

    @property
    def left_out(self) -> LooPredictions:
        """Leave-one-out predictions of the stored labels."""
        solution, at_random = self.settled.solution, self.all_labels().at_random()
        return LooPredictions(
            self.class_table.with_unseen(solution.readout.probabilities(solution.left_out)),
            np.sort(self.class_table.sorted_codes())[solution.classes],
            solution.groups.weights,
            solution.rows,
            solution.groups.numbers,
            FOUND if self.dependence is not None and solution.groups.kind == GIVEN else solution.groups.kind,
            at_random=None if at_random.all() else at_random[solution.rows],
        )

    @cached_property
    def settled(self) -> EvidenceMapping:
        """The regression on all stored labels, with boxes and settings fixed; quality is estimated from it."""
        if not len(self.recent.labels):
            return self
        recent = self.recent.ended(self.recent.competition, self.recent.half_life)
        return self._changed(reservoir=self.all_labels(), chosen=self.known.settled, recent=recent)

    def all_labels(self) -> LabelReservoir:
        """Return the stored labels, including those since the last selection of settings."""
        return self.reservoir.followed_by(self.recent.labels, len(self.reservoir) + len(self.recent.labels))

    def proba_by_some(self, rows: IntArray, coded: FloatArray) -> FloatArray:
        """Return the probabilities of coded samples by a subset of the stored labels, with boxes and settings fixed.

        Only the heaviest mixtures are used, since this is called often.
        """
        few = LabelReservoir((self.all_labels().whole()[rows],), self.reservoir.n_seen)
        mixtures = _heaviest(self.solution.mixtures, N_HEAVIEST)
        recent = self.recent.ended(None, np.inf)
        by_some = self._changed(reservoir=few, mixtures=mixtures, chosen=None, recent=recent)
        return self.class_table.with_unseen(by_some.proba(coded))

    def with_settings(self, settings: EvidenceSettings) -> EvidenceMapping:
        """Return the mapping with other settings, which take effect with the next label or selection."""
        return self._changed(settings=settings, chosen=self.solution if self.mixtures else None)

    def network_of(self, network: Network) -> Network:
        """Return the network at the last selection of settings; before the first one, the one that learns."""
        return network if self.network is None else self.network

    @classmethod
    def joined(
        cls, settings: EvidenceSettings, mappings: Sequence[EvidenceMapping], codes: Sequence[IntArray]
    ) -> EvidenceMapping:
        """Return a mapping with the labels of several, without settings yet; `codes`: the new class codes of each."""
        n_samples = sum(one.recent.n_samples for one in mappings)
        labels = [one.all_labels().later_by(n_samples - one.recent.n_samples) for one in mappings]
        return cls(settings, recent=StreamState(LabelReservoir.joined(labels, codes, settings.max_labels), n_samples))

    def of_columns(self, categorical: frozenset[int]) -> EvidenceMapping:
        """Return the mapping with the given columns as categorical ones in its stored labels."""
        recent = replace(self.recent, labels=self.recent.labels.of_columns(categorical))
        return self._changed(reservoir=self.reservoir.of_columns(categorical), recent=recent)

    def anew(self, network: Network, class_table: ClassTable) -> EvidenceMapping:
        """Return the mapping for other boxes with the same labels, after selecting settings."""
        mapping = self._changed(class_table=class_table, mixtures=())
        return mapping._with_network(network, None, is_last=True) if class_table.seen else mapping

    def with_columns(self, network: Network, n_columns: int) -> Self:
        """Return the mapping after columns were added to its network, missing in all samples so far."""
        return self._changed(
            network=network if self.network is not None else None,
            reservoir=self.all_labels().with_columns(n_columns),
            chosen=None,
            recent=self.recent.ended(self.recent.competition, self.recent.half_life),
        )

    def without_samples(self, numbers: IntArray | None = None) -> EvidenceMapping:
        """Return a mapping with the same predictions but without labelled samples, which cannot learn.

        `numbers`: in an ensemble, a number for each stored label that identifies equal samples across members.
        """
        if not len(self.reservoir) or isinstance(self.reservoir, AbsentLabels):
            return self
        labels, later = self.reservoir, self.recent.labels
        own, others = (None, None) if numbers is None else np.split(numbers, [len(labels)])
        reservoir = AbsentLabels(labels.n_seen, labels.at_random(), own)
        if len(later):
            later = AbsentLabels(later.n_seen, later.at_random(), others)
        known = Known(self.updates, self.settled.solution if len(later) else None)
        recent = replace(self.recent, labels=later)
        return replace(self, reservoir=reservoir, chosen=self.solution, recent=recent, known=known)

    def to_state(self, *, samples: bool = True, promises: bool = False) -> dict[str, Any]:
        """Return the state to save: plain values and arrays."""
        if not samples and self.without_samples() is not self:
            return self.without_samples().to_state()
        is_absent, updates = isinstance(self.reservoir, AbsentLabels), self.updates
        has_settled = len(self.recent.labels) and (promises or is_absent)
        return {
            "settings": self.settings.to_state(),
            "reservoir": self.reservoir.to_state() if len(self.reservoir) else None,
            "mixtures": [one.to_state() for one in self.mixtures],
            "settings_by_labels": self.settings_by_labels,
            "dependence": None if self.dependence is None else asdict(self.dependence),
            "recent": self.recent.to_state(),
            "solution": self.solution.to_state(self.mixtures) if len(self.reservoir) else None,
            "updates": None if updates is None else updates.to_state(),
            "settled": self.settled.solution.without_terms().to_state(self.mixtures) if has_settled else None,
            **({"network": self.network.to_state()} if self.network is not None and self.recent.has_come else {}),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], network: Network, class_table: ClassTable) -> EvidenceMapping:
        """Restore the mapping from a saved state after validating it."""
        n_classes, settings = len(class_table.seen), EvidenceSettings.from_state(state["settings"])
        if "network" in state:
            network = Network.from_state(state["network"], network.encoder.n_columns)
        n_columns = network.encoder.n_columns
        reservoir = labels_of(state["reservoir"], n_columns, n_classes)
        recent = StreamState.from_state(state["recent"], n_columns, n_classes)
        for labels in (reservoir, recent.labels):
            if len(labels) and not isinstance(labels, AbsentLabels):
                network.encoder.check(labels.whole().table)
                require(labels.times().max() <= recent.n_samples, "the labels")
        mixtures = tuple(mixture_of(one) for one in state["mixtures"])
        check_parts(state, reservoir, recent, n_classes)
        has_labels, by_labels = bool(len(reservoir)), state["settings_by_labels"]
        own = network if has_labels else None
        dependence = None if state["dependence"] is None else Dependence.from_state(state["dependence"])
        mapping = cls(settings, own, class_table, reservoir, mixtures, None, by_labels, recent, dependence=dependence)
        if not has_labels:
            return mapping
        context = SavedContext(network.nodes.n_features, network.nodes.n_nodes, class_table, reservoir, mixtures)
        solution = Solution.from_state(state["solution"], context)
        updates = settled = None
        if state["updates"] is not None:
            updates = Updates.from_state(state["updates"], solution, settings)
            require(updates.time <= recent.n_samples, "the updates")
        if state["settled"] is not None:
            settled = Solution.from_state(state["settled"], context._replace(labels=mapping.all_labels()))
        return replace(mapping, chosen=solution, known=Known(updates, settled))


def check_parts(state: dict[str, Any], labels: LabelReservoir, recent: StreamState, n_classes: int) -> None:
    """Raise a ValueError if the parts of a saved mapping do not match its labels."""
    has, is_absent = {name: value is not None for name, value in state.items()}, isinstance(labels, AbsentLabels)
    has_labels, later = bool(len(labels)), recent.labels
    fits = type(state["settings_by_labels"]) is bool
    fits = fits and has_labels == bool(state["mixtures"]) == bool(n_classes) == has["solution"]
    fits = fits and has["updates"] == (has_labels and recent.is_learnt)
    if len(later):
        fits = fits and has_labels and is_absent == isinstance(later, AbsentLabels) and has["settled"] >= is_absent
    else:
        fits = fits and not has["settled"]
    if isinstance(labels, AbsentLabels) and isinstance(later, AbsentLabels):
        fits = fits and (labels.numbers is None) == (later.numbers is None)
    if not fits:
        raise ValueError("the evidence of the model does not fit its classes")


def _heaviest(mixtures: Sequence[Mixture], n: int) -> tuple[Mixture, ...]:
    """Return the n mixtures of the largest weights, which sum to one."""
    heaviest = sorted(mixtures, key=lambda one: -one.weight)[:n]
    total = sum(one.weight for one in heaviest)
    return tuple(one._replace(weight=one.weight / total, without=()) for one in heaviest if one.weight)
