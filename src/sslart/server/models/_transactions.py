"""Write requests as transactions: each is an atomic function for the writer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sslart.server.models._settings import ModelSettings
from sslart.server.models._stored_rows import FoundRow
from sslart.server.store import _journal as journal
from sslart.server.store._database import insert
from sslart.server.store._files import complete_upload, is_from_file, n_rows_of
from sslart.server.store._journal import Record, audit, packed
from sslart.server.store._labels import add_label, given_label, keep_row

FEW_ROWS = 20_000  # to which a fit is quick
# by how much labels grow before there is another fit, by the number of rows: a fit takes longer with more
GROWTH = ((FEW_ROWS, 0.0), (300_000, 0.2), (2**63, 1.0))


class ConflictError(Exception):
    """Raised for a request that conflicts with the state of the store."""


class NoSuchModelError(LookupError):
    """Raised for a model that does not exist or was deleted."""


class Written(NamedTuple):
    """Result of a write: the answer, its records, and a flag for a repeated request."""

    answer: dict[str, Any]
    records: tuple[Record, ...] = ()
    is_again: bool = False


Work = Callable[[Any], Written]


class Target(NamedTuple):
    """Target of a write request: number and name of the model, and the name of the token."""

    model: int
    name: str
    actor: str


class Key(NamedTuple):
    """The key by which a request can be repeated, and a checksum of the request."""

    key: str
    request: bytes


def written_before(connection: Any, model: int, key: Key | None) -> Written | None:
    """Return the stored response to an earlier request with the same key; None if there is none."""
    before = None if key is None else journal.answer_to(connection, model, key.key)
    if key is None or before is None:
        return None
    if before[0] != key.request:
        raise ConflictError(
            f"The Idempotency-Key {key.key!r} was used by a different request: use a new key for each request."
        )
    return Written(before[1], is_again=True)


def do_once(connection: Any, model: int, key: Key | None, work: Work) -> Written:
    """Do work once for a key; for a repeated request, return the first response."""
    before = written_before(connection, model, key)
    if before is not None:
        return before
    written = work(connection)
    if key is not None:
        journal.keep_answer(connection, model, key.key, key.request, written.answer)
    return written


def _append(connection: Any, target: Target, kind: str, payload: bytes, n_rows: int = 0) -> Record:
    record = journal.append(connection, target.model, kind, target.actor, payload, n_rows)
    if record is None:
        raise NoSuchModelError("The model was deleted.")
    return record


def _noted(connection: Any, to: Target, kind: str, content: Any, detail: dict[str, Any] | None = None) -> Written:
    """Append a record without rows, and note it in the audit log."""
    record = _append(connection, to, kind, packed(content))
    audit(connection, to.actor, kind, to.name, {"sequence": record.sequence} if detail is None else detail)
    return Written({"model": to.name, "sequence": record.sequence}, (record,))


def _keep_settings(connection: Any, model: int, settings: ModelSettings) -> dict[str, Any]:
    described = settings.model_dump(mode="json")
    connection.execute("UPDATE models SET settings = ? WHERE id = ?", (json.dumps(described), model))
    return described


def create(connection: Any, name: str, settings: ModelSettings, actor: str) -> tuple[int, Written]:
    """Create a model without rows."""
    described = settings.model_dump(mode="json")
    model = journal.create_model(connection, name, described)
    if model is None:
        raise ConflictError(f"There is already a model named {name!r}: give another name, or delete it first.")
    to = Target(model, name, actor)
    return model, _noted(connection, to, journal.CREATE, {"settings": described}, described)


def learn(
    to: Target, content: dict[str, Any], ids: Sequence[str] | None, accepted: Callable[[Record], None] = lambda _: None
) -> Work:
    """Return a transaction that adds rows; `accepted` is called with their record before it is on disk.

    The content has the rows and optionally their labels, learning flags and decisions. It is serialised by the caller,
    not by the writer.
    """
    model, payload, n_rows = to.model, packed(content), len(content["rows"])

    def work(connection: Any) -> Written:
        taken = [one for one in ids or () if journal.row_with_id(connection, model, one) is not None]
        if taken:
            raise ConflictError(
                f"There is already a row with the ID {taken[0]!r}: use a new ID for each row, and repeat requests with "
                "their Idempotency-Key."
            )
        record = _append(connection, to, journal.LEARN, payload, n_rows)
        accepted(record)
        journal.add_ids(connection, model, list(ids or ()), record.first_row)
        for place, label in enumerate(content.get("labels", ())):
            if label is not None:
                add_label(connection, record, record.first_row + place, label)
        numbers = list(range(record.first_row, record.first_row + n_rows))
        answer: dict[str, Any] = {"sequence": record.sequence, "rows": numbers}
        if "decisions" in content:
            answer["decisions"] = content["decisions"]
        return Written(answer, (record,))

    return work


class NewLabel(NamedTuple):
    """A stored row, the label to give it, and whether the row was drawn at random to be labelled."""

    found: FoundRow
    label: Any
    at_random: bool = True


def label(connection: Any, to: Target, given: Sequence[NewLabel], *, together: bool = False) -> Written:
    """Label rows; `together` marks the labels as one answer about similar rows.

    An unlabelled row is learnt with its new label. A changed label takes effect at the next fit, since models cannot
    unlearn.
    """
    entries, actions = [], Counter[str]()
    in_force: dict[int, Any] = {}
    for found, new, at_random in given:
        is_given, last = given_label(connection, to.model, found.row)
        before = in_force.get(found.row, last if is_given else found.label)
        action = "same" if new == before else "learn" if before is None else "corrected"
        in_force[found.row] = new
        actions[action] += 1
        entry = {"row": found.row, "label": new, "previous": before, "action": action, "at_random": at_random}
        entries.append({**entry, "cells": found.cells} if action == "learn" else entry)
    record = _append(connection, to, journal.LABEL, packed({"labels": entries, "together": together}))
    for one in entries:
        if one["action"] != "same":
            which = {"together": together, "at_random": one["at_random"]}
            add_label(connection, record, one["row"], one["label"], one["previous"], **which)
    for found, *_ in given:
        keep_row(connection, to.model, found.row, found.cells)
    rows = [one["row"] for one in entries]
    counts = {"learnt": actions["learn"], "corrected": actions["corrected"], "same": actions["same"]}
    return Written({"sequence": record.sequence, "rows": rows, **counts}, (record,))


def add_table(connection: Any, to: Target, upload: int, settings: ModelSettings, keep_rows: int) -> Written:
    """Add the rows of an upload, and request a fit to all rows."""
    n_rows = n_rows_of(connection, upload)
    table = _append(connection, to, journal.TABLE, packed({"upload": upload}), n_rows)
    complete_upload(connection, upload, table)
    audit(connection, to.actor, "table", to.name, {"rows": n_rows, "sequence": table.sequence})
    written = refit(connection, to, settings, keep_rows)
    return Written({**written.answer, "rows": n_rows, "first_row": table.first_row}, (table, *written.records))


def add_model_file(connection: Any, to: Target, upload: int) -> Written:
    """Replace a model by an uploaded model file."""
    written = _noted(connection, to, journal.IMPORT, {"upload": upload})
    complete_upload(connection, upload, *written.records)
    return written


def refit(connection: Any, to: Target, settings: ModelSettings, keep_rows: int, *, by_labels: bool = False) -> Written:
    """Request a fit to all rows with their current labels; `by_labels` marks a fit triggered by new labels."""
    described = _keep_settings(connection, to.model, settings)
    content = {"settings": described, "keep_rows": keep_rows, "by_labels": by_labels}
    written = _noted(connection, to, journal.FIT, content)
    journal.add_job(connection, to.model, written.answer["sequence"])
    return written


def leads_to_fit(connection: Any, model: int, n_rows: int, written: Written) -> bool:
    """Return True if labels were corrected, or if their number has grown enough for a new fit.

    Incremental learning rarely reselects settings; a fit always does. If a fit is pending and no label was changed, the
    decision is left to the next labels.
    """
    if written.is_again or is_from_file(connection, model):
        return False
    if written.answer["corrected"]:
        return True
    n_then, n_since, is_waiting = journal.labels_at_fit(connection, model)
    growth = next(one for most, one in GROWTH if n_rows <= most)
    return not is_waiting and n_since >= max(1.0, growth * n_then)


def record_to_await(n_rows: int, written: Written, job: int | None) -> int:
    """Return the record to wait for: the fit triggered by labels, unless it is slow and not required."""
    own: int = written.answer["sequence"]
    is_needed = n_rows <= FEW_ROWS or written.answer["corrected"]
    return job if job is not None and is_needed else own


def set_parameters(connection: Any, to: Target, settings: ModelSettings, parameters: dict[str, Any]) -> Written:
    """Change parameters of a model that need no fit; `settings` already contain them."""
    _keep_settings(connection, to.model, settings)
    return _noted(connection, to, journal.SET, {"parameters": parameters}, parameters)


def is_empty(connection: Any, model: int) -> bool:
    """Return True if a model has only received tables that could not be learnt."""
    checks = (
        (
            "SELECT 1 FROM journal WHERE model = ? AND kind NOT IN (?, ?, ?) LIMIT 1",
            (model, journal.CREATE, journal.TABLE, journal.FIT),
        ),
        (
            "SELECT 1 FROM jobs WHERE model = ? AND state NOT IN (?, ?) LIMIT 1",
            (model, journal.FAILED, journal.CANCELLED),
        ),
        ("SELECT 1 FROM models WHERE id = ? AND compacted_through > 0", (model,)),
    )
    return all(connection.execute(*check).get is None for check in checks)


def delete(connection: Any, to: Target, *, only_empty: bool = False) -> None:
    """Delete a model with all its data except the audit log; with `only_empty`, only if it `is_empty`."""
    if only_empty and not is_empty(connection, to.model):
        raise ConflictError(f"There is already a model named {to.name!r}: send rows to it, or delete it first.")
    connection.execute("DELETE FROM models WHERE id = ?", (to.model,))
    if not connection.changes():
        raise NoSuchModelError("The model was already deleted.")
    insert(connection, "deleted", model=to.model)
    audit(connection, to.actor, "delete", to.name, {})


def cancel(connection: Any, to: Target, sequence: int) -> bool:
    """Cancel a fit; return False if it had already ended."""
    is_cancelled = journal.end_job(connection, to.model, sequence, journal.CANCELLED, {"by": to.actor})
    if is_cancelled:
        audit(connection, to.actor, "cancel", to.name, {"sequence": sequence})
    return is_cancelled
