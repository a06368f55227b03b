"""A fit to all rows that a model was given, with the labels in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sslart._mapping.model_view import view_of
from sslart._mapping.summary import summarise
from sslart._tables.files import sample_rows
from sslart._tables.training_table import TrainingTable, training_table_of
from sslart._utils.notes import collected_notes, note
from sslart.estimators._fitted import take_day_first
from sslart.persistence import model_from_bytes
from sslart.server.models._settings import ModelSettings, with_settings
from sslart.server.models._stored_rows import TOGETHER, Before, Progress, label_column, one_answer, rows_with_labels
from sslart.server.store._labels import given_together
from sslart.server.store._records import Record
from sslart.server.store._uploads import parts

SOURCE = "the table"


class FittedRows(NamedTuple):
    """All rows of a model as a fit has read them: the sequence number of the fit, the samples, and their labels."""

    sequence: int
    frame: Any
    labels: list[Any]


class Fitted(NamedTuple):
    """A fitted model, the outcome of its fit, and all its rows (None after a fit to a subset)."""

    model: Any
    outcome: dict[str, Any]
    rows: FittedRows | None


def fit(connection: Any, record: Record, progress: Progress) -> Fitted:
    """Return a model that is fitted to all rows before a record of kind fit.

    The same store and record give the same bits. Of rows that are older than the newest `keep_rows`, those with a label
    and those of uploaded tables are learnt, whether the others are still there or not.

    Parameters
    ----------
    connection : apsw.Connection
    record : Record
    progress : callable
        Gets the name of each step, and the share of it that is done.
    """
    content = record.content()
    settings = ModelSettings.model_validate(content["settings"])
    before = Before(record.model, record.sequence, record.first_row)
    with collected_notes() as notes:
        table = table_to_fit(connection, before, settings, content["keep_rows"], progress)
        progress("learning", 0.0)
        model = fitted_to(table, settings)
    progress("measuring", 0.0)
    outcome = {
        "rows": len(table.labels),
        "labels": table.label_counts,
        "boxes": int(model.n_nodes_),
        "accuracy": _accuracy(model) if table.label_counts else None,
        "columns": [one._asdict() for one in table.columns if one.name != TOGETHER],
        "notes": [with_settings(one) for one in notes],
        "by_labels": content["by_labels"],
    }
    is_all = len(table.labels) == record.first_row
    return Fitted(model, outcome, FittedRows(record.sequence, table.samples, table.labels) if is_all else None)


def table_to_fit(
    connection: Any,
    before: Before,
    settings: ModelSettings,
    keep_rows: int,
    progress: Progress | None = None,
    changed: Mapping[int, Any] | None = None,
    *,
    together: bool = False,
) -> TrainingTable:
    """Return the rows that a fit learns.

    `changed` are labels by row in place of those in force; `together`: by one answer about similar rows.
    """
    label, columns = label_column(settings), settings.columns(label_column(settings))
    groups = None
    if settings.group is None and settings.takes_groups:
        answers = given_together(connection, before.model, before.sequence)
        answers |= dict.fromkeys(changed or (), before.sequence) if together else {}
        groups = {row: one_answer(sequence) for row, sequence in answers.items()} or None
    if groups is not None:
        columns = columns._replace(group=TOGETHER)
    pieces = rows_with_labels(connection, before, keep_rows, label, progress, changed, groups)
    frame, n_rows = sample_rows(pieces, label, settings.max_fit_rows, 0)
    if len(frame) < n_rows:
        note(f"Learnt from {len(frame)} of {n_rows} rows, labelled ones first: max_fit_rows sets how many.")
    return training_table_of(frame, columns, SOURCE, need_labels=False)


def fitted_to(table: TrainingTable, settings: ModelSettings) -> Any:
    """Return a model that is fitted to a table; where it has no label, one that has learnt its samples."""
    model = settings.new_estimator()
    groups = {} if table.groups is None else {"groups": table.groups}
    learn = model.fit if table.label_counts else model.partial_fit
    learn(table.samples, table.labels, **groups)
    take_day_first(model, table.day_first)
    return model


def _accuracy(model: Any) -> dict[str, Any] | None:
    """Return the accuracy on labels that are left out, with its interval; None where it cannot be measured."""
    found = summarise(view_of(model)).accuracy
    return None if found is None else dict(vars(found))


def imported_model(connection: Any, record: Record) -> Any:
    """Return the model of the file that a record of kind import names."""
    content = b"".join(part.content for part in parts(connection, record.content()["upload"]))
    return model_from_bytes(content, "the model file")
