"""Points of boxes near a sample, in the values that its features may take: where to go."""

from __future__ import annotations

import numpy as np

from sslart._art.geometry import centres, gaps
from sslart._data.encoder import Encoder
from sslart._mapping.model_view import MemberView
from sslart._utils.arrays import FloatArray, IntArray
from sslart.explain._counterfactuals.options import STAY, Options


def points_of_boxes(member: MemberView, options: Options, most: int) -> IntArray:
    """Return the nearest point and the centre of the nearest boxes, as candidates."""
    coded = member.encode(options.table)
    lower, upper = member.boxes
    outside = np.where(np.isnan(coded), 0.0, gaps(coded, lower, upper))
    nodes = np.argsort(outside.sum(axis=1), kind="stable")[:most]
    lower, upper = lower[nodes], upper[nodes]
    nearest = np.clip(coded, lower, np.maximum(lower, upper))
    categories = _categories(member.encoder, options, lower, upper)
    points = []
    for coded_points in (nearest, centres(lower, upper)):
        candidates = np.full((len(nodes), len(options.values)), STAY)
        for place, feature in enumerate(member.encoder.features):
            column, values = feature.column, options.values[feature.column]
            if feature.category is None and len(values):
                wanted = member.encoder.decode(coded_points[:, [place]], np.array([place]))[:, 0]
                options_wanted = _nearest(wanted, values, options.table.values.item(0, column))
                candidates[:, column] = np.where(lower[:, place] <= upper[:, place], options_wanted, STAY)
        for column, wanted_categories in categories.items():
            candidates[:, column] = wanted_categories
        points.append(candidates)
    return np.concatenate(points)


def _categories(encoder: Encoder, options: Options, lower: FloatArray, upper: FloatArray) -> dict[int, IntArray]:
    """Return by column the category to take for each box: none where the box covers the present one."""
    found = {}
    for column, given in options.table.categories.items():
        places = {one.category: place for place, one in enumerate(encoder.features) if one.column == column}
        known = [places.get(category, -1) for category in options.values[column]]
        if not known or -1 in known:
            continue
        reached = lower[:, known] <= upper[:, known]
        covered = np.where(reached, lower[:, known] + upper[:, known], 0.0)
        own = places.get(given[0])
        stays = covered.max(axis=1) == 0
        if own is not None:
            stays |= (upper[:, own] > 0) & (lower[:, own] <= upper[:, own])
        found[column] = np.where(stays, STAY, covered.argmax(axis=1))
    return found


def _nearest(wanted: FloatArray, values: FloatArray, present: float) -> IntArray:
    """Return the place of the value nearest to each number wanted; STAY where the present value is nearer."""
    right = np.clip(np.searchsorted(values, wanted), 0, len(values) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(abs(values[left] - wanted) <= abs(values[right] - wanted), left, right)
    return np.where(abs(present - wanted) <= abs(values[nearest] - wanted), STAY, nearest)
