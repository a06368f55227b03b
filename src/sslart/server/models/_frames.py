"""Files that users send, in the store: tables in pieces, in the format of Arrow, and files of models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sslart._mapping.model_view import view_of
from sslart._tables import arrow, pandas
from sslart._tables.columns import check_columns
from sslart._tables.files import read_pieces
from sslart.persistence._models import model_from_bytes
from sslart.server.store import Store
from sslart.server.store._uploads import Part, add_part, begin_upload, remove_unused

MODEL_FILE = b"\x89SSLART\n"
BYTES_PER_PART = 2**20
ROWS_PER_PART = 10_000


def store_file(
    store: Store, path: Path, encoding: str | None, named: Sequence[str], max_cells: int
) -> tuple[int, bool]:
    """Read a file into a store; return the number of the upload, and whether it is the file of a model.

    A table must have the columns that are named, and not too many cells.
    """
    with path.open("rb") as file:
        is_model = file.read(len(MODEL_FILE)) == MODEL_FILE
    upload = store.submit_own(begin_upload).result()

    def add(part: Part) -> None:
        store.submit_own(lambda connection: add_part(connection, upload, part)).result()

    try:
        if is_model:
            content = path.read_bytes()
            _check_classifier(content)
            for start in range(0, len(content), BYTES_PER_PART):
                add(Part(start, 0, content[start : start + BYTES_PER_PART]))
        else:
            pieces = read_pieces(str(path), encoding, cells_only=True)
            for part in parts_of(within_limits(pieces, named, max_cells)):
                add(part)
    except BaseException:
        store.submit_own(lambda connection: remove_unused(connection, upload))
        raise
    return upload, is_model


def _check_classifier(content: bytes) -> None:
    """Raise a ValueError where a file is not that of a fitted classifier."""
    try:
        view_of(model_from_bytes(content, "The model file"))
    except TypeError as error:
        raise ValueError(f"The file has no classifier in it: {error}") from error


def within_limits(pieces: Iterator[Any], named: Sequence[str], max_cells: int) -> Iterator[Any]:
    """Yield frames as long as they have not too many cells together, however small the file was."""
    n_cells = 0
    for frame in pieces:
        check_columns(frame.columns, named, "the table")
        n_cells += frame.size
        if n_cells > max_cells:
            raise ValueError(
                f"The table has more than {max_cells} cells, which is the limit: send fewer rows or columns, or start "
                "the service with a higher --max-table-cells."
            )
        yield frame


def parts_of(pieces: Iterator[Any]) -> Iterator[Part]:
    """Yield the frames of a table as parts of an upload."""
    first_row = 0
    for frame in pieces:
        for start in range(0, len(frame), ROWS_PER_PART):
            some = frame.iloc[start : start + ROWS_PER_PART]
            yield Part(first_row, len(some), frame_bytes(some))
            first_row += len(some)


def frame_bytes(frame: Any) -> bytes:
    """Return a frame as bytes; cells of several types in one column become text."""
    pyarrow, ipc = arrow(""), arrow(".ipc")
    columns = {str(name): _column(frame[name]) for name in frame.columns}
    table = pyarrow.table(columns)
    _check_text(table)
    sink = pyarrow.BufferOutputStream()
    with ipc.new_stream(sink, table.schema, options=ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _check_text(table: Any) -> None:
    """Raise a ValueError where a text is none: files with types can hold any bytes in its place."""
    for name in table.column_names:
        try:
            table[name].validate(full=True)
        except arrow("").ArrowInvalid as error:
            raise ValueError(f"Column {name!r} holds text that is not in UTF-8: write the file again.") from error


def _column(column: Any) -> Any:
    pyarrow = arrow("")
    try:
        return pyarrow.array(column, from_pandas=True)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
        texts = [None if _is_missing(value) else str(value) for value in column.tolist()]
        return pyarrow.array(texts, pyarrow.string())


def _is_missing(value: Any) -> bool:
    return bool(pandas().api.types.is_scalar(value) and pandas().isna(value))


def frame_of(content: bytes) -> Any:
    """Return the frame that `frame_bytes` was given."""
    table = arrow(".ipc").open_stream(arrow("").BufferReader(content)).read_all()
    return table.to_pandas(ignore_metadata=True, integer_object_nulls=True)


def cells_of(frame: Any, place: int) -> dict[str, Any]:
    """Return one row of a frame as cells that JSON can hold; dates as text."""
    return {str(name): _cell(frame[name].iloc[place]) for name in frame.columns}


def rows_in(frame: Any) -> list[dict[str, Any]]:
    """Return all rows of a frame as cells that JSON can hold; dates as text."""
    columns = {str(name): [_cell(value) for value in frame[name].tolist()] for name in frame.columns}
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _cell(value: Any) -> Any:
    if _is_missing(value):
        return None
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, str | bool | int | float) else str(value)
