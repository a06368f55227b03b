"""Labels that people have given to rows: who, when, and which is in force."""

from __future__ import annotations

import json
import time
from typing import Any


def add_label(connection: Any, model: int, row: int, label: Any, previous: Any, actor: str, sequence: int) -> None:
    """Add the label of a row to the history; None withdraws it."""
    connection.execute(
        "INSERT INTO labels (model, row, label, previous, actor, time, sequence) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (model, row, _text(label), _text(previous), actor, time.time(), sequence),
    )


def given_label(connection: Any, model: int, row: int) -> tuple[bool, Any]:
    """Return whether a row was labelled by itself, and its label in force."""
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


def history(connection: Any, model: int, row: int | None, after: int, most: int) -> list[dict[str, Any]]:
    """Return who has given which labels, in order, from after an entry on."""
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


def _text(label: Any) -> str | None:
    return None if label is None else json.dumps(label, ensure_ascii=False)


def _value(text: str | None) -> Any:
    return None if text is None else json.loads(text)
