"""Remedies for classes that a model never predicts, with their effect on left-out labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sslart._mapping.decision_rules import BALANCED, cheapest
from sslart._mapping.loo_predictions import LooPredictions
from sslart._utils.arrays import FloatArray
from sslart._utils.text import plural

WITH_COSTS = 'decision_costs="balanced" (--cost balanced)'


@dataclass(frozen=True)
class Remedy:
    """Remedy for classes that were predicted for no left-out label.

    Attributes
    ----------
    decision_costs : "balanced" or None
        Costs with which some of their left-out labels are predicted correctly; None if more labels are the only remedy.
    n_left_out, n_found : int
        Number of left-out labels of these classes, and of those predicted correctly with such costs.
    accuracy_before, accuracy : float or None
        Accuracy on all left-out labels without and with such costs; None if not tried.
    text : str
        The remedy in words.
    """

    decision_costs: str | None
    n_left_out: int
    n_found: int
    accuracy_before: float | None
    accuracy: float | None
    text: str

    def __str__(self) -> str:
        return self.text


def remedy_for(
    classes: Sequence[int],
    left_out: LooPredictions,
    balanced_costs: FloatArray,
    *,
    uses_evidence: bool,
    weighs_classes: bool = False,
) -> Remedy:
    """Return the remedy for classes that are never predicted, by applying balanced costs to left-out probabilities.

    `weighs_classes`: whether the model was fitted with class weights.
    """
    truth, costs = left_out.truth, left_out.costs
    own = np.isin(truth, classes)
    is_one = len(classes) == 1
    n_left_out, them = int(own.sum()), "it" if is_one else "them"
    cure = f"label more samples of {'this class' if is_one else 'these classes'}"
    if not n_left_out:
        return Remedy(None, 0, 0, None, None, f"no label of {them} is known: {cure}")
    if all(len(np.unique(left_out.groups[truth == one])) < 2 for one in classes):
        only = "its only label" if is_one else "the only label of each"
        return Remedy(None, n_left_out, 0, None, None, f"without {only}, nothing is known of {them}: {cure}")
    if costs is not None or weighs_classes:
        settings = "costs" if costs is not None else "class weights"
        text = f"the {settings} that are set do not find {them}: raise those of {them}, or {cure}"
        return Remedy(None, n_left_out, 0, None, None, text)
    balanced = cheapest(left_out.proba, balanced_costs)
    before = float(np.average(left_out.predicted == truth, weights=left_out.weights))
    after = float(np.average(balanced == truth, weights=left_out.weights))
    n_found = int((balanced == truth)[own].sum())
    labels = f"{n_found or 'none'} of the {plural(n_left_out, 'left-out label')} of {them}"
    if not n_found:
        weights = ', or fit with class_weight="balanced" in Python' if uses_evidence else ""
        return Remedy(None, n_left_out, 0, before, after, f"{WITH_COSTS} would find {labels} either: {cure}{weights}")
    text = f"{WITH_COSTS} would find {labels} instead of 0, and accuracy would {_change(before, after)}"
    return Remedy(BALANCED, n_left_out, n_found, before, after, text)


def _change(before: float, after: float) -> str:
    old, new = f"{100 * before:.1f} %", f"{100 * after:.1f} %"
    return f"stay at {old}" if old == new else f"go from {old} to {new}"
