"""Columns of a table: access to data frames, identifiers and free text, notes, and the plan for reading them."""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._utils.arrays import FloatArray
from sslart._utils.text import DateName, DatePart, list_text, printable
from sslart._utils.validation import require

PARTS = ("hour", "weekday", "month")  # of a date, as further columns
ATTRIBUTE = "_column_plan"  # of an estimator

CONSTANT, LEFT_OUT, LEAK = "constant columns", "columns left out", "likely leaks"
TWICE, IDENTIFIER = "columns counted twice", "possible identifiers"
AS_DATES, AS_NUMBERS = "texts read as dates or times", "texts read as numbers"
AS_MISSING = "texts treated as missing"
CODES, GROUPS, MISSING_CODES = "possible codes", "likely groups", "possible codes for missing values"
UNKNOWN, BLANK = "categories for unknown values", "mostly blank columns"
APART = "labelled rows differ"
MEANINGS = {  # by topic, in the order in which they are shown
    CONSTANT: ": one value throughout, not used",
    LEFT_OUT: "",
    AS_DATES: "",
    AS_NUMBERS: "",
    AS_MISSING: "",
    LEAK: ": check that they are known before the class is; if not, leave them out",
    TWICE: ": leave one of each pair out",
    IDENTIFIER: ": leave them out if they only number the samples",
    GROUPS: ": if rows of one value belong together, give --group COLUMN, or fit(X, y, groups=...) without it in X",
    CODES: ": if their order means nothing, give --category COLUMN, or the dtype 'category'; else --number COLUMN",
    MISSING_CODES: ": leave these cells blank (NaN) if they stand for missing values",
    UNKNOWN: ": leave these cells blank if they stand for missing values",
    APART: ": figures of quality hold for rows like the labelled ones",
    BLANK: ": leave them out if they are of no use (--ignore COLUMN, or X.drop(columns=...))",
}
TOPICS = tuple(MEANINGS)
SHOWN_COLUMNS = 10

MARKED = "?"  # not a unit: see `ColumnPlan.texts`
FREE_TEXT, HARDLY_REPEATS = "free text", "hardly repeats a value"
NAMES_SAMPLES, NUMBERS_SAMPLES = "names the rows", "numbers the rows"
CURES = {  # by reason: the reason in words, and how to use the column all the same
    FREE_TEXT: (
        "it is free text",
        "turn it into numbers with a vectoriser, such as TfidfVectorizer in a ColumnTransformer",
    ),
    NAMES_SAMPLES: ("its values name samples", "give it the pandas dtype 'category'"),
    HARDLY_REPEATS: ("its values hardly repeat", "give it the pandas dtype 'category'"),
    NUMBERS_SAMPLES: ("its values number samples", "give it the dtype float"),
}
MIN_SAMPLES = 20  # with fewer samples, all values of a column may differ by chance
MANY = 50  # categories are of no use if most rows have one that occurs once
ALONE = 2 / 3  # share of the rows with a value of their own, from which on values hardly repeat
YEARS = (1500, 2100)  # consecutive numbers in between are years, not row numbers
# in the name of a column whose numbers follow each other because time does
TIME_WORDS = frozenset(
    {"time", "t", "year", "years", "yr", "month", "months", "week", "weeks", "day", "days", "date", "hour", "hours"}
    | {"hr", "minute", "minutes", "min", "second", "seconds", "sec", "age", "period", "quarter", "trial", "visit"}
    | {"wave", "round", "order", "seq", "sequence", "step", "cycle", "epoch", "rank"}
)
LONG, WORDS = 40, 5  # characters and words on average
# A column of one of these names says which unit a row belongs to, where its values repeat.
_UNITS = (
    "patient|subject|subj|participant|respondent|person|individual|animal|rat|mouse|dog|cow|pig|monkey|mare|tree|"
    "student|pupil|school|teacher|hospital|clinic|centre|center|site|batch|lot|plate|machine|device|sensor|household|"
    "family|litter|herd|farm|plot|block|firm|company|store|customer|client|user|account|session|donor|worker|driver|"
    "player|brood|nest|specimen"
)
_SHORT = "pat|sch|dist|district|hh|pers|fam|stud|state|county|country|cust|emp|case|record|sample|org|group|cluster"
_NUMBERED = r"(id|ids|uuid|guid|nr|no|num|number|code)"
_ID_OF_UNIT = rf"(.*\s)?({_UNITS}|{_SHORT})\s?{_NUMBERED}"
ID_OF_UNITS = re.compile(rf"(.*\s)?(uuid|guid|id)|{_ID_OF_UNIT}")
UNIT_NAME = re.compile(rf"{_UNITS}|{ID_OF_UNITS.pattern}")  # a plural is a number of them
NAMED_AS_IDS = re.compile(
    r"(.*\s)?(id|ids|index|idx|key|nr|no|number|row|rowid|rownames?|unnamed.*|uid|uuid|guid)|id\s?(nr|no|num|number)"
    rf"|{_ID_OF_UNIT}"
)
# texts of these names are units where they come about equally often, as in a panel; elsewhere they are categories
PLACE_NAME = re.compile(r"(country|state|province|region|county|city|municipality|town|iso[23]?c?)(\s(name|code).*)?")
MAY_MEASURE = frozenset({"index", "key", "no", "number"})  # alone, such as prices, nitric oxide, counts
NO_NAME = re.compile(r"column \d+")  # of a column of a file whose header is blank there


def is_frame(X: Any) -> bool:
    """Return True if X is a data frame, with a type for each column."""
    # of the class first: pandas computes the types when an instance is looked at
    return hasattr(X, "columns") and (hasattr(type(X), "dtypes") or hasattr(X, "dtypes"))


def columns_of(frame: Any) -> list[tuple[str, Any]]:
    """Return the (name, column) pairs of a pandas frame, where names may repeat, or of a polars frame."""
    pairs = frame.items() if hasattr(frame, "items") else ((name, frame[name]) for name in frame.columns)
    return [(str(name), column) for name, column in pairs]


def has_columns(frame: Any, names: Sequence[str] | None, n_columns: int) -> bool:
    """Return True if a frame has these columns in this order, or `n_columns` unnamed ones if `names` is None."""
    columns = frame.columns
    if names is None:
        return type(columns) is range and len(columns) == n_columns
    return (columns.tolist() if hasattr(columns, "tolist") else list(columns)) == names


def values_of(X: Any, names: Sequence[str]) -> NDArray[Any] | None:
    """Return the values of a pandas frame with exactly these columns; None for anything else."""
    pandas = sys.modules.get("pandas")  # no frame can be made without it, and loading it takes time
    if pandas is None or type(X) is not pandas.DataFrame or not has_columns(X, names, len(names)):
        return None
    values: NDArray[Any] = X.to_numpy()
    return values


def array_of(column: Any) -> NDArray[Any]:
    """Return the values of a column of a frame."""
    # same result as np.asarray, which tries other protocols first and is several times slower for few rows
    return column.to_numpy() if type(column).__module__.startswith("pandas.") else np.asarray(column)


def dtype_name(column: Any) -> str:
    """Return the name of the type of a column in lower case; empty where it has none."""
    dtype = getattr(column, "dtype", "")
    return _numpy_name(dtype) if isinstance(dtype, np.dtype) else str(dtype).lower()


@cache
def _numpy_name(dtype: np.dtype[Any]) -> str:
    return str(dtype).lower()


def is_numeric(column: Any) -> bool:
    """Return True if a column has a numeric type."""
    return dtype_name(column).startswith(("int", "uint", "float", "double"))


def is_integer(column: Any) -> bool:
    """Return True if a column has a type of whole numbers."""
    return dtype_name(column).startswith(("int", "uint"))


def is_untyped(column: Any) -> bool:
    """Return True if the dtype of a column does not determine the types of its values, as with dtype object."""
    return dtype_name(column).startswith(("object", "null"))


def is_text(column: Any) -> bool:
    """Return True if a column may hold text: its dtype is text or object."""
    return dtype_name(column).startswith(("object", "str", "utf8", "large_string"))


@dataclass(frozen=True)
class ColumnNote:
    """A note about a column, such as a likely leak.

    Attributes
    ----------
    topic : str
        One of `TOPICS`, such as "constant columns", "columns left out", "likely leaks" or "likely groups".
    column : str
        Name of the column.
    detail : str
        What is special about it.
    """

    topic: str
    column: str
    detail: str

    def __str__(self) -> str:
        return f"{printable(self.column)} ({self.detail})" if self.detail else printable(self.column)


def by_topic(notes: Iterable[ColumnNote]) -> dict[str, str]:
    """Return the notes as one line per topic."""
    found: dict[str, list[str]] = {}
    for note in notes:
        found.setdefault(note.topic, []).append(str(note))
    return {
        topic: list_text(found[topic], SHOWN_COLUMNS) + meaning for topic, meaning in MEANINGS.items() if topic in found
    }


def kind_of_text(values: Sequence[Any]) -> str | None:
    """Return the reason why a column of text is useless as a feature, else None."""
    known = [value for value in values if isinstance(value, str)]
    counts = Counter(known)
    n_different = len(counts)
    if len(known) < MIN_SAMPLES or n_different <= len(known) / 2:
        return None
    some = known[:1000]
    if sum(map(len, some)) > LONG * len(some) or sum(len(value.split()) for value in some) > WORDS * len(some):
        return FREE_TEXT
    if n_different == len(known):
        return NAMES_SAMPLES
    n_alone = sum(n == 1 for n in counts.values())
    return HARDLY_REPEATS if n_different > MANY and n_alone >= ALONE * len(known) else None


def why_useless(name: str, values: NDArray[Any]) -> str | None:
    """Return the reason why no model can learn from a column of text or numbers; None if there is none.

    Numbers that all differ need the name of an identifier or of a unit too, or none.
    """
    if values.dtype == object:
        return kind_of_text(values.tolist())
    words = spaced_name(name)
    is_named = NAMED_AS_IDS.fullmatch(words) or UNIT_NAME.fullmatch(words) or NO_NAME.fullmatch(words)
    return NUMBERS_SAMPLES if is_named and numbers_samples(values, name) else None


def numbers_samples(values: FloatArray, name: str | None) -> bool:
    """Return True if a numeric column seems to enumerate the samples: whole numbers that all differ.

    They are consecutive (in order, or from 0 or 1 in any order), or the column is named as an identifier. Years, and
    columns named as a time or a rank, do not count.
    """
    known = values[~np.isnan(values)]
    some = known[:100]
    if len(known) < MIN_SAMPLES or (some != np.floor(some)).any() or len(np.unique(some)) < len(some):
        return False
    steps = np.diff(np.sort(known))
    if (known != np.floor(known)).any() or (steps == 0).any():
        return False
    if name is not None and is_named_as_id(name) and name.lower() not in MAY_MEASURE:
        return True
    lowest, highest = known.min(), known.max()
    if (YEARS[0] <= lowest and highest <= YEARS[1]) or not (steps == 1).all():
        return False
    in_order = bool((np.diff(known) == 1).all() or (np.diff(known) == -1).all())
    is_time = name is not None and not TIME_WORDS.isdisjoint(spaced_name(name).split())
    return not is_time and (in_order or lowest in (0, 1))


def is_named_as_id(name: str) -> bool:
    """Return True if the name of a column is that of an identifier.

    >>> [is_named_as_id(name) for name in ("id", "Patient ID", "customerId", "row_no", "width", "void")]
    [True, True, True, True, False, False]
    """
    return NAMED_AS_IDS.fullmatch(spaced_name(name)) is not None


def spaced_name(name: str) -> str:
    """Return the name of a column as words in lower case.

    >>> spaced_name("schoolId"), spaced_name("Patient.no")
    ('school id', 'patient no')
    """
    return " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|[\s_.-]+", " ", name).lower().split())


def columns_to_leave_out(
    given: list[tuple[str, Any]], columns: Sequence[NDArray[Any]], *, numbers: bool
) -> dict[int, ColumnNote]:
    """Return notes on the columns of text, and of whole numbers, that no model can learn from; warn of them.

    Parameters
    ----------
    given : list of (str, column)
        As the user gave them: other types, such as float, say that a column is to be learnt from.
    columns : sequence of array
        Their values as they were read.
    numbers : bool
        Whether to look at whole numbers too.

    Returns
    -------
    dict from int to ColumnNote
        By position; empty if no column remained.
    """
    found = {}
    for position, ((name, column), values) in enumerate(zip(given, columns, strict=True)):
        may_be_useless = is_text(column) if values.dtype == object else numbers and is_integer(column)
        if may_be_useless and (why := why_useless(name, values)) is not None:
            found[position] = ColumnNote(LEFT_OUT, name, why)
    if len(found) == len(given):
        return {}
    for note in found.values():
        why, cure = CURES[note.detail]
        warnings.warn(f"Column {note.column!r} is left out: {why}. To use it, {cure}.", UserWarning, stacklevel=5)
    return found


def with_part_names(names: Sequence[str], columns: Sequence[int]) -> list[str]:
    """Return the names of columns, followed by those of the parts of dates."""
    own = [DateName(name) if column in columns else name for column, name in enumerate(names)]
    return [*own, *(DatePart(f"{part} of {names[column]}") for column in columns for part in PARTS)]


@dataclass(frozen=True)
class ColumnPlan:
    """Plan for reading the columns of a table.

    Attributes
    ----------
    dates : tuple of int
        The columns that hold dates or times.
    left_out : tuple of int
        The varying columns that are not used as features: identifiers and free text.
    notes : tuple of ColumnNote
    day_first : tuple of int
        Columns of dates written as text with the day before the month, such as 31/12/2021.
    monthly : tuple of int
        Columns of dates that are all the first day of a month, and so stand for months or years, without a weekday.
    texts : tuple of (int, str)
        Columns of text that are not read as they are: those of numbers with their unit, which may be empty; those of
        categories in which markers such as "n/a" stand for missing values with `MARKED`.
    """

    dates: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()
    notes: tuple[ColumnNote, ...] = ()
    day_first: tuple[int, ...] = ()
    monthly: tuple[int, ...] = ()
    texts: tuple[tuple[int, str], ...] = ()

    def n_columns(self, n_given: int) -> int:
        """Return the number of columns of a table with `n_given` given columns, including the parts of dates."""
        return n_given + len(self.dates) * len(PARTS)

    def parts_of_dates(self, n_given: int) -> dict[int, range]:
        """Return the columns of the parts of each date, by the column of the date."""
        starts = range(n_given, self.n_columns(n_given), len(PARTS))
        return {column: range(start, start + len(PARTS)) for column, start in zip(self.dates, starts, strict=True)}

    def names(self, given: Sequence[str]) -> list[str]:
        """Return the names of all columns, the parts of dates included."""
        return with_part_names(given, self.dates)

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: plain values."""
        return {
            "dates": list(self.dates),
            "left_out": list(self.left_out),
            "notes": [[note.topic, note.column, note.detail] for note in self.notes],
            "day_first": list(self.day_first),
            "monthly": list(self.monthly),
            **({"texts": [list(one) for one in self.texts]} if self.texts else {}),
        }

    @classmethod
    def from_state(cls, state: Any, n_given: int) -> ColumnPlan:
        """Restore the plan from a saved state after validating it."""
        dates, left_out, day_first, monthly = (
            tuple(state[name]) for name in ("dates", "left_out", "day_first", "monthly")
        )
        texts = tuple((column, how) for column, how in state.get("texts", []))
        columns = (*dates, *left_out, *(column for column, _ in texts))
        require(
            all(type(column) is int and 0 <= column < n_given for column in columns)
            and len(set(columns)) == len(columns)
            and dates == tuple(sorted(dates))
            and set(dates).issuperset(day_first + monthly)
            and all(type(how) is str for _, how in texts),
            "the columns",
        )
        notes = []
        for topic, *words in state["notes"]:
            require(
                topic in TOPICS and len(words) == 2 and all(type(one) is str for one in words), "the notes on columns"
            )
            notes.append(ColumnNote(topic, *words))
        return cls(dates, left_out, tuple(notes), day_first, monthly, texts)


NO_PLAN = ColumnPlan()
