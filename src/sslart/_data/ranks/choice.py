"""Choice of features to scale by rank: all numeric ones, or those with crowded values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sslart._data.columns.outliers import find_outliers
from sslart._data.encoder import Encoder
from sslart._data.ranks.tables import AUTO, CATEGORY, RANGE, RANK, RankScale, RankTable
from sslart._data.samples import Table
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.params import check_bounds

CROWDED = 0.1
N_LOOKED_AT = 2000


def first_encoder(
    owner: str, table: Table, shown: slice | IntArray, *, bounds: Any, scaling: str, stream: bool
) -> Encoder:
    """Return the encoder of an estimator that has learnt nothing yet.

    Parameters
    ----------
    owner : str
        Class of the estimator, for messages.
    table : Table
        The samples of the first call.
    shown : slice or array
        The rows of the table, each as often as boxes learn it.
    bounds : (lower, upper) or None
        As the user gave them.
    scaling : {"range", "rank", "auto"}
    stream : bool
        Whether further samples are expected.
    """
    limits = check_bounds(owner, bounds, table.values.shape[1] - table.n_parts)
    if limits is not None:
        unknown = np.full(table.n_parts, np.nan)
        limits = np.append(limits[0], unknown), np.append(limits[1], unknown)
    return scaled_by(scaling, Encoder.first(table, limits, stream=stream), table[shown], limits)


def scaled_by(scaling: str, encoder: Encoder, table: Table, bounds: tuple[FloatArray, FloatArray] | None) -> Encoder:
    """Return the encoder of a first table with the scales that the user wants.

    A feature is scaled by its range where the user has given limits for it, where fewer than two values differ, and
    where it is a part of a date.

    Parameters
    ----------
    scaling : {"range", "rank", "auto"}
        By rank: all features, or those that `is_crowded`.
    encoder : Encoder
    table : Table
        The samples of the first call, each as often as it counts.
    bounds : (lower, upper) or None
        Limits of all columns; NaN where they are not known.
    """
    if scaling == RANGE:
        return encoder
    free = [
        place
        for place, feature in enumerate(encoder.features)
        if feature.category is None
        and feature.column < table.values.shape[1] - table.n_parts
        and (bounds is None or np.isnan(bounds[0][feature.column]))
    ]
    matrix = encoder.matrix(table)
    if scaling == AUTO:
        free = [place for place in free if is_crowded(matrix[:, place])]
    made = {place: RankTable.of_values(matrix[:, place]) for place in free}
    tables = {place: table for place, table in made.items() if table is not None}
    return replace(encoder, ranks=RankScale(tables)) if tables else encoder


def is_crowded(values: FloatArray) -> bool:
    """Return True if values crowd in a part of their range, so that boxes can hardly distinguish them.

    Either a few outliers take nearly all of the range, or the middle 80 % of the samples take less than a tenth of the
    range that they take by rank. Of an exponential distribution they take a quarter and more, of the values of many
    counts, amounts and durations a hundredth. Of many samples some are looked at.
    """
    known = values[~np.isnan(values)]
    some = np.sort(known[:: len(known) // N_LOOKED_AT + 1])
    table = RankTable.of_values(some)
    if table is None:
        return any(find_outliers(known[:, None]))
    middle = some[[len(some) // 10, -1 - len(some) // 10]]
    by_range = (middle[1] / 2 - middle[0] / 2) / (known.max() / 2 - known.min() / 2)
    by_rank = np.diff(table.at(middle)).item()
    return bool(by_range < CROWDED * by_rank) or any(find_outliers(known[:, None]))


def scaling_of(encoder: Encoder, n_columns: int) -> list[str]:
    """Return the scaling of each column: by range, by rank, or none because it is categorical."""
    scaling = [CATEGORY if column in encoder.categorical else RANGE for column in range(n_columns)]
    for place in () if encoder.ranks is None else encoder.ranks.tables:
        scaling[encoder.features[place].column] = RANK
    return scaling
