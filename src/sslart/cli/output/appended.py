"""Tables of the user with columns of predictions appended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sslart._tables.files import Piece, arrow, pandas

PREFIX = "predicted"


def free_names(wanted: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Return a name for each new column that no other column has: with a word before it, and a number after it.

    Examples
    --------
    >>> from sslart.cli.output.appended import free_names
    >>> free_names(["class", "box"], ["size", "class", "predicted class"])
    {'class': 'predicted class 2', 'box': 'box'}
    """
    used, names = set(taken), {}
    for name in wanted:
        free, number = name, 1
        while free in used:
            free = f"{PREFIX} {name}" if number == 1 else f"{PREFIX} {name} {number}"
            number += 1
        names[name] = free
        used.add(free)
    return names


def appended(piece: Piece, predictions: Any, names: dict[str, str], *, named_as_read: bool) -> Any:
    """Return the rows of a piece as they stand in their file, with predictions after them.

    Parameters
    ----------
    piece : Piece
    predictions : DataFrame
    names : dict
        The name of each column of predictions.
    named_as_read : bool
        Whether columns have the names that commands use, which are unique, or those that stand in the file.
    """
    own = piece.as_written.set_axis(piece.frame.columns, axis=1) if named_as_read else piece.as_written
    new = predictions.rename(columns=names)
    return pandas().concat([own.reset_index(drop=True), new.reset_index(drop=True)], axis=1)


def appended_types(piece: Piece, types: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return the Parquet types of a table with predictions: the user's columns keep their types."""
    return own_types(piece) | {names[name]: kind for name, kind in types.items() if name in names}


def own_types(piece: Piece) -> dict[str, Any]:
    """Return the types of the columns of a piece for Parquet; none for those of several kinds, which become text."""
    known = piece.schema.types if piece.schema is not None else map(_type_of, dict(piece.as_written).values())
    return {str(name): kind for name, kind in zip(piece.frame.columns, known, strict=True) if kind is not None}


def _type_of(column: Any) -> Any:
    """Return the type of a column; None where its values are of several kinds."""
    pyarrow = arrow("")
    try:
        return pyarrow.array(column, from_pandas=True).type
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        return None


def has_decimal_commas(piece: Piece) -> bool:
    """Return True if a table separated by semicolons has decimal commas."""
    as_written = piece.as_written.set_axis(piece.frame.columns, axis=1)
    return piece.separator == ";" and not piece.frame.reset_index(drop=True).equals(as_written)
