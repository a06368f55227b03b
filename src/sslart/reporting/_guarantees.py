"""Guarantees of the model in a report, with their effect on the samples of the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sslart._mapping.conformal import measured_guarantees
from sslart._mapping.decision_rules import ErrorLevels
from sslart._utils.intervals import Estimate, share
from sslart.reporting._summary import Observed


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
