"""Evidence mapping of one network: which labels are kept, when settings are chosen, and the fitted regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from sslart._art.network import Network
from sslart._data.labels import UNLABELLED, ClassTable, Labels
from sslart._data.samples import Table
from sslart._mapping.base import Choice, Segment
from sslart._mapping.evidence.families import mixture_of
from sslart._mapping.evidence.kept_labels import LabelReservoir
from sslart._mapping.evidence.readout import Readout
from sslart._mapping.evidence.regression import Regression
from sslart._mapping.evidence.saved.absent import AbsentLabels, labels_of
from sslart._mapping.evidence.saved.solution import (
    Around,
    check_parts,
    solution_of,
    solution_state,
    updates_of,
    updates_state,
    without_terms,
)
from sslart._mapping.evidence.selection import Solution
from sslart._mapping.evidence.settings import DEFAULT_MIXTURE, EvidenceSettings
from sslart._mapping.evidence.stream.recent import MAX_USED, MIN_SHARE, Fitted, Recent
from sslart._mapping.evidence.stream.schedule import LONG, choosing_rows
from sslart._mapping.evidence.stream.updates import Competition, Updates
from sslart._mapping.left_out import LeftOut
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.cache import changed
from sslart._utils.text import list_text
from sslart._utils.validation import WITHOUT_SAMPLES, require

N_HEAVIEST = 16  # mixtures that predict by some of the labels


class Known(NamedTuple):
    """Results that a mapping has from the start, because learning or a file has made them.

    Attributes
    ----------
    updates : Updates or None
    settled : Solution or None
        Of the regression on all labels kept.
    predicted : array of int or None
        The class codes that were predicted for the samples last learnt.
    """

    updates: Updates | None = None
    settled: Solution | None = None
    predicted: IntArray | None = None


NOTHING_KNOWN = Known()


@dataclass(frozen=True, eq=False)
class EvidenceMapping(Regression):
    """All boxes contribute to every prediction, and a ridge regression on the labelled samples gives their weights.

    Between two choices of settings the boxes that take part stay as they were, and a label is a small update of the
    weights. Immutable: every call that learns makes a new one.
    """

    uses_evidence = True
    one_to_one = False
    known: Known = field(default_factory=lambda: NOTHING_KNOWN)

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

    def segment(self, codes: IntArray, n_classes: int) -> Segment:
        """Return the first rows of a stream that are learnt together: up to the last choice of settings, or all.

        A choice does not depend on those before, so that of several only the last one is made. Where half-lives
        compete, each choice is made: the errors in between decide on the next.
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
            return Segment(slice(0, len(codes)), Choice.NONE)
        row = int(rows[0 if self.settings.is_auto else -1])
        is_new = codes[row] > max(n_classes - 1, codes[:row].max(initial=UNLABELLED))
        is_long = recent.n_samples + row + 1 >= LONG and half_life == np.inf and not is_new
        choice = Choice.CAREFUL if is_long else Choice.QUICK
        return Segment(slice(0, row + 1), choice)

    def learned(
        self,
        network: Network,
        class_table: ClassTable,
        table: Table,
        codes: IntArray,
        labels: Labels,
        *,
        choose: Choice,
        is_last: bool,
        in_order: bool = True,
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
        choose : Choice
            Whether to choose settings anew.
        is_last : bool
            Whether no more samples follow in this call.
        in_order : bool
            Whether samples come in the order of time; else all of them are as old as the last one.
        """
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

    def after_unlabelled(self, class_table: ClassTable) -> EvidenceMapping:
        """Return the mapping after a sample without a label, at which no settings are chosen."""
        updates: Updates | None = vars(self).get("updates", self.known.updates)
        return changed(
            self,
            class_table=class_table,
            recent=changed(self.recent, n_samples=self.recent.n_samples + 1),
            chosen=vars(self).get("solution", self.chosen),
            known=NOTHING_KNOWN if updates is None else Known(updates),
        )

    def _changed(self, **changes: Any) -> Self:
        """Return a copy with the given changes, and with its caches cleared."""
        return changed(self, **{"known": NOTHING_KNOWN, **changes})

    @property
    def predicted(self) -> IntArray | None:
        """The class codes that were predicted for the samples last learnt before they were; None: not known."""
        return self.known.predicted

    def _predicted(self, codes: IntArray, known: IntArray) -> IntArray | None:
        """Return as which classes the last samples with a label were predicted before they were learnt, by code.

        -1 where a sample has no label, or is the first one of its class; None where nothing could be predicted.
        """
        updates = self.updates
        if updates is None:
            return None
        found = np.full(len(codes), UNLABELLED)
        learnt = known[codes[known] < len(self.class_table.seen)]
        if len(learnt):
            found[learnt] = np.argsort(self.class_table.order_of_seen())[updates.predicted[-len(learnt) :]]
        return found

    def _going_on(self, class_table: ClassTable, recent: Recent, n_new: int) -> EvidenceMapping:
        """Return the mapping after further labels, with the same boxes and settings."""
        solved = vars(self).get("solution", self.chosen)  # what nobody has needed so far is not made for this
        mapping = self._changed(class_table=class_table, recent=recent, chosen=solved)
        updates: Updates | None = vars(self).get("updates", self.known.updates)
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
        choose: Choice = Choice.CAREFUL,
        in_order: bool = False,
    ) -> EvidenceMapping:
        """Return the mapping with the current boxes and all labels, after choosing settings for them."""
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
        if choose is Choice.QUICK:
            fixed = fixed._replace(is_coarse=True, known=recent.fitted.mixtures)
        mapping = mapping.with_choice(is_last, fixed)
        if in_order:
            return mapping
        return replace(mapping, recent=replace(recent, fitted=Fitted.of(mapping.mixtures, len(reservoir))))

    @cached_property
    def updates(self) -> Updates | None:
        """Updates by the labels since settings were last chosen; None if there are no such labels."""
        if self.known.updates is not None:
            return self.known.updates
        if not self.recent.is_learnt or not self.mixtures:
            return None
        return self._updated(self.recent.begun(self, self.solution), len(self.recent.labels))

    def _updated(self, updates: Updates, n_new: int) -> Updates:
        """Return the updates after the last labels of those since the choice."""
        assert self.network is not None
        if not n_new:
            return updates
        last, solution, order = self.recent.labels.last(n_new), self.solution, self.class_table.order_of_seen()
        if np.maximum.reduce(last.codes) >= len(order):  # a new class leads to a choice at once
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
    def kept_labels(self) -> tuple[Table, IntArray]:
        """The labelled samples that are kept, and their class codes."""
        whole = self.all_labels().whole()
        return whole.table, whole.codes

    @property
    def kept_samples(self) -> Table:
        """The labelled samples that are kept, or in a model without them a number for each, the same for equal ones."""
        labels = self.all_labels()
        return labels.stand_ins() if isinstance(labels, AbsentLabels) else labels.whole().table

    @property
    def left_out(self) -> LeftOut:
        """Leave-one-out predictions of the stored labels."""
        return self.settled.left_out if len(self.recent.labels) else super().left_out

    @cached_property
    def settled(self) -> Regression:
        """The regression on all stored labels, with boxes and settings fixed; quality is estimated from it."""
        if not len(self.recent.labels):
            return self
        recent = self.recent.ended(self.recent.competition, self.recent.half_life)
        return self._changed(reservoir=self.all_labels(), chosen=self.known.settled, recent=recent)

    def all_labels(self) -> LabelReservoir:
        """Return the labels that are kept, with those since the last choice of settings."""
        return self.reservoir.followed_by(self.recent.labels, len(self.reservoir) + len(self.recent.labels))

    def proba_by_some(self, rows: IntArray, coded: FloatArray) -> FloatArray:
        """Return the probabilities of coded samples by a subset of the stored labels, with boxes and settings fixed.

        Of many mixtures, those that count most take part: it is for many such calls.
        """
        few = LabelReservoir((self.all_labels().whole()[rows],), self.reservoir.n_seen)
        heaviest = sorted(self.solution.mixtures, key=lambda one: -one.weight)[:N_HEAVIEST]
        total = sum(one.weight for one in heaviest)
        mixtures = tuple(one._replace(weight=one.weight / total, without=()) for one in heaviest if one.weight)
        recent = self.recent.ended(None, np.inf)
        by_some = self._changed(reservoir=few, mixtures=mixtures, chosen=None, recent=recent)
        return self.class_table.with_unseen(by_some.proba(coded))

    def with_settings(self, settings: EvidenceSettings) -> EvidenceMapping:
        """Return the mapping with other settings, which take effect with the next label and the next choice."""
        return self._changed(settings=settings, chosen=self.solution if self.mixtures else None)

    def network_of(self, network: Network) -> Network:
        """Return the boxes at the last choice of settings; before the first one, those that learn."""
        return network if self.network is None else self.network

    @classmethod
    def joined(
        cls, settings: EvidenceSettings, mappings: Sequence[EvidenceMapping], codes: Sequence[IntArray]
    ) -> EvidenceMapping:
        """Return a mapping with the labels of several, before settings are chosen; `codes`: the new ones of each."""
        n_samples = sum(one.recent.n_samples for one in mappings)
        labels = [one.all_labels().later_by(n_samples - one.recent.n_samples) for one in mappings]
        return cls(settings, recent=Recent(LabelReservoir.joined(labels, codes, settings.max_labels), n_samples))

    def of_columns(self, categorical: frozenset[int]) -> EvidenceMapping:
        """Return the mapping with these columns as the categorical ones in the labels that it has."""
        recent = replace(self.recent, labels=self.recent.labels.of_columns(categorical))
        return self._changed(reservoir=self.reservoir.of_columns(categorical), recent=recent)

    def anew(self, network: Network, class_table: ClassTable) -> EvidenceMapping:
        """Return the mapping of other boxes with the labels that it has, for which settings are chosen."""
        mapping = self._changed(class_table=class_table, mixtures=())
        return mapping._with_network(network, None, is_last=True) if class_table.seen else mapping

    def with_columns(self, network: Network, n_columns: int) -> EvidenceMapping:
        """Return the mapping after its network has got further columns, missing in all samples learnt so far."""
        return self._changed(
            network=network if self.network is not None else None,
            reservoir=self.all_labels().with_columns(n_columns),
            chosen=None,
            recent=self.recent.ended(self.recent.competition, self.recent.half_life),
        )

    def without_samples(self, numbers: IntArray | None = None) -> EvidenceMapping:
        """Return the mapping that predicts the same and has no labelled sample: it cannot learn on.

        `numbers`: in an ensemble, a number for each label that is kept, the same for equal samples of all members.
        """
        if not len(self.reservoir) or isinstance(self.reservoir, AbsentLabels):
            return self
        labels, later = self.reservoir, self.recent.labels
        own, others = (None, None) if numbers is None else np.split(numbers, [len(labels)])
        reservoir = AbsentLabels(len(labels), labels.n_seen, own)
        if len(later):
            later = AbsentLabels(len(later), later.n_seen, others)
        known = Known(self.updates, self.settled.solution if len(later) else None)
        recent = replace(self.recent, labels=later)
        return replace(self, reservoir=reservoir, chosen=self.solution, recent=recent, known=known)

    def to_state(self, *, samples: bool = True, promises: bool = False) -> dict[str, Any]:
        """Return the state to save: plain values and arrays.

        Parameters
        ----------
        samples : bool
            Whether labelled samples are part of it.
        promises : bool
            Whether predictions depend on what the other labels alone predict for each label, which then is part of it.
        """
        if not samples and self.without_samples() is not self:
            return self.without_samples().to_state()
        is_absent, updates = isinstance(self.reservoir, AbsentLabels), self.updates
        has_settled = len(self.recent.labels) and (promises or is_absent)
        return {
            "settings": self.settings.to_state(),
            "reservoir": self.reservoir.to_state() if len(self.reservoir) else None,
            "mixtures": [one.to_state() for one in self.mixtures],
            "settings_by_labels": self.settings_by_labels,
            "recent": self.recent.to_state(),
            "solution": solution_state(self.solution, self.mixtures) if len(self.reservoir) else None,
            "updates": None if updates is None else updates_state(updates),
            "settled": solution_state(without_terms(self.settled.solution), self.mixtures) if has_settled else None,
            **({"network": self.network.to_state()} if self.network is not None and self.recent.has_come else {}),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], network: Network, class_table: ClassTable) -> EvidenceMapping:
        """Return the mapping of a saved state, after checking that it can be one."""
        n_classes, settings = len(class_table.seen), EvidenceSettings.from_state(state["settings"])
        if "network" in state:
            network = Network.from_state(state["network"], network.encoder.n_columns)
        n_columns = network.encoder.n_columns
        reservoir = labels_of(state["reservoir"], n_columns, n_classes)
        recent = Recent.from_state(state["recent"], n_columns, n_classes)
        for labels in (reservoir, recent.labels):
            if len(labels) and not isinstance(labels, AbsentLabels):
                network.encoder.check(labels.whole().table)
                require(labels.times().max() <= recent.n_samples, "the labels")
        mixtures = tuple(mixture_of(one) for one in state["mixtures"])
        check_parts(state, reservoir, recent, n_classes)
        has_labels, by_labels = bool(len(reservoir)), state["settings_by_labels"]
        own = network if has_labels else None
        mapping = cls(settings, own, class_table, reservoir, mixtures, None, by_labels, recent)
        if not has_labels:
            return mapping
        around = Around(network.nodes.n_features, network.nodes.n_nodes, class_table, reservoir, mixtures)
        solution = solution_of(state["solution"], around)
        updates = settled = None
        if state["updates"] is not None:
            updates = updates_of(state["updates"], solution, settings, around)
            require(updates.time <= recent.n_samples, "the updates")
        if state["settled"] is not None:
            settled = solution_of(state["settled"], around._replace(labels=mapping.all_labels()))
        return replace(mapping, chosen=solution, known=Known(updates, settled))
