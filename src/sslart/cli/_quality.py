"""Cross-validated quality of models that store no labels, and the expected benefit of more labels."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from sslart._data.labels import UNLABELLED
from sslart._mapping.evidence.design import LabelGroups, found_groups
from sslart._mapping.loo_predictions import LooPredictions
from sslart._mapping.model_view import ModelView, view_of
from sslart._mapping.quality import (
    HELD_OUT,
    ONE_CLASS,
    ONE_EACH,
    Measured,
    ModelQuality,
    measure,
    together_of,
)
from sslart._mapping.summary import ModelSummary, remedy_of, summarise
from sslart._utils.arrays import IntArray
from sslart.active import learning_curve
from sslart.model_selection import StratifiedGroupLabelledKFold, StratifiedLabelledKFold

N_FOLDS = 5
TIMES = (2, 4)  # the benefit is estimated for two and four times as many labels


def measured(model: Any, samples: Any, labels: list[Any], groups: list[Any] | None, seed: int) -> ModelSummary:
    """Return the summary of a fitted model with its statement of quality on its training samples.

    For a model that does not store its labelled samples, quality is measured by five-fold cross-validation. Groups and
    copies of a sample are held out together.
    """
    view = view_of(model)
    summary = summarise(view)
    if view.uses_evidence or view.audit is not None:
        return summary
    truth = np.array(labels, dtype=object)
    known = np.flatnonzero([label is not None for label in labels])
    codes = np.searchsorted(view.classes, truth[known].astype(str))
    together = _together(view, samples.iloc[known], codes, None if groups is None else [groups[row] for row in known])
    n_groups = [len(np.unique(together.of_label[codes == code])) for code in range(len(view.classes))]
    stated = ModelQuality(
        HELD_OUT.strip(),
        round(float(together.weights.sum())),
        together=together_of(together.of_label, together.kind),
    )
    summary = replace(
        summary,
        classes=tuple(replace(one, n_groups=n) for one, n in zip(summary.classes, n_groups, strict=True)),
    )
    if len(n_groups) < 2 or max(n_groups) < 2:
        return _without_figures(summary, stated, ONE_CLASS if len(n_groups) < 2 else ONE_EACH)
    folds = _folds(truth, known, together, min(N_FOLDS, max(n_groups)), seed)
    if not folds:
        return _without_figures(summary, stated, "a few groups hold most of the labels")
    predicted, proba = np.full(len(truth), None), np.zeros((len(truth), len(view.classes)))
    for rest, held_out in folds:
        try:
            other = clone(model).fit(samples.iloc[rest], truth[rest].tolist())
        except ValueError:  # an ensemble holds out a further share of the labels for its class weights
            return _without_figures(summary, stated, "a class has too few labels to hold out a share of them twice")
        predicted[held_out] = other.predict(samples.iloc[held_out])
        places = np.searchsorted(view.classes, other.classes_)
        proba[np.ix_(held_out, places)] = other.predict_proba(samples.iloc[held_out])
    classes = tuple(replace(one, n_predicted=int((predicted == one.label).sum())) for one in summary.classes)
    left_out = LooPredictions(
        proba[known], codes, together.weights, known, together.of_label, together.kind, view.decision_costs
    )
    labels = view.classes.tolist()
    place = {label: index for index, label in enumerate(labels)}
    indices = np.array([place.get(label, UNLABELLED) for label in predicted[known]], dtype=np.int64)
    figures = measure(Measured(codes, indices, proba[known], together.weights, together.of_label), labels, stated.how)
    return replace(
        summary,
        quality=replace(figures, together=stated.together),
        classes=classes,
        remedy=remedy_of(view, left_out, classes),
    )


def _without_figures(summary: ModelSummary, stated: ModelQuality, why_not: str) -> ModelSummary:
    return replace(summary, quality=replace(stated, why_not=why_not))


def _together(view: ModelView, samples: Any, codes: IntArray, groups: list[Any] | None) -> LabelGroups:
    """Return the groups of labelled samples that are held out together: given groups, and copies of a sample."""
    member = view.members[0]
    coded = member.encode(view.read(samples))
    indicator = np.array([feature.category is not None for feature in member.encoder.features])
    keys = None
    if groups is not None:
        numbers = {name: number for number, name in enumerate(dict.fromkeys(groups), start=1) if name is not None}
        keys = np.array([numbers.get(name, 0) for name in groups])
    return found_groups(coded, codes, indicator, keys)


def _folds(truth: Any, known: IntArray, together: LabelGroups, n_folds: int, seed: int) -> list[tuple[Any, Any]]:
    """Return training rows and labelled test rows of each fold; empty if groups are too large."""
    groups = np.full(len(truth), None)
    groups[known] = together.of_label
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Classes with fewer labels")  # the summary names them
        if not together.several:
            return list(StratifiedLabelledKFold(n_folds, shuffle=True, random_state=seed).split(truth, truth))
        for n in range(n_folds, 1, -1):
            with suppress(ValueError):  # a fold would be empty
                splitter = StratifiedGroupLabelledKFold(n, shuffle=True, random_state=seed)
                return list(splitter.split(truth, truth, groups))
    return []


def more_labels(model: Any, wanted: float | None) -> dict[str, Any] | None:
    """Return the expected benefit of more labels; None for a model that stores no labels.

    `wanted` is an accuracy in percent, or None.
    """
    if view_of(model).left_out is None:
        return None
    curve = learning_curve(model)
    found: dict[str, Any] = {
        "labels": curve.n_now,
        "expected": [],
        "needed": None,
        "not_estimated": curve.why_not or None,
    }
    sentences = [str(curve)]
    if not curve.why_not:
        for n in (times * curve.n_now for times in TIMES):
            expected = curve.at(n)
            ends = {"value": expected.value, "low": expected.low, "high": expected.high}
            found["expected"].append({"labels": n, **ends})
        if wanted is not None:
            needed = curve.labels_for(wanted / 100)
            found["needed"] = asdict(needed)
            sentences.append(str(needed))
    return {**found, "sentences": sentences}
