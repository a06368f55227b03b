"""Quality of a model on left-out labels, labels needed for a target, and comparison with a random order."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from sslart._mapping.summary import summarise
from sslart._utils.arrays import BoolArray
from sslart._utils.intervals import Estimate
from sslart.active import LearningCurve, learning_curve
from sslart.active._estimates import MAX_SAMPLES, PopulationAccuracy, RandomOrder, population_accuracy, random_order
from sslart.server.models._published import Published
from sslart.server.samples._loaded import LoadedSamples


def over_all_of(loaded: LoadedSamples, published: Published, has_label: BoolArray) -> PopulationAccuracy | None:
    """Return the accuracy over all samples, by left-out labels; None where it cannot be estimated."""
    left_out = published.view.left_out
    if left_out is None or not len(loaded):
        return None
    places = np.flatnonzero(~has_label)
    n_open, n_labelled = len(places), int(has_label.sum())
    if n_open > MAX_SAMPLES:
        places = np.sort(np.random.default_rng(0).choice(places, MAX_SAMPLES, replace=False))
    confidence = published.view.predict_proba(loaded.samples.table[places]).max(axis=1) if n_open else np.zeros(0)
    return population_accuracy(left_out, confidence, n_open, n_labelled)


def quality(loaded: LoadedSamples, published: Published, has_label: BoolArray, target: float | None) -> dict[str, Any]:
    """Return the quality of a model, and the number of labels needed for an accuracy.

    Parameters
    ----------
    loaded : LoadedSamples
    published : Published
    has_label : array of bool
        Which samples have a label.
    target : float or None
        The accuracy wanted; None: it is not estimated how many labels it needs.
    """
    summary, over_all = summarise(published.view), over_all_of(loaded, published, has_label)
    needed, why_not = (None, "") if target is None else _needed(published, over_all, target, int((~has_label).sum()))
    return {
        "labels": round(sum(one.n_labels for one in summary.classes)),
        "classes": [{"class": one.label, "labels": one.n_labels} for one in summary.classes],
        "how": summary.how,
        "accuracy": _ends(summary.accuracy),
        "over_all": None if over_all is None else _ends(over_all.estimate),
        "why_not": summary.why_not,
        "warnings": summary.warnings(),
        "target": target,
        "needed": needed,
        "needed_why_not": why_not,
    }


def _ends(found: Estimate | None) -> dict[str, float | None] | None:
    return None if found is None else {"value": found.value, "low": found.low, "high": found.high}


def _needed(
    published: Published, over_all: PopulationAccuracy | None, target: float, n_open: int
) -> tuple[dict[str, Any] | None, str]:
    if published.view.left_out is None or over_all is None:
        return None, summarise(published.view).why_not
    curve: LearningCurve = learning_curve(published.model)
    if curve.why_not:
        return None, curve.why_not
    found = curve.starting_from(over_all.estimate.value or 0.0, over_all.resampled).labels_for(target)
    text, least = str(found), curve.n_furthest - curve.n_now if found.more is None else found.more
    if least > n_open:
        wanted = f"an accuracy of {100 * target:g} %"
        text = f"{wanted} needs more labels than there are samples without one ({n_open:,}), or better features"
    return {**asdict(found), "text": text}, ""


def random_order_of(loaded: LoadedSamples, published: Published, has_label: BoolArray) -> dict[str, Any]:
    """Return the number of labels in random order that would reach the quality of the model."""
    published.check_has_label()
    summary, over_all = summarise(published.view), over_all_of(loaded, published, has_label)
    n_labels = round(sum(one.n_labels for one in summary.classes))
    accuracy = None if over_all is None else over_all.estimate.value
    if accuracy is None:
        return {"labels": n_labels, "random": None, "text": f"Not known yet: {summary.why_not}."}
    frame = loaded.samples.frame
    samples = frame if published.reader.has_names else frame.to_numpy()
    key = f"random order {published.sequence}"
    found = loaded.once(key, lambda: random_order(published.model, samples, n_labels, accuracy))
    ends = {"labels": found.n_labels, "low": found.low, "high": found.high, "tried": found.n_tried}
    return {"labels": n_labels, "random": ends, "text": _words(found, n_labels)}


def _words(found: RandomOrder, n_labels: int) -> str:
    reached = f"an accuracy of {100 * found.accuracy:.0f} %"
    if not found.n_tried:
        return "Not known: there are too few samples."
    if found.n_labels is None:
        return f"In a random order, {found.n_tried} labels would not have been enough for {reached} (simulated)."
    if found.n_labels <= n_labels:
        return f"In a random order, {reached} would have needed no more labels (simulated)."
    needed = f"about {found.n_labels} labels instead of {n_labels}"
    return f"In a random order, {reached} would have needed {needed} (simulated)."
