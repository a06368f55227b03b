"""Labels with their history, properties of models, and labelled rows kept by retention."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any, NamedTuple

from sslart.server.store._database import DamagedError, insert, plain_text
from sslart.server.store._files import N_KEPT, snapshots, upload_with_row
from sslart.server.store._journal import FIT, LEARN, WAITING, Record, records, unpacked

MAX_KEYS = 100
RECORDS_AT_ONCE = 200
SECONDS_TO_KEEP_KEYS = 7 * 24 * 3600.0


def add_label(
    connection: Any,
    record: Record,
    row: int,
    label: Any,
    previous: Any = None,
    *,
    together: bool = False,
    at_random: bool = True,
) -> None:
    """Add a label to the history; None withdraws it.

    With `together`, all labels of the record are one answer; `at_random`: the row was drawn at random to be labelled.
    """
    given = {"row": row, "label": _text(label), "previous": _text(previous), "together": together}
    given["at_random"] = at_random
    by = {"model": record.model, "actor": record.actor, "sequence": record.sequence}
    insert(connection, "labels", **by, **given, time=time.time())


def given_label(connection: Any, model: int, row: int) -> tuple[bool, Any]:
    """Return True if a row was labelled individually, and its current label."""
    found = connection.execute(
        "SELECT label FROM labels WHERE model = ? AND row = ? ORDER BY id DESC LIMIT 1", (model, row)
    ).fetchone()
    return (False, None) if found is None else (True, _value(found[0]))


def given_labels(connection: Any, model: int, through: int) -> dict[int, Any]:
    """Return the current label of each row that was labelled individually, as of a journal record."""
    rows = connection.execute(
        "SELECT row, label FROM labels WHERE model = ? AND sequence <= ? ORDER BY id", (model, through)
    )
    return {row: _value(label) for row, label in rows}


class Origins(NamedTuple):
    """Origins of the labels of rows.

    Attributes
    ----------
    answers : dict from int to int
        Rows whose current label was given by one answer for several rows, with its record number.
    chosen : set of int
        Rows with a label that were not drawn at random to be labelled. A correction does not change that.
    """

    answers: dict[int, int]
    chosen: set[int]


def origins(connection: Any, model: int, through: int) -> Origins:
    """Return the origins of the labels that rows were given individually, as of a journal record."""
    found = connection.execute(
        "SELECT row, sequence, together, label IS NULL, previous IS NULL AND NOT at_random FROM labels "
        "WHERE model = ? AND sequence <= ? ORDER BY id",
        (model, through),
    )
    answers, chosen = dict[int, int | None](), dict[int, bool]()
    for row, sequence, together, is_withdrawn, is_chosen in found:
        answers[row] = sequence if together and not is_withdrawn else None
        if is_withdrawn:
            chosen.pop(row, None)
        else:
            chosen.setdefault(row, bool(is_chosen))
    return Origins(
        {row: sequence for row, sequence in answers.items() if sequence is not None},
        {row for row, is_chosen in chosen.items() if is_chosen},
    )


def history(connection: Any, model: int, row: int | None, after: int, most: int) -> list[dict[str, Any]]:
    """Return the history of labels after an entry, in order."""
    of_row = "" if row is None else "AND row = ?"
    found = connection.execute(
        "SELECT id, row, label, previous, actor, time, sequence FROM labels "
        f"WHERE model = ? AND id > ? {of_row} ORDER BY id LIMIT ?",
        (model, after, *([] if row is None else [row]), most),
    )
    names = ("entry", "row", "label", "previous", "actor", "time", "sequence")
    entries = [dict(zip(names, values, strict=True)) for values in found]
    return [one | {"label": _value(one["label"]), "previous": _value(one["previous"])} for one in entries]


def properties(connection: Any, model: int) -> dict[str, Any]:
    """Return all properties of a model by key."""
    rows = connection.execute("SELECT key, value FROM properties WHERE model = ? ORDER BY key", (model,))
    return {key: json.loads(value) for key, value in rows}


def set_property(connection: Any, model: int, key: str, value: Any) -> None:
    """Store a property; None removes it."""
    if value is None:
        connection.execute("DELETE FROM properties WHERE model = ? AND key = ?", (model, key))
        return
    known = properties(connection, model)
    if key not in known and len(known) >= MAX_KEYS:
        raise ValueError(f"The limit of {len(known)} properties is reached: remove one first.")
    kept = {"model": model, "key": key, "value": plain_text(value), "time": time.time()}
    insert(connection, "properties", "REPLACE", **kept)


def disagreements(connection: Any, model: int, most: int) -> list[dict[str, Any]]:
    """Return the rows whose latest labels by different people differ, with these labels."""
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
    return None if label is None else plain_text(label)


def _value(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def compact_some(connection: Any, model: int, keep_rows: int) -> int:
    """Remove some old records of a model, and return how many.

    A record is removed if both snapshots are newer and all its rows are older than the newest `keep_rows`. Its labelled
    rows are kept separately for fits. Records needed by a pending fit, or to repeat a fit if the newer snapshot is
    damaged, are not removed.
    """
    found = connection.execute("SELECT compacted_through, n_rows FROM models WHERE id = ?", (model,)).fetchone()
    waiting = connection.execute("SELECT 1 FROM jobs WHERE model = ? AND state = ?", (model, WAITING)).get
    kept = snapshots(connection, model)
    if found is None or waiting is not None or len(kept) < N_KEPT:
        return 0
    through, n_rows = found
    fits = connection.execute(
        "SELECT first_row, payload FROM journal WHERE model = ? AND sequence > ? AND kind = ?",
        (model, kept[-1].sequence, FIT),
    )  # the oldest unlabelled row that each fit uses:
    of_fits = [first_row - int(unpacked(payload)["keep_rows"]) for first_row, payload in fits]
    oldest = min([n_rows - keep_rows, *of_fits])
    n_removed = 0
    some = list[Record]()
    with suppress(DamagedError):  # a damaged record is kept for diagnosis
        some = records(connection, model, through, RECORDS_AT_ONCE)
    for record in some:
        if record.sequence > kept[-1].sequence or record.first_row + record.n_rows > oldest:
            break
        if record.kind == LEARN:
            _keep_labelled(connection, record)
        through, n_removed = record.sequence, n_removed + 1
    connection.execute("DELETE FROM journal WHERE model = ? AND sequence <= ?", (model, through))
    connection.execute("UPDATE models SET compacted_through = ? WHERE id = ?", (through, model))
    return n_removed


def _keep_labelled(connection: Any, record: Record) -> None:
    for place, cells in enumerate(record.content()["rows"]):
        row = record.first_row + place
        if given_label(connection, record.model, row)[0]:
            insert(connection, "kept_rows", "REPLACE", model=record.model, row=row, cells=plain_text(cells))
        else:
            connection.execute("DELETE FROM ids WHERE model = ? AND row = ?", (record.model, row))


def keep_row(connection: Any, model: int, row: int, cells: dict[str, Any]) -> None:
    """Keep a row that is being labelled if its record was removed since it was looked up."""
    end = connection.execute(
        "SELECT first_row + n_rows FROM journal WHERE model = ? AND n_rows > 0 AND first_row <= ? "
        "ORDER BY first_row DESC LIMIT 1",
        (model, row),
    ).get
    if (end is None or end <= row) and upload_with_row(connection, model, row) is None:
        insert(connection, "kept_rows", "IGNORE", model=model, row=row, cells=plain_text(cells))


def kept_row(connection: Any, model: int, row: int) -> dict[str, Any] | None:
    """Return the cells of a labelled row whose record was removed."""
    found = connection.execute("SELECT cells FROM kept_rows WHERE model = ? AND row = ?", (model, row)).get
    return None if found is None else json.loads(found)


def kept_rows(connection: Any, model: int) -> list[tuple[int, dict[str, Any]]]:
    """Return the labelled rows whose records were removed, in order: number and cells."""
    rows = connection.execute("SELECT row, cells FROM kept_rows WHERE model = ? ORDER BY row", (model,))
    return [(row, json.loads(cells)) for row, cells in rows]


def forget_old_keys(connection: Any) -> None:
    """Remove expired Idempotency-Keys."""
    connection.execute("DELETE FROM keys WHERE time < ?", (time.time() - SECONDS_TO_KEEP_KEYS,))
