"""Large content stored in parts, to keep transactions short: uploaded tables and models, and snapshots."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from sslart.server.store._database import DamagedError, StoreError, insert, plain_text
from sslart.server.store._journal import Record, checksum

BYTES_PER_PART = 2**20
N_KEPT = 2


class Part(NamedTuple):
    """A range of rows of an upload."""

    first_row: int
    n_rows: int
    content: bytes


def begin_upload(connection: Any) -> int:
    """Create an upload without a model and return its number; such uploads are removed at the next start."""
    return insert(connection, "uploads", time=time.time())


def remove_unused(connection: Any, upload: int | None = None) -> None:
    """Remove an upload without a model, or all of them."""
    which = "" if upload is None else "AND id = ?"
    connection.execute(f"DELETE FROM uploads WHERE model IS NULL {which}", () if upload is None else (upload,))


def add_part(connection: Any, upload: int, part: Part) -> None:
    """Add a part to an upload."""
    insert(connection, "upload_parts", upload=upload, **part._asdict(), checksum=checksum(upload, *part))


def n_rows_of(connection: Any, upload: int) -> int:
    """Return the number of rows of an upload."""
    return int(connection.execute("SELECT coalesce(sum(n_rows), 0) FROM upload_parts WHERE upload = ?", (upload,)).get)


def complete_upload(connection: Any, upload: int, record: Record) -> None:
    """Assign an upload to a model and a journal record."""
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
    """Return the upload that contains a row, or None."""
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


def part_start(connection: Any, upload: int, row: int) -> int:
    """Return the first row of the part of an upload that contains a row."""
    sql = "SELECT max(first_row) FROM upload_parts WHERE upload = ? AND first_row <= ?"
    return int(connection.execute(sql, (upload, row)).get)


def part_at(connection: Any, upload: int, first_row: int) -> Part:
    """Return the part of an upload that starts with a row."""
    *values, stored = connection.execute(
        "SELECT first_row, n_rows, content, checksum FROM upload_parts WHERE upload = ? AND first_row = ?",
        (upload, first_row),
    ).fetchone()
    return _checked(upload, Part(*values), stored)


def _checked(upload: int, part: Part, stored: bytes) -> Part:
    if checksum(upload, *part) != stored:
        raise DamagedError("A table in the database is damaged: run sslart serve DIR --verify, and restore a backup.")
    return part


class Snapshot(NamedTuple):
    """A stored model: its number, journal record, SHA-256 and settings."""

    id: int
    sequence: int
    digest: str
    n_bytes: int
    settings: dict[str, Any]


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of a model; equal models have equal digests."""
    return hashlib.sha256(content).hexdigest()


def write_snapshot(
    submit: Callable[[Callable[[Any], Any]], Future[Any]],
    model: int,
    sequence: int,
    content: bytes,
    settings: dict[str, Any],
    at_the_end: Callable[[Any], bool] = lambda _: True,
) -> bool:
    """Write a model in parts, each in a separate transaction, so that other requests can write in between.

    `submit` passes work to the writer; `at_the_end` runs in the last transaction and returns whether the snapshot
    becomes valid.
    """
    described: dict[str, Any] = {"sequence": sequence, "digest": digest_of(content), "n_bytes": len(content)}

    def begin(connection: Any) -> int:
        return insert(
            connection, "snapshots", **described, model=model, settings=plain_text(settings), time=time.time()
        )

    def add(connection: Any, number: int, part: bytes) -> None:
        insert(connection, "snapshot_parts", snapshot=snapshot, number=number, content=part)

    snapshot = submit(begin).result()
    try:
        for number, start in enumerate(range(0, len(content), BYTES_PER_PART)):
            submit(partial(add, number=number, part=content[start : start + BYTES_PER_PART])).result()
    except StoreError:  # such as a full disk: free the space of the partial snapshot
        with suppress(StoreError):
            submit(lambda connection: remove_snapshot(connection, snapshot))
        raise

    def end(connection: Any) -> bool:
        is_there = connection.execute("SELECT 1 FROM models WHERE id = ?", (model,)).get is not None
        if not is_there or not at_the_end(connection):
            remove_snapshot(connection, snapshot)
            return False
        connection.execute("UPDATE snapshots SET complete = 1 WHERE id = ?", (snapshot,))
        old = connection.execute(
            "SELECT id FROM snapshots WHERE model = ? AND complete ORDER BY sequence DESC, id DESC LIMIT -1 OFFSET ?",
            (model, N_KEPT),
        )
        for (number,) in old.fetchall():
            remove_snapshot(connection, number)
        return True

    return bool(submit(end).result())


def remove_snapshot(connection: Any, snapshot: int) -> None:
    """Remove a snapshot."""
    connection.execute("DELETE FROM snapshot_parts WHERE snapshot = ?", (snapshot,))
    connection.execute("DELETE FROM snapshots WHERE id = ?", (snapshot,))


def remove_incomplete(connection: Any) -> None:
    """Remove incomplete snapshots left behind by a killed process."""
    for (number,) in connection.execute("SELECT id FROM snapshots WHERE NOT complete").fetchall():
        remove_snapshot(connection, number)


def snapshots(connection: Any, model: int) -> list[Snapshot]:
    """Return the complete snapshots of a model, the newest first."""
    rows = connection.execute(
        "SELECT id, sequence, digest, n_bytes, settings FROM snapshots WHERE model = ? AND complete "
        "ORDER BY sequence DESC, id DESC",
        (model,),
    )
    return [Snapshot(*row)._replace(settings=json.loads(row[-1])) for row in rows]


def read_snapshot(connection: Any, snapshot: Snapshot) -> bytes:
    """Return the bytes of a snapshot, or raise a DamagedError."""
    rows = connection.execute("SELECT content FROM snapshot_parts WHERE snapshot = ? ORDER BY number", (snapshot.id,))
    content = b"".join(part for (part,) in rows)
    if digest_of(content) != snapshot.digest:
        raise DamagedError(f"The snapshot after record {snapshot.sequence} is damaged: its checksum does not match.")
    return content
