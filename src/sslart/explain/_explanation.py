"""Local explanations: the reasons for a prediction, evidence against it, and a change that alters it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sslart._data.labels import UNLABELLED, check_has_label
from sslart._data.samples import Table
from sslart._mapping.decision_rules import expected_costs
from sslart._mapping.ensemble_votes import Ballot
from sslart._mapping.model_view import ModelView, PredictionBatch, view_of
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.cache import Deferred
from sslart.explain import _text as text
from sslart.explain._boxes import NO_NODE, Box, Class, MatchedBoxes, MemberProbe, SearchPaths, SearchStep
from sslart.explain._contributions import Evidence, EvidenceTable, attribute
from sslart.explain._counterfactual import Counterfactual, CounterfactualTable, first_changes


@dataclass(frozen=True)
class Vote:
    """Vote of one member of an ensemble.

    Attributes
    ----------
    member : int
    vote : class or None
        None if the member abstains.
    weight : float
        Weight of the vote; 0 without a vote. With evidence mapping, times the member's probability for it.
    node : int or None
        The box that the member predicts by; None with evidence mapping, which uses all boxes.
    """

    member: int
    vote: Class | None
    weight: float
    node: int | None


@dataclass(frozen=True)
class Novelty:
    """Reasons why a sample is novel, or fails the vigilance test with every box.

    Attributes
    ----------
    familiarity : float
        Result of `score_samples`: 1 minus the mean distance from the best box, less an eighth of its size.
    match : float
        The match of the best box, minus the distance out of the learnt range.
    vigilance : float
        The vigilance of the model.
    node : int
        The best box.
    features : tuple of str
        The features that make up most of the distance to that box, and those out of the learnt range.
    threshold : float
        The model's `novelty_threshold_`: of samples like those learnt, at most 5 in 100 fit worse. 0 if too few samples
        were learnt to flag any.
    """

    familiarity: float
    match: float
    vigilance: float
    node: int
    features: tuple[str, ...]
    threshold: float

    @property
    def is_novel(self) -> bool:
        """True if at most 5 % of samples like the learnt ones would fit worse."""
        return self.familiarity < self.threshold

    @property
    def is_beyond(self) -> bool:
        """True if the mean distance per feature from the best box is about a whole range or more."""
        return self.familiarity <= 0


@dataclass(frozen=True)
class Advice:
    """Advice on which box to label if a model abstains.

    Attributes
    ----------
    node : int
        The unlabelled box with the largest support among those searched.
    member : int or None
        Member of an ensemble that has the box.
    support : int
        Number of samples learnt by the box; a float with `half_life`.
    """

    node: int
    member: int | None
    support: float


class LowConfidence(NamedTuple):
    """Confidence that is too low for a prediction."""

    confidence: float
    limit: float | None  # None if no confidence is high enough
    max_error: float | None  # from which the limit is derived; None: the limit is `abstain_below`


@dataclass(frozen=True)
class MemberFindings:
    """Boxes of one network that explain several samples."""

    paths: SearchPaths
    boxes: MatchedBoxes  # behind each prediction; with evidence mapping, the best-ranked with a label
    opposing: MatchedBoxes  # of another class
    best: MatchedBoxes
    unlabelled_near: dict[int, tuple[int, int]]  # box to label and its support, by row, if the probability is too low
    similar: tuple[MatchedBoxes, ...]  # with evidence mapping, best first


@dataclass(frozen=True)
class BoxFindings:
    """Boxes of a model that explain several samples."""

    members: list[MemberFindings]
    member_of: IntArray  # for each sample, its entry of `members` and its row there
    row_in: IntArray
    familiarity: FloatArray
    match: FloatArray
    novelty_threshold: float


@dataclass(frozen=True)
class ModelFindings:
    """All parts of the explanations of several samples."""

    boxes: Deferred[BoxFindings]
    counterfactuals: Deferred[CounterfactualTable]
    vigilance: float
    ballot: Ballot | None
    classes: list[Any]
    low_confidence: list[LowConfidence | None]
    quorum: int
    evidence: EvidenceTable | None
    expected_costs: FloatArray | None


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Explanation of the prediction for one sample.

    `str()` puts it into words; notebooks show a table. Parts are computed lazily from the model as it was at the time
    of the explanation.

    Attributes
    ----------
    prediction : class, or -1 or None
        Result of `predict`; -1 or None, as there, if the model abstains.
    abstained : bool
        Whether it abstains: none of the T best boxes has a label, or the confidence is too low
        for `abstain_below` or `max_error`.
    confidence : float or None
        Probability of the prediction by `predict_proba`; None if the model abstains.
    """

    prediction: Class | None
    abstained: bool
    confidence: float | None
    _model: ModelFindings
    _row: int

    @property
    def _member(self) -> MemberFindings:
        boxes = self._model.boxes.get()
        return boxes.members[boxes.member_of.item(self._row)]

    @property
    def _member_row(self) -> int:
        return int(self._model.boxes.get().row_in[self._row])

    @cached_property
    def box(self) -> Box:
        """The box that decides the prediction; the best one if the model abstains.

        In an ensemble, that of the member with the largest weight among those that voted for the prediction. With
        evidence mapping, which uses all boxes, the best-ranked box with a label.
        """
        box = self._member.boxes[self._member_row]
        assert box is not None
        return box

    @cached_property
    def opposing_box(self) -> Box | None:
        """The best-ranked box of another class, or with decision costs of another prediction; None if there is none."""
        return self._member.opposing[self._member_row]

    @cached_property
    def counterfactual(self) -> Counterfactual | None:
        """The smallest change found that leads to another prediction, verified by the model; None if none was found."""
        return self._model.counterfactuals.get()[self._row]

    @property
    def search_path(self) -> tuple[SearchStep, ...]:
        """The boxes searched, best first, up to the first with a label, or to T.

        Empty with evidence mapping, which uses all boxes, unless the model abstains because none of the T best boxes
        has a label.
        """
        if self._model.evidence is not None and (self.low_confidence is not None or not self.abstained):
            return ()
        return self._member.paths.steps(self._member_row)

    @property
    def low_confidence(self) -> tuple[float, float | None] | None:
        """The highest probability and `abstain_below`, if the model abstains because of them.

        With `max_error`, the probability of the class and the limit derived from `max_error`; the limit is None if no
        confidence is high enough.
        """
        low = self._model.low_confidence[self._row]
        return None if low is None else (low.confidence, low.limit)

    @property
    def max_error(self) -> float | None:
        """The error from which the limit in `low_confidence` is derived; None if it is `abstain_below`."""
        low = self._model.low_confidence[self._row]
        return None if low is None else low.max_error

    @property
    def quorum(self) -> int:
        """Minimum number of members of an ensemble that vote; 1 for a single model."""
        return self._model.quorum

    @cached_property
    def evidence(self) -> Evidence | None:
        """The contributions to the predicted class against the runner-up; None without evidence mapping."""
        table = self._model.evidence
        return None if table is None else table[self._row]

    @cached_property
    def similar_boxes(self) -> tuple[Box, ...]:
        """With evidence mapping, the boxes that match the sample best, labelled or not; none for other mappings.

        In an ensemble, those of the member that contributes most to the prediction.
        """
        boxes = (matched[self._member_row] for matched in self._member.similar)
        return tuple(box for box in boxes if box is not None)

    @cached_property
    def advice(self) -> Advice | None:
        """The box whose label would help most, if the model abstains."""
        if not self.abstained:
            return None
        own, row = self._member, self._member_row
        found = own.paths.largest(row) if self.low_confidence is None else own.unlabelled_near.get(row)
        return None if found is None else Advice(found[0], self.box.member, found[1])

    @cached_property
    def novelty(self) -> Novelty | None:
        """Novelty of the sample; None if it is not novel and passes the vigilance test."""
        boxes, vigilance = self._model.boxes.get(), self._model.vigilance
        familiarity, match = boxes.familiarity.item(self._row), boxes.match.item(self._row)
        if match >= vigilance and familiarity >= boxes.novelty_threshold and familiarity > 0:
            return None
        best, row = self._member.best, self._member_row
        features = best.most_distant_features(row)
        return Novelty(familiarity, match, vigilance, best.nodes.item(row), features, boxes.novelty_threshold)

    @cached_property
    def votes(self) -> tuple[Vote, ...] | None:
        """Vote of each member; None unless the model is an ensemble."""
        ballot, row, classes = self._model.ballot, self._row, self._model.classes
        if ballot is None:
            return None
        columns = (ballot.votes[:, row].tolist(), ballot.weights[:, row].tolist(), ballot.nodes[:, row].tolist())
        return tuple(
            Vote(member, None, 0.0, None)
            if index == UNLABELLED
            else Vote(member, classes[index], weight, None if node == NO_NODE else node)
            for member, (index, weight, node) in enumerate(zip(*columns, strict=True))
        )

    @cached_property
    def scores(self) -> dict[Class, float] | None:
        """The sum of the votes for each class; with evidence mapping, of the weighted probabilities.

        None unless the model is an ensemble.
        """
        ballot, row, classes = self._model.ballot, self._row, self._model.classes
        if ballot is None:
            return None
        return dict(zip(classes, ballot.scores[row].tolist(), strict=True))

    @cached_property
    def expected_costs(self) -> dict[Class, float] | None:
        """Expected cost of predicting each class, the lowest for the prediction; None without `decision_costs`."""
        costs = self._model.expected_costs
        return None if costs is None else dict(zip(self._model.classes, costs[self._row].tolist(), strict=True))

    def __str__(self) -> str:
        return text.as_text(self)

    def __repr__(self) -> str:
        return f"<Explanation: {text.headline(self)}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values that JSON knows."""
        return text.as_dict(self)

    def _repr_html_(self) -> str:
        return text.as_html(self)


SIMILAR = 3  # similar boxes that are shown


def explain(model: Any, X: Any) -> list[Explanation]:
    """Explain each prediction: the evidence for and against it, and a counterfactual.

    Parameters
    ----------
    model : AutoSSLART, SSLART, FuzzyARTMAP or WESSLART
        A fitted classifier. It is not changed.
    X : array-like of shape (n_samples, n_features)
        Raw features; NaN where a value is missing.

    Returns
    -------
    list of Explanation
        One per sample.

    Examples
    --------
    >>> from sslart import FuzzyARTMAP
    >>> from sslart.explain import explain
    >>> X = [[20, 1], [25, 2], [60, 8], [70, 9]]
    >>> model = FuzzyARTMAP().fit(X, ["young", "young", "old", "old"])
    >>> explanation = explain(model, [[30, 2]])[0]
    >>> print(explanation)
    Prediction: young (confidence 1.00), from box 0 (class young, 2 samples, match 0.84).
    The sample lies inside this box in 1 of 2 features:
      x0 20 to 25; the sample has 30: outside by 5, 100% of the distance
      x1 1 to 2; the sample has 2: inside
    Nearest of another class: box 1 (class old, 2 samples, match 0.16); the sample is outside it in x1 (56%), x0 (44%).
    The prediction would be old with x0 65 instead of 30.
    >>> model.predict([explanation.counterfactual.sample])
    array(['old'], dtype='<U5')
    >>> [(f.feature, f.value, f.lower, round(f.upper, 6), f.inside) for f in explanation.box.feature_matches]
    [('x0', 30.0, 20.0, 25.0, False), ('x1', 2.0, 1.0, 2.0, True)]
    """
    view = view_of(model, "a fitted SSLART, FuzzyARTMAP or WESSLART")
    table = view.read(X)
    check_has_label(view.class_table)
    own = Table(table.values.copy(), {c: given.copy() for c, given in table.categories.items()}, table.names)
    return _Explainer(view, own).explanations()


class _Explainer:
    """Builder of explanations: collects the findings of each member for the given samples."""

    def __init__(self, view: ModelView, table: Table) -> None:
        self.view, self.table, self.depth = view, table, view.search_depth
        self.classes: list[Any] = view.classes.tolist()
        n = len(table)
        self.ballot: Ballot | None = None
        self.evidence: EvidenceTable | None = None
        self.proba: FloatArray = np.zeros((n, len(self.classes)))
        self.indices: IntArray = np.full(n, UNLABELLED)  # before confidence limits are applied
        self.is_low: BoolArray = np.zeros(n, dtype=bool)
        self.only: SearchPaths | None = None  # for a model that decides by one box

    def _probe(self, number: int, rows: IntArray | slice = slice(None)) -> MemberProbe:
        table = self.table if isinstance(rows, slice) else self.table[rows]
        return MemberProbe(self.view.members[number], self.classes, self.view.feature_names, table)

    def explanations(self) -> list[Explanation]:
        """Predict the samples; boxes and counterfactuals are computed lazily."""
        if self.view.decides_by_one_box:
            probe = self._probe(0)
            self.only = paths = probe.search_paths(self.depth)
            found = np.where(paths.labels == UNLABELLED, NO_NODE, paths.found)
            self._set_predictions(paths.labels, probe.member.shares_of(found))
        else:
            batch = PredictionBatch(self.view, self.table)
            for member, coded in zip(self.view.members, batch.coded, strict=True):
                member.network.check_known_features(coded)
            self._set_predictions(batch.decided(self.depth), batch.proba())
            if self.view.is_ensemble:
                self.ballot = batch.ballot(self.depth)
            if self.view.uses_evidence:
                self.evidence = attribute(self.view, self.table, batch, self._likely(), self._voted())
        return self._collected()

    def _boxes(self) -> BoxFindings:
        """Return the explaining boxes; in an ensemble, of one member for each sample."""
        shown = np.zeros(len(self.table), dtype=np.int64) if self.ballot is None else self._shown_members(self.ballot)
        familiarity, findings = self.view.score_samples(self.table), list[MemberFindings]()
        member_of, row_in = np.empty((2, len(self.table)), dtype=np.int64)
        for number in np.unique(shown).tolist():
            rows = np.flatnonzero(shown == number)
            member_of[rows], row_in[rows] = len(findings), np.arange(len(rows))
            findings.append(self._findings(self._probe(number, slice(None) if len(rows) == len(shown) else rows), rows))
        match = self.view.best_match(self.table)
        return BoxFindings(findings, member_of, row_in, familiarity, match, self.view.novelty_threshold)

    def _voted(self) -> BoolArray | None:
        """Return a mask of the members that vote on each sample, all if the ensemble abstains; None: single model."""
        if self.ballot is None:
            return None
        return np.asarray((self.ballot.votes != UNLABELLED) | (self.indices == UNLABELLED))

    def _set_predictions(self, indices: IntArray, proba: FloatArray) -> None:
        self.indices, self.proba = indices, proba
        if self.view.limits_confidence:
            self.is_low = self.view.is_unsure(indices, proba)
        self.predicted = np.where(self.is_low, UNLABELLED, indices)

    def _low_confidences(self) -> list[LowConfidence | None]:
        """Return the reason why the confidence of each sample is too low: `abstain_below`, else `max_error`."""
        least, limits, levels = self.view.abstain_below, self.view.confidence_limits, self.view.max_error
        found: list[LowConfidence | None] = [None] * len(self.indices)
        for row in np.flatnonzero(self.is_low).tolist():
            index, highest = self.indices.item(row), float(self.proba[row].max())
            if least is not None and highest < least:
                found[row] = LowConfidence(highest, least, None)
            elif limits is not None and levels is not None:
                limit = limits.item(index)
                found[row] = LowConfidence(
                    self.proba.item(row, index), limit if limit <= 1 else None, levels.of_class(index)
                )
        return found

    def _shown_members(self, ballot: Ballot) -> IntArray:
        """Return the member that contributes most to the prediction for each sample, the first on ties.

        If all members abstain, it is the one for which a label would help most.
        """
        towards = np.where(ballot.votes == self.indices, ballot.weights, -1.0)  # with costs the winner may differ
        agreed = ballot.winners == self.indices
        shown: IntArray = np.where(agreed, ballot.towards_winner, towards).argmax(axis=0)
        abstained = np.flatnonzero(self.indices == UNLABELLED)
        if abstained.size:
            numbers = range(len(self.view.members))
            paths = [self._probe(number, abstained).search_paths(self.depth) for number in numbers]
            rows = range(len(abstained))
            support = np.array([[path.largest(row)[1] for row in rows] for path in paths])
            has_label = np.array([path.labels for path in paths]) != UNLABELLED
            shown[abstained] = np.where(has_label, 0, support).argmax(axis=0)
        return shown

    def _findings(self, probe: MemberProbe, rows: IntArray) -> MemberFindings:
        """Return the boxes of one network that explain the given rows."""
        paths = probe.search_paths(self.depth) if self.only is None else self.only
        boxes = probe.matched(paths.found)
        if self.view.uses_evidence:
            other = probe.other_class(self._likely()[rows])
        elif self.view.uses_one_box and not self.view.decides_by_one_box:
            other = probe.other_class(self.indices[rows], self._predictions_by_box(probe))
        else:
            other = probe.other_class(paths.labels)
        return MemberFindings(
            paths,
            boxes,
            other,
            boxes if bool((paths.best == paths.found).all()) else probe.matched(paths.best),
            probe.unlabelled_near(np.flatnonzero(self.is_low[rows])),
            probe.most_similar(SIMILAR, paths) if self.view.uses_evidence else (),
        )

    def _predictions_by_box(self, probe: MemberProbe) -> IntArray:
        """Return the class index predicted by each box, which may differ from its label with costs; -1 for none."""
        labels = probe.member.labels
        by_cost = self.view.class_by(probe.member.shares_of(np.arange(len(labels))))
        return np.where(labels == UNLABELLED, UNLABELLED, by_cost)

    def _likely(self) -> IntArray:
        """Return the class index of each prediction, or of the most likely class if the model abstains."""
        return np.where(self.indices == UNLABELLED, self.view.class_by(self.proba), self.indices)

    def _collected(self) -> list[Explanation]:
        view = self.view
        boxes = Deferred(self._boxes)

        of_model = ModelFindings(
            boxes,
            Deferred(lambda: first_changes(self.view, self.table, self.predicted)),
            view.params.vigilance,
            self.ballot,
            self.classes,
            self._low_confidences(),
            view.quorum,
            self.evidence,
            None if view.decision_costs is None else expected_costs(self.proba, view.decision_costs),
        )
        predictions = view.labels_of(self.predicted).tolist()
        rows = np.arange(len(predictions)), np.maximum(self.predicted, 0)
        confidences, abstained = self.proba[rows].tolist(), (self.predicted == UNLABELLED).tolist()
        return [
            Explanation(label, no_label, None if no_label else confidence, of_model, row)
            for row, (label, no_label, confidence) in enumerate(zip(predictions, abstained, confidences, strict=True))
        ]
