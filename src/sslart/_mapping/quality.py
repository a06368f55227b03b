"""The statement of quality of a classifier: accuracy and other figures, their method, and the evidence of skill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import exp, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sslart._art.backend import row_keys
from sslart._data.columns import APART, SHOWN_COLUMNS
from sslart._data.labels import UNLABELLED, Label
from sslart._data.samples import Table
from sslart._mapping.conformal import Guarantee, guarantees_of
from sslart._mapping.evidence.settings import MANY_CLASSES
from sslart._mapping.loo_predictions import ANSWERS, FOUND, GIVEN, VARIANCE_FACTOR, LooPredictions, estimate_of
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.intervals import Estimate, mean_share
from sslart._utils.optional import heavy
from sslart._utils.text import category_text, list_text, plural

if TYPE_CHECKING:
    from sslart._data.roles import Dependence
    from sslart._mapping.audit import Audit
    from sslart._mapping.model_view import ModelView

SKILL_LEVEL = 0.05  # significance level of the one-sided test against class frequencies
MIN_UNITS = 5  # observations required for the test: with fewer, the variance of losses is unknown
MIXED = 10.0  # observations at which the test for every look is most powerful, about
LEAST_PROBABILITY = 1e-15  # lower limit of probabilities in the log loss, as in scikit-learn

SHOWN_ERROR = 0.1  # limit of error that is shown where a model has none of its own

SHOWN, NOT_SHOWN = "shown", "no evidence yet"
NO_FINDING = (  # before importances, rules and explanations of a model without evidence of skill
    "There is no evidence yet that the model predicts better than the class frequencies. The following describes the "
    "model; it is no finding about the data."
)

ONE_CLASS = "there are labels of one class only"
ONE_EACH = "each class has one label, which the others cannot predict"
FEW_OF_TWO = "too few classes have two labels"
NO_LABEL = "there is no label"
NONE_AT_RANDOM = "no labelled sample was drawn at random"
NOT_KEPT = "the model keeps no labelled samples; use cross_val_score with a splitter of sslart.model_selection"

LEAVE_ONE_OUT, LEAVE_GROUP_OUT = "leave-one-out", "leave-one-group-out"
HELD_OUT = " held out"
ON_NEW = "on new rows"

MOST_ALIKE = 0.05  # share of duplicates among stored samples above which new rows equal learnt ones by chance


@dataclass(frozen=True)
class ClassQuality:
    """Quality of the predictions of one class.

    Attributes
    ----------
    label : class
    n_labels : int
        Labels of this class among those measured on.
    sensitivity : Estimate
        Share predicted as this class, among its labels with a prediction.
    specificity : Estimate
        Share not predicted as this class, among the labels of other classes with a prediction.
    precision : Estimate
        Share of correct ones among the predictions of this class.
    """

    label: Label
    n_labels: int
    sensitivity: Estimate
    specificity: Estimate
    precision: Estimate


@dataclass(frozen=True)
class JointLabels:
    """Labels that are left out together and count as one observation.

    Attributes
    ----------
    kind : {"given", "found", "answers", "copies", "near copies"}
        The user's groups; groups found by a test for dependence; labels of several samples by one answer; duplicates of
        one sample; samples so close that they are taken for repeated measurements of one item.
    n_labels, n_groups : int
        Number of labels that share a group, and number of these groups.
    """

    kind: str
    n_labels: int
    n_groups: int

    def __str__(self) -> str:
        groups = plural(self.n_groups, "group")
        match self.kind:
            case "given":
                return f"{self.n_labels} labels in {groups}; each group counts one"
            case "found":
                return f"{self.n_labels} labels in {groups} of dependent rows; each group counts one"
            case "answers":
                return f"{self.n_labels} labels by {plural(self.n_groups, 'answer')}; each answer counts one"
            case "copies":
                return f"{self.n_labels} labels of {plural(self.n_groups, 'sample')} that come more than once"
        return f"{self.n_labels} labels in {groups} of almost equal samples, as of repeated measurements"


@dataclass(frozen=True)
class ModelQuality:
    """Statement of the quality of a classifier, with all figures shown in its summary, report, card and service.

    `str()` puts it into words. Figures are None if they cannot be measured; `why_not` then has the reason.

    Attributes
    ----------
    how : str
        The method: leave-one-out, held-out labels, an audit, or new rows.
    n_labels : int
        Number of labels in the evaluation; the labels of a group count as one.
    accuracy : Estimate or None
        Share of correct predictions, with its 95 % interval for new rows; abstention does not count as correct.
    why_not : str
        The reason if nothing is measured.
    most_frequent : class or None
        The most frequent class among the labels.
    baseline : float or None
        Accuracy of always predicting the most frequent class.
    balanced_accuracy : Estimate or None
        Mean recall over the classes.
    log_loss, baseline_log_loss : float or None
        Mean negative logarithm of the probability of the true class; the same for the class frequencies.
    auc : float or None
        Area under the ROC curve; with more than two classes the mean over the classes, each against all others.
    p_value : float or None
        One-sided p-value of the hypothesis that predicted probabilities are no better than class frequencies (Brier
        score; the labels of a group are one observation).
    coverage, correctness : Estimate or None
        Share of the labels that get a prediction, and share of correct ones among these.
    classes : tuple of ClassQuality
    confusion : tuple of tuples
        A row per true class; columns are the predicted classes, then the number of abstentions.
    n_chosen : int
        Further labels, of samples that were not drawn at random: learnt, but not in the evaluation. If there are any,
        intervals and the test for skill hold at every look while labels are added.
    is_audit : bool
        Whether the labels are those of an audit (`add_audit`), which the model never learns.
    together : JointLabels or None
        Labels that count as one observation; None if each counts by itself.
    dependence : Dependence or None
        Dependence between rows found by a test, which defines the groups.
    limit : Guarantee or None
        Limit of error of the model, or of 10 % where it has none: how much it answers within it.
    warnings : tuple of str
        Limitations, such as columns in which labelled rows differ from the others.
    """

    how: str
    n_labels: int = 0
    accuracy: Estimate | None = None
    why_not: str = ""
    most_frequent: Label | None = None
    baseline: float | None = None
    balanced_accuracy: Estimate | None = None
    log_loss: float | None = None
    baseline_log_loss: float | None = None
    auc: float | None = None
    p_value: float | None = None
    coverage: Estimate | None = None
    correctness: Estimate | None = None
    classes: tuple[ClassQuality, ...] = ()
    confusion: tuple[tuple[int, ...], ...] = ()
    n_chosen: int = 0
    is_audit: bool = False
    together: JointLabels | None = None
    dependence: Dependence | None = None
    limit: Guarantee | None = None
    warnings: tuple[str, ...] = ()

    @property
    def skill(self) -> str | None:
        """Evidence that predictions beat class frequencies: "shown", "no evidence yet", or None if not measured."""
        if self.accuracy is None:
            return None
        return SHOWN if self.p_value is not None and self.p_value <= SKILL_LEVEL else NOT_SHOWN

    @property
    def shows_skill(self) -> bool:
        """False if predictions are not shown to be better than class frequencies, so that explanations mean little."""
        return self.skill != NOT_SHOWN

    @property
    def assumes(self) -> str:
        """Assumption under which the figures hold for other rows."""
        drawn = "those from which labelled rows were drawn at random" if self.n_chosen else "the labelled ones"
        if self.is_audit:
            drawn = "those of the audit"
        if self.together is None or self.together.kind not in (GIVEN, FOUND):
            return f"new rows are like {drawn}, and rows do not depend on each other"
        units = "groups" if self.dependence is None else self.dependence.units
        return f"new rows are like {drawn}, and of other {units}"

    def accuracy_text(self) -> str:
        """Return the accuracy with its method, or the reason why there is none."""
        return f"not measured: {self.why_not}" if self.accuracy is None else f"{self.accuracy}, {self.how}"

    def lines(self) -> dict[str, str]:
        """Return the statement as lines of text by topic."""
        found = {"accuracy": self.accuracy_text()}
        if self.accuracy is None:
            return found
        if self.baseline is not None:
            found["baseline"] = f"{100 * self.baseline:.1f} %: always {category_text(self.most_frequent)}"
        if self.balanced_accuracy is not None and self.balanced_accuracy.value is not None:
            found["balanced accuracy"] = f"{100 * self.balanced_accuracy.value:.1f} %"
        if self.log_loss is not None and self.baseline_log_loss is not None:
            found["log loss"] = f"{self.log_loss:.3f} (class frequencies: {self.baseline_log_loss:.3f})"
        if self.auc is not None:
            found["AUC"] = f"{self.auc:.3f}"
        found["skill"] = self.skill_text()
        if self.limit is not None:
            found["limit of error"] = self.limit.sentence()
        if self.dependence is not None:
            found["dependent rows"] = str(self.dependence)
        elif self.together is not None:
            found["left out together"] = str(self.together)
        return found | ({"beware": "; ".join(self.warnings)} if self.warnings else {})

    def skill_text(self) -> str:
        """Return the skill in words."""
        if self.skill == SHOWN:
            return SHOWN
        return "no evidence yet that predictions are better than class frequencies: importances and rules may be chance"

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain values."""
        return {**asdict(self), "skill": self.skill, "assumes": self.assumes, "text": self.lines()}

    def __str__(self) -> str:
        lines = self.lines()
        width = max(map(len, lines))
        return "\n".join(f"{topic:{width}}  {text}" for topic, text in lines.items())


class Measured(NamedTuple):
    """Labels and the predictions for them."""

    truth: IntArray  # class index of each label
    predicted: IntArray  # class index, -1 for abstention
    proba: FloatArray | None  # (n_labels, n_classes); None if not known
    weights: FloatArray  # the weights of a group sum to one
    groups: IntArray
    factor: float = 1.0  # variance of shares relative to independent samples
    is_sequential: bool = False  # whether intervals and tests shall hold at every look while labels are added

    def share(self, hits: BoolArray, among: BoolArray) -> Estimate:
        """Return the share of hits among some of the labels, with its 95 % interval."""
        weights = np.where(among, self.weights, 0.0)
        return estimate_of(hits, weights, self.factor, is_sequential=self.is_sequential)

    @property
    def class_shares_without(self) -> FloatArray:
        """The class frequencies without the group of each label, (n_labels, n_classes)."""
        n_classes = int(max(self.truth.max() + 1, 0 if self.proba is None else self.proba.shape[1]))
        own = np.eye(n_classes)[self.truth] * self.weights[:, None]
        at = np.unique(self.groups, return_inverse=True)[1]
        of_groups = np.zeros((at.max() + 1, n_classes))
        np.add.at(of_groups, at, own)
        others = own.sum(axis=0) - of_groups[at]
        return np.asarray(others / np.maximum(others.sum(axis=1, keepdims=True), 1e-12))


def measure(measured: Measured, labels: Sequence[Label], how: str) -> ModelQuality:
    """Return the quality of predictions; `labels`: the class of each index."""
    truth, predicted, proba = measured.truth, measured.predicted, measured.proba
    answered, right, every = predicted != UNLABELLED, predicted == truth, np.ones(len(truth), dtype=bool)
    n_classes = len(labels)
    counts = np.zeros((n_classes, n_classes + 1), dtype=np.int64)
    np.add.at(counts, (truth, np.where(answered, predicted, n_classes)), 1)
    by_class, recalls = [], []
    for index, label in enumerate(labels):
        own, named = truth == index, predicted == index
        recalls.append(measured.share(right, own))
        sensitivity = measured.share(right, own & answered)
        specificity = measured.share(~named, ~own & answered)
        quality = ClassQuality(label, int(own.sum()), sensitivity, specificity, measured.share(right, named))
        by_class.append(quality)
    weights = np.bincount(truth, measured.weights, n_classes)
    most = int(weights.argmax())
    base = measured.class_shares_without
    found = ModelQuality(
        how,
        round(float(measured.weights.sum())),
        measured.share(right, every),
        most_frequent=labels[most],
        baseline=float(weights[most] / weights.sum()),
        balanced_accuracy=mean_share(recalls),
        baseline_log_loss=_log_loss(base, measured),
        coverage=measured.share(answered, every),
        correctness=measured.share(right, answered),
        classes=tuple(by_class),
        confusion=tuple(map(tuple, counts.tolist())),
    )
    if proba is None:
        return found
    return replace(
        found,
        log_loss=_log_loss(proba, measured),
        auc=auc_of(proba, truth, measured.weights),
        p_value=_skill(proba, base, measured),
    )


def _log_loss(proba: FloatArray, measured: Measured) -> float:
    own = np.maximum(proba[np.arange(len(measured.truth)), measured.truth], LEAST_PROBABILITY)
    return float(np.average(-np.log(own), weights=measured.weights))


def _skill(proba: FloatArray, base: FloatArray, measured: Measured) -> float:
    """Return the one-sided p-value of a t-test of the squared error against that of class frequencies.

    If it shall hold at every look, it is that of a mixture of likelihood ratios, as for normal observations.
    """
    is_class = np.eye(base.shape[1])[measured.truth]
    gain = ((base - is_class) ** 2).sum(axis=1) - ((proba - is_class) ** 2).sum(axis=1)
    at = np.unique(measured.groups, return_inverse=True)[1]
    gains = np.bincount(at, gain * measured.weights) / np.bincount(at, measured.weights)
    n, mean = len(gains), float(gains.mean())
    if n < MIN_UNITS or mean <= 0:
        return 1.0
    spread = sqrt(measured.factor * float(gains.var(ddof=1)) / n)
    if spread == 0:
        return 0.0
    if measured.is_sequential:
        share = n / (n + MIXED)
        return float(min(1.0, exp(-share * (mean / spread) ** 2 / 2) / sqrt(1.0 - share)))
    return float(heavy("scipy.special").stdtr(n - 1, -mean / spread))


def auc_of(proba: FloatArray, truth: IntArray, weights: FloatArray) -> float | None:
    """Return the area under the ROC curve; with more than two classes, the mean of one-versus-rest over the classes.

    Examples
    --------
    >>> import numpy as np
    >>> proba = np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3], [0.2, 0.8]])
    >>> auc_of(proba, np.array([0, 0, 1, 1]), np.ones(4))
    0.75
    """
    classes = range(1, 2) if proba.shape[1] == 2 else range(proba.shape[1])
    areas = [_area(proba[:, index], truth == index, weights) for index in classes]
    known = [area for area in areas if area is not None]
    return float(np.mean(known)) if known else None


def _area(scores: FloatArray, positive: BoolArray, weights: FloatArray) -> float | None:
    """Return the weighted share of correctly ordered pairs of a positive and a negative; ties count half."""
    at = np.unique(scores, return_inverse=True)[1]
    hits, misses = (np.bincount(at, np.where(own, weights, 0.0)) for own in (positive, ~positive))
    total = float(hits.sum() * misses.sum())
    below = np.cumsum(misses) - misses / 2
    return float((hits * below).sum()) / total if total else None


def together_of(groups: IntArray, kind: str) -> JointLabels | None:
    """Return the groups of more than one label, given the group of each; None if there are none."""
    sizes = np.unique(groups, return_counts=True)[1]
    several = sizes[sizes > 1]
    return JointLabels(kind, int(several.sum()), len(several)) if len(several) else None


def on_samples(
    classes: Sequence[Label], truth: Sequence[Label], predicted: IntArray, proba: FloatArray, groups: IntArray, how: str
) -> ModelQuality:
    """Return the quality of predictions for samples that the model has not learnt.

    `classes` are those of the model, then others; `predicted` are their indices; a group is one observation.
    """
    place = {label: index for index, label in enumerate(classes)}
    known = np.array([place[one] for one in truth], dtype=np.int64)
    padded = np.zeros((len(truth), len(classes)))
    padded[:, : proba.shape[1]] = proba
    _, at, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    return measure(Measured(known, predicted, padded, 1.0 / sizes[at], groups), classes, how)


def quality_of(view: ModelView) -> ModelQuality:
    """Return the quality of a model on its audit, if it has one, else on its left-out labels."""
    return left_out_quality(view) if view.audit is None else _audited(view, view.audit)


def _audited(view: ModelView, audit: Audit) -> ModelQuality:
    """Return the quality on samples that are never learnt."""
    if not view.class_table.seen:
        return ModelQuality(_on_audit(audit), why_not=NO_LABEL)
    found, known = view.predict(audit.table, want_proba=True), view.classes.tolist()
    assert found.proba is not None
    classes = [*known, *sorted(set(audit.classes) - set(known), key=str)]
    figures = on_samples(classes, audit.classes, found.indices, found.proba, audit.units, _on_audit(audit))
    left_out = left_out_quality(view)
    together = together_of(audit.units, GIVEN)
    return replace(figures, is_audit=True, together=together, limit=left_out.limit, warnings=left_out.warnings)


def _on_audit(audit: Audit) -> str:
    return f"on an audit of {plural(len(audit), 'sample')}, never learnt"


def left_out_quality(view: ModelView) -> ModelQuality:
    """Return the quality of a model by leave-one-group-out on its stored labels.

    There are no figures if labels are of one class only, or one of each class, which is always predicted wrongly
    without it. The variance of shares is doubled: see `LooPredictions.share`.
    """
    found = figures_of(view)
    if found.accuracy is None:
        return found
    return replace(found, limit=guarantees_of(view.promises, [_shown_error(view)], view.certainty).levels[0])


def figures_of(view: ModelView) -> ModelQuality:
    """Return the quality of a model without its limit of error."""
    every, dependence = view.left_out, view.members[0].mapping.dependence
    if every is None:
        return ModelQuality(LEAVE_ONE_OUT, why_not=NOT_KEPT if view.class_table.seen else NO_LABEL)
    left_out = every.drawn
    found = ModelQuality(
        _how(view, every),
        left_out.n_labels,
        warnings=_warnings(view),
        n_chosen=len(every.truth) - len(left_out.truth),
        together=together_of(every.groups, every.kind),
        dependence=dependence,
    )
    counts = every.by_class()
    if (counts > 0).sum() < 2:
        return replace(found, why_not=ONE_CLASS)
    if counts.max() < 1.5:
        return replace(found, why_not=ONE_EACH)
    if not all(member.mapping.settings_by_labels for member in view.members):
        return replace(found, why_not=FEW_OF_TWO)
    if not len(left_out.truth):
        return replace(found, why_not=NONE_AT_RANDOM)
    measured = Measured(
        left_out.truth,
        left_out.predicted,
        left_out.proba,
        left_out.weights,
        left_out.groups,
        1.0 if left_out.is_sequential else VARIANCE_FACTOR,
        left_out.is_sequential,
    )
    figures = measure(measured, view.classes.tolist(), found.how)
    return replace(
        figures,
        n_chosen=found.n_chosen,
        together=found.together,
        dependence=dependence,
        warnings=found.warnings,
    )


def _shown_error(view: ModelView) -> float:
    """Return the limit of error to show: that of the model for all of its predictions, or the usual one."""
    overall = None if view.max_error is None else view.max_error.overall
    return SHOWN_ERROR if overall is None else overall


def _warnings(view: ModelView) -> tuple[str, ...]:
    """Return the limits of the statement: columns in which labelled rows differ from the others."""
    columns = [str(note) for note in view.reader.plan.notes if note.topic == APART]
    if not columns:
        return ()
    shown = list_text(columns, SHOWN_COLUMNS)
    return (f"labelled rows differ from the others in {shown}: the figures hold for rows like the labelled ones",)


def learnt_samples(view: ModelView, table: Table) -> BoolArray:
    """Return a mask of samples that equal stored labelled samples of a model; all False if it stores none.

    If many stored samples are duplicates, single matches occur by chance: then all samples count as learnt if most
    match, else none.
    """
    kept = [row_keys(member.kept_labels[0]) for member in view.members if member.kept_labels is not None]
    if not kept or not len(table):
        return np.zeros(len(table), dtype=bool)
    known, n_equal = np.unique(np.concatenate(kept), return_counts=True)
    found = np.isin(row_keys(table), known)
    alike = float((n_equal > len(kept)).sum()) / len(known)
    if alike > MOST_ALIKE:
        return np.full(len(found), bool(found.mean() >= (1.0 + alike) / 2))
    return found


def _how(view: ModelView, left_out: LooPredictions) -> str:
    """Describe the method of leaving labels out, and the number of labels if not all were used."""
    grouped = left_out.kind in (GIVEN, FOUND, ANSWERS) and together_of(left_out.groups, left_out.kind) is not None
    by = LEAVE_GROUP_OUT if grouped else LEAVE_ONE_OUT
    if left_out.drawn is not left_out:
        return f"{by} of {plural(len(left_out.drawn.truth), 'sample')} drawn at random"
    kept = view.members[0].mapping.kept_samples
    if kept is None or len(left_out.truth) >= len(kept):
        return by
    some = f"{len(left_out.truth):,} of {len(kept):,} labels"
    return f"{by} of {some}" if len(view.classes) > MANY_CLASSES else f"{some}{HELD_OUT}"
