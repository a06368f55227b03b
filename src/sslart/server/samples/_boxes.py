"""The boxes of a model with the samples in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.text import category_text, list_text, value_text
from sslart.server.samples._loaded import LoadedSamples, Predictions
from sslart.server.samples._special import special_features

MAX_BOXES = 2000
MAX_ROWS = 100
SHOWN_CATEGORIES = 4


def all_boxes(loaded: LoadedSamples, predictions: Predictions, labels: Sequence[Any], at: FloatArray) -> list[Any]:
    """Return the boxes with the most samples: how many, their labels, the class predicted most, and where they are.

    Parameters
    ----------
    loaded : LoadedSamples
    predictions : Predictions
    labels : sequence
        The label of each sample.
    at : array of shape (n_samples, 2)
        Where each sample is drawn; NaN where a value is missing.
    """
    order, starts = loaded.rows_by_box
    sizes = np.diff(starts)
    largest = np.argsort(-sizes, kind="stable")[:MAX_BOXES]
    found = []
    for box in largest[sizes[largest] > 0].tolist():
        places = order[starts[box] : starts[box + 1]]
        shown = at[places][~np.isnan(at[places]).any(axis=1)]
        if not len(shown):
            continue
        low, high = shown.min(axis=0).tolist(), shown.max(axis=0).tolist()
        found.append({**_counted(box, places, predictions, labels), "x": [low[0], high[0]], "y": [low[1], high[1]]})
    return found


def _counted(box: int, places: IntArray, predictions: Predictions, labels: Sequence[Any]) -> dict[str, Any]:
    given = Counter(str(labels[place]) for place in places.tolist() if labels[place] is not None)
    own = predictions.best[places]
    best = int(np.bincount(own[own != UNLABELLED]).argmax()) if (own != UNLABELLED).any() else UNLABELLED
    return {
        "box": box,
        "n": len(places),
        "labels": dict(given.most_common()),
        "class": None if best == UNLABELLED else predictions.classes[best],
        "probability": round(float(predictions.probability[places].mean()), 4) if len(places) else 0.0,
    }


def one_box(loaded: LoadedSamples, predictions: Predictions, labels: Sequence[Any], box: int) -> dict[str, Any]:
    """Return the contents of a box: number of samples, labels, intervals as text, and distinctive features."""
    places = loaded.places_in(box)
    counted = _counted(box, places, predictions, labels)
    return {
        **counted,
        "n_labelled": sum(counted["labels"].values()),
        "conditions": [{"feature": name, "text": text} for name, text in _intervals(loaded, places)],
        "special": special_features(loaded, central(loaded, places), box) if len(places) else [],
        "rows": loaded.samples.rows[places[:MAX_ROWS]].tolist(),
    }


def central(loaded: LoadedSamples, places: IntArray) -> int:
    """Return the sample nearest to the componentwise median of some samples."""
    coded = loaded.coded[places]
    middle = np.array([0.5 if np.isnan(one).all() else np.nanmedian(one) for one in coded.T])
    return int(places[np.nan_to_num(np.abs(coded - middle), nan=0.5).sum(axis=1).argmin()])


def _intervals(loaded: LoadedSamples, places: IntArray) -> list[tuple[str, str]]:
    """Return each feature with the values that some samples have."""
    table, names = loaded.samples.table[places], loaded.samples.published.view.feature_names
    found = []
    for column, name in enumerate(names):
        if column in table.categories:
            values = Counter(one for one in table.categories[column].tolist() if one is not None)
            if values:
                found.append(
                    (name, list_text([category_text(one) for one, _ in values.most_common()], SHOWN_CATEGORIES))
                )
            continue
        numbers = table.values[:, column]
        if not np.isnan(numbers).all():
            low, high = (value_text(name, float(end)) for end in (np.nanmin(numbers), np.nanmax(numbers)))
            found.append((name, low if low == high else f"{low} to {high}"))
    return found
