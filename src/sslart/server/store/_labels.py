"""Label history of rows, with actors and times, and custom properties of models."""

from __future__ import annotations

import json
import time
from typing import Any

MAX_KEYS = 100


def add_label(
    connection: Any,
    model: int,
    row: int,
    label: Any,
    previous: Any,
    actor: str,
    sequence: int,
    *,
    together: bool = False,
) -> None:
    """Add the label of a row to the history; None withdraws it. `together`: one answer has given all of the record."""
    connection.execute(
        "INSERT INTO labels (model, row, label, previous, actor, time, sequence, together) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (model, row, _text(label), _text(previous), actor, time.time(), sequence, together),
    )


def given_label(connection: Any, model: int, row: int) -> tuple[bool, Any]:
    """Return True if a row was labelled individually, and its current label."""
    found = connection.execute(
        "SELECT label FROM labels WHERE model = ? AND row = ? ORDER BY id DESC LIMIT 1", (model, row)
    ).fetchone()
    return (False, None) if found is None else (True, _value(found[0]))


def given_labels(connection: Any, model: int, through: int) -> dict[int, Any]:
    """Return the label in force of each row that was labelled by itself, after the record of a sequence number."""
    rows = connection.execute(
        "SELECT row, label FROM labels WHERE model = ? AND sequence <= ? ORDER BY id", (model, through)
    )
    return {row: _value(label) for row, label in rows}


def given_together(connection: Any, model: int, through: int) -> dict[int, int]:
    """Return the rows whose current label was given by one answer for several rows, with its record number."""
    rows = connection.execute(
        "SELECT row, sequence, together AND label IS NOT NULL FROM labels "
        "WHERE model = ? AND sequence <= ? ORDER BY id",
        (model, through),
    )
    last = {row: (sequence, is_together) for row, sequence, is_together in rows}
    return {row: sequence for row, (sequence, is_together) in last.items() if is_together}


def history(connection: Any, model: int, row: int | None, after: int, most: int) -> list[dict[str, Any]]:
    """Return the history of labels after an entry, in order."""
    of_row = "" if row is None else "AND row = ?"
    found = connection.execute(
        "SELECT id, row, label, previous, actor, time, sequence FROM labels "
        f"WHERE model = ? AND id > ? {of_row} ORDER BY id LIMIT ?",
        (model, after, *([] if row is None else [row]), most),
    )
    return [
        {
            "entry": entry,
            "row": number,
            "label": _value(label),
            "previous": _value(previous),
            "actor": actor,
            "time": moment,
            "sequence": sequence,
        }
        for entry, number, label, previous, actor, moment, sequence in found
    ]


def properties(connection: Any, model: int) -> dict[str, Any]:
    """Return all properties of a model by their key."""
    rows = connection.execute("SELECT key, value FROM properties WHERE model = ? ORDER BY key", (model,))
    return {key: json.loads(value) for key, value in rows}


def set_property(connection: Any, model: int, key: str, value: Any) -> None:
    """Keep a value in place of the one before; None removes it."""
    if value is None:
        connection.execute("DELETE FROM properties WHERE model = ? AND key = ?", (model, key))
        return
    known = properties(connection, model)
    if key not in known and len(known) >= MAX_KEYS:
        raise ValueError(f"The model has {len(known)} properties, which is the limit: remove one first.")
    connection.execute(
        "INSERT OR REPLACE INTO properties (model, key, value, time) VALUES (?, ?, ?, ?)",
        (model, key, json.dumps(value, ensure_ascii=False), time.time()),
    )


def disagreements(connection: Any, model: int, most: int) -> list[dict[str, Any]]:
    """Return the rows to which several people have last given different labels, with these labels."""
    last = (
        "SELECT row, actor, label, time, max(id) FROM labels WHERE model = ? AND label IS NOT NULL GROUP BY row, actor"
    )
    differing = f"SELECT row FROM ({last}) GROUP BY row HAVING count(DISTINCT label) > 1 ORDER BY row LIMIT ?"
    found: dict[int, list[dict[str, Any]]] = {}
    for row, actor, label, moment, _ in connection.execute(
        f"SELECT * FROM ({last}) WHERE row IN ({differing}) ORDER BY row, time", (model, model, most)
    ):
        found.setdefault(row, []).append({"actor": actor, "label": _value(label), "time": moment})
    return [
        {"row": row, "in_force": given_label(connection, model, row)[1], "labels": labels}
        for row, labels in found.items()
    ]


def _text(label: Any) -> str | None:
    return None if label is None else json.dumps(label, ensure_ascii=False)


def _value(text: str | None) -> Any:
    return None if text is None else json.loads(text)
