"""Samples and labels of a stream since settings were last chosen, and the competition of half-lives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sslart._data.labels import Labels
from sslart._data.samples import Table
from sslart._mapping.base import Choice
from sslart._mapping.evidence.design import places_in_class
from sslart._mapping.evidence.families import family_of, mixture_of
from sslart._mapping.evidence.kept_labels import LabelReservoir
from sslart._mapping.evidence.saved.absent import labels_of
from sslart._mapping.evidence.settings import HALF_LIVES, EvidenceSettings, Mixture
from sslart._mapping.evidence.stream.basis import UpdateBasis
from sslart._mapping.evidence.stream.updates import Competition, Updates
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.cache import changed
from sslart._utils.validation import MAX_COUNT, check_number, require, saved_whole

if TYPE_CHECKING:
    from sslart._mapping.evidence.mapping import EvidenceMapping
    from sslart._mapping.evidence.selection import Solution

MIN_SHARE = 1 / 16  # of a label that takes part in a choice, of what it counted at first
MIN_LABELS = 30  # that a choice with a half-life needs, older ones counting less
# Labels in a choice in a stream. A quick one tries candidates on all of them (`MAX_TRIED` of selection), and what it
# has tried is the regression. 500 took three times as long, as they were learnt once more, and predicted no better.
MAX_USED = {Choice.NONE: None, Choice.QUICK: 250, Choice.CAREFUL: 10_000}
MAX_STARTING = 128  # labels that updates start from where none is forgotten, so that later ones count after a drift
MIN_OF_CLASS = 5  # of these, of each class that has as many: where classes are many, more labels take part
MAX_KNOWN = 8  # settings of `fit` that are tried in a stream


@dataclass(frozen=True)
class Fitted:
    """Mixtures chosen by `fit` and its number of labels; the following stream tries them again.

    Attributes
    ----------
    mixtures : tuple of Mixture
        Those that counted most; trees are tried in any case.
    n_labels : int
    """

    mixtures: tuple[Mixture, ...] = ()
    n_labels: int = 0

    @classmethod
    def of(cls, mixtures: Sequence[Mixture], n_labels: int) -> Fitted:
        """Return the settings of a choice that `fit` has made."""
        plain = [one for one in mixtures if one.weight and family_of(one.specs[0]).name != "trees"]
        heaviest = sorted(plain, key=lambda one: -one.weight)[:MAX_KNOWN]
        return cls(tuple(one._replace(without=()) for one in heaviest), n_labels)


@dataclass(frozen=True)
class Recent:
    """Labels since settings were last chosen, and the state that the next selection depends on.

    Attributes
    ----------
    labels : LabelReservoir
    n_samples : int
        How many samples there have been in all, labelled or not.
    n_chosen : int
        How many there had been at the last choice of settings.
    half_life : float
        That of the labels at the last choice of settings, in samples; infinite: nothing is forgotten.
    competition : Competition or None
        Of several half-lives; None where one is given.
    fitted : Fitted
        What was chosen by `fit`.
    max_used : int or None
        How many labels took part in the last choice at most, unless `fit` had more; None: all that are kept.
    """

    labels: LabelReservoir = field(default_factory=LabelReservoir)
    n_samples: int = 0
    n_chosen: int = 0
    half_life: float = np.inf
    competition: Competition | None = None
    fitted: Fitted = field(default_factory=Fitted)
    max_used: int | None = None

    @property
    def n_labels(self) -> int:
        """Total number of labels so far."""
        return self.labels.n_seen

    @property
    def is_learnt(self) -> bool:
        """True if labels have arrived in a stream, so that there is something to update."""
        return bool(len(self.labels)) or self.competition is not None

    @property
    def has_come(self) -> bool:
        """True if any sample has arrived since settings were chosen."""
        return self.n_samples > self.n_chosen

    def followed_by(
        self,
        settings: EvidenceSettings,
        table: Table,
        codes: IntArray,
        labels: Labels,
        known: IntArray,
        *,
        in_order: bool,
    ) -> Recent:
        """Return the state after further samples; `known`: the rows with a label."""
        n_samples = self.n_samples + len(codes)
        if not len(known):
            return changed(self, n_samples=n_samples)
        own = labels[known]
        longer = self.labels.adding(
            table[known],
            codes[known],
            MAX_COUNT,
            settings.seed,
            weights=own.weights,
            groups=own.groups,
            times=self.n_samples + 1 + known if in_order else np.full(len(known), n_samples),
        )
        return changed(self, labels=longer, n_samples=n_samples)

    def ended(self, competition: Competition | None, half_life: float) -> Recent:
        """Return the state after a selection of settings, which uses all labels."""
        return replace(
            self,
            labels=LabelReservoir((), self.n_labels),
            n_chosen=self.n_samples,
            half_life=half_life,
            competition=competition,
        )

    def used(self, labels: LabelReservoir) -> IntArray | None:
        """Return the stored labels used by the regression: recent enough ones, in a stream a fair sample of them.

        None: all of them.
        """
        used = None
        if np.isfinite(self.half_life):
            used = np.flatnonzero(self.shares_of(labels.times()) >= MIN_SHARE)
        if self.max_used is None:
            return used
        n_most = max(self.max_used, self.fitted.n_labels)
        if (len(labels) if used is None else len(used)) <= n_most:
            return used
        kept = labels.whole()
        n_most = max(n_most, MIN_OF_CLASS * len(np.unique(kept.codes)))
        used = np.arange(len(kept.keys)) if used is None else used
        used = used[np.argsort(kept.keys[used], kind="stable")]
        is_later = places_in_class(kept.codes[used]) >= MIN_OF_CLASS
        return np.sort(used[np.argsort(is_later, kind="stable")[:n_most]])

    def shares_of(self, times: IntArray) -> FloatArray:
        """Return the decayed weight of labels at the last selection of settings, relative to their initial weight."""
        return np.asarray(2.0 ** (-(self.n_chosen - times) / self.half_life))

    def half_life_for(self, settings: EvidenceSettings, competition: Competition | None, times: IntArray) -> float:
        """Return the half-life to choose settings with: that which is given, or has won with enough labels."""
        if competition is None or not settings.is_auto:
            return settings.candidates[-1]
        ages = self.n_samples - times
        enough = [one for one in settings.candidates if (2.0 ** (-ages / one)).sum() >= MIN_LABELS]
        return max(competition.longest, *enough[:1], *(() if enough else settings.candidates[-1:]))

    def begun(self, mapping: EvidenceMapping, solution: Solution) -> Updates:
        """Return the updates just after a choice of settings."""
        network = mapping.network
        assert network is not None
        lower, upper = (side[solution.readout.nodes] for side in network.nodes.boxes())
        basis = UpdateBasis.of(solution.readout, lower, upper)
        kept = mapping.reservoir.whole()[solution.rows]
        n_most = max(MAX_STARTING, MIN_OF_CLASS * basis.n_classes)
        if mapping.settings.candidates[0] < np.inf:  # older labels count less by themselves
            n_most = len(kept.keys)
        some = np.sort(np.argsort(kept.keys, kind="stable")[:n_most])
        kept, classes, left_out = kept[some], solution.classes[some], solution.left_out[some]
        return Updates.begun(
            basis,
            self._competition(mapping.settings),
            self.half_life,
            basis.values(network.encode(kept.table), left_out),
            np.eye(basis.n_classes)[classes],
            kept.weights * solution.class_factors[classes],
            self.n_chosen - kept.times,
            self.n_chosen,
        )

    def _competition(self, settings: EvidenceSettings) -> Competition:
        if self.competition is not None and settings.is_auto:
            return self.competition
        return Competition.begun(settings.candidates)

    def to_state(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "labels": self.labels.to_state() if len(self.labels) else None,
            "n_labels": self.n_labels,
            "n_samples": self.n_samples,
            "n_chosen": self.n_chosen,
            "half_life": self.half_life if np.isfinite(self.half_life) else None,
            "competition": None if self.competition is None else self.competition.to_state(),
            "fitted": [one.to_state() for one in self.fitted.mixtures],
            "n_fitted": self.fitted.n_labels,
            "max_used": self.max_used,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], n_columns: int, n_classes: int) -> Recent:
        """Return the state restored from saved values, after checking them."""
        n_samples = saved_whole(state, "n_samples", 0, MAX_COUNT)
        n_labels = saved_whole(state, "n_labels", 0, MAX_COUNT)
        n_chosen = saved_whole(state, "n_chosen", 0, n_samples)
        labels = LabelReservoir((), n_labels)
        if state["labels"] is not None:
            labels = labels_of(state["labels"], n_columns, n_classes)
            require(labels.n_seen == n_labels, "the labels since the last choice of settings")
        given = state["half_life"]
        half_life = np.inf if given is None else check_number("a model", "half_life", given, 1)
        competition = None
        if state["competition"] is not None:
            competition = Competition.from_state(state["competition"], HALF_LIVES)
        fitted = Fitted(tuple(mixture_of(one) for one in state["fitted"]), saved_whole(state, "n_fitted", 0, MAX_COUNT))
        max_used = None if state["max_used"] is None else saved_whole(state, "max_used", 1, MAX_COUNT)
        return cls(labels, n_samples, n_chosen, half_life, competition, fitted, max_used)
