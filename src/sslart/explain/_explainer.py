"""Local explanations: reasons for the prediction of a sample, evidence against it, and changes that alter it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart._art.boxes import NO_LIMIT
from sslart._data.labels import UNLABELLED, check_has_label
from sslart._data.samples import Table
from sslart._mapping.decision_rules import expected_costs
from sslart._mapping.ensemble_votes import Ballot
from sslart._mapping.model_view import ModelView, PredictionBatch, view_of
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.cache import Deferred
from sslart.explain._attribution import attribute, predictions_at_centres
from sslart.explain._contributions import EvidenceTable
from sslart.explain._counterfactuals.changes import CounterfactualTable
from sslart.explain._counterfactuals.moves import Path, moves_towards
from sslart.explain._counterfactuals.rounding import decimals_of
from sslart.explain._counterfactuals.search import AIMS, Search
from sslart.explain._explanation import BoxFindings, Explanation, LowConfidence, MemberFindings, ModelFindings
from sslart.explain._match import NO_NODE
from sslart.explain._probe import MemberProbe
from sslart.explain._search_path import SearchPaths

SIMILAR = 3  # boxes that are shown as similar


def explain(model: Any, X: Any) -> list[Explanation]:
    """Explain each prediction: its reasons, and a change of the sample that would alter it.

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
    The prediction would be old with x1 8 instead of 2.
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
        self.indices: IntArray = np.full(n, UNLABELLED)  # before limits of confidence are applied
        self.is_low: BoolArray = np.zeros(n, dtype=bool)
        self.deficits: FloatArray = np.zeros(n)
        self.familiarity: FloatArray = np.zeros(n)
        self.only: SearchPaths | None = None  # of a model that decides by one box
        self.parts: list[tuple[IntArray, MemberProbe, MemberFindings]] = []

    def _probe(self, number: int, rows: IntArray | slice = slice(None)) -> MemberProbe:
        table = self.table if isinstance(rows, slice) else self.table[rows]
        return MemberProbe(self.view.members[number], self.classes, self.view.feature_names, table)

    def explanations(self) -> list[Explanation]:
        """Predict the samples; boxes and changes are looked for when they are read."""
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
        """Return the findings in the boxes; in an ensemble, one member is shown for each sample."""
        if self.ballot is not None:
            shown = self._shown_members(self.ballot)
            for number in range(len(self.view.members)):
                rows = np.flatnonzero(shown == number)
                if rows.size:
                    self._add_findings(self._probe(number, rows), rows)
            self.familiarity = self.view.score_samples(self.table)
        else:
            self._add_findings(self._probe(0), np.arange(len(self.table)))
        member_of, row_in = np.empty((2, len(self.table)), dtype=np.int64)
        for number, (rows, _, _) in enumerate(self.parts):
            member_of[rows], row_in[rows] = number, np.arange(len(rows))
        members = [findings for _, _, findings in self.parts]
        return BoxFindings(members, member_of, row_in, self.familiarity, self.view.novelty_threshold)

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
        """Return why each sample has too low a confidence: `abstain_below`, else `max_error`."""
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
        """Return the member to show for each sample: that adds most to the prediction, the first on ties.

        Where all members abstain, it is the one whose label would help most.
        """
        towards = np.where(ballot.votes == self.indices, ballot.weights, -1.0)  # costs may decide against the winner
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

    def _add_findings(self, probe: MemberProbe, rows: IntArray) -> None:
        paths = probe.search_paths(self.depth) if self.only is None else self.only
        if self.view.uses_evidence:
            self._add_evidence_findings(probe, rows, paths)
        else:
            self._add_box_findings(probe, rows, paths)

    def _add_box_findings(self, probe: MemberProbe, rows: IntArray, paths: SearchPaths) -> None:
        """Add the findings in the boxes of one network that predicts by its best labelled box."""
        boxes = probe.matched(paths.found)
        best = boxes if bool((paths.best == paths.found).all()) else probe.matched(paths.best)
        near = probe.unlabelled_near(np.flatnonzero(self.is_low[rows]))
        other = probe.other_class(paths.labels)
        if self.view.uses_one_box and not self.view.decides_by_one_box:
            other = probe.other_class(self.indices[rows], self._predictions_by_box(probe))
        self._add(probe, rows, MemberFindings(paths, boxes, other, best, near))

    def _predictions_by_box(self, probe: MemberProbe) -> IntArray:
        """Return the class index that each box leads to, which costs may make another than its label; -1 for none."""
        labels = probe.member.labels
        by_cost = self.view.class_by(probe.member.shares_of(np.arange(len(labels))))
        return np.where(labels == UNLABELLED, UNLABELLED, by_cost)

    def _add_evidence_findings(self, probe: MemberProbe, rows: IntArray, paths: SearchPaths) -> None:
        """Add the boxes of one network that are similar to the given rows; its prediction is not that of one box."""
        likely, at_centres = self._likely()[rows], predictions_at_centres(self.view, probe)
        nearest = probe.other_class(likely)
        alternatives = [probe.other_class(likely, at_centres)]
        if self.depth != NO_LIMIT:  # only near a box with a label the model predicts anything
            labelled = np.where(probe.member.labels == UNLABELLED, UNLABELLED, at_centres)
            alternatives.append(probe.other_class(self.indices[rows], labelled))
        findings = MemberFindings(
            paths,
            probe.matched(paths.found),
            nearest,
            probe.matched(paths.best),
            probe.unlabelled_near(np.flatnonzero(self.is_low[rows])),
            probe.most_similar(SIMILAR, paths),
            tuple(alternatives),
        )
        self._add(probe, rows, findings)

    def _likely(self) -> IntArray:
        """Return the class index of each prediction, or of the most likely class where the model abstains."""
        return np.where(self.indices == UNLABELLED, self.view.class_by(self.proba), self.indices)

    def _add(self, probe: MemberProbe, rows: IntArray, findings: MemberFindings) -> None:
        if self.ballot is None:
            self.familiarity[rows] = probe.familiarity(findings.paths.best_matches)
        self.deficits[rows] = findings.boxes.choices - findings.opposing.choices
        self.parts.append((rows, probe, findings))

    def _predict(self, table: Table) -> tuple[IntArray, IntArray]:
        """Return class indices, and the box behind each prediction; -1 where there is no single box."""
        batch = PredictionBatch(self.view, table)
        indices = batch.prediction().indices
        alone = self.view.uses_one_box
        return indices, batch.nodes(self.depth)[0] if alone else np.full(len(table), NO_NODE)

    def _counterfactuals(self) -> CounterfactualTable:
        by_one_box = self.view.decides_by_one_box and not self.view.limits_confidence
        network, names, dates = self.parts[0][1].member.network, self.view.feature_names, self.view.date_columns
        decimals = network.get_or_compute(("decimals", len(names)), lambda: decimals_of(network, len(names)))
        search = Search(self.table, self.predicted, decimals, self._predict, by_one_box=by_one_box)
        for aim in AIMS:
            for rows, probe, findings in self.parts:
                for targets in (*findings.alternatives, findings.opposing):
                    if (search.found[rows] != UNLABELLED).all():
                        continue
                    samples, choice = probe.samples, probe.member.params.choice
                    moves = moves_towards(samples, choice, findings.boxes, targets, aim, decimals, dates)
                    if by_one_box and aim == AIMS[0]:
                        path = Path(samples, probe.member.network, choice, targets, moves, decimals)
                        search.try_least(path, findings.boxes, probe.member.boxes)
                    own = np.flatnonzero(search.found[rows] == UNLABELLED)
                    search.try_full(rows[own], moves, own)
        search.shrink(self.deficits)
        return search.results(names, self.classes)

    def _collected(self) -> list[Explanation]:
        view = self.view
        boxes = Deferred(self._boxes)

        def counterfactuals() -> CounterfactualTable:
            boxes.get()
            return self._counterfactuals()

        of_model = ModelFindings(
            boxes,
            Deferred(counterfactuals),
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
