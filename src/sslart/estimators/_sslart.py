"""SSLART: boxes from unlabelled samples, classes from labelled ones."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from sslart._art.network import NO_LIMIT, LearningParams, LearnResult, Undo
from sslart._data.classes import ClassTable
from sslart._data.labels import UNLABELLED, Labels
from sslart._data.samples import Table
from sslart._data.training import check_has_label, read_training
from sslart._mapping.evidence.mapping import EvidenceMapping
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.params import check_number, check_option
from sslart.estimators._base import unchanged_on_failure
from sslart.estimators._classifier import ARTClassifier

MAPPINGS = ("one-to-many", "one-to-one", "evidence")


def stage_order(labels: Labels, shuffle: bool, random_state: Any) -> IntArray:
    """Return the order of learning: unlabelled samples, then labelled ones, each shuffled or as given."""
    stages = [np.flatnonzero(~labels.known), np.flatnonzero(labels.known)]
    if shuffle:
        random = check_random_state(random_state)
        stages = [random.permutation(stage) for stage in stages]
    return np.concatenate(stages)


class SSLART(EvidenceMapping, ARTClassifier):
    """SSL-ART: a semi-supervised classifier that learns boxes in one pass and can say which box answered.

    Stage 1 learns boxes from the unlabelled samples, stage 2 goes on with the labelled ones and counts how often each
    class resonated with each box. A prediction asks the best box, then the next best, up to depth T.

    Parameters
    ----------
    vigilance : float, default=0.9
        ρ in [0, 1]: how alike the samples of one box must be. Higher makes more and smaller boxes.
    choice : float, default=1e-3
        α > 0: prefers larger boxes as it grows.
    learning_rate : float, default=1.0
        β in (0, 1]: how far a box moves towards a sample; 1 grows it to hold the sample at once.
    mapping : {"one-to-many", "one-to-one", "evidence"}, default="one-to-many"
        Whether a box may serve several classes (OtM: the majority is its label), one only (OtO: match tracking), or
        whether all boxes speak, each as loudly as it is near, and the labels say what they mean (evidence).
    match_tracking : float, default=1e-6
        δ ≥ 0: with one-to-one mapping, by how much vigilance rises above the match of a box of the wrong class.
    search_depth : int or None, default=None
        T: how many boxes `predict` asks before it abstains. None asks until one has a label.
    abstain_below : float or None, default=None
        `predict` abstains where the highest probability is below this.
    families : sequence of str or None, default=None
        With evidence mapping, who may speak: "box" (all features), "relevant" (features weighted by what the labels
        say of them), "feature" (a curve for each), "linear", "subspace" (boxes over a few features), "propagated"
        (labels that travel over the graph of boxes). Leave-one-out weighs them. None: all.
    width : float or None, default=None
        τ from 1e-6 to 1e6: how slowly the voice of a box falls off with its distance. None: leave-one-out decides.
    ridge : float or None, default=None
        λ from 1e-6 to 1e6: how much evidence is held back. None: leave-one-out decides.
    rank_share : float or None, default=None
        From 0 to 1: whether distances are measured in the range (0), in ranks (1), or between. None: leave-one-out
        decides.
    label_memory : int, default=50000
        With evidence mapping, how many labelled samples are kept; of more, a fair sample.
    bounds : (lower, upper), default=None
        Range of the features where it is known in advance; two numbers, or two sequences with one per feature.
        None takes the range of the data of the first call. Values outside widen it.
    shuffle : bool, default=True
        Whether `fit` takes the samples of each stage in a random order instead of the given one.
    random_state : int, RandomState instance or None, default=None
        Seeds that order.
    n_jobs : int or None, default=None
        How many threads predictions are made in; None is 1, -1 all cores. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    n_nodes_, n_nodes_stage1_, n_labelled_nodes_ : int
        Number of boxes, of those made by unlabelled samples, and of those with a label.
    lower_, upper_ : arrays of shape (n_nodes, n_coded_features)
        The boxes in the user's units.
    counts_ : array of shape (n_nodes, n_classes)
        F^OtM: how often each class resonated with each box.
    node_labels_ : array of shape (n_nodes,)
        Class of each box; -1 or None where it has none.
    support_ : array of shape (n_nodes,)
        Samples learnt by each box, labelled or not.
    novelty_threshold_ : float
        A sample whose `score_samples` is lower is novel.
    coded_feature_names_ : list of str
        Names of the columns of `lower_` and `upper_`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, where X had string names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import SSLART
    >>> X, y = load_iris(return_X_y=True)
    >>> few = y.copy()
    >>> few[[i for i in range(150) if i % 10]] = -1  # keep one label in ten
    >>> model = SSLART(vigilance=0.8, random_state=0).fit(X, few)
    >>> model.n_nodes_, model.n_labelled_nodes_
    (21, 9)
    >>> model.predict(X[:3])
    array([0, 0, 0])
    >>> round(model.score(X, y), 2)
    0.83
    """

    def __init__(
        self,
        vigilance: float = 0.9,
        *,
        choice: float = 1e-3,
        learning_rate: float = 1.0,
        mapping: str = "one-to-many",
        match_tracking: float = 1e-6,
        search_depth: int | None = None,
        abstain_below: float | None = None,
        families: Any = None,
        width: float | None = None,
        ridge: float | None = None,
        rank_share: float | None = None,
        label_memory: int = 50_000,
        bounds: Any = None,
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.vigilance = vigilance
        self.choice = choice
        self.learning_rate = learning_rate
        self.mapping = mapping
        self.match_tracking = match_tracking
        self.search_depth = search_depth
        self.abstain_below = abstain_below
        self.families = families
        self.width = width
        self.ridge = ridge
        self.rank_share = rank_share
        self.label_memory = label_memory
        self.bounds = bounds
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learning_params(self) -> LearningParams:
        mapping = check_option(self._name, "mapping", self.mapping, MAPPINGS)
        tracking = check_number(self._name, "match_tracking", self.match_tracking, 0)
        self._wishes()
        return dataclasses.replace(
            super()._learning_params(), match_tracking=tracking, one_to_one=mapping == "one-to-one"
        )

    def fit(self, X: Any, y: Any) -> Self:
        """Learn afresh: boxes from the unlabelled samples, then boxes and classes from the labelled ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes: integers, strings or booleans; -1, None or NaN where unlabelled.
        """
        with unchanged_on_failure(self):
            self._learning_params()
            table, labels = read_training(self, X, y)
            self._fit_table(table, labels, stage_order(labels, self.shuffle, self.random_state))
        return self

    @property
    def _speaks(self) -> bool:
        """Whether all boxes speak."""
        return check_option(self._name, "mapping", self.mapping, MAPPINGS) == "evidence"

    def _fit_table(self, table: Table, labels: Labels, order: slice | IntArray, stop: Any = None) -> None:
        super()._fit_table(table, labels, order, stop)
        if self._speaks:
            self._start(seed_of(self.random_state))
            self._remember(table, self._class_table.codes(labels))
            self._choose()
        else:
            self._forget()

    def _partial_fit_table(
        self,
        table: Table,
        labels: Labels,
        declared: Labels | None,
        undo: Undo,
        order: slice | IntArray = slice(None),
        *,
        foresee: bool = False,
        stop: Any = None,
    ) -> LearnResult:
        learn = partial(super()._partial_fit_table, table, labels, declared, undo, foresee=foresee, stop=stop)
        if not self._speaks:
            self._forget()
            return learn(order)
        known = self._class_table if self.__sklearn_is_fitted__() else ClassTable()
        if self.__sklearn_is_fitted__():
            self._readable()
        else:
            self._start(seed_of(self.random_state))
        rows = np.arange(len(table))[order]
        codes = known.learning(labels[rows]).codes(labels)[rows]
        parts = []
        for stretch, is_time_to_choose in self._stretches(codes, len(known.seen)):
            parts.append(learn(rows[stretch]))
            self._remember(table[rows[stretch]], codes[stretch])
            if is_time_to_choose:
                self._choose(more_follow=stretch.stop < len(rows))
        nodes, foreseen = (np.concatenate([getattr(part, name) for part in parts]) for name in ("nodes", "foreseen"))
        return LearnResult(nodes, foreseen)

    def _answer_places(self, table: Table, depth: int = NO_LIMIT, stop: Any = None) -> IntArray:
        """Return the place in `classes_` of the answer to each sample, -1 where the model abstains."""
        if not self._speaks:
            return self._places(self._answering_nodes(table, depth, stop))
        return self._told(table, depth, stop)[0]

    def _told(self, table: Table, depth: int = NO_LIMIT, stop: Any = None) -> tuple[IntArray, FloatArray]:
        """Return where all boxes speak the place of the answer to each sample, and the probability of each class."""
        probabilities = self._class_probabilities(table)
        places: IntArray = probabilities.argmax(axis=1)
        if depth != NO_LIMIT:
            places[self._answering_nodes(table, depth, stop) == UNLABELLED] = UNLABELLED
        return places, probabilities

    def _class_probabilities(self, table: Table) -> FloatArray:
        if not self._speaks:
            return super()._class_probabilities(table)
        check_has_label(self._class_table)
        return self._probabilities(table, self.n_jobs)

    def _get_state(self) -> dict[str, Any]:
        state = super()._get_state()
        return {**state, "evidence": self._evidence_state()} if hasattr(self, "_memory") else state

    def _set_state(self, state: dict[str, Any]) -> None:
        super()._set_state(state)
        if "evidence" in state:
            self._set_evidence_state(state["evidence"])


def seed_of(random_state: Any) -> int:
    """Return a seed: an integer as it is, else one that is drawn."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
