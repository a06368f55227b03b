"""A fitted model as everything that only reads it sees it: one immutable view.

Rules, explanations, plots, reports, exports, active labelling and the command line read this view and nothing else of
an estimator. Classes are always given by their index in the sorted `classes`, -1 for none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from sslart._art.boxes import NO_LIMIT
from sslart._art.learning import LearningParams
from sslart._art.novelty import NoveltyCalibration, NoveltyTest
from sslart._data.labels import UNLABELLED, ClassTable, Label, Labels, as_known, read_labels
from sslart._data.samples import SampleReader, Table
from sslart._mapping.decision_costs import cheapest
from sslart._mapping.ensemble_votes import Ballot
from sslart._mapping.guarantees.errors import ErrorLevels
from sslart._mapping.guarantees.promises import Promises, no_promise
from sslart._mapping.left_out import LeftOut, left_out_by_vote
from sslart._mapping.member_view import MemberView
from sslart._mapping.predictions import Decisions, Prediction, PredictionBatch
from sslart._utils.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ModelView:
    """A fitted classifier.

    Attributes
    ----------
    name : str
        Class of the estimator.
    members : tuple of MemberView
    weigh_votes : callable or None
        Returns what the vote of each member counts for each class; None in a single model.
    class_table : ClassTable
    reader : SampleReader
        Checks samples and gives columns their names.
    search_depth : int
        T; 0 for no limit.
    abstain_below : float or None
    quorum : int
        How many members must vote.
    decision_costs : array of shape (n_classes, n_classes), or None
        What a prediction costs, true × predicted: the class of the lowest expected cost is predicted. None: the most
        probable class is.
    max_error : ErrorLevels or None
        How many of the answered samples may be wrong.
    calibration : NoveltyCalibration or None
        How well samples fitted before they were learnt.
    """

    name: str
    members: tuple[MemberView, ...]
    weigh_votes: Callable[[], FloatArray] | None
    class_table: ClassTable
    reader: SampleReader
    search_depth: int = NO_LIMIT
    abstain_below: float | None = None
    quorum: int = 1
    decision_costs: FloatArray | None = None
    max_error: ErrorLevels | None = None
    calibration: NoveltyCalibration | None = None

    @property
    def is_ensemble(self) -> bool:
        """True if members vote."""
        return self.weigh_votes is not None

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

    @cached_property
    def promises(self) -> Promises:
        """Conformal guarantees for new samples, from leave-one-out predictions."""
        left_out = self.left_out
        if left_out is None:
            raise ValueError(no_promise(self.name))
        return Promises(left_out, self.classes, self.abstain_below)

    @property
    def confidence_limits(self) -> FloatArray | None:
        """From which confidence on each class is predicted, so that `max_error` holds; None where it is not set."""
        levels = self.max_error
        if levels is None:
            return None
        weights, costs = (None if one is None else one.tobytes() for one in (self.vote_weights, self.decision_costs))
        key = ("limits", levels, self.abstain_below, weights, costs, *(member.readout for member in self.members))
        return self.members[0].network.get_or_compute(key, lambda: self.promises.confidence_limits(levels))

    def is_unsure(self, indices: IntArray, proba: FloatArray) -> BoolArray:
        """Return for which samples, of those that have a class by their boxes, the confidence is too low."""
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
    def left_out(self) -> LeftOut | None:
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

    @property
    def date_columns(self) -> frozenset[int]:
        """The columns that hold dates, and those that hold parts of them."""
        return self.reader.plan.of_dates(self.reader.n_features_in_)

    def read(self, X: Any) -> Table:
        """Return samples as a table after checking them."""
        return self.reader.read(X)

    def read_labels(self, y: Any, table: Table) -> Labels:
        """Return labels as this model takes them: -1 is a class where the model knows it as one."""
        labels = as_known(self.class_table, read_labels(y, table))
        self.class_table.check_kind(labels)
        return labels

    def predict(self, table: Table, *, want_proba: bool = False) -> Prediction:
        """Return the predictions of the model; every sample is scored once."""
        return PredictionBatch(self, table).prediction(want_proba=want_proba)

    def decide(self, table: Table) -> Decisions:
        """Return class, probabilities and novelty of each sample; every sample is encoded once."""
        return PredictionBatch(self, table).decisions()

    def predict_at_depths(self, table: Table, depths: Iterable[int]) -> list[IntArray]:
        """Return the class indices that the model predicts at each depth of search (0: no limit)."""
        batch = PredictionBatch(self, table)
        return [batch.prediction(depth=depth).indices for depth in depths]

    def predict_proba(self, table: Table) -> FloatArray:
        """Return the probability of each class; the model never abstains here."""
        return PredictionBatch(self, table).proba()

    def class_by(self, proba: FloatArray) -> IntArray:
        """Return the class index that follows from probabilities: the most probable, or that of the lowest cost."""
        return np.asarray(proba.argmax(axis=1)) if self.decision_costs is None else cheapest(proba, self.decision_costs)

    def decision_scores(self, table: Table) -> FloatArray:
        """Return a finite score of each class, the highest for the class that is predicted without abstention."""
        return PredictionBatch(self, table).scores()

    def vote(self, table: Table, depth: int) -> Ballot:
        """Return the votes of the members of an ensemble, each with a limited depth of search (0: no limit)."""
        return PredictionBatch(self, table).ballot(depth)

    def score_samples(self, table: Table) -> FloatArray:
        """Return the familiarity of each sample, mean over the members."""
        found = [member.familiarity(member.network.encoded(table)) for member in self.members]
        return np.asarray(np.mean(found, axis=0))

    def labels_of(self, indices: IntArray, *, may_abstain: bool | None = None) -> NDArray[Any]:
        """Return class indices as classes: -1 for integer classes, None for others where the index is -1."""
        labels = self.classes[indices]
        none = indices == UNLABELLED
        if labels.dtype.kind == "i" and not self.class_table.has_minus_one():
            labels[none] = UNLABELLED
        elif self.may_abstain if may_abstain is None else may_abstain:
            labels = labels.astype(object)
            labels[none] = None
        return labels

    def labels_or_none(self, indices: IntArray) -> list[Label | None]:
        """Return class indices as classes, None where the index is -1."""
        labels = [*self.classes.tolist(), None]
        return [labels[index] for index in indices]


def view_of(model: Any, wanted: str = "a fitted classifier of sslart", *, any_estimator: bool = False) -> ModelView:
    """Return the view of a classifier, or raise a TypeError with a remedy.

    With `any_estimator`, also that of a fitted `FuzzyART`, which has boxes but no classes.
    """
    if not hasattr(model, "__sslart_view__") or not (any_estimator or is_classifier(model)):
        raise TypeError(
            f"This takes {wanted}, got a {type(model).__name__}. Of a pipeline or a search give the fitted classifier "
            "inside, such as pipeline[-1] or search.best_estimator_, and samples as that step gets them."
        )
    view: ModelView = model.__sslart_view__()
    return view
