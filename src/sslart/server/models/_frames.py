"""Pieces of tables as bytes, in the format of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sslart._tables.files import arrow, pandas
from sslart.server.store._uploads import Part

ROWS_PER_PART = 10_000


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


def _cell(value: Any) -> Any:
    if _is_missing(value):
        return None
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, str | bool | int | float) else str(value)
