"""Tables and model files that users send: kept in parts, so that no transaction is long."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from sslart.server.store._errors import DamagedError
from sslart.server.store._records import Record, checksum


class Part(NamedTuple):
    """Some rows of an upload, from a row of it on."""

    first_row: int
    n_rows: int
    content: bytes


def begin_upload(connection: Any) -> int:
    """Return the number of a new upload, which belongs to no model yet: such uploads are removed at the next start."""
    connection.execute("INSERT INTO uploads (time) VALUES (?)", (time.time(),))
    return int(connection.last_insert_rowid())


def remove_unused(connection: Any, upload: int | None = None) -> None:
    """Remove an upload that belongs to no model; all of them where none is given."""
    which = "" if upload is None else "AND id = ?"
    connection.execute(f"DELETE FROM uploads WHERE model IS NULL {which}", () if upload is None else (upload,))


def add_part(connection: Any, upload: int, part: Part) -> None:
    """Add a part to an upload."""
    connection.execute(
        "INSERT INTO upload_parts (upload, first_row, n_rows, content, checksum) VALUES (?, ?, ?, ?, ?)",
        (upload, *part, checksum(upload, *part)),
    )


def n_rows_of(connection: Any, upload: int) -> int:
    """Return the number of rows of an upload."""
    return int(connection.execute("SELECT coalesce(sum(n_rows), 0) FROM upload_parts WHERE upload = ?", (upload,)).get)


def complete_upload(connection: Any, upload: int, record: Record) -> None:
    """Give an upload to the model of the record that tells of it."""
    connection.execute(
        "UPDATE uploads SET model = ?, sequence = ?, first_row = ?, n_rows = ? WHERE id = ?",
        (record.model, record.sequence, record.first_row, record.n_rows, upload),
    )


def is_from_file(connection: Any, model: int) -> bool:
    """Return True if a model was imported from a model file, which has no rows."""
    return connection.execute("SELECT 1 FROM uploads WHERE model = ? AND n_rows = 0", (model,)).get is not None


class Upload(NamedTuple):
    """A complete upload: its number, and its rows among those of the model."""

    id: int
    first_row: int
    n_rows: int


def uploads(connection: Any, model: int, through: int) -> list[Upload]:
    """Return the uploads of a model up to a record, in order."""
    rows = connection.execute(
        "SELECT id, first_row, n_rows FROM uploads WHERE model = ? AND sequence <= ? ORDER BY first_row, id",
        (model, through),
    )
    return [Upload(*row) for row in rows]


def upload_with_row(connection: Any, model: int, row: int) -> Upload | None:
    """Return the upload that has brought a row; None where none has."""
    found = connection.execute(
        "SELECT id, first_row, n_rows FROM uploads WHERE model = ? AND first_row <= ? AND ? < first_row + n_rows",
        (model, row, row),
    ).fetchone()
    return None if found is None else Upload(*found)


def parts(connection: Any, upload: int) -> Iterator[Part]:
    """Yield the parts of an upload in order, or raise a DamagedError."""
    for *values, stored in connection.execute(
        "SELECT first_row, n_rows, content, checksum FROM upload_parts WHERE upload = ? ORDER BY first_row", (upload,)
    ):
        yield _checked(upload, Part(*values), stored)


def part_with_row(connection: Any, upload: int, row: int) -> Part:
    """Return the part of an upload that has a row of it."""
    *values, stored = connection.execute(
        "SELECT first_row, n_rows, content, checksum FROM upload_parts WHERE upload = ? AND first_row <= ? "
        "ORDER BY first_row DESC LIMIT 1",
        (upload, row),
    ).fetchone()
    return _checked(upload, Part(*values), stored)


def _checked(upload: int, part: Part, stored: bytes) -> Part:
    if checksum(upload, *part) != stored:
        raise DamagedError("A table in the store is damaged: run sslart serve DIR --verify, and restore a backup.")
    return part
