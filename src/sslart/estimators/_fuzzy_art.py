"""FuzzyART: one-pass clustering into boxes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sslart._art.calibration import NoveltyCalibration
from sslart._art.network import Network
from sslart._data.classes import ClassTable
from sslart._data.columns.outliers import warn_of_outliers
from sslart._data.encoder import Encoder
from sslart._data.labels import UNLABELLED, Labels
from sslart._data.samples import Table, read_samples
from sslart._drift.monitor import NO_DRIFT, Learnt
from sslart._mapping.counts import CountsMapping
from sslart._mapping.member_view import MemberView
from sslart._mapping.model_view import ModelView
from sslart._mapping.parts import ModelParts, Shared
from sslart._utils.arrays import IntArray
from sslart.estimators._base import ARTEstimator, random_of_part
from sslart.estimators._novelty import FitMeter, calibration_after, settled
from sslart.estimators._published import READER, draft_of, reads


class FuzzyART(ClusterMixin, ARTEstimator):
    """Fuzzy ART: clusters samples into boxes in one pass, online, with no number of clusters to set.

    Parameters
    ----------
    vigilance : float, default=0.75
        ρ in [0, 1]: how alike the samples of one box must be. Higher makes more and smaller boxes.
    max_nodes : int or None, default=None
        The most boxes that there may be, from 2 up. Where there is no room for a new box, those that lie closest
        together are joined, and vigilance is lowered by as much as that takes: see `vigilance_`. None: no limit.
    choice : float, default=1e-3
        α > 0: prefers larger boxes as it grows.
    learning_rate : float, default=1.0
        β in (0, 1]: how far a box moves towards a sample; 1 grows it to hold the sample at once.
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
    labels_ : array of shape (n_samples,)
        Node that learnt each sample of the last `fit` or `partial_fit`; -1 where it was dropped since, by `half_life`.
    n_nodes_ : int
        Number of prototype nodes.
    vigilance_ : float
        The vigilance in use: lower than `vigilance` where boxes have been joined because of `max_nodes`.
    lower_, upper_ : arrays of shape (n_nodes, n_coded_features)
        The boxes in the user's units.
    support_ : array of shape (n_nodes,)
        Samples learnt by each node.
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
    >>> from sslart import FuzzyART
    >>> X = [[0, 0], [1, 1], [9, 9], [10, 10]]
    >>> art = FuzzyART(vigilance=0.8).fit(X)
    >>> art.labels_
    array([0, 0, 1, 1])
    >>> art.lower_, art.upper_
    (array([[0., 0.],
           [9., 9.]]), array([[ 1.,  1.],
           [10., 10.]]))
    >>> art.score_samples([[0, 1], [5, 5]]).round(2)
    array([0.9, 0.5])
    """

    def __init__(
        self,
        vigilance: float = 0.75,
        *,
        max_nodes: int | None = None,
        choice: float = 1e-3,
        learning_rate: float = 1.0,
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
        self.half_life = half_life
        self.bounds = bounds
        self.scaling = scaling
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    labels_: IntArray

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples afresh.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : ignored
        """
        with draft_of(self) as (draft, _):
            table = read_samples(draft, X, reset=True, leave_out=True)
            warn_of_outliers(table, table, draft.scaling)
            draft._drift = NO_DRIFT
            order = draft._order(Labels.none(len(table)), draft.random_state)
            draft._fit_table(table, order, draft._first_encoder(table, stream=False))
        return self

    def _fit_table(self, table: Table, order: slice | IntArray, encoder: Encoder) -> None:
        """Learn a table afresh."""
        network = Network(encoder)
        params = replace(self._learning_params(), half_life=None)
        meter = FitMeter(table[order], None, afresh=True)
        learnt = network.learn(table[order], np.full(len(table), UNLABELLED), 0, params)
        self.labels_ = np.empty(len(table), dtype=np.int64)
        self.labels_[order] = learnt.nodes
        self._calibration = calibration_after(None, [meter.measured(network, learnt, params)])
        network.nodes.trim()
        self._network = network

    def __sslart_part__(self, table: Table, labels: Labels, shared: Shared, number: int) -> ModelParts:
        self._fit_table(table, self._order(labels, random_of_part(self.random_state, number)), shared.encoder)
        return self.__sslart_parts__()

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Go on learning: the samples in the given order, one or many.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : ignored
        """
        with draft_of(self) as (draft, changes):
            first = not draft.__sklearn_is_fitted__()
            table = draft._read_first(X) if first else draft._read(X)
            targets, params = np.full(len(table), UNLABELLED), draft._learning_params()
            if first:
                calibration = settled(NoveltyCalibration.of_stream(), params.half_life)
                meter = FitMeter(table, calibration, afresh=draft.bounds is None)
                network = Network(draft._first_encoder(table, stream=True))
                learnt = network.learn(table, targets, 0, params, measured=meter.wanted())
            else:
                calibration = settled(draft._calibration, params.half_life)
                meter = FitMeter(table, calibration, afresh=False)
                network, learnt = draft._network.learned(table, targets, 0, params, changes, measured=meter.wanted())
            draft.labels_, draft._network = learnt.nodes, network
            draft._calibration = calibration_after(calibration, [meter.measured(network, learnt, params)])
            draft._watch_for_drift(table, Learnt.of(learnt, params.vigilance))
        return self

    @reads
    def predict(self, X: Any) -> IntArray:
        """Name the node of highest choice for each sample. Learns nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        table = self._read(X)
        return self._network.rank(table, self._learning_params().choice, n_jobs=self.n_jobs)[0][:, 0]

    @reads
    def __sslart_view__(self) -> ModelView:
        """Return the fitted boxes as everything that only reads them sees them: a model without classes."""
        check_is_fitted(self)
        table = ClassTable()
        params, mapping, held = self._params_in_use(), CountsMapping(), vars(self).get(READER)
        member = MemberView(None, self._network, table, params, mapping, self.n_jobs, self._network, held)
        return ModelView(self._name, (member,), None, table, self._reader(), calibration=self._calibration)
