"""Merging of encoders, scales, column plans and tables of several models; the order of models is irrelevant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sslart._data.columns import TOPICS, ColumnPlan
from sslart._data.encoder import UNKNOWN, Encoder, Feature, Range, constant_places
from sslart._data.ranks import RankScale, RankTable, same_scale, thinned
from sslart._data.samples import Table
from sslart._utils.arrays import FloatArray


def joined_tables(tables: Sequence[Table]) -> Table:
    """Return the samples of several tables with the same columns, one after the other."""
    columns = sorted({column for table in tables for column in table.categories})
    categories = {column: np.concatenate([categories_of(table, column) for table in tables]) for column in columns}
    return Table(np.concatenate([table.values for table in tables]), categories, tables[0].names)


def categories_of(table: Table, column: int) -> Any:
    """Return the categories of a column, all None if the table has it as numeric because all values are missing."""
    return table.categories.get(column, np.full(len(table), None))


def joined_plan(plans: Sequence[ColumnPlan], names: Sequence[str]) -> ColumnPlan:
    """Return the column plan of several models together; raise a ValueError if they read a column differently."""
    for what, cure, of_plan in (
        (
            "holds dates in one part of the data and none in another",
            "Give it the dtype datetime64 in all of them, such as with pandas.to_datetime",
            [one.dates for one in plans],
        ),
        (
            "has dates with the day before the month in one part of the data and after it in another",
            "Write dates as year-month-day in all of them",
            [one.day_first for one in plans],
        ),
        (
            "is left out in one part of the data, as an identifier or free text, and learnt from in another",
            "Drop it from all of them, or give it the pandas dtype 'category' in all",
            [one.left_out for one in plans],
        ),
    ):
        differ = sorted(set().union(*of_plan) - set(of_plan[0]).intersection(*of_plan))
        if differ:
            raise ValueError(f"Column {names[differ[0]]!r} {what}. {cure}.")
    texts = sorted({one for plan in plans for one in plan.texts})
    for (column, unit), (other, other_unit) in pairwise(texts):
        if column == other:
            raise ValueError(
                f"Column {names[column]!r} has numbers in {unit or 'no unit'} in one part of the data and in "
                f"{other_unit or 'no unit'} in another. Convert it to numbers of one unit in all of them."
            )
    notes = sorted({note for one in plans for note in one.notes}, key=lambda note: (note.column, note.detail))
    first_of = {(note.topic, note.column): note for note in reversed(notes)}
    monthly = set(plans[0].monthly).intersection(*(one.monthly for one in plans))
    return ColumnPlan(
        plans[0].dates,
        tuple(sorted(plans[0].left_out)),
        tuple(sorted(first_of.values(), key=lambda note: (TOPICS.index(note.topic), note.column))),
        tuple(sorted(plans[0].day_first)),
        tuple(sorted(monthly)),
        tuple(texts),
    )


def joined_encoder(encoders: Sequence[Encoder], n_samples: Sequence[float], names: Sequence[str]) -> Encoder:
    """Return an encoder for the samples of several encoders, weighted in rank scales by their numbers of samples.

    Ranges are united, categories are those of all, sorted, and a feature that is constant in each encoder, but not with
    the same value, varies. A feature is scaled by rank if any encoder does so. In a column with many categories, those
    coded by most encoders are coded.
    """
    shown = [_ranges(one) for one in encoders]
    categorical, undecided = _kinds(encoders, shown, names)
    numeric = [Feature(column) for column in range(encoders[0].n_columns) if column not in categorical]
    most = max(one.max_categories for one in encoders)
    categories = _common_categories([feature for ranges in shown for feature in ranges], most)
    ranges = {feature: _joined_range(shown, feature, names) for feature in numeric}
    ranges |= dict.fromkeys(categories, (0.0, 1.0))
    scales = {feature: _joined_scale(encoders, shown, n_samples, feature) for feature in numeric}
    limits = {column: encoders[0].undecided[column] for column in sorted(undecided)}
    return replace(_encoder(ranges, scales, categorical, limits), max_categories=most)


def _common_categories(features: Sequence[Feature], most: int) -> list[Feature]:
    """Return the categories, sorted: in a column with more than `most`, those coded by most encoders."""
    known = Counter(feature for feature in features if feature.category is not None)
    ordered = sorted(known, key=lambda one: (one.column, type(one.category).__name__, one.category))
    of_column: dict[int, list[Feature]] = {}
    for feature in sorted(ordered, key=lambda one: -known[one]):
        of_column.setdefault(feature.column, []).append(feature)
    kept = {feature for own in of_column.values() for feature in own[:most]}
    return [feature for feature in ordered if feature in kept]


def _ranges(encoder: Encoder) -> dict[Feature, Range]:
    """Return the range of each feature of an encoder, including constant ones.

    An undecided column has the range that it would have as a numeric one.
    """
    whole = encoder.with_constants
    ends = zip(whole.lower.tolist(), whole.upper.tolist(), strict=True)
    undecided = {Feature(column): limits for column, limits in encoder.undecided.items()}
    return undecided | dict(zip(whole.features, ends, strict=True))


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


def _joined_range(shown: Sequence[Mapping[Feature, Range]], feature: Feature, names: Sequence[str]) -> Range:
    lowest, highest = zip(*(ranges.get(feature, UNKNOWN) for ranges in shown), strict=True)
    lower, upper = min(lowest), max(highest)
    if lower <= upper and upper - lower == np.inf:
        raise ValueError(
            f"Column {names[feature.column]!r} spans {lower:g} to {upper:g} over all parts of the data, wider than "
            "double precision can hold: rescale it."
        )
    return lower, upper


def _joined_scale(
    encoders: Sequence[Encoder], shown: Sequence[Mapping[Feature, Range]], n_samples: Sequence[float], feature: Feature
) -> RankTable | None:
    known = []
    for encoder, ranges, n in zip(encoders, shown, n_samples, strict=True):
        lower, upper = ranges.get(feature, UNKNOWN)
        if lower <= upper and feature.column not in encoder.undecided:
            place = encoder.features.index(feature) if feature in encoder.features else -1
            known.append(Shown(n, lower, upper, encoder.scale_of(place)))
    return joined_table(known) if known else None


def _encoder(
    ranges: Mapping[Feature, Range],
    tables: Mapping[Feature, RankTable | None],
    categorical: frozenset[int],
    undecided: Mapping[int, Range],
) -> Encoder:
    """Return the encoder of features with these ranges; constant ones are set aside."""
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


STEP = 0.25  # of a sample: half the width of the rank of the first and the last value of a distribution


class Shown(NamedTuple):
    """Statistics of one feature in a model: number of samples, range, and scale by rank."""

    n_samples: float
    lower: float
    upper: float
    table: RankTable | None

    def order(self) -> tuple[float, float, float, bytes]:
        """Return a sort key that does not depend on the order of the models."""
        table = b"" if self.table is None else self.table.values.tobytes() + self.table.positions.tobytes()
        return self.n_samples, self.lower, self.upper, table


def joined_table(models: Sequence[Shown]) -> RankTable | None:
    """Return the rank scale of a feature over the samples of several models; None if no model has one.

    A position is the share of all samples below. The samples of a model without a rank scale count as uniformly
    distributed over its range.
    """
    if all(same_scale(one.table, models[0].table) for one in models):
        return models[0].table
    ordered = sorted(models, key=Shown.order)
    values = np.unique(np.concatenate([_knots(one) for one in ordered]))
    shares = sum((one.n_samples * _shares_below(one, values) for one in ordered), start=np.zeros(len(values)))
    positions = (shares - shares[0]) / (shares[-1] - shares[0])
    rises = np.append(True, np.diff(np.maximum.accumulate(positions)) > 0)
    rises &= (positions < 1.0) | (values == values[-1])
    return thinned(values[rises], positions[rises])


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
