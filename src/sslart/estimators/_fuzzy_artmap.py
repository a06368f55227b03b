"""FuzzyARTMAP: supervised, one class per box."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from sslart._art.network import LearningParams
from sslart._data.samples import known_columns
from sslart._data.training import read_training
from sslart._mapping.base import CountsMapping
from sslart._utils.params import check_number
from sslart.estimators._art_classifier import ARTClassifier
from sslart.estimators._published import turn_of


class FuzzyARTMAP(ARTClassifier):
    """Fuzzy ARTMAP: a supervised classifier that learns boxes of one class each, in one pass.

    Parameters
    ----------
    vigilance : float, default=0.0
        ρ in [0, 1]: how alike the samples of one box must be. Higher makes more and smaller boxes.
    max_nodes : int or None, default=None
        The most boxes that there may be, from 2 up. Where there is no room for a new box, those that lie closest
        together are joined, and vigilance is lowered by as much as that takes: see `vigilance_`. None: no limit.
    choice : float, default=1e-3
        α > 0: prefers larger boxes as it grows.
    learning_rate : float, default=1.0
        β in (0, 1]: how far a box moves towards a sample; 1 grows it to hold the sample at once.
    match_tracking : float, default=1e-6
        δ ≥ 0: by how much vigilance rises above the match of a box of the wrong class.
    half_life : float or None, default=None
        In `partial_fit`, after how many further samples a sample counts half, from 1 up: supports and counts decrease
        with age, and boxes that no sample has reached for long are dropped. `fit` forgets nothing. None: nothing is
        forgotten.
    bounds : (lower, upper), default=None
        Range of the features where it is known in advance; two numbers, or two sequences with one per feature.
        None takes the range of the data of the first call. Values outside widen it.
    scaling : {"range", "rank"}, default="range"
        How numeric features are scaled to [0, 1]: by their range, as in the paper, or by the rank of a value among
        those of the first call, for features of which most values lie close together and a few far away.
    shuffle : bool, default=False
        Whether `fit` takes the samples in a random order instead of the given one.
    random_state : int, RandomState instance or None, default=None
        Seeds that order.
    n_jobs : int or None, default=None
        How many threads predictions are made in; None is 1, -1 all cores. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    n_nodes_, n_nodes_stage1_, n_labelled_nodes_ : int
        Number of boxes; all of them are labelled, none is of stage 1.
    vigilance_ : float
        The vigilance in use: lower than `vigilance` where boxes have been joined because of `max_nodes`.
    lower_, upper_ : arrays of shape (n_nodes, n_coded_features)
        The boxes in the user's units.
    counts_ : array of shape (n_nodes, n_classes)
        How many samples of each class each box learnt.
    node_labels_ : array of shape (n_nodes,)
        Class of each box.
    support_ : array of shape (n_nodes,)
        Samples learnt by each box.
    novelty_threshold_ : float
        A sample whose `score_samples` is lower is novel: of samples like those learnt, at most 5 in 100 are.
    drift_ : list of DriftEvent
        The drifts that `partial_fit` has found in a stream since the last `fit`.
    scaling_ : list of str
        How each feature is scaled: "range", "rank", or "category" where it is not a number.
    coded_feature_names_ : list of str
        Names of the columns of `lower_` and `upper_`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, where X had string names.

    Examples
    --------
    >>> from sslart import FuzzyARTMAP
    >>> X = [[0, 0], [1, 1], [9, 9], [10, 10]]
    >>> model = FuzzyARTMAP().fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[2, 1], [8, 9]])
    array(['low', 'high'], dtype='<U4')
    >>> model.n_nodes_
    2
    """

    def __init__(
        self,
        vigilance: float = 0.0,
        *,
        max_nodes: int | None = None,
        choice: float = 1e-3,
        learning_rate: float = 1.0,
        match_tracking: float = 1e-6,
        half_life: float | None = None,
        bounds: Any = None,
        scaling: str = "range",
        shuffle: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.vigilance = vigilance
        self.max_nodes = max_nodes
        self.choice = choice
        self.learning_rate = learning_rate
        self.match_tracking = match_tracking
        self.half_life = half_life
        self.bounds = bounds
        self.scaling = scaling
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _new_mapping(self) -> CountsMapping:
        return CountsMapping(one_to_one=True)

    def _learning_params(self) -> LearningParams:
        tracking = check_number(self._name, "match_tracking", self.match_tracking, 0)
        return self._common_params(tracking, one_to_one=True)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn afresh.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes: integers, strings or booleans, one for every sample.
        """
        with turn_of(self):
            reader = self._first_reader()
            table, labels = read_training(reader, X, y, scaling=self.scaling, gaps=False)
            refuse_gaps(int((~labels.known).sum()))
            checked = self._checked(None)
            model, _ = self._fit_table(known_columns(reader), table, labels, self._order(labels, self.random_state))
            self._publish(replace(model, checked=checked))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:  # type: ignore[override]
        """Learn further labelled samples, in the given order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes, one for every sample. New classes may appear at any time.
        classes : array-like, default=None
            Classes to expect, so that `predict_proba` has a column for each from the start.
        """
        return super().partial_fit(X, y, classes)

    def _read_stream(self, *args: Any) -> Any:
        found = super()._read_stream(*args)
        refuse_gaps(int((~found[2].known).sum()))
        return found

    def _restored_mapping(self, *args: Any) -> CountsMapping:
        return self._new_mapping()


def refuse_gaps(n_unlabelled: int) -> None:
    """Raise a ValueError where samples have no label."""
    if n_unlabelled:
        raise ValueError(
            f"y has {n_unlabelled} unlabelled sample(s) (-1, None or NaN). FuzzyARTMAP needs a label for every sample: "
            "use SSLART to learn from unlabelled samples too, or drop them. If -1 is a class, give it another name."
        )
