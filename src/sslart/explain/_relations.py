"""Exact relations between columns: conversions of units, sums, products, codes, parts of dates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from sslart._data.dates import parts_of
from sslart._data.encoder import Encoder
from sslart._data.ranks import GRID
from sslart._data.samples import Table
from sslart._mapping.model_view import MemberView, ModelView
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

MAX_COLUMNS = 60  # searched for sums and products, in quadratic time
MANY_COLUMNS = 1000  # with more, only columns that order samples alike are compared: all pairs would take minutes
MAX_SAMPLES = 512  # used in the search, for speed
FEW_SAMPLES = 64  # used to rule out columns, where they are very many
MIN_DISTINCT = 12  # distinct values: the chance of the same order is 1 in 12!
MIN_SPARE = 8  # samples in excess of the terms of a sum
MAX_TERMS = 5  # of a sum: longer ones are due to chance, or of no use to a reader
MAX_LEVELS, MIN_EACH = 24, 5  # distinct values of a coded column, and samples of each
EXACT = 1e-7  # tolerance relative to the range: several hundred times the rounding to the grid

Values = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Relation:
    """A column that is a function of others, its bases: `follow` maps their values to those of the column."""

    column: int
    bases: tuple[int, ...]
    follow: Callable[[list[Values]], Values]
    is_exact: bool = True  # False for parts of dates, which cannot be violated

    def of(self, values: FloatArray, categories: dict[int, Values], rows: Any = slice(None)) -> Values:
        """Return the values of the column computed from those of its bases, for some rows."""
        return self.follow([(categories[base] if base in categories else values[:, base])[rows] for base in self.bases])

    def holds(self, table: Table, span: float) -> BoolArray:
        """Return a mask of the samples that the relation holds for."""
        expected = self.of(table.values, dict(table.categories))
        if self.column in table.categories:
            given = table.categories[self.column]
            present = np.array([value is not None for value in given], dtype=bool)
            return present & (np.asarray(given == expected, dtype=bool) | (not self.is_exact))
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(table.values[:, self.column] - expected.astype(np.float64)) <= 100 * EXACT * span)


def relations_of(view: ModelView) -> tuple[Relation, ...]:
    """Return the relations between the columns of a model; bases are independent columns."""
    network = view.members[0].network
    n_columns, n_given = len(view.feature_names), view.reader.n_features_in_
    dates = view.reader.plan.parts_of_dates(n_given)
    parts = [
        Relation(part, (date,), partial(_part_of_date, number), is_exact=False)
        for date, columns in dates.items()
        for number, part in enumerate(columns)
    ]
    free = [column for column in range(n_given) if column not in dates]
    found = network.get_or_compute(("relations", n_columns), lambda: _Finder(view.members[0], free).found)
    return (*parts, *found)


def _part_of_date(number: int, bases: list[Values]) -> Values:
    return parts_of(bases[0].astype(np.float64))[number]


class _Finder:
    """Search for relations among the free columns, on samples that the model knows."""

    def __init__(self, member: MemberView, free: list[int]) -> None:
        self.found: list[Relation] = []
        self.bases: set[int] = set()
        encoder = member.encoder
        self.samples, categories = _known_samples(member)
        numeric = set(encoder.numeric)
        self.free = [column for column in free if column in numeric or column in categories]
        self.numeric = [column for column in self.free if column in numeric]
        self.categories = categories
        self._find_copies(member)
        self._find_codes()
        if len(self.numeric) <= MAX_COLUMNS:
            self._find_sums()
            self._find_products()

    def _add(self, column: int, bases: tuple[int, ...], follow: Callable[[list[Values]], Values]) -> None:
        self.found.append(Relation(column, bases, follow))
        self.bases.update(bases)
        self.free.remove(column)
        if column in self.numeric:
            self.numeric.remove(column)

    def _find_copies(self, member: MemberView) -> None:
        """Find columns that are strictly monotone functions of another one, on samples and corners of boxes."""
        columns = list(self.numeric)
        if len(columns) > MANY_COLUMNS:
            columns = _in_shared_order(columns, self.samples[:FEW_SAMPLES], 1)
            columns = _in_shared_order(columns, self.samples, MIN_DISTINCT)
        if len(columns) < 2:
            return
        encoder, sides = member.encoder, member.network.boxes_in_units()
        place_of = {one.column: place for place, one in enumerate(encoder.features) if one.category is None}
        places = [place_of[column] for column in columns]
        lower, upper = (_without_rounding(encoder, side[:MAX_SAMPLES, places], places) for side in sides)
        every = self.samples[:, columns]
        values = np.concatenate([every, lower, upper])
        swapped = np.concatenate([every, upper, lower])
        rising, falling = _in_steps(values), _in_steps(swapped)
        for first, base in enumerate(columns):
            if base not in self.numeric:
                continue
            order = np.argsort(rising[:, first], kind="stable")
            with np.errstate(invalid="ignore"):
                up: BoolArray = np.asarray(~(np.diff(rising[order], axis=0) < 0).any(axis=0))
                down: BoolArray = np.asarray(~(np.diff(falling[order], axis=0) > 0).any(axis=0))
            for second in range(first + 1, len(columns)):
                other = values if up[second] else swapped if down[second] else None
                if other is None or columns[second] not in self.numeric:
                    continue
                follow = _one_to_one(values[:, first], other[:, second])
                if follow is not None:
                    self._add(columns[second], (base,), follow)

    def _find_codes(self) -> None:
        """Find columns of few values that are a function of another such column, as codes and their groups."""
        levels: dict[int, tuple[IntArray, Values]] = {}
        some = np.sort(self.samples[:FEW_SAMPLES], axis=0)
        may_be_codes = (np.diff(some, axis=0) > 0).sum(axis=0) < MAX_LEVELS
        for column in self.free:
            if not may_be_codes[column]:
                continue
            if column in self.categories:
                codes, known = self.categories[column]
            else:
                known, codes = np.unique(self.samples[:, column], return_inverse=True)
                codes = np.where(np.isnan(self.samples[:, column]), -1, codes)
                known = known[~np.isnan(known)]
            counts = np.bincount(codes[codes >= 0], minlength=len(known))
            if 2 <= (counts > 0).sum() <= MAX_LEVELS and counts[counts > 0].min() >= MIN_EACH:
                levels[column] = codes, known
        if len(levels) < 2:
            return
        columns, every = list(levels), np.array([codes for codes, _ in levels.values()])
        for base, (codes, known) in levels.items():
            if base not in self.free:
                continue
            order = np.argsort(codes, kind="stable")[np.count_nonzero(codes < 0) :]
            starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
            grouped = every[:, order]  # of a function of the base, each group has one code
            lowest = np.minimum.reduceat(np.where(grouped < 0, MAX_SAMPLES * MAX_LEVELS, grouped), starts, axis=1)
            follows = (np.maximum.reduceat(grouped, starts, axis=1) <= lowest).all(axis=1)
            for column in np.array(columns)[follows].tolist():
                others, values = levels[column]
                if column == base or base not in self.free or column not in self.free or column in self.bases:
                    continue
                both = (codes >= 0) & (others >= 0)
                pairs = np.unique(np.column_stack([codes[both], others[both]]), axis=0)
                n_base, n_column = len(np.unique(codes[codes >= 0])), len(np.unique(others[others >= 0]))
                if len(pairs) == n_base == len(np.unique(pairs[:, 0])) and len(np.unique(pairs[:, 1])) == n_column:
                    table = {known.tolist()[a]: values.tolist()[b] for a, b in pairs.tolist()}
                    self._add(column, (base,), partial(_looked_up, table, column in self.categories))

    def _complete(self) -> FloatArray:
        values = self.samples[:, self.numeric]
        return np.asarray(values[~np.isnan(values).any(axis=1)])

    def _find_sums(self) -> None:
        """Find columns that are sums of others, each times a factor, plus a constant: one least-squares fit each."""
        values, columns = self._complete(), list(self.numeric)
        if len(values) <= len(columns) + MIN_SPARE:
            values = values[:0]
        spans = np.ptp(values, axis=0) if len(values) else np.zeros(len(columns))
        kept: list[int] = []
        for place in np.flatnonzero(spans > 0).tolist():
            shifted = (values[:, [*kept, place]] - values.mean(axis=0)[[*kept, place]]) / spans[[*kept, place]]
            factors = np.linalg.lstsq(shifted[:, :-1], shifted[:, -1])[0]
            terms = np.flatnonzero(np.abs(factors) > 1e-5)
            residuals = shifted[:, -1] - shifted[:, :-1] @ factors
            if not len(terms) or len(terms) > MAX_TERMS or np.abs(residuals).max() > EXACT:
                kept.append(place)
                continue
            bases = [kept[term] for term in terms.tolist()]
            weights = factors[terms] * spans[place] / spans[bases]
            derived = place
            if (weights > 0).sum() == 1 and len(weights) > 1:  # total = part + rest: the total follows, not the part
                total = int(weights.argmax())
                if columns[bases[total]] not in self.bases:
                    derived, weights = bases[total], np.append(-np.delete(weights, total), 1.0) / weights[total]
                    bases = [*(one for one in bases if one != derived), place]
                    kept[kept.index(derived)] = place
            weights = np.where(np.abs(weights - np.rint(weights)) < 1e-6, np.rint(weights), weights)
            constant = (values[:, derived] - values[:, bases] @ weights).mean()
            constant = np.rint(constant * 1e6) / 1e6 if spans[derived] > 1e-3 else constant
            self._add(columns[derived], tuple(columns[one] for one in bases), partial(_sum_of, weights, constant))

    def _find_products(self) -> None:
        """Find columns that are products of two others, or squares."""
        values, columns = self._complete(), list(self.numeric)
        if len(values) < MIN_DISTINCT:
            return
        spans = np.ptp(values, axis=0)
        for first, second in combinations_with_replacement(range(len(columns)), 2):
            products = values[:, first] * values[:, second]
            same = np.abs(values - products[:, None]).max(axis=0) <= EXACT * spans
            for place in np.flatnonzero(same & (spans > 0)).tolist():
                bases = {columns[first], columns[second]}
                if columns[place] in bases | self.bases or not {columns[place], *bases} <= set(self.numeric):
                    continue
                self._add(columns[place], (columns[first], columns[second]), _product_of)


def _known_samples(member: MemberView) -> tuple[FloatArray, dict[int, tuple[IntArray, Values]]]:
    """Return samples known to a model: stored labelled ones, and boxes that are points.

    Numbers are NaN where missing; categorical columns are codes, -1 where missing, with the categories.
    """
    encoder, n_columns = member.encoder, member.encoder.n_columns
    lower, upper = member.boxes
    points = np.where(lower > upper, np.nan, lower)[(lower >= upper).all(axis=1)][:MAX_SAMPLES]
    units = _without_rounding(encoder, encoder.decode(points))
    values = np.full((len(points), n_columns), np.nan)
    categories: dict[int, tuple[IntArray, Values]] = {}
    places_of: dict[int, list[int]] = {column: [] for column in encoder.categorical}
    for place, feature in enumerate(encoder.features):
        if feature.category is None:
            values[:, feature.column] = units[:, place]
        else:
            places_of[feature.column].append(place)
    kept = member.kept_labels if member.mapping.has_samples else None
    table = None if kept is None else kept[0][:MAX_SAMPLES]
    for column, places in places_of.items():
        if not places:
            continue
        known = np.array([encoder.features[place].category for place in places], dtype=object)
        codes = np.where((points[:, places] == 1.0).any(axis=1), points[:, places].argmax(axis=1), -1)
        if table is not None:
            code_of = {category: code for code, category in enumerate(known.tolist())}
            own = np.array([code_of.get(one, -1) for one in table.categories[column].tolist()], dtype=np.int64)
            codes = np.concatenate([own, codes])
        categories[column] = codes, known
    return (values if table is None else np.concatenate([table.values, values])), categories


def shortest(values: FloatArray, tolerance: FloatArray | float) -> FloatArray:
    """Return each number in as few decimals as are within a tolerance; what needs more than 12 stays."""
    given, short = values.ravel(), values.ravel().copy()
    limit, left = np.broadcast_to(tolerance, values.shape).ravel(), np.arange(short.size)
    for decimals in range(13):
        rounded = np.round(given[left], decimals)
        within = np.abs(rounded - given[left]) <= limit[left]
        short[left[within]], left = rounded[within], left[~within]
    return short.reshape(values.shape)


def _without_rounding(encoder: Encoder, units: FloatArray, places: Sequence[int] | slice = slice(None)) -> FloatArray:
    """Return values of boxes as samples had them, where those had few decimals: the encoder has a grid."""
    return shortest(units, (encoder.upper - encoder.lower)[places] * 4 / GRID)


def _in_steps(values: FloatArray) -> FloatArray:
    """Round numbers to steps of their range that are coarser than the grid of the encoder."""
    if not len(values):
        return values
    with np.errstate(invalid="ignore"):
        lowest, spans = np.fmin.reduce(values), np.fmax.reduce(values) - np.fmin.reduce(values)
        return np.asarray(np.rint((values - lowest) / np.where(spans > 0, spans, 1.0) / EXACT))


def _in_shared_order(columns: list[int], samples: FloatArray, fewest: int) -> list[int]:
    """Return the columns that order samples as another column does, or in reverse.

    Columns with fewer than `fewest` distinct values are excluded.
    """
    steps = _in_steps(samples[:, columns])
    ranks = np.where(np.isnan(steps), 0.0, rankdata(steps, "dense", axis=0, nan_policy="omit")).astype(np.int64)
    highest = ranks.max(axis=0, initial=0)
    reverse = np.where(ranks > 0, highest + 1 - ranks, 0)
    digests = [min(up.tobytes(), down.tobytes()) for up, down in zip(ranks.T, reverse.T, strict=True)]
    counts = Counter(digests)
    return [
        column
        for column, one, n in zip(columns, digests, highest.tolist(), strict=True)
        if counts[one] > 1 and n >= fewest
    ]


def _one_to_one(base: FloatArray, other: FloatArray) -> Callable[[list[Values]], Values] | None:
    """Return the function from a column to another one that orders samples alike or in reverse; None if it does not."""
    known = ~(np.isnan(base) | np.isnan(other))
    steps = np.column_stack([_in_steps(base[known, None]), _in_steps(other[known, None])]).astype(np.int64)
    pairs, first = np.unique(steps, axis=0, return_index=True)
    moves = np.diff(pairs, axis=0)
    if (
        len(pairs) < MIN_DISTINCT
        or (moves[:, 0] <= 0).any()
        or not ((moves[:, 1] > 0).all() or (moves[:, 1] < 0).all())
    ):
        return None
    x, y = base[known][first], other[known][first]
    for log_x, log_y in product([False, True], repeat=2):  # lines, exponentials, logarithms, powers
        if (log_x and x[0] <= 0) or (log_y and y.min() <= 0):
            continue
        u, v = np.log(x) if log_x else x, np.log(y) if log_y else y
        slope = (v[-1] - v[0]) / (u[-1] - u[0])
        rounded = np.rint(slope * 1e6) / 1e6  # such as 2 for a square, 100 for cents
        for factor in (rounded, slope):
            follow = partial(_line_of, factor, float(np.median(v - factor * u)), log_x, log_y)
            if np.abs(follow([x]) - y).max() <= 10 * EXACT * np.ptp(y):
                return follow
    return partial(_between, x, y)


def _sum_of(weights: FloatArray, constant: float, bases: list[Values]) -> Values:
    return _rounded(
        sum(weight * base.astype(np.float64) for weight, base in zip(weights, bases, strict=True)) + constant
    )


def _product_of(bases: list[Values]) -> Values:
    return _rounded(bases[0] * bases[1])


def _line_of(slope: float, constant: float, log_x: bool, log_y: bool, bases: list[Values]) -> Values:
    with np.errstate(invalid="ignore", divide="ignore"):
        values = constant + slope * (np.log(bases[0]) if log_x else bases[0])
        return _rounded(np.exp(values) if log_y else values)


def _between(x: FloatArray, y: FloatArray, bases: list[Values]) -> Values:
    return np.asarray(np.where(np.isnan(bases[0]), np.nan, np.interp(bases[0], x, y)))


def _rounded(values: Any) -> Values:
    """Round numbers to ten significant digits, to remove rounding errors."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scale = 10.0 ** (10 - np.ceil(np.log10(np.abs(values))))
        return np.asarray(np.where(np.isfinite(scale), np.rint(values * scale) / scale, values))


def _looked_up(table: dict[Any, Any], is_text: bool, bases: list[Values]) -> Values:
    found = [table.get(one) for one in bases[0].tolist()]
    if is_text:
        values = np.empty(len(found), dtype=object)
        values[:] = found
        return values
    return np.array([np.nan if one is None else one for one in found], dtype=np.float64)
