"""Categories that arrive in another type than they were learnt in, such as True for the text "True"."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.samples import Table

TEXT_OR_NONE = frozenset({str, type(None)})


def as_known_texts(table: Table, known_in: Callable[[int], Collection[Any]]) -> Table:
    """Replace each unknown category by its text where that text is a known category.

    A column may have been learnt from a file of texts, and come as booleans or numbers later. A text is known that was
    learnt, or that an earlier sample of the table has, so that it does not matter how a stream is cut.

    Parameters
    ----------
    table : Table
    known_in : callable
        Returns the categories that were learnt of a column.
    """
    if not table.categories:
        return table
    changed = {}
    for column, values in table.categories.items():
        if TEXT_OR_NONE.issuperset(map(type, values)):
            continue
        texts = _texts(values, known_in(column))
        if texts:
            changed[column] = np.array([texts.get((type(one), one), one) for one in values], dtype=object)
    return replace(table, categories={**table.categories, **changed}) if changed else table


def _texts(values: NDArray[np.object_], known: Collection[Any]) -> dict[tuple[type, Any], str]:
    """Return the text that each category stands for, by its type and value, where that text is known and it is not."""
    found, met = {}, set(known)
    for kind, value in dict.fromkeys((type(one), one) for one in values):
        if value is None or value in met:
            continue
        text = _text(value)
        if text in met:
            found[kind, value] = text
        else:
            met.add(value)
    return found


def _text(value: Any) -> str:
    """Return a category as a file of texts has it: a whole number without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
