"""Notes on the interpretation of the user's data: printed, or collected by the caller."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sslart._utils.text import printable

_PRINTED: set[str] = set()


def _print_once(text: str) -> None:
    """Print a note on standard error, once per text."""
    if text not in _PRINTED:
        _PRINTED.add(text)
        print(f"sslart: note: {printable(text)}", file=sys.stderr)


_RECEIVER: ContextVar[Callable[[str], None]] = ContextVar("receiver of notes", default=_print_once)


def note(text: str) -> None:
    """Pass a note to the collector of this context; without a collector, print it on standard error."""
    _RECEIVER.get()(text)


def is_collected() -> bool:
    """Return True if the notes of this context are being collected."""
    return _RECEIVER.get() is not _print_once


def forget_notes() -> None:
    """Forget the printed notes, so that they are printed again in another command."""
    _PRINTED.clear()


@contextmanager
def collected_notes() -> Iterator[list[str]]:
    """Collect the notes of this context in a list, each distinct text once, instead of printing them.

    A context is one thread or one asynchronous task; the notes of others are not affected.

    >>> with collected_notes() as notes:
    ...     note("3 rows are blank.")
    ...     note("3 rows are blank.")
    >>> notes
    ['3 rows are blank.']
    """
    notes: list[str] = []

    def collect(text: str) -> None:
        if text not in notes:
            notes.append(text)

    token = _RECEIVER.set(collect)
    try:
        yield notes
    finally:
        _RECEIVER.reset(token)
