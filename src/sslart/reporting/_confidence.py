"""Calibration of confidence, and the effect of abstention below a threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sslart._mapping.loo_predictions import LooPredictions
from sslart._utils.arrays import BoolArray, FloatArray
from sslart._utils.intervals import Estimate, share
from sslart.metrics._quality import Quality, quality_of
from sslart.reporting._summary import Observed

EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
LIMITS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


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
