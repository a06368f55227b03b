"""Distinctive features of a sample or a box: those that differ most from the samples around it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from sslart._art.geometry import centres
from sslart._data.samples import Table
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.text import category_text, value_text
from sslart.server.samples._loaded import LoadedSamples

N_NEIGHBOURS = 8  # boxes
MAX_SHOWN = 4
MIN_DIFFERENCE = 0.05  # of the range of a feature


def special_features(loaded: LoadedSamples, place: int, box: int) -> list[dict[str, Any]]:
    """Return the features in which a sample differs most from neighbouring boxes, as text.

    Parameters
    ----------
    loaded : LoadedSamples
    place : int
        Where the sample is.
    box : int
        The box that it falls into.
    """
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
    return _told(loaded, place, apart, usual, around)


def _told(
    loaded: LoadedSamples, place: int, apart: FloatArray, usual: FloatArray, around: IntArray
) -> list[dict[str, Any]]:
    member, table, names = loaded.member, loaded.samples.table, loaded.samples.published.view.feature_names
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
    """Return a text on the category of neighbouring samples: that of most, or the share of the commonest one."""
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
