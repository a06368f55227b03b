"""All numbers of a report as plain data: samples, labels, quality, confidence, guarantees, rules and limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED, Label, Labels
from sslart._data.samples import Table
from sslart._mapping.conformal import measured_guarantees
from sslart._mapping.decision_rules import ErrorLevels
from sslart._mapping.loo_predictions import LooPredictions
from sslart._mapping.model_view import ModelView, view_of
from sslart._mapping.summary import label_counts
from sslart._utils.arrays import BoolArray, FloatArray
from sslart._utils.intervals import Estimate, share
from sslart.active import LearningCurve, learning_curve
from sslart.explain import importances_of
from sslart.explain._importances import rows
from sslart.metrics._quality import Quality, quality_of
from sslart.rules import rules_of
from sslart.rules._model_rules import condition_text

FEW_LABELS = 5
DEPTHS = (1, 2, 3, 5, 10)
EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
LIMITS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
TIMES = (1, 2, 4, 10)  # as many labels
MAX_FEATURES = 15


@dataclass(frozen=True, eq=False)
class Observed:
    """A model, samples, and the predictions for them.

    Attributes
    ----------
    model : SSLART, FuzzyARTMAP or WESSLART
    view : ModelView
    table : Table
    classes : list of class
        Those of the model, then those that only the samples have.
    truth, predicted : lists of class or None
        None where a sample has no label, or the model abstains.
    novel : array of shape (n_samples,)
        Whether a sample is novel.
    proba : array of shape (n_samples, n_classes)
        Probability of each class of the model, whether it abstains or not.
    """

    model: Any
    view: ModelView
    table: Table
    classes: list[Label]
    truth: list[Label | None]
    predicted: list[Label | None]
    novel: BoolArray
    proba: FloatArray

    def __len__(self) -> int:
        return len(self.table)

    @property
    def has_search_depth(self) -> bool:
        """True if the model has a parameter `search_depth`."""
        return "search_depth" in self.model.get_params()


@dataclass(frozen=True)
class FeatureSummary:
    """One feature: values of the samples, and the range or categories that the model has learnt.

    Attributes
    ----------
    name : str
    categorical : bool
    n_missing : int
    low, median, high : float or None
        Of the samples; None for categories, and where all are missing.
    learnt_low, learnt_high : float or None
        Range that the model has learnt.
    categories : tuple of (category, count)
        Of the samples, the most frequent first.
    learnt_categories : tuple of category
    n_beyond : int
        Samples beyond the learnt range, or with a category never seen.
    """

    name: str
    categorical: bool
    n_missing: int
    low: float | None = None
    median: float | None = None
    high: float | None = None
    learnt_low: float | None = None
    learnt_high: float | None = None
    categories: tuple[tuple[Any, int], ...] = ()
    learnt_categories: tuple[Any, ...] = ()
    n_beyond: int = 0


@dataclass(frozen=True)
class ClassSummary:
    """One class: samples that have it, samples that it is predicted for, and labels that the model has learnt."""

    label: Label
    n_samples: int
    n_predicted: int
    n_learnt: float


@dataclass(frozen=True)
class Limits:
    """Where the model has little evidence.

    Attributes
    ----------
    search_depth : int or None
    n_nodes, n_unlabelled_nodes : int
        Boxes, over all members.
    n_learnt, n_learnt_unlabelled : float
        Samples that the boxes hold, over all members, and those in boxes without a label.
    n_samples, n_abstained, n_novel, n_beyond, n_missing : int
        Samples: all; without a prediction; novel; with a value beyond the learnt range; with a missing value.
    coverage : tuple of (depth, number of samples)
        How many samples would get a prediction at each search depth; empty where every box has a label.
    few_labels : tuple of ClassSummary
        Classes learnt from fewer than five labels.
    never_predicted : tuple of ClassSummary
        Classes that the model has learnt and predicts for no sample of the report.
    novelty_threshold : float
        Samples that fit worse are novel; 0 where too few samples were learnt to flag any.
    novelty_promise : str
        How many samples are flagged by mistake, or why none can be flagged.
    """

    search_depth: int | None
    n_nodes: int
    n_unlabelled_nodes: int
    n_learnt: float
    n_learnt_unlabelled: float
    n_samples: int
    n_abstained: int
    n_novel: int
    n_beyond: int
    n_missing: int
    coverage: tuple[tuple[int, int], ...]
    few_labels: tuple[ClassSummary, ...]
    never_predicted: tuple[ClassSummary, ...]
    novelty_threshold: float
    novelty_promise: str


@dataclass(frozen=True)
class Summary:
    """All numbers of a report; `quality` is None where no sample has a label."""

    n_samples: int
    n_labelled: int
    features: tuple[FeatureSummary, ...]
    classes: tuple[ClassSummary, ...]
    quality: Quality | None
    limits: Limits


def observe(model: Any, X: Any, y: Any) -> Observed:
    """Predict samples with a fitted model."""
    view = view_of(model, "a fitted SSLART, FuzzyARTMAP or WESSLART")
    table = view.read(X)
    found = view.decide(table)
    labels = Labels.none(len(table))
    if y is not None:
        _check_length(y, table)
        labels = view.read_labels(y, table)
    classes = view.classes.tolist()
    pairs = zip(labels.values.tolist(), labels.known.tolist(), strict=True)
    truth = [value if known else None for value, known in pairs]
    others = {label for label in truth if label is not None} - set(classes)
    return Observed(
        model,
        view,
        table,
        classes + sorted(others),
        truth,
        view.labels_or_none(found.indices),
        found.is_novel,
        found.proba,
    )


def _check_length(y: Any, table: Table) -> None:
    if hasattr(y, "__len__") and len(y) != len(table):
        raise ValueError(
            f"X has {len(table)} samples and y {len(y)}: give one label for each sample, -1 or None where not known."
        )


def summarise(observed: Observed) -> Summary:
    """Return all numbers of a report."""
    labelled = [row for row, label in enumerate(observed.truth) if label is not None]
    truth = [label for label in observed.truth if label is not None]
    quality = None
    if labelled:
        quality = quality_of(truth, [observed.predicted[row] for row in labelled], observed.classes)
    beyond = _beyond(observed)
    classes = _classes(observed)
    return Summary(
        len(observed), len(labelled), _features(observed, beyond), classes, quality, _limits(observed, classes, beyond)
    )


def _classes(observed: Observed) -> tuple[ClassSummary, ...]:
    counts = label_counts(observed.view)
    learnt = dict(zip(observed.view.classes.tolist(), counts.tolist(), strict=True))
    given, predicted = Counter(observed.truth), Counter(observed.predicted)
    return tuple(
        ClassSummary(label, given[label], predicted[label], learnt.get(label, 0)) for label in observed.classes
    )


def _beyond(observed: Observed) -> BoolArray:
    """Tell for each value whether it lies beyond the learnt range, shape (n_samples, n_columns)."""
    encoder, table = observed.view.members[0].encoder, observed.table
    beyond = np.zeros(table.values.shape, dtype=bool)
    for position, feature in enumerate(encoder.features):
        if feature.category is None and encoder.lower[position] <= encoder.upper[position]:
            values = table.values[:, feature.column]
            beyond[:, feature.column] = (values < encoder.lower[position]) | (values > encoder.upper[position])
    for column, given in table.categories.items():
        known = {feature.category for feature in encoder.features if feature.column == column}
        beyond[:, column] = [value is not None and value not in known for value in given]
    return beyond


def _missing(table: Table) -> BoolArray:
    missing = np.isnan(table.values)
    for column, given in table.categories.items():
        missing[:, column] = [value is None for value in given]
    return missing


def _features(observed: Observed, beyond: BoolArray) -> tuple[FeatureSummary, ...]:
    encoder = observed.view.members[0].encoder
    n_missing, n_beyond = _missing(observed.table).sum(axis=0).tolist(), beyond.sum(axis=0).tolist()
    summaries = []
    for column, name in enumerate(observed.view.feature_names):
        if column in encoder.categorical:
            given = observed.table.categories.get(column, np.empty(0, dtype=object))
            counts = Counter(value for value in given if value is not None)
            learnt = sorted((feature.category for feature in encoder.features if feature.column == column), key=str)
            summaries.append(
                FeatureSummary(
                    name,
                    True,
                    n_missing[column],
                    categories=tuple(counts.most_common()),
                    learnt_categories=tuple(learnt),
                    n_beyond=n_beyond[column],
                )
            )
        else:
            low, high = encoder.range_of(column)
            known = low <= high
            lowest, median, highest = _three(observed.table.values[:, column])
            summaries.append(
                FeatureSummary(
                    name,
                    False,
                    n_missing[column],
                    lowest,
                    median,
                    highest,
                    low if known else None,
                    high if known else None,
                    n_beyond=n_beyond[column],
                )
            )
    return tuple(summaries)


def _three(values: FloatArray) -> tuple[float | None, float | None, float | None]:
    """Return the lowest value, the median and the highest."""
    known = values[~np.isnan(values)]
    if not len(known):
        return None, None, None
    return float(known.min()), float(np.median(known)), float(known.max())


def _limits(observed: Observed, classes: Sequence[ClassSummary], beyond: BoolArray) -> Limits:
    view = observed.view
    labelled = np.concatenate([member.labels for member in view.members]) != UNLABELLED
    support = np.concatenate([member.support for member in view.members])
    return Limits(
        view.search_depth or None,
        len(labelled),
        int((~labelled).sum()),
        support.sum().item(),
        support[~labelled].sum().item(),
        len(observed),
        observed.predicted.count(None),
        int(observed.novel.sum()),
        int(beyond.any(axis=1).sum()),
        int(_missing(observed.table).any(axis=1).sum()),
        () if labelled.all() or not observed.has_search_depth else _coverage(observed),
        tuple(one for one in classes if one.n_learnt < FEW_LABELS),
        tuple(one for one in classes if one.n_learnt and not one.n_predicted),
        float(view.novelty_threshold),
        view.novelty.promise(),
    )


def _coverage(observed: Observed) -> tuple[tuple[int, int], ...]:
    """Return the number of samples with a prediction at each search depth, up to full coverage."""
    coverage: list[tuple[int, int]] = []
    for depth, indices in zip(DEPTHS, observed.view.predict_at_depths(observed.table, DEPTHS), strict=True):
        coverage.append((depth, int((indices != UNLABELLED).sum())))
        if coverage[-1][1] == len(observed):
            break
    return tuple(coverage)


@dataclass(frozen=True)
class ConfidenceBin:
    """Predictions of similar confidence.

    Attributes
    ----------
    low, high : float
        From this confidence to below the other; the last includes it.
    mean_confidence : float
    right : Estimate
        Share of right predictions.
    """

    low: float
    high: float
    mean_confidence: float
    right: Estimate


@dataclass(frozen=True)
class AbstentionLine:
    """Predictions of a model that abstains below a threshold of the highest probability.

    Attributes
    ----------
    abstain_below : float or None
        None: it never abstains.
    predicted : Estimate
        Share of the samples of the report that get a prediction.
    right : Estimate or None
        Share of right ones among the predictions; None where there is nothing to measure on.
    """

    abstain_below: float | None
    predicted: Estimate
    right: Estimate | None


@dataclass(frozen=True)
class Confidence:
    """Calibration and abstention.

    Attributes
    ----------
    of_left_out : bool
        Whether right predictions are counted on left-out labels, because no sample of the report has a known class.
    n_measured : int
        Number of predictions of which it is known whether they are right; 0: none.
    bins : tuple of ConfidenceBin
        Those with predictions in them.
    abstention : tuple of AbstentionLine
    """

    of_left_out: bool
    n_measured: int
    bins: tuple[ConfidenceBin, ...]
    abstention: tuple[AbstentionLine, ...]


@dataclass(frozen=True)
class LeftOutSummary:
    """Quality on the labels that the model has learnt, each predicted by the others alone.

    Attributes
    ----------
    n_labels : int
        Labels kept by the model; of an ensemble, by one member.
    accuracy : Estimate
    quality : Quality
        Of all predictions; of an ensemble, each label counts once for each member.
    never_predicted : tuple of class
    """

    n_labels: int
    accuracy: Estimate
    quality: Quality
    never_predicted: tuple[int | bool | str, ...]


def left_out_summary(observed: Observed, left_out: LooPredictions | None) -> LeftOutSummary | None:
    """Return the quality on left-out labels."""
    accuracy = None if left_out is None else left_out.accuracy()
    if left_out is None or accuracy is None:
        return None
    labels = observed.view.classes.tolist()
    predicted = [labels[index] for index in left_out.predicted]
    quality = quality_of([labels[index] for index in left_out.truth], predicted, labels)
    never = tuple(label for label in labels if label not in set(predicted))
    return LeftOutSummary(left_out.n_labels, accuracy, quality, never)


def confidence_of(observed: Observed, left_out: LooPredictions | None) -> Confidence:
    """Return calibration and abstention by the samples of known class, or else by left-out labels."""
    highest: FloatArray = observed.proba.max(axis=1)
    known = np.flatnonzero([label is not None for label in observed.truth])
    decided = observed.view.class_by(observed.proba)
    measured, confidence, of_left_out = highest[known], observed.proba[known, decided[known]], False
    names, truth = observed.view.classes[decided].tolist(), observed.truth
    right = np.array([names[row] == truth[row] for row in known], dtype=bool)
    if not known.size and left_out is not None:
        measured, confidence, right, of_left_out = left_out.highest, left_out.confidence, left_out.right, True
    lines = [_line(None, highest, measured, right), *(_line(limit, highest, measured, right) for limit in LIMITS)]
    return Confidence(of_left_out, len(measured), calibration(confidence, right), _without_repeats(lines))


def calibration(confidence: FloatArray, right: BoolArray) -> tuple[ConfidenceBin, ...]:
    """Return the share of right predictions by confidence."""
    return tuple(
        ConfidenceBin(low, high, float(confidence[own].mean()), share(int(right[own].sum()), int(own.sum())))
        for low, high, own in confidence_bins(confidence)
    )


def confidence_bins(confidence: FloatArray) -> Iterator[tuple[float, float, BoolArray]]:
    """Yield the ends of each bin of confidence that has predictions in it, and which these are."""
    places = np.minimum(np.searchsorted(EDGES, confidence, side="right") - 1, len(EDGES) - 2)
    for place in np.unique(places).tolist():
        yield EDGES[place], EDGES[place + 1], places == place


def _line(limit: float | None, highest: FloatArray, measured: FloatArray, right: BoolArray) -> AbstentionLine:
    least = 0.0 if limit is None else limit
    kept = measured >= least
    return AbstentionLine(
        limit,
        share(int((highest >= least).sum()), len(highest)),
        share(int(right[kept].sum()), int(kept.sum())) if len(measured) else None,
    )


def _without_repeats(lines: Sequence[AbstentionLine]) -> tuple[AbstentionLine, ...]:
    """Leave out limits that change nothing against the line before."""
    kept = [lines[0]]
    for line in lines[1:]:
        if (line.predicted, line.right) != (kept[-1].predicted, kept[-1].right):
            kept.append(line)
    return tuple(kept)


@dataclass(frozen=True)
class GuaranteeLine:
    """Predictions of a model under one `max_error`.

    Attributes
    ----------
    max_error : float
    answered : float or None
        Share of the left-out labels that get a prediction; None where the error cannot be promised.
    labels_needed : int
        The fewest labels with which the error can be promised.
    predicted : Estimate
        Share of the samples of the report that get a prediction.
    wrong : Estimate or None
        Share of wrong ones among these predictions; None where no class is known.
    """

    max_error: float
    answered: float | None
    labels_needed: int
    predicted: Estimate
    wrong: Estimate | None


@dataclass(frozen=True)
class GuaranteeTable:
    """Guarantees of a model with its labels.

    Attributes
    ----------
    n_labels : int
    smallest_error : float
    lines : tuple of GuaranteeLine
    """

    n_labels: int
    smallest_error: float
    lines: tuple[GuaranteeLine, ...]


def guarantee_table(observed: Observed) -> GuaranteeTable | None:
    """Return the guarantees; None if no labels are stored, or too few to measure anything."""
    view = observed.view
    found = measured_guarantees(view)
    if found is None:
        return None
    indices, proba = view.class_by(observed.proba), observed.proba
    confidence, labels = proba[np.arange(len(proba)), indices], view.classes.tolist()
    may_answer = view.promises.may_answer(proba)
    known = np.array([label is not None for label in observed.truth], dtype=bool)
    right = np.array([labels[index] == truth for index, truth in zip(indices, observed.truth, strict=True)], dtype=bool)
    lines = []
    for one in found.levels:
        least = np.inf if one.least_confidence is None else one.least_confidence
        kept = may_answer & (confidence >= least)
        n_wrong = share(int((kept & known & ~right).sum()), int((kept & known).sum())) if known.any() else None
        predicted = share(int(kept.sum()), len(kept))
        lines.append(
            GuaranteeLine(
                one.max_error, one.answered if one.is_possible else None, one.labels_needed, predicted, n_wrong
            )
        )
    return GuaranteeTable(found.n_labels, found.smallest_error, tuple(lines))


def max_error_text(levels: ErrorLevels | None, classes: list[object]) -> str | None:
    """Return the `max_error` of a model in words; None where it has none."""
    if levels is None:
        return None
    if levels.overall is not None:
        return f"at most {100 * levels.overall:g} % of the predictions are wrong"
    parts = (f"at most {100 * level:g} % of the predictions of {classes[index]}" for index, level in levels.by_class)
    return f"{', '.join(parts)} are wrong"


@dataclass(frozen=True)
class ExpectedLine:
    """The accuracy to expect with a number of labels, with its 95 % interval."""

    n_labels: int
    expected: Estimate


@dataclass(frozen=True)
class MoreLabels:
    """Expected accuracy with more labels.

    Attributes
    ----------
    n_labels : int
        How many there are.
    lines : tuple of ExpectedLine
        Empty where nothing can be estimated.
    why_not : str
        The reason then.
    """

    n_labels: int
    lines: tuple[ExpectedLine, ...]
    why_not: str


def curve_of(observed: Observed) -> LearningCurve | None:
    """Return the learning curve of a model that keeps labels; None for others."""
    return learning_curve(observed.model) if observed.view.left_out is not None else None


def more_labels(curve: LearningCurve | None) -> MoreLabels | None:
    """Return the expected accuracy with more labels; None without a curve."""
    if curve is None:
        return None
    numbers = () if curve.why_not else tuple(times * curve.n_now for times in TIMES)
    return MoreLabels(curve.n_now, tuple(ExpectedLine(n, curve.at(n)) for n in numbers), curve.why_not)


@dataclass(frozen=True)
class ModelRuleLine:
    """One rule, ready to be shown.

    Attributes
    ----------
    number : int
        From 1.
    label : class or None
        None where the model abstains.
    conditions : tuple of str
        Empty for the samples that meet no other rule.
    covered : Estimate
        Samples of the report that meet the rule.
    agreeing : Estimate
        Those of them for which the model predicts the class of the rule.
    right : Estimate
        Labels learnt that meet the rule and have its class.
    """

    number: int
    label: Label | None
    conditions: tuple[str, ...]
    covered: Estimate
    agreeing: Estimate
    right: Estimate


@dataclass(frozen=True)
class ModelRules:
    """Few rules, and their fidelity on the samples of the report."""

    lines: tuple[ModelRuleLine, ...]
    fidelity: Estimate


def model_rules(observed: Observed, X: Any) -> ModelRules | None:
    """Return few rules that approximate a model; None if one box decides, so that its rules are exact."""
    if observed.view.decides_by_one_box:
        return None
    rules = rules_of(observed.model, X)
    places = rules.apply_table(observed.table)
    agrees = np.array([rules[place].label == label for place, label in zip(places, observed.predicted, strict=True)])
    lines = tuple(
        ModelRuleLine(
            rule.number,
            rule.label,
            tuple(map(condition_text, rule.conditions)),
            share(int((places == place).sum()), len(places)),
            share(int(agrees[places == place].sum()), int((places == place).sum())),
            share(rule.right.count, rule.right.total),
        )
        for place, rule in enumerate(rules)
    )
    return ModelRules(lines, share(int(agrees.sum()), len(agrees)))


@dataclass(frozen=True)
class ImportanceLine:
    """One feature: its name, its share of all contributions, which values raise which class, and its bar in percent."""

    name: str
    share: str
    words: str
    width: float


def importance_lines(observed: Observed, X: Any) -> tuple[list[ImportanceLine], int]:
    """Return the most important features on the samples of the report, and how many more are used.

    None without evidence mapping.
    """
    if not observed.view.uses_evidence:
        return [], 0
    found = importances_of(observed.model, X)
    largest = max(float(found.importances.max()), found.graph_importance) or 1.0
    amounts = sorted([*found.importances.tolist(), *([found.graph_importance] if found.graph.any() else [])])[::-1]
    lines = [
        ImportanceLine(name, share, words, round(100 * amount / largest, 1))
        for amount, (name, _, share, words) in zip(amounts, rows(found), strict=True)
        if amount > 0
    ]
    return lines[:MAX_FEATURES], max(len(lines) - MAX_FEATURES, 0)
