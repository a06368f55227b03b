"""Notes on the columns of a table: unused columns, and columns to check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sslart._data.saved import require
from sslart._utils.text import list_text, printable

CONSTANT, LEFT_OUT, LEAK, TWICE, IDENTIFIER = (
    "constant columns",
    "columns left out",
    "likely leaks",
    "columns counted twice",
    "possible identifiers",
)
TOPICS = (CONSTANT, LEFT_OUT, LEAK, TWICE, IDENTIFIER)
SHOWN_COLUMNS = 10


@dataclass(frozen=True)
class ColumnNote:
    """One thing to know about a column.

    Attributes
    ----------
    topic : str
        "constant columns", "columns left out", "likely leaks", "columns counted twice" or "possible identifiers".
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


_MEANING = {
    CONSTANT: "one value throughout, not used",
    LEFT_OUT: "",
    LEAK: "check that they are known before the class is; if not, leave them out",
    TWICE: "leave one of each pair out",
    IDENTIFIER: "leave them out if they only number the samples",
}


def by_topic(notes: Iterable[ColumnNote]) -> dict[str, str]:
    """Return one line for each topic that there are notes on."""
    found: dict[str, list[str]] = {}
    for note in notes:
        found.setdefault(note.topic, []).append(str(note))
    lines = {}
    for topic in TOPICS:
        if topic in found:
            meaning = f": {_MEANING[topic]}" if _MEANING[topic] else ""
            lines[topic] = list_text(found[topic], SHOWN_COLUMNS) + meaning
    return lines


def notes_to_state(notes: Sequence[ColumnNote]) -> list[list[str]]:
    """Return notes as plain values, to be saved."""
    return [[note.topic, note.column, note.detail] for note in notes]


def notes_from_state(state: Any) -> tuple[ColumnNote, ...]:
    """Return the notes of a saved state, after checking that they can be notes."""
    require(type(state) is list, "the notes on columns")
    for one in state:
        require(type(one) is list and len(one) == 3 and all(type(part) is str for part in one), "the notes on columns")
    notes = tuple(ColumnNote(*one) for one in state)
    require(all(note.topic in TOPICS for note in notes), "the notes on columns")
    return notes
