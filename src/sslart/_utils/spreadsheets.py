"""Text in CSV files that a spreadsheet would compute: marked as text when it is written, unmarked when it is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

MARK = "'"  # before a cell it stands for text in every spreadsheet
_HIDDEN = r"[\x00-\x08\x0b\x0c\x0e-\x20\x7f-\xa0\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*"
_NUMBER = r"[+-](?:\d+(?:[.,]\d+)*[.,]?|[.,]\d+)(?:[eE][+-]?\d+)?\s?%?"
_END = r"(?=[;\t\r\n]|\Z)"
_FORMULA = rf"{_HIDDEN}(?:[=@＝＠]|(?!(?:{_NUMBER}|[+-]+){_END})[+\-＋－])"
# A cell may be cut by a spreadsheet that separates cells by something else than this file does.
_START = r"(?:(?<![\s\S])|(?<=[;\t\r\n]))"
_UNMARKED = re.compile(rf"(?:{_START}(?='*{_FORMULA})|(?<![\s\S])(?='*[\t\r\n]))")
_MARKED = re.compile(rf"(?:{_START}'(?='*{_FORMULA})|(?<![\s\S])'(?='*[\t\r\n]))")


def as_text_cell(text: str) -> str:
    """Return the text of a cell such that no spreadsheet takes it for a formula.

    An apostrophe comes before a cell that begins with one of ``= + - @``, a tab or a line break, and inside a cell
    where a spreadsheet that cuts lines at semicolons or tabs would see such a beginning. Numbers and single signs stay
    as they are. `of_text_cell` gives back the text.

    Examples
    --------
    >>> from sslart._utils.spreadsheets import as_text_cell
    >>> [as_text_cell(text) for text in ("=1+1", "-1", "+5", "-", "-low", "a;=b", "x=1")]
    ["'=1+1", '-1', '+5', '-', "'-low", "a;'=b", 'x=1']
    """
    return _UNMARKED.sub(MARK, text)


def of_text_cell(text: str) -> str:
    """Return the text that `as_text_cell` was given.

    Examples
    --------
    >>> from sslart._utils.spreadsheets import of_text_cell
    >>> [of_text_cell(text) for text in ("'=1+1", "-1", "a;'=b", "'quoted'")]
    ['=1+1', '-1', 'a;=b', "'quoted'"]
    """
    return _MARKED.sub("", text) if MARK in text else text


def with_texts(frame: Any, change: Callable[[str], str]) -> Any:
    """Return a frame with all its texts changed: those of its cells, and the names of its columns."""
    changed = frame.rename(columns=lambda name: change(str(name)))
    for place, kind in enumerate(frame.dtypes):
        if kind.kind not in "biufc":
            column = frame.iloc[:, place]
            cells = column.tolist()
            texts = {cell: change(cell) for cell in {cell for cell in cells if isinstance(cell, str)}}
            changed.isetitem(place, type(column)([texts.get(cell, cell) for cell in cells], column.index, dtype=object))
    return changed


def csv_text(frame: Any, *, keep_formulas: bool = False, **options: Any) -> str:
    """Return a frame as CSV, with lines that end as on Unix; other options are those of `DataFrame.to_csv`."""
    safe = frame if keep_formulas else with_texts(frame, as_text_cell)
    return str(safe.to_csv(lineterminator="\n", **options))
