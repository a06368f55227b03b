"""Accuracy of a model on its training labels, and what more labels would bring."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from sslart._mapping.evidence.duplicate_groups import LabelGroups, found_groups
from sslart._mapping.model_view import ModelView, view_of
from sslart._mapping.summary import ONE_CLASS, ONE_EACH, ModelSummary, summarise, together_of
from sslart._utils.arrays import IntArray
from sslart._utils.intervals import Estimate, difference, share
from sslart.active import learning_curve
from sslart.model_selection import StratifiedGroupLabelledKFold, StratifiedLabelledKFold

N_FOLDS = 5
HELD_OUT = "held out"
TIMES = (2, 4)  # as many labels


class QualityChange(NamedTuple):
    """The accuracy of a model on its left-out labels, before and after it has learnt more.

    Each accuracy is measured on the labels that the model had at that time.
    """

    before: ModelSummary
    after: ModelSummary

    def difference(self) -> Estimate | None:
        """Return by how much the accuracy has risen, with a 95 % interval; None where it is not known twice.

        The interval is wider than need be, since most labels count in both accuracies.
        """
        old, new = self.before.accuracy, self.after.accuracy
        return None if old is None or new is None else difference(old, new)

    def __str__(self) -> str:
        found = self.difference()
        if found is None or found.value is None or found.low is None or found.high is None:
            return "not known: there are not two accuracies to compare"
        points = f"{100 * found.value:+.1f} points (95 % interval {100 * found.low:+.1f} to {100 * found.high:+.1f})"
        if found.low <= 0 <= found.high:
            return f"{points}: no clear change, since the interval includes 0"
        return f"{points}: the accuracy is {'higher' if found.value > 0 else 'lower'} than before"

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain values."""
        found = self.difference()
        return {
            "accuracy_before": None if self.before.accuracy is None else vars(self.before.accuracy),
            "accuracy": None if self.after.accuracy is None else vars(self.after.accuracy),
            "change": None if found is None else {"value": found.value, "low": found.low, "high": found.high},
        }


def measured(model: Any, samples: Any, labels: list[Any], groups: list[Any] | None, seed: int) -> ModelSummary:
    """Return the summary of a model that was fitted to these samples, with its accuracy.

    Where the model does not keep its labelled samples, further models are fitted, each without a fifth of them. Labels
    of one group are held out together, and so are copies of a sample.
    """
    view = view_of(model)
    summary = summarise(view)
    if view.uses_evidence:
        return summary
    truth = np.array(labels, dtype=object)
    known = np.flatnonzero([label is not None for label in labels])
    codes = np.searchsorted(view.classes, truth[known].astype(str))
    together = _together(view, samples.iloc[known], codes, None if groups is None else [groups[row] for row in known])
    n_groups = [len(np.unique(together.of_label[codes == code])) for code in range(len(view.classes))]
    summary = replace(
        summary,
        how=HELD_OUT,
        together=together_of(together.of_label, together.kind),
        classes=tuple(replace(one, n_groups=n) for one, n in zip(summary.classes, n_groups, strict=True)),
    )
    if len(n_groups) < 2 or max(n_groups) < 2:
        return replace(summary, why_not=ONE_CLASS if len(n_groups) < 2 else ONE_EACH)
    folds = _folds(truth, known, together, min(N_FOLDS, max(n_groups)), seed)
    if not folds:
        return replace(summary, why_not="a few groups hold most of the labels")
    predicted = np.full(len(truth), None)
    for rest, held_out in folds:
        try:
            other = clone(model).fit(samples.iloc[rest], truth[rest].tolist())
        except ValueError:  # an ensemble that holds out a share of the labels, of which fewer are left
            return replace(summary, why_not="a class has too few labels to hold out a share of them twice")
        predicted[held_out] = other.predict(samples.iloc[held_out])
    right = (predicted[known] == truth[known]) @ together.weights
    return replace(
        summary,
        accuracy=share(round(float(right)), round(float(together.weights.sum()))),
        why_not="",
        classes=tuple(replace(one, n_predicted=int((predicted == one.label).sum())) for one in summary.classes),
    )


def _together(view: ModelView, samples: Any, codes: IntArray, groups: list[Any] | None) -> LabelGroups:
    """Return the groups of labelled samples held out jointly: groups and copies, or repeated measurements."""
    member = view.members[0]
    coded = member.encode(view.read(samples))
    indicator = np.array([feature.category is not None for feature in member.encoder.features])
    keys = None
    if groups is not None:
        numbers = {name: number for number, name in enumerate(dict.fromkeys(groups), start=1) if name is not None}
        keys = np.array([numbers.get(name, 0) for name in groups])
    return found_groups(coded, codes, indicator, keys)


def _folds(truth: Any, known: IntArray, together: LabelGroups, n_folds: int, seed: int) -> list[tuple[Any, Any]]:
    """Return the rows to learn from and the labelled rows to predict, of each fold; none where groups are too large."""
    groups = np.full(len(truth), None)
    groups[known] = together.of_label
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Classes with fewer labels")  # the summary names them
        if not together.several:
            return list(StratifiedLabelledKFold(n_folds, shuffle=True, random_state=seed).split(truth, truth))
        for n in range(n_folds, 1, -1):
            with suppress(ValueError):  # a fold that would be empty
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
