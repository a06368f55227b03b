"""Base classes of the classifiers: prediction, abstention, guarantees, and explanations."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from sslart import explain as explanations
from sslart import rules as if_then_rules
from sslart._art.boxes import NO_LIMIT
from sslart._art.network import Network
from sslart._data.labels import (
    NO_TRUTH,
    UNLABELLED,
    Beside,
    ClassTable,
    Labels,
    check_has_label,
    read_labels,
    read_sample_weight,
    read_stream_labels,
    with_arrays,
)
from sslart._data.samples import Table, spread
from sslart._mapping.audit import Audit
from sslart._mapping.base import Effort, Mapping
from sslart._mapping.conformal import CERTAINTY, no_promise
from sslart._mapping.decision_rules import cost_matrix, error_levels
from sslart._mapping.mergeable_state import Shared
from sslart._mapping.model_view import MemberView, ModelView, view_of
from sslart._mapping.quality import ModelQuality, learnt_samples
from sslart._mapping.summary import ModelSummary, summarise
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray
from sslart._utils.cache import Cache, changed
from sslart._utils.sklearn_bases import ClassifierMixin
from sslart._utils.text import plural
from sslart._utils.validation import check_flag, check_number
from sslart.estimators._base import RawSamplesEstimator, StreamSamples
from sslart.estimators._fitted import Checked, FittedModel, available, turn_of
from sslart.estimators._learning import (
    NO_CODE,
    ARTEstimator,
    after_row,
    code_of_row,
    winner_of_row,
)
from sslart.estimators._parameters import EVIDENCE, values_of

if TYPE_CHECKING:
    from sslart.explain import Counterfactuals, Explanation, FeatureContributions, FeatureImportances
    from sslart.rules import ModelRuleSet, RuleSet


def without_audit(audit: Audit, samples: StreamSamples) -> StreamSamples:
    """Return the samples that are not in an audit; a warning counts the others."""
    is_kept = ~audit.has(samples.table)
    if is_kept.all():
        return samples
    warnings.warn(
        f"{plural(int((~is_kept).sum()), 'sample')} of X equal samples of the audit, and were not learnt.",
        UserWarning,
        stacklevel=3,
    )
    return samples._replace(table=samples.table[is_kept], labels=samples.labels[is_kept])


class AbstainingClassifier(ClassifierMixin, RawSamplesEstimator):
    """A semi-supervised classifier that may abstain."""

    search_depth: int | None = None
    abstain_below: float | None = None
    max_error: float | dict[Any, float] | None = None
    confidence: float | None = CERTAINTY
    decision_costs: Any = None

    @property
    def counts_(self) -> CountArray:
        """F^OtM: number of labels of each class in each box, shape (n_nodes, n_classes); fractions with `half_life`."""
        members = self._fitted().members
        return np.concatenate([one.class_table.by_class(one.network.nodes.counts) for one in members])

    @property
    @available
    def node_labels_(self) -> NDArray[Any]:
        """Class of each box, shape (n_nodes,); without a label -1 for integer classes, None for others."""
        view = self.__sslart_view__()
        return np.concatenate([_shown_labels(view, member.labels) for member in view.members])

    @property
    def n_labelled_nodes_(self) -> int:
        """Number of boxes with a label."""
        return sum(int((one.network.nodes.labels != UNLABELLED).sum()) for one in self._fitted().members)

    @property
    def n_nodes_stage1_(self) -> int:
        """Number of boxes created by unlabelled samples (stage 1); with `half_life`, including dropped ones."""
        return sum(one.network.nodes.n_nodes_stage1 for one in self._fitted().members)

    def apply(self, X: Any) -> IntArray:
        """Return the index of the box that predicts each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or, for an ensemble, (n_samples, n_members)
            Index of the box, -1 if the model, or the member, abstains.
        """
        view = self.__sslart_view__()
        table = view.read(X)
        check_has_label(view.class_table)
        boxes = [one.first_labelled(one.encode(table), view.search_depth) for one in view.members]
        return np.transpose(boxes) if view.is_ensemble else boxes[0]

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        return self._fitted().class_table.classes.copy()

    def _check_classes(self, class_table: ClassTable) -> None:
        if self.decision_costs is not None:
            cost_matrix(self._name, self.decision_costs, class_table.classes)

    def _decisions(self, model: FittedModel, members: tuple[MemberView, ...]) -> dict[str, Any]:
        classes = model.class_table.classes
        depth, confidence = self._check("search_depth"), self._check("confidence")
        return {
            "search_depth": NO_LIMIT if depth is None else depth,
            "abstain_below": self._check("abstain_below"),
            "decision_costs": cost_matrix(
                self._name, self.decision_costs, classes, lambda: sum(member.counts.sum(axis=0) for member in members)
            ),
            "max_error": error_levels(self._name, self.max_error, confidence, classes),
            "confidence": confidence,
        }

    def _read_stream(self, before: FittedModel | None, X: Any, y: Any, classes: Any, beside: Beside) -> StreamSamples:
        """Validate the samples of a `partial_fit`."""
        columns, table = self._read_further(before, X)
        known = ClassTable() if before is None else before.class_table
        labels, declared = read_stream_labels(table, y, classes, known)
        samples = StreamSamples(columns, *with_arrays(table, labels, beside), declared)
        self._check_weights(samples.labels)
        return samples

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        *,
        groups: Any = None,
        sample_weight: Any = None,
        answers: Any = None,
        at_random: Any = None,
    ) -> Self:
        """Learn further labelled and unlabelled samples, in the given order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,), default=None
            Classes; -1, None or NaN where unlabelled. None: all unlabelled. New classes may appear at any time.
        classes : array-like, default=None
            Classes to expect, so that `predict_proba` has a column for each from the start.
        groups, sample_weight, answers, at_random : array-like of shape (n_samples,), default=None
            As in `fit`. A group may come in several calls.
        """
        with turn_of(self):
            before: FittedModel | None = vars(self).get("_model")
            checked, model = self._checked(before), None
            audit = None if before is None else before.audit
            if before is not None and audit is classes is groups is sample_weight is answers is at_random is None:
                model = self._after_row(before, X, y, checked)
            if model is None:
                samples = self._read_stream(before, X, y, classes, Beside(groups, sample_weight, answers, at_random))
                if before is not None and audit is not None:
                    samples = without_audit(audit, samples)
                    if not len(samples.table):
                        return self
                model = changed(self._after_samples(before, samples, checked), audit=audit)
            self._publish(model, before)
        return self

    def add_audit(self, X: Any, y: Any, *, groups: Any = None) -> Self:
        """Set labelled samples aside as an audit: they are never learnt, and `quality_` is measured on them.

        Draw them at random from the samples that the model is for, and leave them out of `fit`: those that equal
        samples learnt with a label are left out of the audit, with a warning. If `partial_fit` gets a sample of the
        audit later, it does not learn it, and warns. `fit` starts anew, without an audit. The audit is saved with the
        model, unless it is saved without samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            True classes; unlabelled samples are ignored.
        groups : array-like of shape (n_samples,), default=None
            Groups of dependent samples, such as the visits of a patient: each counts one.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sslart import AutoSSLART
        >>> X, y = load_iris(return_X_y=True)
        >>> rows = [row for row in range(len(y)) if row % 5 == 0]
        >>> others = [row for row in range(len(y)) if row % 5 == 1]
        >>> model = AutoSSLART(random_state=0).fit(X[rows], y[rows]).add_audit(X[others], y[others])
        >>> model.quality_.accuracy_text()
        '86.7 % (95 % interval 70.3 to 94.7 %), on an audit of 30 samples, never learnt'
        """
        with turn_of(self):
            before = self._fitted()
            view = self._view(before)
            table = view.read(X)
            table, labels = with_arrays(table, read_labels(y, len(table), classes=view.class_table), Beside(groups))
            table, labels = table[labels.known], labels[labels.known]
            if not len(table):
                raise ValueError("The audit has no labelled sample: give the true classes of some in y.")
            view.class_table.check_kind(labels)
            is_learnt = learnt_samples(view, table)
            if is_learnt.all():
                raise ValueError(
                    "The model has learnt all samples of the audit with a label: leave them out of fit, and fit again."
                )
            if is_learnt.any():
                warnings.warn(
                    f"{plural(int(is_learnt.sum()), 'sample')} of the audit equal samples that the model has learnt "
                    "with a label: they are left out of the audit.",
                    UserWarning,
                    stacklevel=2,
                )
            added = Audit.of(table[~is_learnt], labels[~is_learnt])
            audit = added if before.audit is None else before.audit.joined(added)
            self._publish(replace(before, audit=audit, _made=Cache()), before)
        return self

    def _after_row(self, before: FittedModel, X: Any, y: Any, checked: Checked) -> FittedModel | None:
        """Return the model after one row by the fast path; None if the row needs the general path."""
        return None

    @abstractmethod
    def _after_samples(self, before: FittedModel | None, samples: StreamSamples, checked: Checked) -> FittedModel:
        """Return the model after the samples of a stream."""

    @abstractmethod
    def _check_weights(self, labels: Labels) -> None:
        """Raise a ValueError if samples have weights that the mapping does not support."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            Classes. If the model abstains: -1 for integer classes, None for others. It abstains on a sample without any
            value, if others have values.
        """
        model, given = self._fitted(), values_of(type(self), True, without="confidence")(self)  # that of `max_error`
        if all(one is None for one in given[:-1]):  # the last is the class of the estimator
            winner = winner_of_row(model, X)
            if winner is not None:
                return model.class_table.classes[winner : winner + 1].copy()
        view = self._view(model)
        table, known = view.reader.read_known(X)
        return view.labels_of(spread(view.predict(table).indices, known, UNLABELLED))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class.

        Never abstains: the search continues until a labelled box is found.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns in the order of `classes_`; rows sum to one. All classes are equally likely for a sample without any
            value.
        """
        view = self.__sslart_view__()
        table, known = view.reader.read_known(X)
        return spread(view.predict_proba(table), known, 1.0 / len(view.classes))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the natural logarithm of the probability of each class; minus infinity if it is 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def decision_function(self, X: Any) -> FloatArray:
        """Return a finite score of each class: `predict` returns the class of the highest, unless the model abstains.

        Scores are logarithms of probabilities; with `decision_costs`, negative expected costs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            With two classes, the score of `classes_[1]` minus that of `classes_[0]`: above 0 means `classes_[1]`. Else
            columns in the order of `classes_`.
        """
        view = self.__sslart_view__()
        table, known = view.reader.read_known(X)
        scores = spread(view.decision_scores(table), known, -np.log(len(view.classes)))
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the labelled samples; abstention does not count as correct.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            True classes. Unlabelled samples are ignored.
        sample_weight : array-like of shape (n_samples,), default=None
        """
        view = self.__sslart_view__()
        table, known = view.reader.read_known(X)
        indices = spread(view.predict(table).indices, known, UNLABELLED)
        predicted, labels = view.labels_of(indices), view.read_labels(y, indices)
        if not labels.known.any():
            raise ValueError(NO_TRUTH)
        right = (predicted == labels.values)[labels.known]
        weights = None if sample_weight is None else read_sample_weight(sample_weight, labels.known)[labels.known]
        return float(np.average(right, weights=weights))

    @overload
    def rules(
        self,
        X: Any = ...,
        y: Any = ...,
        *,
        kind: Literal["model"] = ...,
        max_rules: int | None = ...,
        max_conditions: int | None = ...,
    ) -> ModelRuleSet: ...
    @overload
    def rules(
        self,
        *,
        kind: Literal["boxes"],
        levels: Any = ...,
        terms: Any = ...,
        min_confidence: float | None = ...,
        min_support: float | None = ...,
        simplify: Any = ...,
    ) -> RuleSet: ...
    def rules(
        self,
        X: Any = None,
        y: Any = None,
        *,
        kind: str = "model",
        max_rules: int | None = None,
        max_conditions: int | None = None,
        levels: Any = None,
        terms: Any = None,
        min_confidence: float | None = None,
        min_support: float | None = None,
        simplify: Any = None,
    ) -> ModelRuleSet | RuleSet:
        """Return if-then rules: a few short ones that agree with the predictions, or one per labelled box.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Samples on which the rules should agree with the model, labelled or not, such as those it has learnt.
            None: samples drawn from its boxes.
        y : array-like of shape (n_samples,), default=None
            Labels of these samples, -1, None or NaN where unlabelled, to measure the accuracy of each rule. None: the
            labels stored by the model.
        kind : {"model", "boxes"}, default="model"
            "model": rules that agree with the model. "boxes": the paper's rules.
        max_rules, max_conditions : int, default=None
            For kind "model": maximum number of rules, and of conditions in a rule. None: 12 and 4.
        levels, terms, min_confidence, min_support, simplify
            For kind "boxes": see `sslart.rules.rules_of`.

        Returns
        -------
        ModelRuleSet or RuleSet
            Rules with `predict`, `to_text`, `to_frame`, `to_csv`, `to_json`, `to_markdown` and `to_html`; those of
            kind "model" also with `apply`, `fidelity`, `to_sql` and `to_python`.
        """
        found: ModelRuleSet | RuleSet = if_then_rules.rules_of(  # type: ignore[call-overload]
            self,
            X,
            y,
            kind=kind,
            max_rules=max_rules,
            max_conditions=max_conditions,
            levels=levels,
            terms=terms,
            min_confidence=min_confidence,
            min_support=min_support,
            simplify=simplify,
        )
        return found

    @property
    @available
    def quality_(self) -> ModelQuality:
        """The statement of quality: accuracy with its interval on left-out labels, baseline, skill, by class."""
        return view_of(self).quality

    def summary(self) -> ModelSummary:
        """Return a summary of the model: samples, classes, boxes, its statement of quality, and warnings.

        Returns
        -------
        ModelSummary
            Samples, features, labels of each class; the statement of quality, or the reason why there is none; classes
            with fewer than five labels, classes that are never predicted, and labels that are left out together.
            `str()` puts it into words.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sslart import AutoSSLART
        >>> X, y = load_iris(return_X_y=True)
        >>> y[[row for row in range(150) if row % 4 or row > 115]] = -1
        >>> print(AutoSSLART(random_state=0).fit(X, y).summary())
        AutoSSLART
        samples                 150, of which 29 labelled
        features                4
        labels                  0: 13, 1: 12, 2: 4
        accuracy                100.0 % (95 % interval 79.1 to 100.0 %), leave-one-out
        baseline                44.8 %: always 0
        balanced accuracy       100.0 %
        log loss                0.022 (class frequencies: 1.075)
        AUC                     1.000
        skill                   shown
        limit of error          at most 10 % wrong with 90 % certainty: answers 100 % of the samples; on average: 100 %
        fewer than five labels  2 (4)
        boxes                   40
        """
        return summarise(view_of(self))

    def explain(self, X: Any) -> list[Explanation]:
        """Explain each prediction: the evidence for and against it, and a counterfactual.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        list of Explanation
            `str()` puts each into words.
        """
        return explanations.explain(self, X)

    def counterfactual(
        self,
        x: Any,
        target: Any = None,
        fixed: Any = (),
        ranges: Any = None,
        n: int = 3,
        *,
        plausible: bool = False,
    ) -> Counterfactuals:
        """Return several diverse counterfactuals of one sample, each with a different prediction.

        Parameters
        ----------
        x : one sample
            One value per feature: an array, a list, a pandas Series, a dict, or a frame or an array of one row.
        target : class, default=None
            The wanted class; None for any other than the present prediction.
        fixed : list of str or int, default=()
            Features that must not change, by name or column number.
        ranges : dict, default=None
            Limits of new values: from a feature to ``(low, high)``, or to a list of the allowed categories.
        n : int, default=3
            Number of counterfactuals.
        plausible : bool, default=False
            Whether changed samples must be as near to the data as 95 % of the learnt samples are.

        Returns
        -------
        Counterfactuals
            Up to n counterfactuals, those with few changes first; `str()` puts them into words.
            See `sslart.explain.counterfactuals_of`.
        """
        return explanations.counterfactuals_of(self, x, target, fixed, ranges, n, plausible=plausible)

    def contributions(self, X: Any, reference: str = "average") -> FeatureContributions:
        """Return the contribution of each feature to each class score: exact Shapley values with evidence mapping.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        reference : {"average", "nothing"}, default="average"
            The baseline: the average over the learnt samples, or a sample without any value.

        Returns
        -------
        FeatureContributions
            `to_shap()` converts them for the plots of shap.
        """
        return explanations.contributions_of(self, X, reference)

    def feature_importances(self, X: Any = None) -> FeatureImportances:
        """Return the importance of each feature for the class scores, and its direction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Samples to measure on. None: samples drawn from the boxes of the model.

        Returns
        -------
        FeatureImportances
            Mean absolute contributions; `str()` is a table, the most important feature first.
        """
        return explanations.importances_of(self, X)


def _shown_labels(view: ModelView, labels: IntArray) -> NDArray[Any]:
    """Convert class indices of boxes to classes: -1 or None for a box without a label."""
    labelled = labels != UNLABELLED
    if not labelled.any():
        as_integers = view.classes.dtype.kind in "if" and not view.class_table.has_minus_one()
        return np.full(len(labels), UNLABELLED if as_integers else None)
    return view.labels_of(labels, may_abstain=not labelled.all())


class ARTClassifier(AbstainingClassifier, ARTEstimator):
    """Base class of the classifiers with a single network."""

    _has_classes = True

    def _check_weights(self, labels: Labels) -> None:
        weights = labels.weights
        if weights is not None and not self._new_mapping().uses_evidence and (weights != np.rint(weights)).any():
            raise ValueError(
                f"sample_weight of {self._name} must be whole numbers unless mapping='evidence': boxes count samples, "
                "and a weight of 2 is the sample twice. Round the weights, or use evidence mapping, which takes any "
                "weights."
            )

    def _after_row(self, before: FittedModel, X: Any, y: Any, checked: Checked) -> FittedModel | None:
        classes, mapping = before.class_table, before.mapping
        code = UNLABELLED if y is None else code_of_row(y, classes)
        if checked is not before.checked or code is None:
            return None
        codes = NO_CODE if code == UNLABELLED else np.array([code])
        if mapping.segment(codes, len(classes.seen)).choose is not Effort.NONE:
            return None

        def mapping_after(network: Network, table: Table) -> Mapping:
            if code == UNLABELLED:
                return mapping.after_unlabelled(classes)
            labels = Labels(codes, np.ones(1, dtype=bool))
            return mapping.learned(network, classes, table, codes, labels, choose=Effort.NONE, is_last=True)

        return after_row(before, X, checked, code=code, mapping_after=mapping_after)

    def _after_samples(self, before: FittedModel | None, samples: StreamSamples, checked: Checked) -> FittedModel:
        return self._learn_stream(before, samples, checked)[0]

    def __sslart_part__(
        self, columns: dict[str, Any], table: Table, labels: Labels, shared: Shared, number: int
    ) -> FittedModel:
        self._check_weights(labels)
        return super().__sslart_part__(columns, table, labels, shared, number)

    def _state_of(self, model: FittedModel, *, samples: bool, promises: bool) -> dict[str, Any]:
        return {**super()._state_of(model, samples=samples, promises=promises), **model.class_table.to_state()}

    def _restored_classes(self, state: dict[str, Any], network: Network) -> ClassTable:
        class_table = ClassTable.from_state(state)
        counts, may_have_faded = network.nodes.counts, network.nodes.n_learnt is not None
        if len(class_table.seen) != counts.shape[1] or not (may_have_faded or counts.any(axis=0).all()):
            raise ValueError("the classes of the model do not fit its counts")
        return class_table


class GuaranteedClassifier(AbstainingClassifier):
    """A classifier that can guarantee its error rate if it stores its labelled samples."""

    def _uses_evidence(self) -> bool:
        return bool(self._check("mapping") == EVIDENCE)

    def _check_parameters(self, *, predicts: bool) -> None:
        super()._check_parameters(predicts=predicts)
        if predicts and self.max_error is not None and not self._uses_evidence():
            raise ValueError(no_promise(self._name))

    def _check_classes(self, class_table: ClassTable) -> None:
        super()._check_classes(class_table)
        if self.max_error is not None:
            error_levels(self._name, self.max_error, self._check("confidence"), class_table.classes)

    def predict_set(self, X: Any, coverage: float = 0.9, per_class: bool = False) -> BoolArray:
        """Return conformal prediction sets: classes that contain the true one with a given probability.

        Calibrated by leave-one-out: a class is in the set if its probability is at least the (1 - `coverage`) quantile
        of the probabilities of the true classes of the labelled samples, each predicted without its own label. The most
        probable class is always in the set. Needs evidence mapping.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.9
            In (0, 1): on average over training sets and new samples like the labelled ones, at least this share of the
            sets contain the true class.
        per_class : bool, default=False
            Whether the coverage shall hold for the samples of each class by itself: a class with too few labels for
            that is in every set. `sslart.metrics.guarantees` names the class with the lowest coverage otherwise.

        Returns
        -------
        array of bool of shape (n_samples, n_classes)
            Mask of the classes in the set, in the order of `classes_`.

        Raises
        ------
        ValueError
            If the model keeps no labelled samples: without evidence mapping.

        Warns
        -----
        UserWarning
            If labels are too few to exclude a class, so that it is in every set: with n labels (of the class, where
            `per_class`) the highest coverage that excludes any is n / (n + 1).

        Notes
        -----
        The guarantee is for samples that are exchangeable with the labelled ones: drawn in the same way, and not
        duplicates of them. See docs/guide/guarantees.md.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sslart import AutoSSLART
        >>> X, y = load_iris(return_X_y=True)
        >>> model = AutoSSLART(random_state=0).fit(X[::3], y[::3])
        >>> sets = model.predict_set(X[1::3], coverage=0.9)
        >>> sets[:2]
        array([[ True, False, False],
               [ True, False, False]])
        >>> bool(sets[range(50), y[1::3]].mean() >= 0.9)
        True
        """
        wanted = check_number("predict_set", "coverage", coverage, 0, 1, open_low=True)
        if wanted == 1:
            raise ValueError("coverage of predict_set must be below 1: only the set of all classes is always right.")
        apart = check_flag("predict_set", "per_class", per_class)
        view = self.__sslart_view__()
        table, known = view.reader.read_known(X)
        check_has_label(view.class_table)
        return spread(view.promises.sets(view.predict_proba(table), wanted, per_class=apart), known, True)
