"""FuzzyART: one-pass clustering into boxes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin

from sslart._art.learning import LearningParams
from sslart._art.network import Network
from sslart._art.novelty import NoveltyCalibration
from sslart._data.encoder import Encoder
from sslart._data.labels import UNLABELLED, ClassTable, Labels
from sslart._data.outliers import warn_of_outliers
from sslart._data.samples import Table, known_columns, read_samples
from sslart._drift.monitor import NO_DRIFT, Measurements
from sslart._mapping.base import CountsMapping
from sslart._mapping.mergeable_state import Shared
from sslart._mapping.model_view import MemberView, ModelView
from sslart._utils.arrays import IntArray
from sslart._utils.validation import check_jobs
from sslart.estimators._base import ARTEstimator, random_of_part
from sslart.estimators._fitted import FittedMember, FittedModel, turn_of
from sslart.estimators._learning import FitMeter, after_row, calibration_after, drift_after, settled


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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples afresh.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : ignored
        """
        with turn_of(self):
            checked, reader = self._checked(None), self._first_reader()
            table = read_samples(reader, X, reset=True, leave_out=True)
            warn_of_outliers(table, table, self.scaling)
            order = self._order(Labels.none(len(table)), self.random_state)
            encoder = self._first_encoder(table, stream=False)
            self._publish(replace(self._fit_table(known_columns(reader), table, order, encoder), checked=checked))
        return self

    def _fit_table(
        self, columns: dict[str, Any], table: Table, order: slice | IntArray, encoder: Encoder
    ) -> FittedModel:
        """Learn a table afresh."""
        params = self._learning_params()
        meter = FitMeter(table[order], None, afresh=True)
        targets = np.full(len(table), UNLABELLED)
        network, learnt = Network(encoder).learned(table[order], targets, 0, replace(params, half_life=None))
        labels = np.empty(len(table), dtype=np.int64)
        labels[order] = learnt.nodes
        calibration = calibration_after(None, [meter.measured(network, learnt, params)])
        return model_of(columns, network, params, calibration, labels=labels)

    def __sslart_part__(
        self, columns: dict[str, Any], table: Table, labels: Labels, shared: Shared, number: int
    ) -> FittedModel:
        order = self._order(labels, random_of_part(self.random_state, number))
        return replace(self._fit_table(columns, table, order, shared.encoder), labels=None)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn further samples, in the given order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : ignored
        """
        with turn_of(self):
            before: FittedModel | None = vars(self).get("_model")
            checked = self._checked(before)
            params = checked.params
            model = None if before is None else after_row(before, X, checked)
            if model is not None:
                self._publish(model, before)
                return self
            if before is None:
                reader = self._first_reader()
                table = self._read_first(reader, X)
                columns: Mapping[str, Any] = known_columns(reader)
                network, drift = Network(self._first_encoder(table, stream=True)), NO_DRIFT
                calibration = settled(NoveltyCalibration.of_stream(), params.half_life)
                meter = FitMeter(table, calibration, afresh=self.bounds is None)
            else:
                assert before.reader is not None
                table = before.reader.read(X)
                columns, network, drift = before.columns, before.network, before.drift
                calibration = settled(before.calibration, params.half_life)
                meter = FitMeter(table, calibration, afresh=False)
            targets = np.full(len(table), UNLABELLED)
            network, learnt = network.learned(table, targets, 0, params, measured=meter.wanted())
            calibration = calibration_after(calibration, [meter.measured(network, learnt, params)])
            model = model_of(columns, network, params, calibration, labels=learnt.nodes, checked=checked)
            model = model.with_reader(self._name, before)
            assert model.reader is not None
            drift = drift_after(drift, table, Measurements.of(learnt, params.vigilance), model.reader, ())
            self._publish(replace(model, drift=drift), before)
        return self

    @property
    def labels_(self) -> IntArray:
        """Box of each sample of the last call that learnt; -1 where it was dropped since."""
        labels = self._fitted().labels
        if labels is None:
            raise AttributeError("A model that was loaded or merged has no labels_: they belong to the samples learnt.")
        return labels.copy()

    def predict(self, X: Any) -> IntArray:
        """Return the index of the box of highest choice for each sample, without learning.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        view = self.__sslart_view__()
        table, member = view.read(X), view.members[0]
        return member.network.rank(table, member.params.choice, n_jobs=member.n_jobs)[0][:, 0]

    def _view(self, model: FittedModel) -> ModelView:
        n_jobs = check_jobs(self._name, self.n_jobs)
        return model.get_or_compute(("view", n_jobs), lambda: self._new_view(model, n_jobs))

    def _new_view(self, model: FittedModel, n_jobs: int | None) -> ModelView:
        assert model.reader is not None
        one = model.members[0]
        member = MemberView(None, one.network, one.class_table, one.params_in_use, one.mapping, n_jobs)
        return ModelView(self._name, (member,), None, model.class_table, model.reader, calibration=model.calibration)


def model_of(
    columns: Mapping[str, Any],
    network: Network,
    params: LearningParams,
    calibration: NoveltyCalibration | None,
    **more: Any,
) -> FittedModel:
    """Return a model without classes."""
    member = FittedMember(network, ClassTable(), CountsMapping(), params, calibration)
    return FittedModel(columns, (member,), member.class_table, calibration, **more)
