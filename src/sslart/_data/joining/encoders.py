"""One encoder for the samples of several: ranges, categories and scales joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sslart._data.columns.features import UNKNOWN, Category, Feature, constant_places
from sslart._data.encoder import Encoder
from sslart._data.joining.scales import Shown, joined_table
from sslart._data.ranks.tables import RankScale, RankTable

Range = tuple[float, float]


def joined_encoder(encoders: Sequence[Encoder], n_samples: Sequence[float], names: Sequence[str]) -> Encoder:
    """Return an encoder for the samples of several, the same in every order of them.

    Ranges reach from the lowest to the highest value, categories are those of all, sorted, and a feature that has shown
    one value to each encoder, but not the same to all, varies. A feature that any has scaled by rank is so.

    Parameters
    ----------
    encoders : sequence of Encoder
        At least one, all of the same number of columns.
    n_samples : sequence of float
        How many samples each stands for: its share in scales by rank.
    names : sequence of str
        Names of the columns, for messages.
    """
    shown = [_ranges(one) for one in encoders]
    categorical, undecided = _kinds(encoders, shown, names)
    numeric = [Feature(column) for column in range(encoders[0].n_columns) if column not in categorical]
    categories = [feature for ranges in shown for feature in ranges if feature.category is not None]
    ranges = {feature: _joined_range(shown, feature, names) for feature in numeric}
    ranges |= dict.fromkeys(sorted(categories, key=_content), (0.0, 1.0))
    scales = {feature: _joined_scale(encoders, shown, n_samples, feature) for feature in numeric}
    limits = {column: encoders[0].undecided[column] for column in sorted(undecided)}
    return _encoder(ranges, scales, categorical, limits)


def _ranges(encoder: Encoder) -> dict[Feature, Range]:
    """Return the range of each feature of an encoder, those that have shown one value only among them.

    A column that is undecided has the range that it has if it is numeric.
    """
    ends = zip(encoder.lower.tolist(), encoder.upper.tolist(), strict=True)
    ranges = {Feature(column): limits for column, limits in encoder.undecided.items()}
    ranges |= dict(zip(encoder.features, ends, strict=True))
    for feature, value in encoder.constant.items():
        ranges[feature] = (0.0, 1.0) if feature.category is not None else (value, value)
    return ranges


def _kinds(
    encoders: Sequence[Encoder], shown: Sequence[Mapping[Feature, Range]], names: Sequence[str]
) -> tuple[frozenset[int], frozenset[int]]:
    """Return the categorical (or undecided) columns, and the columns undecided in all encoders."""
    decided = frozenset[int]().union(*(one.categorical - one.undecided.keys() for one in encoders))
    undecided = frozenset(encoders[0].undecided).intersection(*(one.undecided for one in encoders))
    numbers = {
        feature.column
        for one, ranges in zip(encoders, shown, strict=True)
        for feature, (lower, upper) in ranges.items()
        if feature.category is None and lower <= upper and feature.column not in one.undecided
    }
    for column in sorted(decided & numbers):
        raise ValueError(
            f"Column {names[column]!r} is categorical in one part of the data and numeric in another. Give it the same "
            "type in all of them: for a categorical column, the pandas dtype 'category', or strings or booleans."
        )
    return decided | undecided, undecided


def _content(feature: Feature) -> tuple[int, str, Category]:
    return feature.column, type(feature.category).__name__, feature.category


def _joined_range(shown: Sequence[Mapping[Feature, Range]], feature: Feature, names: Sequence[str]) -> Range:
    lower, upper = _wider([ranges.get(feature, UNKNOWN) for ranges in shown])
    if lower <= upper and upper - lower == np.inf:
        raise ValueError(
            f"Column {names[feature.column]!r} spans {lower:g} to {upper:g} over all parts of the data, wider than "
            "double precision can hold: rescale it."
        )
    return lower, upper


def _wider(ranges: Sequence[Range]) -> Range:
    return min(lower for lower, _ in ranges), max(upper for _, upper in ranges)


def _joined_scale(
    encoders: Sequence[Encoder], shown: Sequence[Mapping[Feature, Range]], n_samples: Sequence[float], feature: Feature
) -> RankTable | None:
    known = []
    for encoder, ranges, n in zip(encoders, shown, n_samples, strict=True):
        lower, upper = ranges.get(feature, UNKNOWN)
        if lower <= upper and feature.column not in encoder.undecided:
            known.append(Shown(n, lower, upper, _scale_of(encoder, feature)))
    return joined_table(known) if known else None


def _scale_of(encoder: Encoder, feature: Feature) -> RankTable | None:
    if encoder.ranks is None or feature not in encoder.features:
        return None
    return encoder.ranks.tables.get(encoder.features.index(feature))


def _encoder(
    ranges: Mapping[Feature, Range],
    tables: Mapping[Feature, RankTable | None],
    categorical: frozenset[int],
    undecided: Mapping[int, Range],
) -> Encoder:
    """Return the encoder of features with these ranges, with those that have shown one value only aside."""
    features = tuple(ranges)
    lower, upper = np.array(list(ranges.values()), dtype=np.float64).reshape(-1, 2).T
    aside = constant_places(features, lower, upper)
    kept = np.flatnonzero(~aside)
    places = {features[old]: new for new, old in enumerate(kept.tolist())}
    scales = {places[feature]: table for feature, table in tables.items() if table is not None and feature in places}
    return Encoder(
        tuple(places),
        categorical,
        lower[kept],
        upper[kept],
        undecided,
        {features[place]: upper.item(place) for place in np.flatnonzero(aside).tolist()},
        RankScale(scales) if scales else None,
    )
