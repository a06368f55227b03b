"""Integrity check of a database: checksums, and a replay of the journals that must give the same models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sslart.persistence import model_bytes
from sslart.server.models._replica import Replica, fit, imported_model, restored
from sslart.server.models._settings import ModelSettings
from sslart.server.store._database import DamagedError, StoreError, check_protocol, close, open_to_read, sqlite
from sslart.server.store._files import Snapshot, digest_of, parts, read_snapshot, snapshots, uploads
from sslart.server.store._journal import DONE, WAITING, ModelRow, Record, job, models, records
from sslart.server.store._store import FILE_NAME

ROWS_AT_ONCE = 500


class Finding(NamedTuple):
    """Result of one check: model, verdict, and text."""

    model: str
    is_good: bool
    text: str


class _FitWaitsError(Exception):
    """Raised at a fit that has not been carried out yet: the replay stops there."""


def verify(folder: Path) -> Iterator[Finding]:
    """Check a database and yield the findings; nothing is written. A service may be using it.

    The journal is replayed from the older snapshot, with its fits, and must give the newer one bit for bit.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        raise StoreError(f"There is no store in {folder}: check the name of the folder.")
    connection = None
    try:
        connection = _opened(path)
        check_protocol(connection, path)
        connection.execute("BEGIN")  # all of it at one moment
        problems = [text for (text,) in connection.execute("PRAGMA integrity_check(10)") if text != "ok"]
        yield Finding("", not problems, "; ".join(problems) or "the SQLite file is intact")
        for row in models(connection):
            yield from _checked_model(connection, row)
    except _damaged() as error:
        yield Finding("", False, f"the file is damaged: {error}")
    finally:
        if connection is not None:
            close(connection)


def _damaged() -> tuple[type[Exception], ...]:
    """Return the exceptions raised for corrupt bytes: invalid text, or values of wrong types."""
    return DamagedError, sqlite().Error, ValueError, TypeError, LookupError


def _opened(path: Path) -> Any:
    try:
        connection = open_to_read(path)
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except (sqlite().CantOpenError, sqlite().ReadOnlyError, sqlite().IOError):  # the disk is read-only or full
        return open_to_read(path, is_frozen=True)
    return connection


def _checked_model(connection: Any, row: ModelRow) -> Iterator[Finding]:
    try:
        n_records = n_rows = 0
        after = row.compacted_through
        while some := records(connection, row.id, after, ROWS_AT_ONCE):
            n_records, n_rows = n_records + len(some), n_rows + sum(one.n_rows for one in some)
            after = some[-1].sequence
        if after != row.last_sequence:
            raise DamagedError(f"the journal ends at record {after}, but {row.last_sequence} records were accepted")
        for upload in uploads(connection, row.id, row.last_sequence):
            for _ in parts(connection, upload.id):
                pass
        yield Finding(row.name, True, f"{n_records} records with {n_rows} rows are intact, up to record {after}")
    except _damaged() as error:
        yield Finding(row.name, False, str(error))
        return
    yield from _replayed(connection, row)


def _replayed(connection: Any, row: ModelRow) -> Iterator[Finding]:
    """Replay the journal, and compare the result with each snapshot on the way."""
    try:
        kept = list(reversed(snapshots(connection, row.id)))
        replica = _start(connection, row, kept)
        for snapshot in kept:
            if snapshot.sequence < replica.sequence:
                continue
            _follow(connection, row, replica, snapshot.sequence)
            made, stored = digest_of(model_bytes(replica.model)), digest_of(read_snapshot(connection, snapshot))
            words = f"the snapshot after record {snapshot.sequence}"
            if made != stored:
                yield Finding(
                    row.name, False, f"{words} differs from the replayed journal: digest {made} instead of {stored}"
                )
                return
            yield Finding(row.name, True, f"{words} equals the replayed journal, bit for bit")
        try:
            _follow(connection, row, replica, row.last_sequence)
        except _FitWaitsError:
            yield Finding(row.name, True, f"a fit is pending after record {replica.sequence}")
        if replica.model is not None:
            digest = digest_of(model_bytes(replica.model))
            yield Finding(row.name, True, f"after record {replica.sequence} the model has the digest {digest}")
    except _damaged() as error:
        yield Finding(row.name, False, str(error))


def _start(connection: Any, row: ModelRow, kept: list[Snapshot]) -> Replica:
    if row.compacted_through == 0 or not kept:
        return Replica(ModelSettings.model_validate(row.settings))
    return restored(connection, kept[0])


def _follow(connection: Any, row: ModelRow, replica: Replica, through: int) -> None:
    def fitted(record: Record) -> Any:
        found = job(connection, row.id, record.sequence)
        if found is not None and found.state == WAITING:
            raise _FitWaitsError
        is_done = found is not None and found.state == DONE
        return fit(connection, record, lambda _, __: None).model if is_done else None

    while replica.sequence < through:
        some = [one for one in records(connection, row.id, replica.sequence, ROWS_AT_ONCE) if one.sequence <= through]
        if not some:
            raise DamagedError(f"a snapshot is of record {through}, and the journal ends at record {replica.sequence}")
        for _ in replica.apply(some, fitted, lambda record: imported_model(connection, record)):
            pass
