"""Samples covered by a rule, and those whose labels would correct it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sslart._mapping.model_view import ModelView
from sslart._utils.arrays import BoolArray, IntArray
from sslart._utils.text import list_text
from sslart.rules._model_rules import ModelCondition
from sslart.server.samples._boxes import central
from sslart.server.samples._loaded import LoadedSamples

SHOWN_NAMES = 20


def condition_of(values: Mapping[str, Any]) -> ModelCondition:
    """Return a condition that `GET rules` has given as plain values."""
    categories = values.get("categories")
    return ModelCondition(
        values["feature"],
        values.get("above"),
        values.get("at_most"),
        None if categories is None else tuple(categories),
        bool(values.get("negated")),
        bool(values.get("missing")),
        bool(values.get("only_missing")),
    )


def covered(loaded: LoadedSamples, conditions: Sequence[ModelCondition]) -> BoolArray:
    """Return a mask of the samples that meet all conditions."""
    table, names = loaded.samples.table, loaded.samples.published.view.feature_names
    met = np.ones(len(loaded), dtype=bool)
    for condition in conditions:
        _check(condition, loaded.samples.published.view)
        column = names.index(condition.feature)
        met &= condition.holds_for(table.categories.get(column, table.values[:, column]))
    return met


def _check(condition: ModelCondition, view: ModelView) -> None:
    names = view.feature_names
    if condition.feature not in names:
        raise ValueError(
            f"There is no feature {condition.feature!r}: give one of {list_text(names, SHOWN_NAMES)}, as GET "
            ".../rules does."
        )
    is_category = names.index(condition.feature) in view.members[0].encoder.categorical
    if condition.only_missing:
        return
    if is_category != (condition.categories is not None):
        kind, fields = ("categories", "categories") if is_category else ("numbers", "above and at_most")
        raise ValueError(f"{condition.feature!r} holds {kind}: give {fields}, as GET .../rules does.")


def suggested(loaded: LoadedSamples, places: IntArray, n: int) -> list[int]:
    """Return few samples that stand for many: from as many boxes as there can be, the largest share of them first.

    Parameters
    ----------
    loaded : LoadedSamples
    places : array of int
        Where the samples are.
    n : int
        How many to return at most.
    """
    boxes = loaded.boxes[places]
    order = np.argsort(boxes, kind="stable")
    of_box = np.split(places[order], np.flatnonzero(np.diff(boxes[order])) + 1) if len(places) else []
    of_box.sort(key=lambda own: (-len(own), int(own[0])))
    found: list[int] = []
    while of_box and len(found) < n:
        left = []
        for own in of_box[: n - len(found)]:
            one = central(loaded, own)
            found.append(one)
            rest = own[own != one]
            if len(rest):
                left.append(rest)
        of_box = left
    return found
