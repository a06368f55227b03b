"""A table as a spreadsheet, in which no text is a formula."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from datetime import date, time, timedelta
from typing import Any

from sslart._utils.optional import install_command, optional
from sslart._utils.text import printable

EXCEL = (".xlsx",)
MAX_ROWS, MAX_COLUMNS, MAX_CHARACTERS = 2**20, 2**14, 32_767  # of a sheet, with the header, and of a cell
MAX_WHOLE = 2**53  # larger whole numbers lose digits there
BYTES_AT_ONCE = 2**20
CURE = "write CSV or Parquet instead"


def needs_openpyxl(target: str) -> None:
    """Raise an ImportError with the cures where spreadsheets cannot be written."""
    try:
        optional("openpyxl", "excel")
    except ImportError as error:
        raise ImportError(
            f"{target} is a spreadsheet, which is written with openpyxl. Give a name that ends with .csv, or "
            f"{install_command('excel', 'openpyxl')}"
        ) from error


def excel_file(frames: Iterable[Any], *, keep_formulas: bool) -> Iterator[bytes]:
    """Yield frames with the same columns as one sheet; raise a ValueError if they exceed the size of a sheet."""
    book = optional("openpyxl", "excel").Workbook(write_only=True)
    with tempfile.TemporaryFile() as file:
        try:
            _fill(book.create_sheet("sslart"), frames, keep_formulas)
        finally:
            book.save(file)  # it ends the sheet, also where that is not whole
        file.seek(0)
        while content := file.read(BYTES_AT_ONCE):
            yield content


def _fill(sheet: Any, frames: Iterable[Any], keep_formulas: bool) -> None:
    cells, n_rows = optional("openpyxl.cell", "excel"), 1

    def cell(value: Any) -> Any:
        made = cells.WriteOnlyCell(sheet, _plain(value))
        if isinstance(value, str) and not keep_formulas:
            made.data_type = "s"
        return made

    for number, frame in enumerate(frames):
        n_rows += len(frame)
        for found, most, things in ((len(frame.columns), MAX_COLUMNS, "columns"), (n_rows, MAX_ROWS, "rows")):
            if found > most:
                raise ValueError(f"A sheet has at most {most} {things}, and this table has more: {CURE}.")
        if number == 0:
            sheet.append([cell(str(name)) for name in frame.columns])
        rows = zip(*(column.tolist() for _, column in frame.items()), strict=True)
        for row, is_blank in zip(rows, frame.isna().to_numpy().tolist(), strict=True):
            sheet.append([None if blank else cell(value) for value, blank in zip(row, is_blank, strict=True)])


def _plain(value: Any) -> Any:
    """Return a value as a cell may hold it; control characters, which it may not, as escapes."""
    if isinstance(value, int | float) and abs(value) <= (MAX_WHOLE if isinstance(value, int) else sys.float_info.max):
        return value
    if isinstance(value, date | time | timedelta) and getattr(value, "tzinfo", None) is None:
        return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    text = "".join(one if one in "\n\t" else printable(one) for one in str(value))
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"A cell of a sheet has at most {MAX_CHARACTERS} characters, and one has more: {CURE}.")
    return text
