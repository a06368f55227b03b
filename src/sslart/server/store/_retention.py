"""What is no longer needed: records before the snapshots, and rows that are older than those to keep."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from sslart.server.store._jobs import WAITING
from sslart.server.store._labels import given_label
from sslart.server.store._records import LEARN, Record
from sslart.server.store._snapshots import snapshots

RECORDS_AT_ONCE = 200
SECONDS_TO_KEEP_KEYS = 7 * 24 * 3600.0


def compact_some(model: int, keep_rows: int) -> Callable[[Any], int]:
    """Return work for the writer that removes some old records of a model and returns how many it has removed.

    A record goes where both snapshots are newer, and all its rows are older than the newest `keep_rows`. Of its rows,
    the labelled ones are kept by themselves, so that a fit can learn them. Nothing goes while a fit waits, which may
    need it.
    """

    def work(connection: Any) -> int:
        found = connection.execute("SELECT compacted_through, n_rows FROM models WHERE id = ?", (model,)).fetchone()
        waiting = connection.execute("SELECT 1 FROM jobs WHERE model = ? AND state = ?", (model, WAITING)).get
        kept = snapshots(connection, model)
        if found is None or waiting is not None or not kept:
            return 0
        through, n_rows = found
        rows = connection.execute(
            "SELECT model, sequence, kind, time, actor, first_row, n_rows, payload FROM journal "
            "WHERE model = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?",
            (model, through, kept[-1].sequence, RECORDS_AT_ONCE),
        ).fetchall()
        n_removed = 0
        for record in (Record(*row) for row in rows):
            if record.first_row + record.n_rows > n_rows - keep_rows:
                break
            if record.kind == LEARN:
                _keep_labelled(connection, record)
            through, n_removed = record.sequence, n_removed + 1
        connection.execute("DELETE FROM journal WHERE model = ? AND sequence <= ?", (model, through))
        connection.execute("UPDATE models SET compacted_through = ? WHERE id = ?", (through, model))
        return n_removed

    return work


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


def kept_row(connection: Any, model: int, row: int) -> dict[str, Any] | None:
    """Return the cells of a labelled row whose record is gone."""
    found = connection.execute("SELECT cells FROM kept_rows WHERE model = ? AND row = ?", (model, row)).get
    return None if found is None else json.loads(found)


def kept_rows(connection: Any, model: int) -> list[tuple[int, dict[str, Any]]]:
    """Return the labelled rows whose records are gone, in order: number and cells."""
    rows = connection.execute("SELECT row, cells FROM kept_rows WHERE model = ? ORDER BY row", (model,))
    return [(row, json.loads(cells)) for row, cells in rows]


def forget_old_keys(connection: Any) -> None:
    """Forget the keys of requests that are so old that nobody repeats them."""
    connection.execute("DELETE FROM keys WHERE time < ?", (time.time() - SECONDS_TO_KEEP_KEYS,))
