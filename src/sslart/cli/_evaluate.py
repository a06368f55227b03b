"""The accuracy of a model on its own labels: left out one by one, or a fifth at a time."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from sslart._mapping.evidence.copies import LabelGroups
from sslart._mapping.evidence.design import MAX_SEARCHED
from sslart._mapping.evidence.near_copies import near_copies
from sslart._mapping.model_view import ModelView, view_of
from sslart._mapping.summary import ONE_CLASS, summarise
from sslart._utils.arrays import IntArray
from sslart._utils.intervals import Estimate, share
from sslart.model_selection import StratifiedGroupLabelledKFold, StratifiedLabelledKFold

N_FOLDS = 5
LEAVE_ONE_OUT = "leave-one-out"
LEAVE_GROUP_OUT = "leave-one-group-out"
HELD_OUT = "held out"


class Measured(NamedTuple):
    """How the accuracy was measured, and its value; where there is none, why."""

    how: str
    accuracy: Estimate | None
    why_not: str = ""


def leave_one_out(model: Any) -> Estimate | None:
    """Return the accuracy on labelled samples left out one by one, of an ensemble that of its vote.

    None for a model that does not keep its labelled samples, and where the figure would mean nothing.
    """
    left_out = view_of(model).left_out
    return None if left_out is None else left_out.accuracy()


def measured(model: Any, samples: Any, labels: list[Any], groups: list[Any] | None, seed: int) -> Measured:
    """Return the accuracy of a model that was fitted to these samples.

    Where the model does not keep its labelled samples, further models are fitted, each without a fifth of them. Labels
    of one group are held out together, and so are copies of a sample.
    """
    view = view_of(model)
    if view.uses_evidence:
        summary = summarise(view)
        return Measured(LEAVE_ONE_OUT if groups is None else LEAVE_GROUP_OUT, summary.accuracy, summary.why_not)
    truth = np.array(labels, dtype=object)
    known = np.flatnonzero([label is not None for label in labels])
    classes, codes = np.unique(truth[known].astype(str), return_inverse=True)
    together = _together(view, samples.iloc[known], codes, None if groups is None else [groups[row] for row in known])
    n_units = min(len(np.unique(together.of_label[codes == code])) for code in range(len(classes)))
    if len(classes) < 2 or n_units < 2:
        too_few = "a class has labels in one group only" if together.several else "a class has one label only"
        return Measured(HELD_OUT, None, ONE_CLASS if len(classes) < 2 else too_few)
    right = np.zeros(len(known), dtype=bool)
    folds = _folds(truth, known, together, min(N_FOLDS, n_units), seed)
    if not folds:
        return Measured(HELD_OUT, None, "a few groups hold most of the labels")
    for rest, held_out in folds:
        try:
            other = clone(model).fit(samples.iloc[rest], truth[rest].tolist())
        except ValueError:  # an ensemble that holds out a share of the labels, of which fewer are left
            return Measured(HELD_OUT, None, "a class has too few labels to hold out a share of them twice")
        right[np.searchsorted(known, held_out)] = other.predict(samples.iloc[held_out]) == truth[held_out]
    n = round(float(together.weights.sum()))
    return Measured(HELD_OUT, share(round(float(right @ together.weights)), n))


def _together(view: ModelView, samples: Any, codes: IntArray, groups: list[Any] | None) -> LabelGroups:
    """Return which labelled samples are held out together: groups and copies, or measurements of one item."""
    member = view.members[0]
    coded = member.encode(view.read(samples))
    copies = LabelGroups.of_copies(coded)
    if groups is not None:
        numbers = {name: number for number, name in enumerate(dict.fromkeys(groups), start=1) if name is not None}
        return copies.joined(np.array([numbers.get(name, 0) for name in groups]))
    if len(coded) > MAX_SEARCHED:
        return copies
    indicator = np.array([feature.category is not None for feature in member.encoder.features])
    items = LabelGroups(near_copies(coded, codes, indicator))
    return items if len(items.several) > len(copies.several) else copies


def _folds(truth: Any, known: IntArray, together: LabelGroups, n_folds: int, seed: int) -> list[tuple[Any, Any]]:
    """Return the rows to learn from and the labelled rows to predict, of each fold; none where groups are too large."""
    if not together.several:
        return list(StratifiedLabelledKFold(n_folds, shuffle=True, random_state=seed).split(truth, truth))
    groups = np.full(len(truth), None)
    groups[known] = together.of_label
    for n in range(n_folds, 1, -1):
        with suppress(ValueError):  # a fold that would be empty
            splitter = StratifiedGroupLabelledKFold(n, shuffle=True, random_state=seed)
            return list(splitter.split(truth, truth, groups))
    return []
