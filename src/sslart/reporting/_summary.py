"""A model on the samples of a report: data, labels, quality and limits as plain data; no text, no pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED, Label, Labels
from sslart._data.samples import Table
from sslart._mapping.model_view import ModelView, view_of
from sslart._mapping.summary import label_counts
from sslart._utils.arrays import BoolArray, FloatArray
from sslart.metrics._quality import Quality, quality_of

FEW_LABELS = 5
DEPTHS = (1, 2, 3, 5, 10)


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
