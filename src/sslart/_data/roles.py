"""Roles of columns that are no quantities: likely groups, codes, mostly blank columns; units that rows belong to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sslart._data.columns import (
    BLANK,
    CODES,
    GROUPS,
    ID_OF_UNITS,
    IDENTIFIER,
    MISSING_CODES,
    PLACE_NAME,
    TIME_WORDS,
    UNIT_NAME,
    UNKNOWN,
    ColumnNote,
    spaced_name,
)
from sslart._data.labels import Labels
from sslart._data.samples import Table
from sslart._data.text_parsing import UNKNOWN_WORDS
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.text import list_text, plural
from sslart._utils.validation import MAX_COUNT, check_number, require, saved_whole

MIN_ROWS = 20  # of fewer, nothing is said
MOST_ROWS, MOST_CELLS = 20_000, 2_000_000  # the first: rows of one unit mostly follow each other
MOSTLY = 0.5  # missing: a column of which less than half is known
MOST_OTHERS = 12  # columns in which rows of one value are compared

# of these the numbers are names, though they have digits
CODE_NAME = re.compile(
    r"(.*\s)?(zip|zip\s?code|post\s?code|postal\s?code|plz|sku|fips|icd(9|10)?|naics|sic|area\s?code)"
)
MIN_NAMED_UNITS = 5  # fewer values of a column named as units are categories like others
MIN_UNITS, MIN_TEXTS = 10, 20  # values of a column of another name, or of texts under the bare name of a unit; places
SMALL = 30  # numbers up to here, under the bare name of a unit, may be amounts: years of school, sizes of litters
MIN_REPEATED = 0.1  # share of the rows whose value comes again: of fewer, a column names rows rather than units
MIN_PER_UNIT = 2.0  # rows, on average: of fewer, that rows are alike cannot be seen
REPEATED = 0.8  # of the values come more than once
DENSE = 0.9  # of the whole numbers from 0 or 1 to the highest are there: units are numbered through, quantities are not
BALANCED = 0.5  # numbers of rows of units vary by less, as a share of their mean; those of quantities by more
ALIKE = 0.5  # intraclass correlation from which on rows of one value count as similar, in MIN_ALIKE columns
SMOOTH = 0.5  # of how values of a column follow each other: quantities are near 1, names of units near 0
MIN_ALIKE = 2  # columns
COUNTS_UP, SAME = 0.9, 0.99  # of the steps from row to row; intraclass correlation of what units have throughout

FEW_CODES, MANY_CODES = 5, 12  # values of numbers that may be codes
CODES_ALIKE, CODES_SMOOTH, CODES_COLUMNS = 0.3, 0.0, 3
ROWS_PER_CODE, MIN_PER_CODE = 10, 5  # on average, and of each: a number of few rows shows nothing
GRADES = frozenset({0.0, 0.5, 1.0})  # no, perhaps, yes

# numbers that stand for missing values, where they are far outside the others
_NINES = [float(f"{lead * n}{last}") for n in range(5) for lead, last in (("9", "9"), ("9", "8"), ("9", "7"))]
_REPEATS = [float(str(digit) * n) for digit in (7, 8) for n in range(2, 5)]
CODE_NUMBERS = frozenset(
    {sign * number for number in (*_NINES, *_REPEATS) for sign in (1.0, -1.0)} - {7.0, 8.0, 9.0}
    | {-32768.0, 32767.0, 2.0**31 - 1, -(2.0**31), 999999.0, -999999.0, 99999999.0}
)
MIN_REPEATS = 2
YEARS = frozenset({"year", "years", "yr"})  # in names of columns in which 99 is no missing value

# units that the order of rows or the values of a column make, among the labelled rows
MIN_LABELS = 30  # of fewer labels, the difference between two ways of leaving out cannot be seen
MIN_LABELLED_UNITS = 8  # among the labelled rows: of fewer, their spread is not known
MIN_SHARED = 0.2  # share of the labels whose unit has another one: else leaving out units is leaving out labels
MAX_SHARE = 0.25  # of the labels, in one unit
MOST_CELLS = 10_000_000  # beyond, the order of rows is looked at by blocks only
PERSISTENT = 0.6  # of the changes from row to row that a random order has: a column that changes less often has runs
MIN_RUNS = 10
MOST_COMPARED = 2000  # rows, by which the changes of a random order are estimated
MOST_RESETS = 0.4  # share of the rows at which a counter may fall; in a random order it is a half
BLOCKS = (100, 50, 25)  # contiguous parts of the table
SORTED = 2  # times as many runs of labels as there are classes, at most, in a table sorted by its labels


class Alikeness(NamedTuple):
    """Likeness of rows of one value in another column."""

    within: float  # intraclass correlation
    smooth: float  # near 1 where neighbouring values have similar means, near 0 where they do not


def oddities(table: Table, names: Sequence[str], dates: Container[int] = ()) -> Iterator[ColumnNote]:
    """Yield notes on columns whose values are not what they seem.

    Parameters
    ----------
    table : Table
    names : sequence of str
        Names of the columns to look at; columns beyond are parts of dates.
    dates : container of int
        The columns that hold dates.
    """
    if len(table) < MIN_ROWS:
        return
    plain = [""] * len(names) if table.names is None else list(map(spaced_name, names))  # an array has no names
    numbers = [column for column in range(len(names)) if column not in table.categories and column not in dates]
    some = table[: min(MOST_ROWS, MOST_CELLS // len(names))]
    yield from _groups_and_codes(some, list(zip(names, plain, strict=True)), dates)
    yield from _missing_codes(
        table.values, names, [column for column in numbers if not YEARS.intersection(plain[column].split())]
    )
    for column, values in table.categories.items():
        if column < len(names):
            counts = Counter(one for one in values.tolist() if isinstance(one, str) and one.lower() in UNKNOWN_WORDS)
            if counts:
                words = list_text([repr(one) for one in sorted(counts)])
                yield ColumnNote(UNKNOWN, names[column], f"{words} in {plural(counts.total(), 'row')}")
    for column, name in enumerate(names):
        if column in table.categories:
            n_missing = sum(one is None for one in table.categories[column].tolist())
        else:
            n_missing = int(np.isnan(table.values[:, column]).sum())
        if MOSTLY * len(table) < n_missing < len(table):
            yield ColumnNote(BLANK, name, f"{100 * n_missing / len(table):.0f} % missing")


def _missing_codes(values: FloatArray, names: Sequence[str], numbers: Sequence[int]) -> Iterator[ColumnNote]:
    """Yield a note on each column with numbers such as -999 that are far outside the others, and repeated."""
    for column in numbers:
        own = values[:, column]
        with np.errstate(invalid="ignore"):
            ends = {float(np.fmin.reduce(own)), float(np.fmax.reduce(own))}
        if ends.isdisjoint(CODE_NUMBERS):
            continue
        different, counts = np.unique(own[~np.isnan(own)], return_counts=True)
        is_code = np.array([one in CODE_NUMBERS for one in different.tolist()])
        others = different[~is_code]
        if len(others) < 2:
            continue
        low, high = float(others[0]), float(others[-1])
        far = np.maximum(low - different, different - high) > high - low
        found = is_code & far & (counts >= MIN_REPEATS)
        if found.any():
            shown = list_text([f"{one:g}" for one in different[found]])
            yield ColumnNote(
                MISSING_CODES,
                names[column],
                f"{shown} in {plural(int(counts[found].sum()), 'row')}; all others from {low:g} to {high:g}",
            )


def _groups_and_codes(table: Table, columns: Sequence[tuple[str, str]], dates: Container[int]) -> Iterator[ColumnNote]:
    """Yield notes on likely groups, identifiers and codes; `columns`: their names, and these as words."""
    values, others = table.values, _Others(table, [name for name, _ in columns])
    with np.errstate(invalid="ignore"):
        low = np.fmin.reduce(values, axis=0, initial=np.inf)
        high = np.fmax.reduce(values, axis=0, initial=-np.inf)
    some = values[: 2 * MIN_ROWS]
    is_whole = ((some == np.floor(some)) | np.isnan(some)).all(axis=0)
    for column, (name, words) in enumerate(columns):
        if column in table.categories:
            if (detail := _texts_group(table.categories[column].tolist(), words)) is not None:
                yield ColumnNote(GROUPS, name, detail)
            continue
        if column in dates or not (low[column] < high[column]):
            continue
        if low[column] == 0 and high[column] == 1:
            if set(values[~np.isnan(values[:, column]), column].tolist()) == GRADES:
                yield ColumnNote(CODES, name, "0, 0.5 and 1 only")
            continue
        if not is_whole[column]:
            continue
        is_named = UNIT_NAME.fullmatch(words) or CODE_NAME.fullmatch(words)
        may_be_numbered = low[column] in (0.0, 1.0) and high[column] < len(values) / MIN_PER_UNIT
        may_be_code = high[column] - low[column] < 2 * MANY_CODES
        if not (is_named or may_be_numbered or may_be_code) or (
            not is_named and TIME_WORDS.intersection(words.split())
        ):
            continue
        own = values[:, column]
        known = ~np.isnan(own)
        if (own[known] != np.floor(own[known])).any():
            continue
        different, at = np.unique(own[known], return_inverse=True)
        counts = np.bincount(at)
        if CODE_NAME.fullmatch(words):
            if len(different) > 2:
                yield ColumnNote(CODES, name, f"whole numbers such as {different[0]:.0f}, by its name")
        elif UNIT_NAME.fullmatch(words):
            may_be_units = ID_OF_UNITS.fullmatch(words) or _may_name_units(different, counts)
            if not may_be_units or not MIN_NAMED_UNITS <= len(different) < counts.sum():
                continue
            if counts[counts > 1].sum() < MIN_REPEATED * counts.sum():
                yield ColumnNote(IDENTIFIER, name, _in_words(counts))
            elif not _restarts(at) or any(one.within >= SAME for one in _found(others, column, known, at)):
                yield ColumnNote(GROUPS, name, _in_words(counts))
        elif len(different) > MANY_CODES or may_be_numbered:
            if (
                len(different) >= MIN_UNITS
                and _is_numbered(different, counts)
                and _are_alike(_found(others, column, known, at))
            ):
                yield ColumnNote(GROUPS, name, _in_words(counts))
            elif len(different) <= MANY_CODES and _are_codes(others, column, known, at, counts):
                yield ColumnNote(CODES, name, f"{len(different)} whole numbers in no order")
        elif _are_codes(others, column, known, at, counts):
            yield ColumnNote(CODES, name, f"{len(different)} whole numbers in no order")


def _texts_group(values: Sequence[Any], words: str) -> str | None:
    """Return the numbers of values and rows of a column of text that names units; None if it does not.

    A text whose name tells nothing is a category that further rows have too, however alike its rows are.
    """
    sizes = np.array(list(Counter(one for one in values if one is not None).values()))
    if UNIT_NAME.fullmatch(words):
        fewest = MIN_NAMED_UNITS if ID_OF_UNITS.fullmatch(words) else MIN_UNITS
        return _in_words(sizes) if fewest <= len(sizes) < sizes.sum() else None
    return _in_words(sizes) if PLACE_NAME.fullmatch(words) and len(sizes) >= MIN_TEXTS and _are_units(sizes) else None


def _in_words(counts: IntArray) -> str:
    return f"{len(counts)} values in {int(counts.sum())} rows"


def _are_units(counts: IntArray) -> bool:
    """Return True if values repeat, each about as often."""
    return bool(
        counts.mean() >= MIN_PER_UNIT and (counts > 1).mean() >= REPEATED and counts.std() <= BALANCED * counts.mean()
    )


def _may_name_units(different: FloatArray, counts: IntArray) -> bool:
    """Return False for numbers so small that they may be amounts, unless these number units through."""
    return bool(different[-1] > SMALL) or _is_numbered(different, counts)


def _is_numbered(different: FloatArray, counts: IntArray) -> bool:
    """Return True if values number units through, each of which has about as many rows."""
    return bool(different[0] <= 1 and len(different) >= DENSE * (different[-1] - different[0] + 1)) and _are_units(
        counts
    )


def _restarts(at: IntArray) -> bool:
    """Return True if numbers count up from row to row and start again: they may number the rows of something else."""
    return float(np.mean(np.diff(at) == 1)) >= COUNTS_UP


def _are_alike(found: Sequence[Alikeness]) -> bool:
    """Return True if rows of one value are alike, and those of neighbouring values no more than any."""
    alike = [one for one in found if one.within >= ALIKE]
    apart = sum(one.smooth < SMOOTH for one in alike)
    return len(alike) >= MIN_ALIKE and 2 * apart >= len(alike) and 3 * len(alike) >= len(found)


def _are_codes(others: _Others, column: int, known: BoolArray, at: IntArray, counts: IntArray) -> bool:
    """Return True if few numbers tell much of other numbers, and their order nothing."""
    is_shown = counts.min() >= MIN_PER_CODE and counts.mean() >= ROWS_PER_CODE
    if not (FEW_CODES <= len(counts) <= MANY_CODES and is_shown):
        return False
    found = [one for one in _found(others, column, known, at, numbers=True) if one.within >= CODES_ALIKE]
    return len(found) >= CODES_COLUMNS and float(np.median([one.smooth for one in found])) < CODES_SMOOTH


def _found(
    others_of: _Others, column: int, known: BoolArray, at: IntArray, *, numbers: bool = False
) -> list[Alikeness]:
    """Return the likeness of rows of one value of a column in some others; with `numbers` in those of many numbers."""
    found = []
    for other in others_of.columns:
        ranks = others_of.ranks(other)
        if other != column and (not numbers or ranks.n_numbers > MANY_CODES):
            one = _alikeness(at, ranks.values[known])
            if one is not None:
                found.append(one)
    return found


class _Ranks(NamedTuple):
    values: FloatArray
    n_numbers: int  # that differ; 0 of categories


class _Others:
    """The columns in which rows of one value are compared, each ranked once."""

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self._table, self._ranks = table, dict[int, _Ranks]()
        self.columns = list(range(0, len(names), (len(names) - 1) // MOST_OTHERS + 1))

    def ranks(self, column: int) -> _Ranks:
        """Return ranks of the numbers of a column, or for categories which rows have the most frequent one."""
        if column not in self._ranks:
            self._ranks[column] = _as_numbers(self._table, column)
        return self._ranks[column]


def _as_numbers(table: Table, column: int) -> _Ranks:
    """Return ranks of the numbers of a column, or for categories which rows have the most frequent one."""
    if column in table.categories:
        values = table.categories[column]
        counts = Counter(one for one in values.tolist() if one is not None)
        most = counts.most_common(1)[0][0] if counts else None
        return _Ranks(np.array([np.nan if one is None else float(one == most) for one in values.tolist()]), 0)
    own = table.values[:, column]
    different, ranks = np.unique(own, return_inverse=True)
    return _Ranks(np.where(np.isnan(own), np.nan, ranks.astype(np.float64)), int((different == different).sum()))


def _alikeness(at: IntArray, values: FloatArray) -> Alikeness | None:
    """Return the likeness of values of one place by the analysis of variance; None for too few values."""
    known = ~np.isnan(values)
    at, values = at[known], values[known]
    if len(values) < MIN_ROWS or values.min() == values.max():
        return None
    sizes = np.bincount(at)
    means = np.bincount(at, values)[sizes > 0] / sizes[sizes > 0]
    sizes = sizes[sizes > 0]
    n, k = len(values), len(sizes)
    if k < 3 or n <= k:
        return None
    between = float((sizes * (means - values.mean()) ** 2).sum())
    inside = max(float(((values - values.mean()) ** 2).sum()) - between, 0.0)
    of_means, of_rows = between / (k - 1), inside / (n - k)
    per_place = (n - (sizes**2).sum() / n) / (k - 1)
    whole = of_means + (per_place - 1) * of_rows
    variance = float(means.var())
    smooth = 1.0 - float((np.diff(means) ** 2).mean()) / 2.0 / variance if variance > 0 else 1.0
    return Alikeness((of_means - of_rows) / whole if whole > 0 else 0.0, smooth)


class Units(NamedTuple):
    """A way in which rows may belong together."""

    column: str | None  # the column whose values name the units; None: they follow from the order of rows
    order: str  # how they follow from it, in words
    is_named: bool  # whether the column has the name of an identifier of units, or is left out
    keys: IntArray  # a number for each labelled row, the same for rows of one unit
    place: int | None = None  # of the column among those that are learnt

    def is_likely(self, columns: Container[str]) -> bool:
        """Return False for the values of a feature; `columns`: those that are likely groups by their values."""
        return self.column is None or self.is_named or self.column in columns

    def of(self, places: IntArray) -> Units:
        """Return the units of some of the labelled rows."""
        return self._replace(keys=self.keys[places])


@dataclass(frozen=True)
class Dependence:
    """Dependence between rows that was found in the data: rows of one unit are more alike than others.

    Attributes
    ----------
    column : str or None
        The column whose values name the units; None where they follow from the order of the rows.
    order : str
        How units follow from the order of the rows; empty where a column names them.
    n_units : int
        Units among the labelled rows.
    accuracy_alone : float
        Accuracy with each label left out by itself: too high for rows of new units.
    """

    column: str | None
    order: str
    n_units: int
    accuracy_alone: float

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Dependence:
        """Restore the dependence from a saved state after validating it."""
        column, order, alone = state["column"], state["order"], state["accuracy_alone"]
        is_named = isinstance(column, str) and order == ""
        require(is_named or (column is None and isinstance(order, str) and order), "the dependence between rows")
        check_number("the dependence between rows", "accuracy_alone", alone, 0, 1)
        return cls(column, order, saved_whole(state, "n_units", 1, MAX_COUNT), alone)

    @property
    def units(self) -> str:
        """The units in words."""
        return self.order if self.column is None else f"values of {self.column!r}"

    def __str__(self) -> str:
        remedy = "name the column of the units" if self.column is None else "confirm it"
        option = f"--group {'COLUMN' if self.column is None else self.column}"
        return (
            f"{self.n_units} {self.units} were left out one after the other, since rows of one are more alike than "
            f"others; for further rows of the same ones accuracy is {100 * self.accuracy_alone:.1f} %; {remedy} with "
            f"{option}, or groups= in Python"
        )


def units_of(
    table: Table, labels: Labels, names: Sequence[str], dates: Container[int], others: Mapping[str, NDArray[Any]]
) -> tuple[Units, ...]:
    """Return candidate units of a training table, without those that group the labelled rows as earlier ones do.

    Parameters
    ----------
    table : Table
        In the order in which the user gave it.
    labels : Labels
    names : sequence of str
        Names of the columns that were given; columns of the table beyond are parts of dates.
    dates : container of int
        The columns that hold dates.
    others : mapping from str to array of length n_samples
        Values of columns that are not learnt.
    """
    known = np.flatnonzero(labels.known)
    if len(known) < MIN_LABELS:
        return ()
    found: dict[bytes, Units] = {}
    for one in _candidates(table, labels, known, names, dates, others):
        _, first, place = np.unique(one.keys, return_index=True, return_inverse=True)
        if may_show(place):
            found.setdefault(np.argsort(np.argsort(first))[place].tobytes(), one)
    return tuple(found.values())


def may_show(units: IntArray) -> bool:
    """Return True if dependence within units could be seen: there are many, and many labels share one."""
    sizes = np.bincount(units)
    shared = sizes[sizes > 1].sum()
    return bool(
        len(sizes) >= MIN_LABELLED_UNITS and shared >= MIN_SHARED * len(units) and sizes.max() <= MAX_SHARE * len(units)
    )


def _candidates(
    table: Table,
    labels: Labels,
    known: IntArray,
    names: Sequence[str],
    dates: Container[int],
    others: Mapping[str, NDArray[Any]],
) -> Iterator[Units]:
    """Yield units by values of columns, named ones first, and by runs, falling counters and blocks of rows."""
    columns: dict[str, NDArray[Any]] = {
        name: table.categories[place] if place in table.categories else table.values[:, place]
        for place, name in enumerate(names)
    }
    columns.update(others)
    is_named = {  # an array has no names of columns
        name: name in others or (table.names is not None and UNIT_NAME.fullmatch(spaced_name(name)) is not None)
        for name in columns
    }
    texts = {name for place, name in enumerate(names) if place in table.categories}
    for name in sorted(columns, key=lambda one: not is_named[one]):
        # a text whose name tells nothing is a category that further rows have too
        if is_named[name] or name not in texts:
            place = None if name in others else names.index(name)
            yield Units(name, "", is_named[name], _numbered(columns[name][known]), place)
    if _are_sorted(labels):
        return
    if table.values.size <= MOST_CELLS:
        counters = {name for place, name in enumerate(names) if place not in table.categories and place not in dates}
        for name, values in columns.items():
            if (runs := _runs(values)) is not None:
                yield Units(None, f"runs of rows with one value of {name!r}", False, runs[known])
            if name in counters and (resets := _resets(values)) is not None:
                yield Units(None, f"runs of rows in which {name!r} rises", False, resets[known])
    for n_blocks in BLOCKS:
        if len(table) > 2 * n_blocks:
            order = f"blocks of about {len(table) / n_blocks:.0f} neighbouring rows"
            yield Units(None, order, False, known * n_blocks // len(table))


def _numbered(values: NDArray[Any]) -> IntArray:
    """Return a number for each value; missing values are one."""
    if values.dtype != object:
        return np.unique(values, return_inverse=True)[1]
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values.tolist()], dtype=np.int64)


def _are_sorted(labels: Labels) -> bool:
    """Return True if the labelled rows come class by class: blocks of rows then differ because classes do."""
    values = labels.values[labels.known]
    classes, codes = np.unique(values.astype(str), return_inverse=True)
    return bool(1 + np.count_nonzero(np.diff(codes)) <= SORTED * len(classes))


def _runs(values: NDArray[Any]) -> IntArray | None:
    """Return the number of the run of equal values that each row is in; None where a random order has such runs too."""
    changes = values[1:] != values[:-1]
    if changes.sum() < MIN_RUNS:
        return None
    some = _numbered(values[:: len(values) // MOST_COMPARED + 1])
    by_chance = 1.0 - float(((np.bincount(some) / len(some)) ** 2).sum())
    return np.concatenate([[0], np.cumsum(changes)]) if changes.mean() < PERSISTENT * by_chance else None


def _resets(values: FloatArray) -> IntArray | None:
    """Return the number of decreases of a column up to each row; None if it does not count within units."""
    falls, rises = values[1:] < values[:-1], values[1:] > values[:-1]
    if falls.sum() < MIN_RUNS or falls.mean() >= MOST_RESETS or rises.sum() <= 1.5 * falls.sum():
        return None
    return np.concatenate([[0], np.cumsum(falls)])
