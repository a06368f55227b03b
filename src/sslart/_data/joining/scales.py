"""The scale by rank of a feature, joined from those of several models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sslart._data.ranks.tables import RankTable, same_scale, thinned
from sslart._utils.arrays import FloatArray

STEP = 0.25  # of a sample: how far its own rank reaches to both sides at the ends of a distribution


class Shown(NamedTuple):
    """Statistics of one feature in a model: number of samples, range, and scale by rank."""

    n_samples: float
    lower: float
    upper: float
    table: RankTable | None


def joined_table(models: Sequence[Shown]) -> RankTable | None:
    """Return the scale of a feature over the samples of several models, the same in every order; None: none has one.

    A position is the share of all samples that lie below. Where a model has no scale by rank, its samples count as
    spread evenly over its range.

    Parameters
    ----------
    models : sequence of Shown
        Of the models that know a value of the feature.
    """
    if all(same_scale(one.table, models[0].table) for one in models):
        return models[0].table
    ordered = sorted(models, key=_content)
    values = np.unique(np.concatenate([_knots(one) for one in ordered]))
    shares = sum((one.n_samples * _shares_below(one, values) for one in ordered), start=np.zeros(len(values)))
    positions = (shares - shares[0]) / (shares[-1] - shares[0])
    rises = np.append(True, np.diff(np.maximum.accumulate(positions)) > 0)
    rises &= (positions < 1.0) | (values == values[-1])
    return thinned(values[rises], positions[rises])


def _content(one: Shown) -> tuple[float, float, float, bytes]:
    table = b"" if one.table is None else one.table.values.tobytes() + one.table.positions.tobytes()
    return one.n_samples, one.lower, one.upper, table


def _knots(one: Shown) -> FloatArray:
    return np.array([one.lower, one.upper]) if one.table is None else one.table.values


def _shares_below(one: Shown, values: FloatArray) -> FloatArray:
    """Return the share of a model's samples below each value, counting half of those equal to it."""
    knots = _knots(one)
    if knots[0] == knots[-1]:
        return np.where(values < knots[0], 0.0, np.where(values > knots[0], 1.0, 0.5))
    inner = (values - knots[0]) / (knots[-1] - knots[0]) if one.table is None else one.table.at(values)
    step = STEP / max(one.n_samples, 2.0)
    shares = 2 * step + inner * (1.0 - 4 * step)
    shares = np.where(values == knots[0], step, np.where(values == knots[-1], 1.0 - step, shares))
    return np.where(values < knots[0], 0.0, np.where(values > knots[-1], 1.0, shares))
