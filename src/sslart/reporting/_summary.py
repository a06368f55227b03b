"""What a report says of data, labels and the limits of a model, as plain data; no words, no pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sslart._data.classes import Label
from sslart._data.labels import Labels, read_labels
from sslart._data.samples import Table
from sslart._data.training import as_known, check_has_label
from sslart._utils.arrays import BoolArray, FloatArray
from sslart.metrics._abstention import _apart
from sslart.metrics._quality import Quality, quality_of

FEW_LABELS = 5
DEPTHS = (1, 2, 3, 5, 10)


@dataclass(frozen=True)
class Observed:
    """A model, the samples it was asked about, and what it said.

    Attributes
    ----------
    model : SSLART, FuzzyARTMAP or WESSLART
    table : Table
    names : list of str
        Name of each column.
    classes : list of class
        Those of the model, then those that only the samples have.
    truth, answers : lists of class or None
        None where a sample has no label, or got no answer.
    novel : array of shape (n_samples,)
        Whether a sample fits worse than nearly all that was learnt.
    """

    model: Any
    table: Table
    names: list[str]
    classes: list[Label]
    truth: list[Label | None]
    answers: list[Label | None]
    novel: BoolArray

    def __len__(self) -> int:
        return len(self.table)

    @property
    def members(self) -> list[Any]:
        """The networks of the model."""
        return list(getattr(self.model, "estimators_", [self.model]))


@dataclass(frozen=True)
class FeatureSummary:
    """One feature: what the samples have, and what the model has learnt.

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
        Samples beyond the learnt range, or with a category never met.
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
    """One class: samples here that have it, samples here that were taken for it, and labels that the model learnt."""

    label: Label
    n_samples: int
    n_answers: int
    n_learnt: int


@dataclass(frozen=True)
class Limits:
    """What the model does not know.

    Attributes
    ----------
    search_depth : int or None
    n_nodes, n_unlabelled_nodes : int
        Boxes, over all members.
    n_learnt, n_learnt_unlabelled : int
        Samples that the boxes hold, over all members, and those in boxes without a label.
    n_samples, n_unanswered, n_novel, n_beyond, n_missing : int
        Samples here: all; without an answer; novel; with a value beyond all that was learnt; with a missing value.
    coverage : tuple of (depth, number of samples)
        How many samples here would get an answer at each search depth; empty where no box lacks a label.
    few_labels : tuple of ClassSummary
        Classes learnt from fewer than five labels.
    novelty_threshold : float
        What nearly all that was learnt reaches; what fits worse is novel.
    """

    search_depth: int | None
    n_nodes: int
    n_unlabelled_nodes: int
    n_learnt: int
    n_learnt_unlabelled: int
    n_samples: int
    n_unanswered: int
    n_novel: int
    n_beyond: int
    n_missing: int
    coverage: tuple[tuple[int, int], ...]
    few_labels: tuple[ClassSummary, ...]
    novelty_threshold: float


@dataclass(frozen=True)
class Summary:
    """All that a report says in figures; `quality` is None where no sample has a label."""

    n_samples: int
    n_labelled: int
    features: tuple[FeatureSummary, ...]
    classes: tuple[ClassSummary, ...]
    quality: Quality | None
    limits: Limits


def observe(model: Any, X: Any, y: Any) -> Observed:
    """Ask a fitted model about samples."""
    table = model._read(X)
    check_has_label(model._class_table)
    labels = Labels.none(len(table))
    if y is not None:
        _check_length(y, table)
        labels = as_known(model._class_table, read_labels(y, table))
        model._class_table.check_kind(labels)
    classes = model.classes_.tolist()
    truth = [
        value if known else None for value, known in zip(labels.values.tolist(), labels.known.tolist(), strict=True)
    ]
    others = {label for label in truth if label is not None} - set(classes)
    names = getattr(model, "feature_names_in_", None)
    return Observed(
        model,
        table,
        [f"x{column}" for column in range(model.n_features_in_)] if names is None else [str(name) for name in names],
        classes + sorted(others),
        truth,
        _answers(model, X),
        np.asarray(model.score_samples(X) < model.novelty_threshold_),
    )


def _check_length(y: Any, table: Table) -> None:
    if hasattr(y, "__len__") and len(y) != len(table):
        raise ValueError(
            f"X has {len(table)} samples and y {len(y)}: give one label for each sample, -1 or None where not known."
        )


def _answers(model: Any, X: Any) -> list[Label | None]:
    classes = set(model.classes_.tolist())
    return [answer if answer in classes else None for answer in model.predict(X).tolist()]


def summarise(observed: Observed, X: Any) -> Summary:
    """Return all that a report says in figures."""
    labelled = [row for row, label in enumerate(observed.truth) if label is not None]
    truth = [label for label in observed.truth if label is not None]
    quality = None
    if labelled:
        quality = quality_of(truth, [observed.answers[row] for row in labelled], observed.classes)
    beyond = _beyond(observed)
    classes = _classes(observed)
    return Summary(
        len(observed),
        len(labelled),
        _features(observed, beyond),
        classes,
        quality,
        _limits(observed, X, classes, beyond),
    )


def _classes(observed: Observed) -> tuple[ClassSummary, ...]:
    model, members = observed.model, len(observed.members)
    learnt = dict(zip(model.classes_.tolist(), (model.counts_.sum(axis=0) // members).tolist(), strict=True))
    given, answers = Counter(observed.truth), Counter(observed.answers)
    return tuple(ClassSummary(label, given[label], answers[label], learnt.get(label, 0)) for label in observed.classes)


def _beyond(observed: Observed) -> BoolArray:
    """Tell for each value whether it lies beyond all that was learnt, shape (n_samples, n_columns)."""
    encoder, table = observed.members[0]._network.encoder, observed.table
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
    encoder = observed.members[0]._network.encoder
    n_missing, n_beyond = _missing(observed.table).sum(axis=0).tolist(), beyond.sum(axis=0).tolist()
    places = {feature.column: place for place, feature in enumerate(encoder.features) if feature.category is None}
    summaries = []
    for column, name in enumerate(observed.names):
        if column in encoder.categorical:
            given = observed.table.categories.get(column, np.empty(0, dtype=object))
            counts = Counter(value for value in given if value is not None)
            met = sorted((feature.category for feature in encoder.features if feature.column == column), key=str)
            summaries.append(
                FeatureSummary(
                    name,
                    True,
                    n_missing[column],
                    categories=tuple(counts.most_common()),
                    learnt_categories=tuple(met),
                    n_beyond=n_beyond[column],
                )
            )
        else:
            low, high = float(encoder.lower[places[column]]), float(encoder.upper[places[column]])
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


def _limits(observed: Observed, X: Any, classes: Sequence[ClassSummary], beyond: BoolArray) -> Limits:
    model = observed.model
    labelled = np.concatenate([member._labelled_nodes() for member in observed.members])
    support = model.support_
    return Limits(
        model.search_depth,
        len(labelled),
        int((~labelled).sum()),
        int(support.sum()),
        int(support[~labelled].sum()),
        len(observed),
        observed.answers.count(None),
        int(observed.novel.sum()),
        int(beyond.any(axis=1).sum()),
        int(_missing(observed.table).any(axis=1).sum()),
        () if labelled.all() or not may_abstain(model) else _coverage(model, X, len(observed)),
        tuple(one for one in classes if one.n_learnt < FEW_LABELS),
        float(model.novelty_threshold_),
    )


def may_abstain(model: Any) -> bool:
    """Tell whether a model has a search depth to set."""
    return "search_depth" in model.get_params()


def _coverage(model: Any, X: Any, n_samples: int) -> tuple[tuple[int, int], ...]:
    """Return how many samples get an answer at each search depth, up to the first at which all do."""
    asking, reached = _apart(model), []
    for depth in DEPTHS:
        reached.append((depth, n_samples - _answers(asking.set_params(search_depth=depth), X).count(None)))
        if reached[-1][1] == n_samples:
            break
    return tuple(reached)
