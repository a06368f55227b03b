"""Trust in a model: quality, confusion, calibration, and coverage, all by leave-one-out predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart._mapping.conformal import guarantees_of
from sslart._mapping.loo_predictions import VARIANCE_FACTOR, LooPredictions
from sslart._mapping.model_view import ModelView
from sslart._mapping.summary import HELD_OUT, ModelSummary, summarise
from sslart._utils.arrays import BoolArray, IntArray
from sslart._utils.intervals import Estimate, wilson
from sslart._utils.notes import collected_notes
from sslart.metrics._quality import mean_share
from sslart.reporting._summary import confidence_bins, max_error_text
from sslart.server.samples._left_out import NOT_FOUND

MAX_ROWS = 200  # of a cell of the confusion
MAX_POINTS = 40
FEW_LABELS = 10  # of a group


def ends(estimate: Estimate) -> dict[str, Any]:
    """Return a share with its interval as plain values."""
    return dict(vars(estimate))


def trust(view: ModelView, places: IntArray, rows: IntArray) -> dict[str, Any]:
    """Return the quality, the confusion, the calibration and the coverage by left-out labels.

    Parameters
    ----------
    view : ModelView
        Of a model that has a label.
    places : array of int
        Where the sample of each left-out label is among the samples of the store; -1 where it is not known.
    rows : array of int
        The row of each of these samples.
    """
    summary, left_out = summarise(view), view.left_out
    found: dict[str, Any] = {
        "how": _how(summary),
        "labels": 0 if left_out is None else len(left_out.truth),
        "counted": 0 if left_out is None else left_out.n_labels,
        "accuracy": None,
        "balanced": None,
        "why_not": summary.why_not or None,
        "classes": [
            {"class": one.label, "labels": one.n_labels, "left_out": one.n_left_out} for one in summary.classes
        ],
        "confusion": None,
        "calibration": None,
        "coverage": None,
        "warnings": summary.warnings(),
    }
    if left_out is None or summary.accuracy is None:
        return found
    recalls = [left_out.share(left_out.right, left_out.truth == index) for index in range(len(view.classes))]
    return found | {
        "accuracy": ends(summary.accuracy),
        "balanced": ends(mean_share(recalls)),
        "classes": [
            {**one, **_of_class(left_out, index, recalls[index])} for index, one in enumerate(found["classes"])
        ],
        "confusion": _confusion(view, left_out, places, rows),
        "calibration": _calibration(left_out),
        "coverage": _coverage(view, left_out),
    }


def _how(summary: ModelSummary) -> str:
    together = "" if summary.together is None else f" Left out together: {summary.together}."
    if summary.how.endswith(HELD_OUT):
        some = summary.how.removesuffix(HELD_OUT)
        return f"{some} were held out, and are predicted by all other labels.{together}"
    return f"Each label is predicted by the other labels alone ({summary.how}).{together}"


def _of_class(left_out: LooPredictions, index: int, recall: Estimate) -> dict[str, Any]:
    precision = left_out.share(left_out.right, left_out.predicted == index)
    return {"recall": ends(recall), "precision": ends(precision)}


def _confusion(view: ModelView, left_out: LooPredictions, places: IntArray, rows: IntArray) -> dict[str, Any]:
    """Return the confusion matrix with the known rows of each cell.

    The label that is least probable where it is left out comes first: it may be a wrong one.
    """
    n = len(view.classes)
    counts = np.zeros((n, n), dtype=np.int64)
    np.add.at(counts, (left_out.truth, left_out.predicted), 1)
    cells: list[list[list[int]]] = [[[] for _ in range(n)] for _ in range(n)]
    probable = left_out.proba[np.arange(len(places)), left_out.truth]
    order = np.argsort(probable, kind="stable")
    for label in order[places[order] != NOT_FOUND].tolist():
        own = cells[left_out.truth[label]][left_out.predicted[label]]
        if len(own) < MAX_ROWS:
            own.append(int(rows[places[label]]))
    return {
        "classes": view.classes.tolist(),
        "counts": counts.tolist(),
        "rows": cells,
        "without_row": int((places == NOT_FOUND).sum()),
    }


def _calibration(left_out: LooPredictions) -> dict[str, Any]:
    confidence, bins, error = left_out.confidence, [], 0.0
    for low, high, own in confidence_bins(confidence):
        weights = left_out.weights[own]
        observed = left_out.share(left_out.right, own)
        predicted = float(np.average(confidence[own], weights=weights))
        assert observed.value is not None
        error += float(weights.sum()) * abs(predicted - observed.value)
        bins.append(
            {
                "low": low,
                "high": high,
                "n": int(own.sum()),
                "predicted": predicted,
                "observed": observed.value,
                "obs_low": observed.low,
                "obs_high": observed.high,
            }
        )
    return {"bins": bins, "error": error / float(left_out.weights.sum())}


def _coverage(view: ModelView, left_out: LooPredictions) -> dict[str, Any]:
    """Return coverage and error rate as functions of the confidence threshold."""
    found = guarantees_of(view.promises)
    answered, notes = _answered(view, left_out)
    options = [
        {
            "max_error": one.max_error,
            "coverage": one.answered,
            "possible": one.is_possible,
            "threshold": one.least_confidence,
            "labels_needed": one.labels_needed,
            "text": _sentence(one.sentence()),
        }
        for one in found.levels
    ]
    return {
        "points": _points(view),
        "smallest_error": found.smallest_error,
        "promise": _promise(view, left_out, answered, notes),
        "options": options,
        "in_force": _in_force(left_out, answered) if view.limits_confidence else None,
    }


def _points(view: ModelView) -> list[dict[str, Any]]:
    curve, n = view.promises.curve(), view.promises.n_labels
    n_points = min(len(curve.error), MAX_POINTS)
    points = []
    for place in np.unique(np.linspace(0, len(curve.error) - 1, n_points).astype(np.int64)).tolist():
        answered, promised = float(curve.answered[place]), float(curve.error[place])
        wrong = round(max(promised * (1.0 + answered) - 1.0, 0.0), 9)
        low, high = wilson(wrong / VARIANCE_FACTOR, answered / VARIANCE_FACTOR)
        points.append(
            {
                "coverage": answered / n,
                "error": wrong / answered,
                "low": low,
                "high": high,
                "threshold": float(curve.confidence[place]),
                "promised": promised,
            }
        )
    return points


def _answered(view: ModelView, left_out: LooPredictions) -> tuple[BoolArray | None, list[str]]:
    """Return a mask of answered left-out labels and warnings; None if the settings are impossible."""
    with collected_notes() as notes:
        try:
            return ~view.is_unsure(left_out.predicted, left_out.proba), notes
        except ValueError as error:
            return None, [str(error)]


def _in_force(left_out: LooPredictions, answered: BoolArray | None) -> dict[str, Any] | None:
    if answered is None:
        return None
    every, wrong = left_out.share(answered), left_out.share(~left_out.right, answered)
    return {"coverage": every.value, "error": wrong.value, "low": wrong.low, "high": wrong.high}


def _promise(
    view: ModelView, left_out: LooPredictions, answered: BoolArray | None, notes: list[str]
) -> dict[str, Any] | None:
    """Return the guarantee of the `max_error` in force, or the reason why there is none; None without one."""
    levels, classes = view.max_error, view.classes.tolist()
    if levels is None:
        return None
    by_class = {str(classes[index]): level for index, level in levels.by_class}
    found: dict[str, Any] = {"max_error": by_class or levels.overall, "coverage": 0.0, "holds": False}
    if answered is None or not answered.any():
        return found | {"text": " ".join(notes) or "No left-out label gets an answer."}
    words = f"On average over all labels that might have been given, {max_error_text(levels, classes)}."
    return found | {"coverage": left_out.share(answered).value, "holds": True, "text": " ".join([words, *notes])}


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def note_on(estimate: Estimate, others: Estimate) -> str | None:
    """Return a caveat on the accuracy of a group compared with that of all others."""
    if (estimate.total or 0) < FEW_LABELS:
        return "Few labels: the interval is wide."
    if None in (estimate.low, estimate.high, others.low, others.high):
        return None
    if (estimate.high or 0.0) < (others.low or 0.0):
        return "Worse than the others: the intervals do not overlap."
    if (estimate.low or 0.0) > (others.high or 0.0):
        return "Better than the others: the intervals do not overlap."
    return None
