"""Local explanations: why a model gives a sample its answer, what speaks against it, and what would change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._data.training import check_has_label
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.estimators._classifier import ARTClassifier
from sslart.estimators._wesslart import WESSLART
from sslart.explain._attribution import answers_at_nodes, hear
from sslart.explain._counterfactual import AIMS, Search
from sslart.explain._explanation import Account, Ballot, Told, Verdict
from sslart.explain._flips import Flips
from sslart.explain._format import as_dict, as_html, as_text, headline
from sslart.explain._match import NO_NODE
from sslart.explain._moves import Path, moves_towards
from sslart.explain._rounding import decimals_of
from sslart.explain._search import Witness, answers_of, cast, speaks
from sslart.explain._search_path import Trails


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Account):
    """Why a model gives one sample its answer.

    `str()` says it in plain words; notebooks show a table.

    Attributes
    ----------
    answer : class, or -1 or None
        What `predict` says; -1 or None, as there, where the model abstains.
    abstained : bool
        Whether it abstains: none of the T best nodes has a label, or no probability reaches `abstain_below`.
    confidence : float or None
        What `predict_proba` says of the answer; None where the model abstains.
    asked : tuple of SearchStep
        The nodes asked, best first, up to the first with a label, or to T. With evidence mapping all boxes speak, and
        it is empty, but where the model abstains because none of the T best has a label.
    box : Box
        The box that answered; the best one where the model abstains. In an ensemble, that of the member with the
        greatest weight among those that voted for the answer. With evidence mapping, the box that spoke loudest for
        the answer; the best-ranked one where none did.
    rival : Box or None
        The best-ranked box of another class; None where there is no other class. With evidence mapping, the box that
        spoke loudest against the answer; where none did, as otherwise.
    evidence : Evidence or None
        With evidence mapping, what boxes and features say for the answer against the runner-up, and how much; in an
        ensemble, those of the member that gives most to the answer. None for other mappings.
    unsure : (float, float) or None
        The highest probability and `abstain_below`, where the model abstains because the one is below the other.
    counterfactual : Counterfactual or None
        The smallest change found that gets another answer, checked by predicting it; None where none was found.
    advice : Advice or None
        What label would help most, where the model abstains.
    novelty : Novelty or None
        Why the sample is unlike all that was learnt; None where it is not.
    votes : tuple of Vote or None
        How each member voted; None unless the model is an ensemble.
    scores : dict from class to float, or None
        What the votes add up to; with evidence mapping, what the members say for each class, their votes and the
        rest. None unless the model is an ensemble.
    """

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return f"<Explanation: {headline(self)}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values that JSON knows."""
        return as_dict(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def explain(model: ARTClassifier | WESSLART, X: Any) -> list[Explanation]:
    """Say for each sample why the model answers as it does, and what would change the answer.

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
    >>> why = explain(model, [[30, 2]])[0]
    >>> print(why)
    Answer: young (confidence 1.00), from box 0 (class young, 2 samples, match 0.84).
    It lies inside this box in 1 of 2 features:
      x0 20 to 25; it has 30: off by 5, 100% of the distance
      x1 1 to 2; it has 2: inside
    Nearest of another class: box 1 (class old, 2 samples, match 0.16); the sample is outside it in x1 (56%), x0 (44%).
    It would be old with x1 8 instead of 2.
    >>> model.predict([why.counterfactual.sample])
    array(['old'], dtype='<U5')
    >>> [(c.feature, c.value, c.lower, round(c.upper, 6), c.inside) for c in why.box.conditions]
    [('x0', 30.0, 20.0, 25.0, False), ('x1', 2.0, 1.0, 2.0, True)]
    """
    if not isinstance(model, ARTClassifier | WESSLART):
        raise TypeError(
            f"explain takes a fitted SSLART, FuzzyARTMAP or WESSLART, got {type(model).__name__}. For a pipeline, "
            "give its last step and the samples as that step gets them."
        )
    table = model._read(X)
    check_has_label(model._class_table)
    own = Table(table.values.copy(), {c: given.copy() for c, given in table.categories.items()}, table.names)
    return _Case(model, own).explanations()


class _Case:
    """A model and the samples to explain; collects what is needed member by member."""

    def __init__(self, model: ARTClassifier | WESSLART, table: Table) -> None:
        self.model, self.table, self.depth = model, table, model._search_depth()
        names = getattr(model, "feature_names_in_", None)
        n_columns = model.n_features_in_
        self.names = [f"x{c}" for c in range(n_columns)] if names is None else [str(name) for name in names]
        self.classes: list[Any] = model.classes_.tolist()
        n = len(table)
        self.ballot: Ballot | None = None
        self.probabilities: FloatArray | None = None
        self.unsure: BoolArray = np.zeros(n, dtype=bool)
        if speaks(model) or model.abstain_below is not None:
            self.probabilities = model._class_probabilities(table)
            self.unsure = model._unsure(self.probabilities)
        self.places: IntArray = np.full(n, UNLABELLED)  # before it is asked whether they are sure
        self.deficits: FloatArray = np.zeros(n)
        self.familiarity: FloatArray = np.zeros(n)
        self.sides: list[tuple[IntArray, Witness, Told]] = []

    def explanations(self) -> list[Explanation]:
        if isinstance(self.model, WESSLART):
            self.ballot = cast(self.model, self.table, self.depth)
            self.places = self.ballot.places
            spokesmen = self._spokesmen(self.ballot)
            for place, member in enumerate(self.model.estimators_):
                rows = np.flatnonzero(spokesmen == place)
                if rows.size:
                    self._hear(Witness(member, place, self.names, self.table[rows]), rows)
            every = self.model._ask(
                lambda member, stop: member._network.familiarity(
                    self.table, member._learning_params().choice, stop=stop
                )
            )
            self.familiarity = np.mean(every, axis=0)  # as in score_samples
        else:
            if speaks(self.model):
                self.places = self.model._answer_places(self.table, self.depth)
            self._hear(Witness(self.model, None, self.names, self.table), np.arange(len(self.table)))
        self.unsure &= self.places != UNLABELLED
        self.answers = np.where(self.unsure, UNLABELLED, self.places)
        return self._collected(self._counterfactuals())

    def _spokesmen(self, ballot: Ballot) -> IntArray:
        """Return the member to show for each sample; where all abstain, the one whose label would help most."""
        speaks = ballot.spokesman()
        silent = np.flatnonzero(self.places == UNLABELLED)
        if silent.size:
            members = self.model.estimators_  # type: ignore[union-attr]
            trails = [Witness(member, None, self.names, self.table[silent]).trails(self.depth) for member in members]
            speaks[silent] = np.argmax(
                [[trail.largest(row)[1] for row in range(len(silent))] for trail in trails], axis=0
            )
        return speaks

    def _hear(self, witness: Witness, rows: IntArray) -> None:
        """Take down what one network says about the given rows."""
        trails = witness.trails(self.depth)
        if speaks(self.model):
            told = self._hear_all(witness, rows, trails)
        else:
            winners = witness.found(trails.winners, trails.winner_matches)
            if self.ballot is None:
                answered = trails.answers != UNLABELLED
                self.places[rows] = witness.model._places(np.where(answered, winners.nodes, UNLABELLED))
                self.counts = witness.nodes.counts[winners.nodes]
            same = bool((trails.best == winners.nodes).all())
            best = winners if same else witness.found(trails.best, trails.best_matches)
            near = witness.unlabelled_near(np.flatnonzero(self.unsure[rows]))
            told = Told(trails, winners, witness.rivals(trails.answers), best, near)
        self.familiarity[rows] = witness.familiarity(trails.best_matches)
        self.deficits[rows] = told.boxes.choices - told.rivals.choices
        self.sides.append((rows, witness, told))

    def _hear_all(self, witness: Witness, rows: IntArray, trails: Trails) -> Told:
        """Take down what one network says of which all boxes speak."""
        assert self.probabilities is not None
        shares = self.probabilities[rows]
        winners = np.where(self.places[rows] == UNLABELLED, shares.argmax(axis=1), self.places[rows])
        runners_up = None if self.ballot is None else self._runners_up(self.ballot, rows, winners)
        heard = hear(witness, winners, runners_up)
        codes = np.full(len(self.classes), UNLABELLED)
        codes[witness.model._class_table.sorted_codes()] = np.arange(len(witness.model._class_table.seen))
        nearest = witness.rivals(codes[winners])
        loud, against = heard.loudest(1), heard.loudest(-1)
        return Told(
            trails,
            witness.beside(np.where(loud == NO_NODE, trails.winners, loud)),
            witness.beside(np.where(against == NO_NODE, nearest.nodes, against)),
            witness.found(trails.best, trails.best_matches),
            witness.unlabelled_near(np.flatnonzero(self.unsure[rows])),
            heard,
            (witness.rivals(codes[winners], answers_at_nodes(witness)), nearest),
        )

    def _runners_up(self, ballot: Ballot, rows: IntArray, winners: IntArray) -> IntArray:
        """Return the place of the class with the next highest score, -1 where only one was learnt."""
        places = self.model._class_table.sorted_codes()
        if len(places) == 1:
            return np.full(len(rows), UNLABELLED)
        scores = np.where((self.places[rows] == UNLABELLED)[:, None], self.probabilities[rows], ballot.scores[rows])  # type: ignore[index]
        others = np.full(scores.shape, -np.inf)
        others[:, places] = scores[:, places]
        others[np.arange(len(rows)), winners] = -np.inf
        return np.asarray(others.argmax(axis=1))

    def _counterfactuals(self) -> Flips:
        duel = self.ballot is None and self.probabilities is None
        decimals = decimals_of(self.sides[0][1].network, len(self.names))
        search = Search(self.table, self.answers, decimals, lambda table: answers_of(self.model, table), duel=duel)
        for aim in AIMS:
            for rows, witness, told in self.sides:
                for rivals in (*told.elsewhere, told.rivals):
                    if (search.found[rows] != UNLABELLED).all():
                        continue
                    sight, network, choice = witness.sight, witness.network, witness.rule.choice
                    moves = moves_towards(sight, choice, told.boxes, rivals, aim, decimals)
                    if duel and aim == AIMS[0]:
                        path = Path(sight, network, choice, rivals, moves, decimals)
                        search.try_least(path, told.boxes, network.nodes.boxes())
                    own = np.flatnonzero(search.found[rows] == UNLABELLED)
                    search.try_full(rows[own], moves, own)
        search.shrink(self.deficits)
        return search.results(self.names, self.classes)

    def _confidences(self) -> FloatArray:
        """Return what `predict_proba` says of the answers."""
        at = np.arange(len(self.table)), np.maximum(self.answers, 0)
        if self.probabilities is not None:
            return np.asarray(self.probabilities[at])
        if self.ballot is None:
            counts = self.model._by_class(self.counts)  # type: ignore[union-attr]
            return np.asarray(counts[at] / np.maximum(counts.sum(axis=1), 1))
        ballot = self.ballot if self.depth == 0 else cast(self.model, self.table, 0)  # type: ignore[arg-type]
        return np.asarray(ballot.scores[at] / ballot.scores.sum(axis=1))

    def _collected(self, flips: Flips) -> list[Explanation]:
        vigilance = self.sides[0][1].rule.vigilance
        highest = np.zeros(len(self.table)) if self.probabilities is None else self.probabilities.max(axis=1)
        doubtful, limit = np.where(self.unsure, highest, np.nan), self.model.abstain_below
        threshold = self.model.novelty_threshold_
        verdict = Verdict(flips, self.familiarity, vigilance, threshold, self.ballot, self.classes, doubtful, limit)
        answers = self.model._answers(self.answers, may_abstain=self.model._may_abstain()).tolist()
        confidences, silent = self._confidences().tolist(), (self.answers == UNLABELLED).tolist()
        explanations: list[Any] = [None] * len(answers)
        for rows, _, told in self.sides:
            for place, row in enumerate(rows.tolist()):
                confidence = None if silent[row] else confidences[row]
                explanations[row] = Explanation(answers[row], silent[row], confidence, told, place, verdict, row)
        return explanations
