"""Boxes with their samples, distinctive features, and the samples and boxes most similar to a sample."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from sslart._art.geometry import centres
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.text import category_text, list_text, value_text
from sslart.server.studies._samples import LoadedSamples
from sslart.server.studies._study import Study

N_NEIGHBOURS = 8  # boxes
MAX_SHOWN = 4
MIN_DIFFERENCE = 0.05  # of the range of a feature
MAX_BOXES = 2000
MAX_ROWS = 100
SHOWN_CATEGORIES = 4
MIN_SHOWN_DIFFERENCE = 0.01  # of the range of a feature
SHOWN_FEATURES = 3
MAX_ROWS_OF_BOX = 20
UNKNOWN = 1.0  # the distance of samples that share no known value


def special_features(loaded: LoadedSamples, place: int, box: int) -> list[dict[str, Any]]:
    """Return descriptions of the features in which a sample differs most from neighbouring boxes."""
    member, coded = loaded.member, loaded.coded[place]
    near = member.rank(coded[None, :], depth=N_NEIGHBOURS + 1)[0][0]
    near = near[(near >= 0) & (near != box)]
    if not len(near):
        return []
    lower, upper = member.boxes_of(near)
    weights = np.maximum(np.asarray(member.support, dtype=np.float64)[near], 1e-9)
    usual = (np.nan_to_num(centres(lower, upper), nan=0.5) * weights[:, None]).sum(axis=0) / weights.sum()
    apart = np.nan_to_num(coded - usual, nan=0.0)
    around = np.flatnonzero(np.isin(loaded.boxes, near))
    table, names = loaded.samples.table, loaded.samples.published.view.feature_names
    columns = np.array([feature.column for feature in member.encoder.features])
    found, seen = list[dict[str, Any]](), set[int]()
    for position in np.argsort(-np.abs(apart), kind="stable").tolist():
        column = int(columns[position])
        if len(found) >= MAX_SHOWN or abs(apart[position]) < MIN_DIFFERENCE:
            break
        if column in seen:
            continue
        seen.add(column)
        name = names[column]
        if column in member.encoder.categorical:
            text = _category_words(table.categories[column][place], table.categories[column][around].tolist())
        else:
            middle = float(member.encoder.decode(usual[[position]], np.array([position]))[0])
            word = "higher" if apart[position] > 0 else "lower"
            text = f"{word} than the samples around it, which have about {value_text(name, middle, 3)}"
        found.append({"feature": name, "value": shown_value(table, place, column, name), "text": text})
    return found


def _category_words(own: object, around: list[object]) -> str:
    """Return a text on the most frequent category of neighbouring samples."""
    counts = Counter(one for one in around if one is not None)
    if not counts:
        return "missing in the samples around it"
    (other, n), *_ = counts.most_common(1)
    share = f"{100 * n / len(around):.0f} %"
    if other == own:
        return f"{share} of the samples around it have the same value"
    if 2 * n > len(around):
        return f"most samples around it have {category_text(other)}"
    return f"{share} of the samples around it have {category_text(other)}, the most frequent value"


def shown_value(table: Table, place: int, column: int, name: str) -> str:
    """Return a value of a sample as text."""
    if column in table.categories:
        value = table.categories[column][place]
        return "missing" if value is None else category_text(value)
    number = table.values.item(place, column)
    return "missing" if number != number else value_text(name, number)


def all_boxes(study: Study, at: FloatArray) -> list[dict[str, Any]]:
    """Return the largest boxes with their number of samples, labels, most frequent prediction, and position.

    `at`, of shape (n_samples, 2), is the position of each sample; NaN where a value is missing.
    """
    sizes = np.diff(study.loaded.rows_by_box[1])
    largest = np.argsort(-sizes, kind="stable")[:MAX_BOXES]
    found = []
    for box in largest[sizes[largest] > 0].tolist():
        places = study.loaded.places_in(box)
        shown = at[places][~np.isnan(at[places]).any(axis=1)]
        if not len(shown):
            continue
        low, high = shown.min(axis=0).tolist(), shown.max(axis=0).tolist()
        found.append({**_counted(study, box, places), "x": [low[0], high[0]], "y": [low[1], high[1]]})
    return found


def _counted(study: Study, box: int, places: IntArray) -> dict[str, Any]:
    labels, predictions = study.labels, study.predictions
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


def one_box(study: Study, box: int) -> dict[str, Any]:
    """Return the contents of a box: number of samples, labels, intervals as text, and distinctive features."""
    loaded = study.loaded
    if box >= loaded.member.n_nodes:
        raise ValueError(f"There is no box {box}: boxes are numbered from 0 to {loaded.member.n_nodes - 1}.")
    places = loaded.places_in(box)
    counted = _counted(study, box, places)
    return {
        **counted,
        "n_labelled": sum(counted["labels"].values()),
        "conditions": [{"feature": name, "text": text} for name, text in _intervals(loaded, places)],
        "special": special_features(loaded, median_sample(loaded, places), box) if len(places) else [],
        "rows": loaded.samples.rows[places[:MAX_ROWS]].tolist(),
    }


def median_sample(loaded: LoadedSamples, places: IntArray) -> int:
    """Return the sample nearest to the componentwise median of some samples."""
    coded = loaded.coded[places]
    middle = np.array([0.5 if np.isnan(one).all() else np.nanmedian(one) for one in coded.T])
    return int(places[np.nan_to_num(np.abs(coded - middle), nan=0.5).sum(axis=1).argmin()])


def _intervals(loaded: LoadedSamples, places: IntArray) -> list[tuple[str, str]]:
    """Return each feature with the range of its values over some samples."""
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


class Case(NamedTuple):
    """A sample compared with another: its index, its distance, and a text on the differences."""

    place: int
    distance: float
    text: str


def differences(loaded: LoadedSamples, coded: FloatArray, places: IntArray) -> FloatArray:
    """Return the difference of samples from a coded one per column, from 0 to 1; NaN where missing."""
    apart = np.abs(loaded.coded[places] - coded)
    columns = np.array([feature.column for feature in loaded.member.encoder.features], dtype=np.int64)
    found = np.full((len(places), loaded.member.encoder.n_columns), np.nan)
    for column in np.unique(columns).tolist():
        own = apart[:, columns == column]
        known = ~np.isnan(own).all(axis=1)
        found[known, column] = np.nanmax(own[known], axis=1)  # indicators of categories differ by 0 or 1
    return found


def similar(loaded: LoadedSamples, sample: Table, places: IntArray, n: int) -> list[Case]:
    """Return the `n` samples closest to a given one, by the mean difference over features known in both."""
    if not len(places):
        return []
    apart = differences(loaded, loaded.member.encode(sample)[0], places)
    known = ~np.isnan(apart)
    n_known = known.sum(axis=1)
    distance = np.where(n_known > 0, np.where(known, apart, 0.0).sum(axis=1) / np.maximum(n_known, 1), UNKNOWN)
    nearest = np.argsort(distance, kind="stable")[:n]
    return [
        Case(int(places[one]), round(float(distance[one]), 6), _text(loaded, sample, int(places[one]), apart[one]))
        for one in nearest
    ]


def _text(loaded: LoadedSamples, sample: Table, place: int, apart: FloatArray) -> str:
    """Return a text on the differences between a stored sample and the given one."""
    names = loaded.samples.published.view.feature_names
    order = np.argsort(-np.nan_to_num(apart, nan=-1.0), kind="stable").tolist()
    parts = []
    for column in order:
        if not apart[column] > MIN_SHOWN_DIFFERENCE:
            break
        own = shown_value(loaded.samples.table, place, column, names[column])
        given = shown_value(sample, 0, column, names[column])
        parts.append(f"{names[column]} ({own} instead of {given})")
    if not parts:
        return "does not differ in any feature that both have"
    return f"differs in {list_text(parts, SHOWN_FEATURES)}"


def nearest_boxes(loaded: LoadedSamples, sample: Table, n: int) -> list[dict[str, Any]]:
    """Return the boxes that fit a sample best."""
    member = loaded.member
    nodes, matches = member.rank(member.encode(sample), depth=n)
    classes = loaded.samples.published.classes
    found = []
    for node, match in zip(nodes[0].tolist(), matches[0].tolist(), strict=True):
        if node < 0:
            break
        counts = member.counts[node].tolist()
        label = int(member.labels[node])
        found.append(
            {
                "box": node,
                "n": float(member.support[node]),
                "labels": {str(one): count for one, count in zip(classes, counts, strict=True) if count},
                "class": None if label < 0 else classes[label],
                "match": round(float(match), 6),
                "rows": loaded.samples.rows[loaded.places_in(node)[:MAX_ROWS_OF_BOX]].tolist(),
            }
        )
    return found
