"""Read-only view of a fitted model, used by all code that does not learn.

Rules, explanations, plots, reports, exports, active labelling and the command line use this view and no private
attribute of an estimator. Classes are given by their index in the sorted `classes`, -1 for none.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from sslart._art.backend import encode
from sslart._art.boxes import NO_LIMIT, LearningParams
from sslart._art.network import MAX_CELLS, Coded, Network
from sslart._art.novelty import NoveltyCalibration, NoveltyTest
from sslart._data.encoder import Encoder
from sslart._data.labels import UNLABELLED, ClassTable, Label, Labels, check_has_label, read_labels
from sslart._data.samples import SampleReader, Table, rows_without_values
from sslart._mapping.audit import Audit
from sslart._mapping.base import Mapping
from sslart._mapping.conformal import CERTAINTY, ConformalPredictor, no_promise
from sslart._mapping.decision_rules import ErrorLevels, balanced_costs, cheapest, expected_costs
from sslart._mapping.ensemble_votes import Ballot, vote_on_evidence, vote_on_labels
from sslart._mapping.loo_predictions import LooPredictions, left_out_by_vote
from sslart._mapping.quality import ModelQuality, figures_of, quality_of
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray

if TYPE_CHECKING:
    from sslart._mapping.evidence.readout import Readout

CLOSE = 1e-9  # difference of scores beyond which probabilities differ by more than rounding


def clear_winner(scores: FloatArray) -> int | None:
    """Return the index of the highest score of one sample; None if another one is equal up to rounding."""
    own = scores[0].tolist()
    best = max(own)
    return own.index(best) if sum(score > best - CLOSE for score in own) == 1 else None


@dataclass(frozen=True, eq=False)
class MemberView:
    """View of one network: that of a single model, or a member of an ensemble."""

    number: int | None  # index of the member in its ensemble; None in a single model
    network: Network  # encoder and nodes
    class_table: ClassTable
    params: LearningParams  # ρ, α, β, δ
    mapping: Mapping  # from boxes to classes
    n_jobs: int | None

    @cached_property
    def at_choice(self) -> MemberView:
        """The member with the boxes used by evidence mapping, those of the last selection of settings."""
        network = self.mapping.network_of(self.network)
        return self if network is self.network else replace(self, network=network)

    def coded_at_choice(self, coded: FloatArray) -> FloatArray:
        """Convert coded values, such as centres of boxes, to the encoder of the last selection of settings."""
        encoder, other = self.encoder, self.at_choice.encoder
        if encoder is other:
            return coded
        units, places = encoder.decode(coded), {feature: place for place, feature in enumerate(encoder.features)}
        matrix = np.full((len(coded), len(other.features)), np.nan)
        for place, feature in enumerate(other.features):
            if feature in places:
                matrix[:, place] = units[:, places[feature]]
        return encode(other, matrix)[0]

    @property
    def readout(self) -> Readout | None:
        """With evidence mapping, the fitted regression; None for other mappings."""
        return self.mapping.readout

    @property
    def encoder(self) -> Encoder:
        """Encoder from the user's units to the unit cube."""
        return self.network.encoder

    @property
    def n_nodes(self) -> int:
        """Number of boxes."""
        return self.network.nodes.n_nodes

    @cached_property
    def boxes(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper corners in the unit cube; lower > upper in features without a value."""
        return self.network.nodes.boxes()

    def boxes_of(self, nodes: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper corners of some boxes, as copies."""
        n_features = self.network.nodes.n_features
        weights = self.network.nodes.weights_of(nodes.ravel()).reshape(*nodes.shape, 2 * n_features)
        return weights[..., :n_features], 1.0 - weights[..., n_features:]

    @property
    def n_samples(self) -> int:
        """Number of samples learnt."""
        return self.network.nodes.n_samples

    @property
    def fades(self) -> bool:
        """True if samples decay, so that `support` and `counts` are floats."""
        return self.network.nodes.n_learnt is not None

    @cached_property
    def support(self) -> CountArray:
        """Number of samples that each box has learnt, labelled or not."""
        return self.network.nodes.support

    @cached_property
    def counts(self) -> CountArray:
        """Number of labelled samples of each class that each box has learnt, shape (n_nodes, n_classes)."""
        return self.class_table.by_class(self.network.nodes.counts)

    @cached_property
    def labels(self) -> IntArray:
        """Class index of each box, -1 where it has no label."""
        return self.class_table.indices(self.network.nodes.labels)

    @property
    def kept_labels(self) -> tuple[Table, IntArray] | None:
        """With evidence mapping, the stored labelled samples with their class indices; None for others."""
        kept = self.mapping.kept_labels
        return None if kept is None else (kept[0], self.class_table.indices(kept[1]))

    def encode(self, table: Table) -> FloatArray:
        """Return samples in the unit cube, NaN where missing."""
        return self.network.encode(table)

    def rank(
        self, coded: FloatArray, *, depth: int = 1, labelled_only: bool = False, labels: IntArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Return the `depth` boxes of highest choice for coded samples, best first, and their match; -1 if fewer.

        `labels` (-1 for none) override the labels of the boxes; then only boxes with a label are ranked.
        """
        only = labelled_only or labels is not None
        return self.network.rank_coded(
            coded, self.params.choice, depth=depth, labelled_only=only, labels=labels, n_jobs=self.n_jobs
        )

    def first_labelled(self, coded: FloatArray, depth: int = NO_LIMIT) -> IntArray:
        """Return the first labelled box among the `depth` best of each coded sample, -1 where there is none."""
        self.network.check_known_features(coded)
        if depth == NO_LIMIT:
            return self.rank(coded, labelled_only=True)[0][:, 0]
        nodes = self.rank(coded, depth=depth)[0]
        labelled = self.label_of(nodes) != UNLABELLED
        first = labelled.argmax(axis=1)[:, None]
        found = np.take_along_axis(labelled, first, axis=1)
        return np.where(found, np.take_along_axis(nodes, first, axis=1), UNLABELLED)[:, 0]

    def label_of(self, nodes: IntArray) -> IntArray:
        """Return the class index of boxes, -1 for no box."""
        codes = self.network.nodes.labels_of(np.maximum(nodes, 0).ravel()).reshape(nodes.shape)
        codes[nodes == UNLABELLED] = UNLABELLED
        return self.class_table.indices(codes)

    def shares_of(self, nodes: IntArray) -> FloatArray:
        """Return the share of each class among the labelled samples of boxes; zeros for no box."""
        counts = self.class_table.by_class(self.network.nodes.counts_of(np.maximum(nodes, 0)))
        counts[nodes == UNLABELLED] = 0
        total = counts.sum(axis=1, keepdims=True)
        return np.asarray(counts / np.where(total > 0, total, 1))

    def scores(self, coded: FloatArray) -> FloatArray:
        """Return the evidence for each class, shape (n_samples, n_classes); -inf for classes not learnt yet.

        Samples must be coded as at the last selection of settings, here and in `evidence_proba`.
        """
        assert self.mapping.scoring is not None
        return self.class_table.with_unseen(self.mapping.scoring.scores(coded, self.n_jobs), fill=-np.inf)

    def clear_winner(self, coded: FloatArray) -> int | None:
        """Return the most probable class of one sample by its scores; None if two scores are about equal."""
        return clear_winner(self.scores(coded))

    def evidence_proba(self, coded: FloatArray) -> FloatArray:
        """Return the probability of each class by evidence mapping; 0 for classes not learnt yet."""
        assert self.mapping.scoring is not None
        return self.class_table.with_unseen(self.mapping.scoring.proba(coded, self.n_jobs))

    def familiarity(self, coded: Coded) -> FloatArray:
        """Return the familiarity of each sample: see `Network.familiarity`."""
        return self.network.familiarity(coded, self.params.choice, n_jobs=self.n_jobs)

    def best_match(self, coded: Coded) -> FloatArray:
        """Return the match of each sample with its best box, minus its distance beyond the learnt range."""
        return self.network.best_match(coded, self.params.choice, n_jobs=self.n_jobs)


@dataclass(frozen=True, eq=False)
class PredictedClasses:
    """Predicted classes and probabilities of samples."""

    indices: IntArray  # class index, -1 where the model abstains
    # (n_samples, n_classes): probability of each class, whether the model abstains or not; None if not requested
    proba: FloatArray | None


@dataclass(frozen=True, eq=False)
class Decisions:
    """Decisions on samples, as used by the command line, the service and reports."""

    indices: IntArray  # class index, -1 where the model abstains
    proba: FloatArray  # (n_samples, n_classes): probability of each class, whether the model abstains or not
    familiarity: FloatArray  # fit of each sample to the model, from 0 to 1
    is_novel: BoolArray  # mask of samples flagged as novel

    @property
    def abstained(self) -> BoolArray:
        """Mask of samples on which the model abstains."""
        return np.asarray(self.indices == UNLABELLED)

    @property
    def novelty(self) -> FloatArray:
        """Novelty of each sample, from 0 to 1: one minus its familiarity."""
        return np.asarray(1.0 - self.familiarity)

    @property
    def probability(self) -> FloatArray:
        """The probability of the predicted class; if the model abstains, the highest probability."""
        shown = np.where(self.abstained, self.proba.argmax(axis=1), self.indices)
        return np.asarray(self.proba[np.arange(len(shown)), shown])


class PredictionBatch:
    """Predictions for one table of samples, cached so that each sample is encoded, searched and scored once."""

    def __init__(self, view: ModelView, table: Table) -> None:
        check_has_label(view.class_table)
        self.view, self.members, self._table = view, view.members, table
        self._nodes: dict[int, IntArray] = {}
        self._ballots: dict[int, Ballot] = {}

    def prediction(self, *, depth: int | None = None, want_proba: bool = False) -> PredictedClasses:
        """Return the predictions with the model's abstention limits and the given search depth."""
        indices, limited = self.decided(self.view.search_depth if depth is None else depth), self.view.limits_confidence
        proba = self.proba() if want_proba or limited else None
        if limited and proba is not None:
            indices = np.where(self.view.is_unsure(indices, proba), UNLABELLED, indices)
        return PredictedClasses(indices, proba)

    def decisions(self, familiar_from: float | None = None) -> Decisions:
        """Return the decisions on the samples; `familiar_from` is the novelty threshold, None for the default."""
        found, familiarity = self.prediction(want_proba=True), self.familiarity()
        assert found.proba is not None
        least = self.view.novelty_threshold if familiar_from is None else familiar_from
        return Decisions(found.indices, found.proba, familiarity, familiarity < least)

    def familiarity(self) -> FloatArray:
        """Return the familiarity of each sample, mean over the members."""
        if self.view.without_later_dates(self._table) is not self._table:
            return self.view.score_samples(self._table)
        return np.asarray(
            np.mean([one.familiarity(coded) for one, coded in zip(self.members, self._encoded, strict=True)], axis=0)
        )

    @cached_property
    def _encoded(self) -> list[Coded]:
        return [member.network.encoded(self._table) for member in self.members]

    @property
    def coded(self) -> list[FloatArray]:
        """The samples coded by each member."""
        return [coded.values for coded in self._encoded]

    @cached_property
    def scored(self) -> list[FloatArray]:
        """The samples coded for the evidence of each member, as at the last selection of settings."""
        chosen = [member.mapping.network_of(member.network) for member in self.members]
        return [
            x if one.encoder is member.encoder else one.encode(self._table)
            for one, member, x in zip(chosen, self.members, self.coded, strict=True)
        ]

    @cached_property
    def probas(self) -> list[FloatArray]:
        """With evidence, the probabilities by each member, shape (n_samples, n_classes)."""
        return [member.evidence_proba(x) for member, x in zip(self.members, self.scored, strict=True)]

    def nodes(self, depth: int) -> IntArray:
        """Return the labelled box that each member finds within a depth, -1 for none."""
        if depth not in self._nodes:
            found = [member.first_labelled(x, depth) for member, x in zip(self.members, self.coded, strict=True)]
            self._nodes[depth] = np.array(found)
        return self._nodes[depth]

    def all_nodes(self) -> IntArray:
        """Return the labelled box found by each member without a depth limit, continuing a limited search."""
        if NO_LIMIT not in self._nodes and self._nodes:
            nodes = next(iter(self._nodes.values())).copy()
            for own, member, x in zip(nodes, self.members, self.coded, strict=True):
                rest = np.flatnonzero(own == UNLABELLED)
                if rest.size:
                    own[rest] = member.first_labelled(x[rest])
            self._nodes[NO_LIMIT] = nodes
        return self.nodes(NO_LIMIT)

    def ballot(self, depth: int) -> Ballot:
        """Return the votes of an ensemble."""
        if depth not in self._ballots:
            weights, quorum = self.view.vote_weights, self.view.quorum
            assert weights is not None
            if self.view.uses_evidence:
                votes = self._evidence_indices(depth)
                self._ballots[depth] = vote_on_evidence(votes, np.array(self.probas), weights, quorum)
            else:
                nodes = self.all_nodes() if depth == NO_LIMIT else self.nodes(depth)
                votes = np.array([one.label_of(own) for one, own in zip(self.members, nodes, strict=True)])
                self._ballots[depth] = vote_on_labels(votes, nodes, weights, quorum)
        return self._ballots[depth]

    def _evidence_indices(self, depth: int) -> IntArray:
        """Return the most probable class by each member, -1 where no labelled box lies within the depth."""
        indices: IntArray = np.array([proba.argmax(axis=1) for proba in self.probas])
        if depth != NO_LIMIT:
            indices[self.nodes(depth) == UNLABELLED] = UNLABELLED
        return indices

    def decided(self, depth: int) -> IntArray:
        """Return the class index of the lowest expected cost; -1 if no labelled box was found."""
        indices = self.indices(depth)
        if self.view.decision_costs is None:
            return indices
        return np.where(indices == UNLABELLED, UNLABELLED, self.view.class_by(self.proba()))

    def indices(self, depth: int) -> IntArray:
        """Return the class index predicted without costs; -1 if no labelled box was found."""
        if self.view.is_ensemble:
            return np.asarray(self.ballot(depth).winners)
        if self.view.uses_evidence:
            if "probas" not in vars(self) and depth == NO_LIMIT and len(self._table) == 1:
                winner = self.members[0].clear_winner(self.scored[0])
                if winner is not None:
                    return np.array([winner])
            indices = self.probas[0].argmax(axis=1)
            return indices if depth == NO_LIMIT else np.asarray(self._evidence_indices(depth)[0])
        return self.members[0].label_of(self.nodes(depth)[0])

    def scores(self) -> FloatArray:
        """Return a finite score of each class: the logarithm of its probability, or its negative expected cost.

        The predicted class has the highest score; ties are broken in its favour.
        """
        costs = self.view.decision_costs
        if costs is not None:
            return -expected_costs(self.proba(), costs)
        scores = np.log(np.maximum(self.proba(), np.finfo(np.float64).eps))
        rows, winners = np.arange(len(scores)), self.indices(NO_LIMIT)
        first = scores.argmax(axis=1)
        tied = first != winners
        scores[rows[tied], winners[tied]] = np.nextafter(scores[rows[tied], first[tied]], np.inf)
        return np.asarray(scores)

    def proba(self) -> FloatArray:
        """Return the probability of each class."""
        if self.view.is_ensemble:
            return self.ballot(NO_LIMIT).proba()
        if self.view.uses_evidence:
            return self.probas[0]
        return self.members[0].shares_of(self.all_nodes()[0])


Record = TypeVar("Record", PredictedClasses, Decisions)


def _joined(parts: Sequence[FloatArray]) -> FloatArray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _concatenated(parts: Sequence[Record]) -> Record:
    """Concatenate records of arrays; a field is None in all of them or in none."""
    whole: dict[str, Any] = {}
    for field in fields(parts[0]):
        arrays = [getattr(one, field.name) for one in parts]
        whole[field.name] = None if arrays[0] is None else np.concatenate(arrays)
    return type(parts[0])(**whole)


@dataclass(frozen=True, eq=False)
class ModelView:
    """A fitted classifier."""

    name: str  # class of the estimator
    members: tuple[MemberView, ...]
    # returns the vote weight of each member for each class; None in a single model
    weigh_votes: Callable[[], FloatArray] | None
    class_table: ClassTable
    reader: SampleReader  # validates samples and names columns
    search_depth: int = NO_LIMIT  # T; 0 for no limit
    abstain_below: float | None = None
    quorum: int = 1  # minimum number of members that vote
    # (n_classes, n_classes): decision costs, true × predicted; None: the most probable class is predicted
    decision_costs: FloatArray | None = None
    max_error: ErrorLevels | None = None  # maximum share of wrong predictions
    confidence: float | None = CERTAINTY  # with which that holds for this model; None: on average
    calibration: NoveltyCalibration | None = None  # of novelty detection
    audit: Audit | None = None  # samples that are never learnt, on which the quality is measured

    @property
    def is_ensemble(self) -> bool:
        """True if members vote."""
        return self.weigh_votes is not None

    def balanced_costs(self) -> FloatArray:
        """Return the costs of wrong predictions that `decision_costs="balanced"` stands for."""
        return balanced_costs(sum(member.counts.sum(axis=0) for member in self.members))

    @cached_property
    def vote_weights(self) -> FloatArray | None:
        """Vote weights of each member for each class, shape (n_members, n_classes); None in a single model."""
        return None if self.weigh_votes is None else self.weigh_votes()

    @property
    def uses_evidence(self) -> bool:
        """True if all boxes contribute to every prediction."""
        return self.members[0].mapping.uses_evidence

    @property
    def uses_one_box(self) -> bool:
        """True if a prediction follows from a single box: one network, without evidence mapping."""
        return not self.is_ensemble and not self.uses_evidence

    @property
    def decides_by_one_box(self) -> bool:
        """True if the label of a single box is the prediction: it follows from that box, and there are no costs."""
        return self.uses_one_box and self.decision_costs is None

    @property
    def may_abstain(self) -> bool:
        """True if a parameter lets the model abstain."""
        return self.search_depth != NO_LIMIT or self.limits_confidence

    @property
    def limits_confidence(self) -> bool:
        """True if a parameter lets the model abstain at low confidence."""
        return self.abstain_below is not None or self.max_error is not None

    @property
    def certainty(self) -> float:
        """Certainty of the limits of error that are shown: `confidence`, or the usual one where limits are averages."""
        return CERTAINTY if self.confidence is None else self.confidence

    @cached_property
    def promises(self) -> ConformalPredictor:
        """Sets and limits of error for new samples, from leave-one-out predictions."""
        left_out = self.left_out
        if left_out is None:
            raise ValueError(no_promise(self.name))
        return ConformalPredictor(left_out.drawn, self.classes, self.abstain_below)

    @property
    def confidence_limits(self) -> FloatArray | None:
        """From which confidence on each class is predicted, so that `max_error` holds; None where it is not set."""
        levels = self.max_error
        if levels is None:
            return None
        weights, costs = (None if one is None else one.tobytes() for one in (self.vote_weights, self.decision_costs))
        key = ("limits", levels, self.abstain_below, weights, costs, *(member.readout for member in self.members))
        return self.members[0].network.get_or_compute(key, lambda: self._new_limits(levels))

    def _new_limits(self, levels: ErrorLevels) -> FloatArray:
        """Return the limits of confidence; a warning for each level of error that is kept at none."""
        for obstacle in self.promises.obstacles(levels):
            warnings.warn(obstacle, UserWarning, stacklevel=2)
        return self.promises.confidence_limits(levels)

    def is_unsure(self, indices: IntArray, proba: FloatArray) -> BoolArray:
        """Return a mask of samples with a class whose confidence is too low to predict it."""
        unsure = np.zeros(len(indices), dtype=bool)
        if self.abstain_below is not None:
            unsure |= proba.max(axis=1) < self.abstain_below
        limits = self.confidence_limits
        if limits is not None:
            unsure |= proba[np.arange(len(indices)), indices] < limits[indices]
        return np.asarray(unsure & (indices != UNLABELLED))

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, sorted."""
        return self.class_table.classes

    @property
    def feature_names(self) -> list[str]:
        """Name of each column: as given, else x0, x1, ..."""
        return self.reader.feature_names

    @property
    def params(self) -> LearningParams:
        """ρ, α, β, δ."""
        return self.members[0].params

    @cached_property
    def novelty(self) -> NoveltyTest:
        """The test by which novel samples are flagged."""
        assert self.calibration is not None
        return NoveltyTest(self.calibration, [member.network for member in self.members], self.params)

    @property
    def novelty_threshold(self) -> float:
        """Familiarity below which a sample is novel, at the default rate of false alarms."""
        return self.novelty.threshold()

    @cached_property
    def left_out(self) -> LooPredictions | None:
        """Leave-one-out predictions of the stored labels; None if no labels are stored."""
        if not self.class_table.seen:
            return None
        known = [one for one in (member.mapping.left_out for member in self.members) if one is not None]
        if not known:
            return None
        found_by_all = known[0]
        if self.is_ensemble:
            assert self.vote_weights is not None
            weighted = bool((self.vote_weights != 1).any())
            kept = [one for one in (member.mapping.kept_samples for member in self.members) if one is not None]
            found_by_all = left_out_by_vote(known, kept, weighted=weighted)
        return replace(found_by_all, costs=self.decision_costs)

    @cached_property
    def quality(self) -> ModelQuality:
        """The statement of quality: on the audit if there is one, else by leave-one-out on the stored labels."""
        return quality_of(self)

    @property
    def shows_skill(self) -> bool:
        """False if the labels, or the audit, do not show that predictions beat class frequencies."""
        if self.audit is not None:
            return self.quality.shows_skill
        key = "shows skill", tuple(member.readout for member in self.members)
        return self.members[0].network.get_or_compute(key, lambda: figures_of(self).shows_skill)

    def read(self, X: Any) -> Table:
        """Validate samples and return them as a table."""
        return self.reader.read(X)

    def read_labels(self, y: Any, samples: Sized) -> Labels:
        """Validate labels; -1 is a class if the model has learnt it as one."""
        labels = read_labels(y, len(samples), classes=self.class_table)
        self.class_table.check_kind(labels)
        return labels

    def predict(self, table: Table, *, want_proba: bool = False) -> PredictedClasses:
        """Return the predictions of the model; every sample is scored once."""
        found = [PredictionBatch(self, one).prediction(want_proba=want_proba) for one in self._blocks(table)]
        return found[0] if len(found) == 1 else _concatenated(found)

    def decide(self, table: Table) -> Decisions:
        """Return class, probabilities and novelty of each sample; every sample is encoded once."""
        found = [PredictionBatch(self, one).decisions() for one in self._blocks(table)]
        return found[0] if len(found) == 1 else _concatenated(found)

    def predict_at_depths(self, table: Table, depths: Iterable[int]) -> list[IntArray]:
        """Return the class indices predicted at each search depth (0: no limit)."""
        batch = PredictionBatch(self, table)
        return [batch.prediction(depth=depth).indices for depth in depths]

    def predict_proba(self, table: Table) -> FloatArray:
        """Return the probability of each class; the model never abstains here."""
        return _joined([PredictionBatch(self, one).proba() for one in self._blocks(table)])

    def class_by(self, proba: FloatArray) -> IntArray:
        """Return the class index decided by probabilities: the most probable, or the one of the lowest cost."""
        return np.asarray(proba.argmax(axis=1)) if self.decision_costs is None else cheapest(proba, self.decision_costs)

    def decision_scores(self, table: Table) -> FloatArray:
        """Return a finite score of each class, the highest for the class that is predicted without abstention."""
        return _joined([PredictionBatch(self, one).scores() for one in self._blocks(table)])

    def vote(self, table: Table, depth: int) -> Ballot:
        """Return the votes of the members of an ensemble, with a limited search depth (0: no limit)."""
        return PredictionBatch(self, table).ballot(depth)

    def score_samples(self, table: Table) -> FloatArray:
        """Return the familiarity of each sample, mean over the members."""
        table = self.without_later_dates(table)
        return _joined([self._familiarity(one) for one in self._blocks(table)])

    def best_match(self, table: Table) -> FloatArray:
        """Return the match of each sample with its best box, mean over the members."""
        table = self.without_later_dates(table)
        found = [one.best_match(one.network.encoded(table)) for one in self.members]
        return np.asarray(np.mean(found, axis=0))

    def _familiarity(self, table: Table) -> FloatArray:
        found = [member.familiarity(member.network.encoded(table)) for member in self.members]
        return np.asarray(np.mean(found, axis=0))

    def _blocks(self, table: Table) -> Iterator[Table]:
        """Yield the samples in blocks of at most `MAX_CELLS` coded values, to bound memory."""
        n_cells = len(table) * max(len(member.encoder.features) for member in self.members)
        if n_cells <= MAX_CELLS:
            yield table
            return
        step = max(MAX_CELLS * len(table) // n_cells, 1)
        for start in range(0, len(table), step):
            yield table[start : start + step]

    def without_later_dates(self, table: Table) -> Table:
        """Return samples with dates after the last learnt one set to missing, unless they would have no value left.

        A later date alone must not make a sample novel. The hour, weekday and month of the date stay.
        """
        values = table.values
        for column in self.reader.plan.dates:
            last = self.members[0].encoder.range_of(column)[1]
            later = values[:, column] > last
            if later.any():
                values = values.copy() if values is table.values else values
                values[later, column] = np.nan
        if values is table.values:
            return table
        changed = replace(table, values=values)
        empty = rows_without_values(changed)
        if empty is not None:
            values[empty] = table.values[empty]
        return changed

    def labels_of(self, indices: IntArray, *, may_abstain: bool | None = None) -> NDArray[Any]:
        """Convert class indices to classes; the index -1 becomes -1 for integer classes and None for others."""
        labels = self.classes[indices]
        none = indices == UNLABELLED
        if labels.dtype.kind == "i" and not self.class_table.has_minus_one():
            labels[none] = UNLABELLED
        elif none.any() or (self.may_abstain if may_abstain is None else may_abstain):
            labels = labels.astype(object)
            labels[none] = None
        return labels

    def labels_or_none(self, indices: IntArray) -> list[Label | None]:
        """Convert class indices to classes; the index -1 becomes None."""
        labels = [*self.classes.tolist(), None]
        return [labels[index] for index in indices]


def view_of(model: Any, wanted: str = "a fitted classifier of sslart", *, any_estimator: bool = False) -> ModelView:
    """Return the view of a classifier, or raise a TypeError with a remedy.

    With `any_estimator`, also that of a fitted `FuzzyART`, which has boxes but no classes.
    """
    if not hasattr(model, "__sslart_view__") or not (any_estimator or is_classifier(model)):
        raise TypeError(
            f"This takes {wanted}, got a {type(model).__name__}. From a pipeline or a search, pass the fitted "
            "classifier inside, such as pipeline[-1] or search.best_estimator_, and samples transformed for that step."
        )
    view: ModelView = model.__sslart_view__()
    return view
