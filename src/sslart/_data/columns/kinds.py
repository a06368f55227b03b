"""Columns that name samples, and free text: they are recognised by their values and names."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.columns.frames import dtype_name
from sslart._data.columns.notes import LEFT_OUT, ColumnNote
from sslart._utils.arrays import FloatArray

FREE_TEXT, IDENTIFIER = "free text", "identifier"

MIN_SAMPLES = 20  # of fewer, values that all differ mean nothing
MANY = 50  # categories of which most come once name samples
LONG = 40  # characters on average
WORDS = 5  # on average
NAMED_AS_IDS = re.compile(r"(.*[\s_.-])?(id|ids|index|idx|key|nr|no|number|row|rowid|rownames?|unnamed.*|uuid|guid)")


def kind_of_text(values: Sequence[Any]) -> str | None:
    """Classify a text column (None where missing) that is useless as a feature.

    Returns
    -------
    "free text", "identifier" or None
    """
    known = [value for value in values if isinstance(value, str)]
    n_different = len(set(known))
    if len(known) < MIN_SAMPLES or n_different <= len(known) / 2:
        return None
    some = known[:1000]
    is_long = sum(map(len, some)) > LONG * len(some) or sum(len(value.split()) for value in some) > WORDS * len(some)
    if is_long:
        return FREE_TEXT
    return IDENTIFIER if n_different == len(known) or n_different > MANY else None


def numbers_samples(values: FloatArray, name: str | None) -> bool:
    """Return True if a numeric column seems to enumerate the samples: whole numbers that all differ.

    They are consecutive, or the name is that of an identifier.
    """
    known = values[~np.isnan(values)]
    some = known[:100]
    if len(known) < MIN_SAMPLES or (some != np.floor(some)).any() or len(np.unique(some)) < len(some):
        return False
    if (known != np.floor(known)).any():
        return False
    ascending = np.sort(known)
    steps = np.diff(ascending)
    if (steps == 0).any():
        return False
    in_order = bool((steps == 1).all()) and bool((np.diff(known) == 1).all() or (np.diff(known) == -1).all())
    return in_order or (name is not None and is_named_as_id(name))


def is_named_as_id(name: str) -> bool:
    """Return True if the name of a column is that of an identifier.

    Examples
    --------
    >>> from sslart._data.columns.kinds import is_named_as_id
    >>> [is_named_as_id(name) for name in ("id", "Patient ID", "customerId", "row_no", "width", "void")]
    [True, True, True, True, False, False]
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return NAMED_AS_IDS.fullmatch(spaced.strip().lower()) is not None


def texts_to_leave_out(given: list[tuple[str, Any]], columns: Sequence[NDArray[Any]]) -> dict[int, ColumnNote]:
    """Return notes on the columns of text that no model can learn from, by position; warn of them."""
    found = {}
    for position, ((name, column), values) in enumerate(zip(given, columns, strict=True)):
        if values.dtype == object and dtype_name(column).startswith(("object", "str", "utf8")):
            kind = kind_of_text(values.tolist())
            if kind is not None:
                found[position] = ColumnNote(LEFT_OUT, name, kind)
    if len(found) == len(given):
        return {}
    for name, kind in ((note.column, note.detail) for note in found.values()):
        cure = (
            "turn it into numbers with a vectoriser, such as TfidfVectorizer in a ColumnTransformer"
            if kind == FREE_TEXT
            else "give it the pandas dtype 'category'"
        )
        warnings.warn(
            f"Column {name!r} is left out: {'it is free text' if kind == FREE_TEXT else 'its values name samples'}. To "
            f"use it, {cure}.",
            UserWarning,
            stacklevel=5,
        )
    return found
