"""The journal: checksummed records of each model in order, with row IDs, responses to repeated requests, and jobs."""

from __future__ import annotations

import json
import struct
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from sslart.server.store._database import DamagedError, insert, plain_text

CREATE, TABLE, IMPORT, FIT, LEARN, LABEL, SET = "create", "table", "import", "fit", "learn", "label", "set"
PACKED_FROM = 1024  # bytes
CHECKSUM_BYTES = 16
_PLAIN, _PACKED = b"J", b"Z"
LAST = 2**62  # greater than all record and row numbers
_FIELDS = "model, sequence, kind, time, actor, first_row, n_rows, payload, checksum"
WAITING, DONE, FAILED, CANCELLED = "waiting", "done", "failed", "cancelled"


def checksum(*parts: Any) -> bytes:
    """Return a checksum over numbers, texts and bytes, each with its length."""
    digest = blake2b(digest_size=CHECKSUM_BYTES)
    for part in parts:
        content = part if isinstance(part, bytes) else repr(part).encode()
        digest.update(struct.pack("<Q", len(content)))
        digest.update(content)
    return digest.digest()


def packed(values: Any) -> bytes:
    """Return plain values as bytes."""
    content = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return _PLAIN + content if len(content) < PACKED_FROM else _PACKED + zlib.compress(content, 1)


def unpacked(payload: bytes) -> Any:
    """Return the values that `packed` converted."""
    content = payload[1:]
    return json.loads(zlib.decompress(content) if payload[:1] == _PACKED else content)


@dataclass(frozen=True)
class Record:
    """A record of the journal of a model; rows are numbered across all records."""

    model: int
    sequence: int  # in the journal of the model, from 1
    kind: str
    time: float
    actor: str
    first_row: int
    n_rows: int
    payload: bytes

    def content(self) -> dict[str, Any]:
        """Return the values of the record."""
        values: dict[str, Any] = unpacked(self.payload)
        return values

    def checksum(self) -> bytes:
        """Return the checksum of the whole record."""
        return checksum(*vars(self).values())

    @classmethod
    def checked(cls, *values: Any) -> Record:
        """Convert a row of the journal table to a record; raise a DamagedError if its checksum does not match."""
        record = cls(*values[:-1])
        if record.checksum() != values[-1]:
            raise DamagedError(
                f"Record {record.sequence} of the journal is damaged: its checksum does not match. Run sslart serve "
                "DIR --verify, and restore a backup."
            )
        return record


@dataclass(frozen=True)
class ModelRow:
    """The database entry of a model; the settings are those of its last fit."""

    id: int
    name: str
    created: float
    settings: dict[str, Any]
    last_sequence: int
    n_rows: int  # it was given; the next row gets this number
    compacted_through: int  # records up to this one have been removed


def models(connection: Any) -> list[ModelRow]:
    """Return all models in the order of their creation."""
    fields = "id, name, created, settings, last_sequence, n_rows, compacted_through"
    rows = connection.execute(f"SELECT {fields} FROM models ORDER BY id")
    return [ModelRow(number, name, created, json.loads(text), *counts) for number, name, created, text, *counts in rows]


def create_model(connection: Any, name: str, settings: dict[str, Any]) -> int | None:
    """Add a model and return its number; None if the name is taken."""
    if connection.execute("SELECT 1 FROM models WHERE name = ?", (name,)).get is not None:
        return None
    return insert(connection, "models", name=name, created=time.time(), settings=plain_text(settings))


def append(connection: Any, model: int, kind: str, actor: str, payload: bytes, n_rows: int = 0) -> Record | None:
    """Append a record with packed content to the journal of a model; return None if the model is deleted."""
    found = connection.execute("SELECT last_sequence, n_rows FROM models WHERE id = ?", (model,)).get
    if found is None:
        return None
    sequence, first_row = found[0] + 1, found[1]
    record = Record(model, sequence, kind, time.time(), actor, first_row, n_rows, payload)
    insert(connection, "journal", **vars(record), checksum=record.checksum())
    connection.execute(
        "UPDATE models SET last_sequence = ?, n_rows = ? WHERE id = ?", (sequence, first_row + n_rows, model)
    )
    return record


def records(connection: Any, model: int, after: int, most_rows: int) -> list[Record]:
    """Return the next records of a model, up to about `most_rows` rows, but at least one record if any."""
    found: list[Record] = []
    n_rows, expected = 0, after + 1
    for values in connection.execute(
        f"SELECT {_FIELDS} FROM journal WHERE model = ? AND sequence > ? ORDER BY sequence LIMIT ?",
        (model, after, max(most_rows, 1)),
    ):
        try:
            record = Record.checked(*values)
            if record.sequence != expected:
                raise DamagedError(
                    f"Record {expected} of the journal is missing: run sslart serve DIR --verify, and restore a backup."
                )
        except DamagedError:
            if found:
                break  # the records before it are intact
            raise
        found.append(record)
        n_rows, expected = n_rows + record.n_rows, expected + 1
        if n_rows >= most_rows:
            break
    return found


def n_rows_before(connection: Any, model: int, sequence: int) -> int:
    """Return the number of rows in the records before a given one."""
    after = "SELECT first_row FROM journal WHERE model = ? AND sequence >= ? ORDER BY sequence LIMIT 1"
    found = connection.execute(
        f"SELECT coalesce(({after}), n_rows) FROM models WHERE id = ?", (model, sequence, model)
    ).get
    return 0 if found is None else int(found)


def compacted_through(connection: Any, model: int) -> int:
    """Return the last removed record of a model; 0 if none was removed."""
    return int(connection.execute("SELECT compacted_through FROM models WHERE id = ?", (model,)).get or 0)


def learn_records(connection: Any, model: int, first_row: int = 0, last_row: int = LAST) -> Iterator[Record]:
    """Yield the stored learn records with rows in a range, in order."""
    for values in connection.execute(
        f"SELECT {_FIELDS} FROM journal WHERE model = ? AND kind = ? AND n_rows > 0 AND first_row <= ? "
        "AND first_row + n_rows > ? ORDER BY first_row",  # that of sequence, without sorting
        (model, LEARN, last_row, first_row),
    ):
        yield Record.checked(*values)


def record_with_row(connection: Any, model: int, row: int) -> Record | None:
    """Return the record that contains a row; None if it does not exist or was removed."""
    values = connection.execute(
        f"SELECT {_FIELDS} FROM journal WHERE model = ? AND n_rows > 0 AND first_row <= ? "
        "ORDER BY first_row DESC LIMIT 1",
        (model, row),
    ).fetchone()
    record = None if values is None else Record.checked(*values)
    return record if record is not None and row < record.first_row + record.n_rows else None


def row_with_id(connection: Any, model: int, name: str) -> int | None:
    """Return the number of the row with an ID."""
    found = connection.execute("SELECT row FROM ids WHERE model = ? AND id = ?", (model, name)).get
    return None if found is None else int(found)


def add_ids(connection: Any, model: int, names: list[str], first_row: int) -> None:
    """Store the IDs of consecutive rows."""
    connection.executemany(
        "INSERT INTO ids (model, id, row) VALUES (?, ?, ?)",
        [(model, name, first_row + place) for place, name in enumerate(names)],
    )


def answer_to(connection: Any, model: int, key: str) -> tuple[bytes, dict[str, Any]] | None:
    """Return the checksum of the request with a key and the response to it, or None."""
    found = connection.execute("SELECT request, answer FROM keys WHERE model = ? AND key = ?", (model, key)).fetchone()
    return None if found is None else (found[0], json.loads(found[1]))


def keep_answer(connection: Any, model: int, key: str, request: bytes, answer: dict[str, Any]) -> None:
    """Store the response to a request with a key."""
    insert(connection, "keys", model=model, key=key, request=request, answer=plain_text(answer), time=time.time())


def audit(connection: Any, actor: str, action: str, model: str, detail: dict[str, Any]) -> None:
    """Add an entry to the audit log."""
    entry = {"actor": actor, "action": action, "model": model, "detail": plain_text(detail)}
    insert(connection, "audit", time=time.time(), **entry)


class JobRow(NamedTuple):
    """The database entry of a job; `outcome` is the result, or the reason of a failure."""

    model: int
    sequence: int
    state: str
    created: float
    ended: float | None
    outcome: dict[str, Any] | None


def add_job(connection: Any, model: int, sequence: int) -> None:
    """Add a waiting job."""
    insert(connection, "jobs", model=model, sequence=sequence, state=WAITING, created=time.time())


def end_job(connection: Any, model: int, sequence: int, state: str, outcome: dict[str, Any]) -> bool:
    """End a job; return False if it had already ended."""
    connection.execute(
        "UPDATE jobs SET state = ?, ended = ?, outcome = ? WHERE model = ? AND sequence = ? AND state = ?",
        (state, time.time(), plain_text(outcome), model, sequence, WAITING),
    )
    return bool(connection.changes())


def job(connection: Any, model: int, sequence: int) -> JobRow | None:
    """Return one job; None where there is none."""
    return next(iter(_jobs(connection, "WHERE model = ? AND sequence = ?", (model, sequence))), None)


def jobs(connection: Any, most: int) -> list[JobRow]:
    """Return the newest jobs of all models, the newest first."""
    return _jobs(connection, "ORDER BY created DESC LIMIT ?", (most,))


def _jobs(connection: Any, where: str, values: tuple[Any, ...]) -> list[JobRow]:
    rows = connection.execute(f"SELECT model, sequence, state, created, ended, outcome FROM jobs {where}", values)
    return [JobRow(*row)._replace(outcome=None if row[-1] is None else json.loads(row[-1])) for row in rows]


def last_fit(connection: Any, model: int, through: int, *, by_labels: bool = True) -> int:
    """Return the sequence number of the last completed fit up to a record, or 0.

    Without `by_labels`, fits triggered by new labels are ignored.
    """
    others = "" if by_labels else "AND NOT json_extract(outcome, '$.by_labels')"
    found = connection.execute(
        f"SELECT max(sequence) FROM jobs WHERE model = ? AND sequence <= ? AND state = ? {others}",
        (model, through, DONE),
    ).get
    return found or 0


def labels_at_fit(connection: Any, model: int) -> tuple[int, int, bool]:
    """Return the number of labels at the last fit, the number since then, and True if a fit is pending."""
    last = _jobs(connection, "WHERE model = ? AND state = ? ORDER BY sequence DESC LIMIT 1", (model, DONE))
    n_then = sum(last[0].outcome["labels"].values()) if last and last[0].outcome else 0
    since = last[0].sequence if last else 0
    n_since = connection.execute(
        "SELECT count(*) FROM labels WHERE model = ? AND sequence > ? AND label IS NOT NULL", (model, since)
    ).get
    waiting = connection.execute("SELECT 1 FROM jobs WHERE model = ? AND state = ? LIMIT 1", (model, WAITING)).get
    return n_then, n_since, waiting is not None
