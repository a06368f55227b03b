"""Labelled samples that are most like a given one, and the boxes nearest to it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sslart._data.samples import Table
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.text import list_text
from sslart.server.samples._loaded import LoadedSamples
from sslart.server.samples._special import shown_value

MIN_DIFFERENCE = 0.01  # of the range of a feature
SHOWN_FEATURES = 3
MAX_ROWS = 20
UNKNOWN = 1.0  # the distance of samples that share no known value


class Case(NamedTuple):
    """A sample compared with another: its place, its distance, and a text on the differences."""

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
        found[known, column] = np.nanmax(own[known], axis=1)  # indicators of categories differ by 1, or not at all
    return found


def similar(loaded: LoadedSamples, sample: Table, places: IntArray, n: int) -> list[Case]:
    """Return the samples that differ least from a given one, on average over the features that both have.

    Parameters
    ----------
    loaded : LoadedSamples
    sample : Table
        Of one sample, as the model reads it.
    places : array of int
        Where the samples are that are compared.
    n : int
        How many to return.
    """
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
        if not apart[column] > MIN_DIFFERENCE:
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
                "rows": loaded.samples.rows[loaded.places_in(node)[:MAX_ROWS]].tolist(),
            }
        )
    return found
