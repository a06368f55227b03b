"""Limits on the length of lines and the width of tables, checked before memory is allocated."""

from __future__ import annotations

MAX_LINE_BYTES = 2**21  # of a header, and of a row
MAX_COLUMNS = 100_000
MAX_SHEET_BYTES = 2**28  # of a spreadsheet, unpacked
MAX_SHEET_CELLS = 2**25  # of a sheet, empty ones among them


def check_width(n_columns: int, source: str) -> None:
    """Raise a ValueError where a table has too many columns."""
    if n_columns > MAX_COLUMNS:
        raise ValueError(
            f"{source} has {n_columns} columns, and at most {MAX_COLUMNS} can be read: give fewer columns, or check "
            "what separates the cells."
        )
