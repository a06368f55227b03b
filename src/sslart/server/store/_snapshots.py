"""Snapshots of models, from which a restart continues."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NamedTuple

from sslart.server.store._errors import DamagedError, StoreError

BYTES_PER_PART = 2**20
N_KEPT = 2


class Snapshot(NamedTuple):
    """A model after a record: its number in the store, that of the record, the SHA-256 of the bytes, its settings."""

    id: int
    sequence: int
    digest: str
    n_bytes: int
    settings: dict[str, Any]


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of a model: the same where two models are the same in every bit."""
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

    Parameters
    ----------
    submit : callable
        Passes work to the writer.
    model, sequence : int
    content : bytes
    settings : dict
        Of the model after that record.
    at_the_end : callable
        Runs in the last transaction, in which the snapshot becomes valid, and returns whether it shall.
    """

    def begin(connection: Any) -> int:
        connection.execute(
            "INSERT INTO snapshots (model, sequence, digest, n_bytes, settings, time) VALUES (?, ?, ?, ?, ?, ?)",
            (model, sequence, digest_of(content), len(content), json.dumps(settings), time.time()),
        )
        return int(connection.last_insert_rowid())

    snapshot = submit(begin).result()

    def add(number: int, part: bytes) -> Callable[[Any], None]:
        def work(connection: Any) -> None:
            connection.execute(
                "INSERT INTO snapshot_parts (snapshot, number, content) VALUES (?, ?, ?)", (snapshot, number, part)
            )

        return work

    try:
        for number, start in enumerate(range(0, len(content), BYTES_PER_PART)):
            submit(add(number, content[start : start + BYTES_PER_PART])).result()
    except StoreError:  # such as a full disk: what was written would take the rest of it
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
        raise DamagedError(f"The snapshot after record {snapshot.sequence} is damaged: its checksum does not fit.")
    return content
