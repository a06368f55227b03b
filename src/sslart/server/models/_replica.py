"""Deterministic replay of the journal of a model: incremental learning, and fits to all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from sslart._data.joining import joined_tables
from sslart._data.samples import Table
from sslart._mapping.model_view import view_of
from sslart._tables.cells import plain
from sslart._tables.training_table import TrainingTable
from sslart._utils.notes import collected_notes
from sslart.estimators._fitted import take_forms
from sslart.persistence import model_from_bytes
from sslart.server.models._published import Cells, RowReader, as_class, first_samples
from sslart.server.models._settings import ModelSettings, with_settings
from sslart.server.models._stored_rows import Progress, StoredRows, answer_name, by_halves
from sslart.server.store._files import Snapshot, parts, read_snapshot
from sslart.server.store._journal import CREATE, FIT, IMPORT, LABEL, LEARN, SET, Record

GROUPED = (LEARN, LABEL)  # records of these kinds are learnt together


class FittedRows(NamedTuple):
    """All rows of a model as converted for a fit: the record of the fit, the samples, and their labels."""

    sequence: int
    frame: Any
    labels: list[Any]


class Fitted(NamedTuple):
    """A fitted model, the outcome of its fit, and all its rows (None after a fit to a subset)."""

    model: Any
    outcome: dict[str, Any]
    rows: FittedRows | None


def fit(connection: Any, record: Record, progress: Progress) -> Fitted:
    """Return a model fitted to all rows before a record of kind fit.

    The result is deterministic, bit for bit. Of rows older than the newest `keep_rows`, only labelled ones and those of
    uploaded tables are used, even if others are still stored. `progress` receives the name of each step and the share
    done.
    """
    stored = StoredRows.before(connection, record)
    with collected_notes() as notes:
        table = stored.table_to_fit(progress)
        progress("learning", 0.0)
        model = fitted_to(table, stored.settings)
    progress("measuring", 0.0)
    accuracy = view_of(model).quality.accuracy if table.label_counts else None
    outcome = {
        "rows": len(table.labels),
        "labels": table.label_counts,
        "boxes": int(model.n_nodes_),
        "accuracy": None if accuracy is None else dict(vars(accuracy)),
        "columns": [one._asdict() for one in table.columns],
        "notes": [with_settings(one) for one in notes],
        "by_labels": record.content()["by_labels"],
    }
    is_all = len(table.labels) == record.first_row
    return Fitted(model, outcome, FittedRows(record.sequence, table.samples, table.labels) if is_all else None)


def fitted_to(table: TrainingTable, settings: ModelSettings) -> Any:
    """Return a model fitted to a table; without labels, it learns only the samples."""
    model = settings.new_estimator()
    learn = model.fit if table.label_counts else model.partial_fit
    learn(table.samples, table.labels, **table.beside)
    take_forms(model, table.day_first, table.units, table.numbers)
    return model


def imported_model(connection: Any, record: Record) -> Any:
    """Return the model of the file that a record of kind import names."""
    content = b"".join(part.content for part in parts(connection, record.content()["upload"]))
    return model_from_bytes(content, "the model file")


def restored(connection: Any, snapshot: Snapshot) -> Replica:
    """Return the model of a snapshot, or raise a DamagedError."""
    model = model_from_bytes(read_snapshot(connection, snapshot), f"the snapshot after record {snapshot.sequence}")
    return Replica(ModelSettings.model_validate(snapshot.settings), model, snapshot.sequence)


class ReadRows(NamedTuple):
    """Converted rows of a record: content, samples, and the columns used for the conversion."""

    content: dict[str, Any]
    table: Table
    columns: tuple[Any, ...]


@dataclass(frozen=True)
class RowBatch:
    """Rows to learn in one call, with their labels, and their samples if already converted."""

    cells: list[Cells]
    labels: list[Any]
    table: Table | None = None
    at_random: list[bool] | None = None  # rows that were drawn at random to be labelled; None: all

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, rows: slice) -> RowBatch:
        table = None if self.table is None else self.table[rows]
        at_random = None if self.at_random is None else self.at_random[rows]
        return RowBatch(self.cells[rows], self.labels[rows], table, at_random)

    @classmethod
    def joined(cls, batches: Sequence[RowBatch]) -> RowBatch:
        """Concatenate batches; the result has samples if all of them have."""
        tables = [one.table for one in batches if one.table is not None]
        table = None
        if tables and len(tables) == len(batches):
            table = replace(joined_tables(tables), n_parts=tables[0].n_parts) if len(tables) > 1 else tables[0]
        at_random = [row for one in batches for row in one.at_random or [True] * len(one)]
        return cls(
            [row for one in batches for row in one.cells],
            [row for one in batches for row in one.labels],
            table,
            None if all(at_random) else at_random,
        )


class Replica:
    """The state of a model after a record of its journal; the settings are those the model was created with."""

    def __init__(self, settings: ModelSettings, model: Any = None, sequence: int = 0) -> None:
        self.settings, self.model, self.sequence = settings, model, sequence
        self.n_learnt = self.n_rejected = 0  # rows since this object was created
        self._last_reader: RowReader | None = None

    def apply(
        self,
        records: Sequence[Record],
        fitted: Callable[[Record], Any],
        imported: Callable[[Record], Any],
        read: Callable[[Record], ReadRows | None] = lambda _: None,
    ) -> Iterator[Record]:
        """Apply the records that follow `sequence` in order; yield the last record of each batch.

        `fitted` returns the model of a fit record (None if the fit failed), `imported` that of an import record, and
        `read` the converted rows of a record, or None if they must be read from the journal.
        """
        place = 0
        while place < len(records):
            record, end = records[place], place + 1
            if record.kind in GROUPED:
                while end < len(records) and records[end].kind in GROUPED:
                    end += 1
                self._learn_records(records[place:end], read)
            elif record.kind == FIT:
                model = fitted(record)
                if model is not None:
                    self.model, self.settings = model, ModelSettings.model_validate(record.content()["settings"])
            elif record.kind == IMPORT:
                self.model = imported(record)
            elif record.kind == SET:
                self._set_params(record.content()["parameters"])
            elif record.kind == CREATE:
                self.settings = ModelSettings.model_validate(record.content()["settings"])
            self.sequence, place = records[end - 1].sequence, end
            yield records[end - 1]

    def _learn_records(self, records: Sequence[Record], read: Callable[[Record], ReadRows | None]) -> None:
        """Learn records of kind learn and label, in their order."""
        while records:
            some = records[: self._n_together(records)]
            answer = some[0].sequence if _is_one_answer(some[0]) else None
            batch = RowBatch.joined([self._batch(record, read(record)) for record in some])
            for rows, n_learnt in by_halves(partial(self._learn, answer=answer), batch) if len(batch) else ():
                self.n_learnt += n_learnt or 0
                self.n_rejected += len(rows) if n_learnt is None else 0
            records = records[len(some) :]

    def _n_together(self, records: Sequence[Record]) -> int:
        """Return the number of records learnt in one call; one answer for several rows is learnt alone."""
        if self.model is None or not self._reader().is_decided or _is_one_answer(records[0]):
            return 1  # the first records define the columns and are learnt one by one
        return next((place for place, one in enumerate(records) if _is_one_answer(one)), len(records))

    def _set_params(self, params: dict[str, Any]) -> None:
        self.settings = self.settings.model_copy(update={"parameters": {**self.settings.parameters, **params}})
        if self.model is not None:
            self.model.set_params(**params)

    def _reader(self) -> RowReader:
        """Return the row reader of the current model, recreated if its columns have changed."""
        view, last = view_of(self.model), self._last_reader
        if last is None or last.samples_reader is not view.reader:
            last = self._last_reader = RowReader(self.model, view, self.settings.not_features)
        return last

    def _batch(self, record: Record, read: ReadRows | None) -> RowBatch:
        """Return the rows to learn from a record."""
        content = record.content() if read is None else read.content
        if record.kind == LABEL:
            given = [one for one in content["labels"] if one["action"] == "learn"]
            at_random = [one["at_random"] for one in given]
            return RowBatch([one["cells"] for one in given], [one["label"] for one in given], at_random=at_random)
        rows, n = content["rows"], len(content["rows"])
        labels, is_learnt = content.get("labels") or [None] * n, content.get("learn") or [True] * n
        places = [place for place in range(n) if is_learnt[place]]
        table = None
        if read is not None and self.model is not None and read.columns == self._reader().columns:
            table = read.table if len(places) == n else read.table[places]
        return RowBatch([rows[place] for place in places], [labels[place] for place in places], table)

    def _learn(self, batch: RowBatch, answer: int | None) -> int:
        """Learn rows in one call, and return how many they are."""
        if self.model is None:
            samples, model = first_samples(batch.cells, self.settings), self.settings.new_estimator()
            classes = None
        else:
            samples, model, classes = self._samples(batch), self.model, view_of(self.model).classes
        labels = [as_class(label, classes) for label in batch.labels]
        self._teach(model, samples, labels, **self._beside(batch, answer))
        self.model = model
        return len(batch)

    def _samples(self, batch: RowBatch) -> Any:
        """Return rows as the model learns them: a table, or an array of numbers without names."""
        reader = self._reader()
        table = reader.table(batch.cells) if batch.table is None else batch.table
        return table if reader.has_names or table.categories else table.values

    def _beside(self, batch: RowBatch, answer: int | None) -> dict[str, list[Any]]:
        """Return groups of rows from their column, and the origin of their labels, as arguments of `partial_fit`."""
        group, beside = self.settings.group, dict[str, list[Any]]()
        if group is not None:
            beside["groups"] = [_group(row.get(group)) for row in batch.cells]
        if not self.settings.takes_groups:
            return beside
        if answer is not None:
            beside["answers"] = [answer_name(answer)] * len(batch)
        if batch.at_random is not None:
            beside["at_random"] = batch.at_random
        return beside

    def _teach(self, model: Any, samples: Any, labels: list[Any], **beside: Any) -> None:
        """Let a model learn samples."""
        model.partial_fit(samples, labels, **beside)


def _group(cell: Any) -> str | None:
    """Return the name of a group as a fit reads it from a table, for any type of cell."""
    return None if cell is None or cell == "" else plain(str(cell).strip())


def _is_one_answer(record: Record) -> bool:
    """Return True if a record contains labels of several rows given by one answer."""
    return record.kind == LABEL and bool(record.content()["together"])
