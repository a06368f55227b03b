"""SSLART: boxes from unlabelled samples, classes from labelled ones."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from sslart._classifier import ARTClassifier, read_training
from sslart._estimator import unchanged_on_failure
from sslart._network import Rule
from sslart._validate import IntArray, Labels, check_number, check_option

MAPPINGS = ("one-to-many", "one-to-one")


def stage_order(labels: Labels, shuffle: bool, random_state: Any) -> IntArray:
    """Return the order of learning: unlabelled samples, then labelled ones, each shuffled or as given."""
    stages = [np.flatnonzero(~labels.known), np.flatnonzero(labels.known)]
    if shuffle:
        random = check_random_state(random_state)
        stages = [random.permutation(stage) for stage in stages]
    return np.concatenate(stages)


class SSLART(ARTClassifier):
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
    mapping : {"one-to-many", "one-to-one"}, default="one-to-many"
        Whether a box may serve several classes (OtM: the majority is its label) or one only (OtO: match tracking).
    match_tracking : float, default=1e-6
        δ ≥ 0: with one-to-one mapping, by how much vigilance rises above the match of a box of the wrong class.
    search_depth : int or None, default=None
        T: how many boxes `predict` asks before it abstains. None asks until one has a label.
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
        self.bounds = bounds
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rule(self) -> Rule:
        mapping = check_option(self._name, "mapping", self.mapping, MAPPINGS)
        tracking = check_number(self._name, "match_tracking", self.match_tracking, 0)
        return dataclasses.replace(super()._rule(), match_tracking=tracking, one_to_one=mapping == "one-to-one")

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
            self._rule()
            table, labels = read_training(self, X, y)
            self._fit_table(table, labels, stage_order(labels, self.shuffle, self.random_state))
        return self
