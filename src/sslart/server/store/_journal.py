"""The journal: records are appended to it by the writer, and read from it in order."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sslart.server.store._errors import DamagedError
from sslart.server.store._records import LEARN, Record

_FIELDS = "model, sequence, kind, time, actor, first_row, n_rows, payload, checksum"


@dataclass(frozen=True)
class ModelRow:
    """A model as the store knows it.

    Attributes
    ----------
    id : int
    name : str
    created : float
    settings : dict
        As the model was created with.
    last_sequence : int
        The last record of its journal.
    n_rows : int
        How many rows it was given; the next one gets this number.
    compacted_through : int
        Records up to this one are gone.
    """

    id: int
    name: str
    created: float
    settings: dict[str, Any]
    last_sequence: int
    n_rows: int
    compacted_through: int


def models(connection: Any) -> list[ModelRow]:
    """Return all models in the order of their creation."""
    fields = "id, name, created, settings, last_sequence, n_rows, compacted_through"
    rows = connection.execute(f"SELECT {fields} FROM models ORDER BY id")
    return [ModelRow(number, name, created, json.loads(text), *counts) for number, name, created, text, *counts in rows]


def create_model(connection: Any, name: str, settings: dict[str, Any]) -> int | None:
    """Add a model and return its number; None where there is one of this name."""
    if connection.execute("SELECT 1 FROM models WHERE name = ?", (name,)).get is not None:
        return None
    connection.execute(
        "INSERT INTO models (name, created, settings) VALUES (?, ?, ?)", (name, time.time(), json.dumps(settings))
    )
    return int(connection.last_insert_rowid())


def append(connection: Any, model: int, kind: str, actor: str, payload: bytes, n_rows: int = 0) -> Record | None:
    """Append a record with packed content to the journal of a model; return None if the model is deleted."""
    found = connection.execute("SELECT last_sequence, n_rows FROM models WHERE id = ?", (model,)).get
    if found is None:
        return None
    sequence, first_row = found[0] + 1, found[1]
    record = Record(model, sequence, kind, time.time(), actor, first_row, n_rows, payload)
    connection.execute(
        f"INSERT INTO journal ({_FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*vars(record).values(), record.checksum()),
    )
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
                break  # those before it are good
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
    """Return the last record of a model that is gone; 0 where all are kept."""
    return int(connection.execute("SELECT compacted_through FROM models WHERE id = ?", (model,)).get or 0)


def all_records(connection: Any, model: int, kinds: tuple[str, ...] = ()) -> Iterator[Record]:
    """Yield all records of a model that are kept, in order; of some kinds only, where these are given."""
    among = f"AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
    for values in connection.execute(
        f"SELECT {_FIELDS} FROM journal WHERE model = ? {among} ORDER BY sequence", (model, *kinds)
    ):
        yield Record.checked(*values)


def records_with_rows(connection: Any, model: int, first_row: int, last_row: int) -> Iterator[Record]:
    """Yield the stored records of kind learn with rows between two numbers, in order."""
    for values in connection.execute(
        f"SELECT {_FIELDS} FROM journal WHERE model = ? AND kind = ? AND n_rows > 0 AND first_row <= ? "
        "AND first_row + n_rows > ? ORDER BY sequence",
        (model, LEARN, last_row, first_row),
    ):
        yield Record.checked(*values)


def record_with_row(connection: Any, model: int, row: int) -> Record | None:
    """Return the record that has brought a row; None where there is none, or it is gone."""
    values = connection.execute(
        f"SELECT {_FIELDS} FROM journal WHERE model = ? AND n_rows > 0 AND first_row <= ? "
        "ORDER BY first_row DESC LIMIT 1",
        (model, row),
    ).fetchone()
    if values is None:
        return None
    record = Record.checked(*values)
    return record if row < record.first_row + record.n_rows else None


def row_with_id(connection: Any, model: int, name: str) -> int | None:
    """Return the number of the row that has a name."""
    found = connection.execute("SELECT row FROM ids WHERE model = ? AND id = ?", (model, name)).get
    return None if found is None else int(found)


def add_ids(connection: Any, model: int, names: list[str], first_row: int) -> None:
    """Give names to rows in their order."""
    connection.executemany(
        "INSERT INTO ids (model, id, row) VALUES (?, ?, ?)",
        [(model, name, first_row + place) for place, name in enumerate(names)],
    )


def answer_to(connection: Any, model: int, key: str) -> tuple[bytes, dict[str, Any]] | None:
    """Return the checksum of the request that had a key, and the answer to it; None where there was none."""
    found = connection.execute("SELECT request, answer FROM keys WHERE model = ? AND key = ?", (model, key)).fetchone()
    return None if found is None else (found[0], json.loads(found[1]))


def keep_answer(connection: Any, model: int, key: str, request: bytes, answer: dict[str, Any]) -> None:
    """Keep the answer to a request with a key."""
    connection.execute(
        "INSERT INTO keys (model, key, request, answer, time) VALUES (?, ?, ?, ?, ?)",
        (model, key, request, json.dumps(answer, ensure_ascii=False), time.time()),
    )


def audit(connection: Any, actor: str, action: str, model: str, detail: dict[str, Any]) -> None:
    """Add an entry to the audit log."""
    connection.execute(
        "INSERT INTO audit (time, actor, action, model, detail) VALUES (?, ?, ?, ?, ?)",
        (time.time(), actor, action, model, json.dumps(detail, ensure_ascii=False)),
    )
