"""Retention: removal of records before the snapshots, and of rows beyond the number to keep."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sslart.server.store._errors import DamagedError
from sslart.server.store._jobs import WAITING
from sslart.server.store._journal import records
from sslart.server.store._labels import given_label
from sslart.server.store._records import FIT, LEARN, Record, unpacked
from sslart.server.store._snapshots import N_KEPT, snapshots
from sslart.server.store._uploads import upload_with_row

RECORDS_AT_ONCE = 200
SECONDS_TO_KEEP_KEYS = 7 * 24 * 3600.0


def compact_some(model: int, keep_rows: int) -> Callable[[Any], int]:
    """Return work for the writer that removes some old records of a model and returns how many it has removed.

    A record goes where both snapshots are newer, and all its rows are older than the newest `keep_rows`. Of its rows,
    the labelled ones are kept by themselves, so that a fit can learn them. Nothing goes that a fit needs which waits,
    or which is done again where the newer snapshot is damaged.
    """

    def work(connection: Any) -> int:
        found = connection.execute("SELECT compacted_through, n_rows FROM models WHERE id = ?", (model,)).fetchone()
        waiting = connection.execute("SELECT 1 FROM jobs WHERE model = ? AND state = ?", (model, WAITING)).get
        kept = snapshots(connection, model)
        if found is None or waiting is not None or len(kept) < N_KEPT:
            return 0
        through, n_rows = found
        oldest = min([n_rows - keep_rows, *_oldest_of_fits(connection, model, kept[-1].sequence)])
        n_removed = 0
        for record in _good_records(connection, model, through, kept[-1].sequence):
            if record.first_row + record.n_rows > oldest:
                break
            if record.kind == LEARN:
                _keep_labelled(connection, record)
            through, n_removed = record.sequence, n_removed + 1
        connection.execute("DELETE FROM journal WHERE model = ? AND sequence <= ?", (model, through))
        connection.execute("UPDATE models SET compacted_through = ? WHERE id = ?", (through, model))
        return n_removed

    return work


def _good_records(connection: Any, model: int, after: int, through: int) -> list[Record]:
    """Return the next records up to a damaged one, which is preserved for diagnosis."""
    with suppress(DamagedError):
        return [one for one in records(connection, model, after, RECORDS_AT_ONCE) if one.sequence <= through]
    return []


def _oldest_of_fits(connection: Any, model: int, after: int) -> list[int]:
    """Return the oldest row that each fit after a record learns without a label."""
    fits = connection.execute(
        "SELECT first_row, payload FROM journal WHERE model = ? AND sequence > ? AND kind = ?", (model, after, FIT)
    )
    return [first_row - int(unpacked(payload)["keep_rows"]) for first_row, payload in fits]


def _keep_labelled(connection: Any, record: Record) -> None:
    for place, cells in enumerate(record.content()["rows"]):
        row = record.first_row + place
        if given_label(connection, record.model, row)[0]:
            connection.execute(
                "INSERT OR REPLACE INTO kept_rows (model, row, cells) VALUES (?, ?, ?)",
                (record.model, row, json.dumps(cells, ensure_ascii=False)),
            )
        else:
            connection.execute("DELETE FROM ids WHERE model = ? AND row = ?", (record.model, row))


def keep_row(connection: Any, model: int, row: int, cells: dict[str, Any]) -> None:
    """Keep a row that is being labelled by itself, where its record has gone since it was looked up."""
    end = connection.execute(
        "SELECT first_row + n_rows FROM journal WHERE model = ? AND n_rows > 0 AND first_row <= ? "
        "ORDER BY first_row DESC LIMIT 1",
        (model, row),
    ).get
    if (end is None or end <= row) and upload_with_row(connection, model, row) is None:
        connection.execute(
            "INSERT OR IGNORE INTO kept_rows (model, row, cells) VALUES (?, ?, ?)",
            (model, row, json.dumps(cells, ensure_ascii=False)),
        )


def kept_row(connection: Any, model: int, row: int) -> dict[str, Any] | None:
    """Return the cells of a labelled row whose record was removed."""
    found = connection.execute("SELECT cells FROM kept_rows WHERE model = ? AND row = ?", (model, row)).get
    return None if found is None else json.loads(found)


def kept_rows(connection: Any, model: int) -> list[tuple[int, dict[str, Any]]]:
    """Return the labelled rows whose records were removed, in order: number and cells."""
    rows = connection.execute("SELECT row, cells FROM kept_rows WHERE model = ? ORDER BY row", (model,))
    return [(row, json.loads(cells)) for row, cells in rows]


def forget_old_keys(connection: Any) -> None:
    """Forget the keys of requests that are so old that nobody repeats them."""
    connection.execute("DELETE FROM keys WHERE time < ?", (time.time() - SECONDS_TO_KEEP_KEYS,))
