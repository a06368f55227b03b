"""The command `sslart watch`: predict the rows of a stream and learn from them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from sslart._art.novelty import FALSE_ALARMS
from sslart._data.samples import Table
from sslart._drift.monitor import PredictedDrift
from sslart._tables import pandas
from sslart._tables.columns import (
    check_columns,
    check_learnt_columns,
    groups_of,
    labels_of,
    learnt_columns,
    samples_for,
)
from sslart._utils.files import STANDARD
from sslart._utils.notes import note
from sslart._utils.text import json_text, listed, plural
from sslart.cli import _options as option
from sslart.cli._line_reader import LineReader, Lines, NotARowError
from sslart.cli._model_file import ModelFile
from sslart.cli._output import check_not_read, check_target, show
from sslart.cli._path_lock import InUseError
from sslart.cli._predictions import RowPredictor
from sslart.cli._table_writer import records

SOURCE = "the stream"
MAX_POSTPONED = 100_000  # rows waiting to be learnt; beyond it, reading waits for learning
SECONDS_BEYOND = 1.0
MAX_TRIES = 5  # attempts to save, if other programs replace the file without locking it


class LearningPolicy(StrEnum):
    """Rows of a stream that are learnt."""

    familiar = "familiar"
    every = "all"
    none = "none"

    def takes(self, *, is_novel: bool, is_labelled: bool) -> bool:
        """Return True if a row is learnt; under `familiar`, a novel row only if it is labelled."""
        return self == LearningPolicy.every or (self == LearningPolicy.familiar and (is_labelled or not is_novel))


class StreamRow(NamedTuple):
    """A row of the stream: its number, its line and its cells."""

    number: int
    line: bytes
    cells: dict[str, Any]


class StreamWorker:
    """A model that predicts the rows of a stream, and learns them in batches.

    Bad rows are appended to the file `rejects`, or printed as errors if it is None. The saved model keeps its own
    settings for abstention and novelty. Novel rows are learnt only if labelled: they may be faults, which should be
    flagged again next time. `saved_through` is the last row that the saved model has learnt.
    """

    def __init__(
        self,
        model_file: str,
        label: str | None,
        id_column: str | None,
        rejects: str | None,
        learning: LearningPolicy,
        every: int,
        abstain_below: float | None = None,
        false_alarms: float = FALSE_ALARMS,
        wait: float = option.SECONDS_TO_WAIT,
    ) -> None:
        if learning != LearningPolicy.none:
            check_target(model_file)
        if rejects is not None:
            check_target(rejects, model_file)
        self.model_file, self.rejects, self.learning, self.every = model_file, rejects, learning, every
        self.label, self.id_column, self.abstain_below = label, id_column, abstain_below
        self._file = ModelFile("watch", model_file, wait=wait)
        self.model, self._rows = self._file.read()
        self.saved_through = 0
        self.false_alarms = false_alarms
        self._predict = RowPredictor(self.model, abstain_below, false_alarms=false_alarms)
        self._reader, self._known_names = LineReader(), self._useful_names()
        self._to_learn: list[StreamRow] = []
        self._unsaved: list[StreamRow] = []  # learnt since the model was saved
        self._n_rows = self._n_predicted = self._n_novel = self._n_rejected = self._n_learnt = 0
        self._n_waiting = self._last = self._n_not_learnt = self._n_drifts = 0
        self._drift = PredictedDrift()
        self._is_postponed = False
        self._never_seen = {name for name in (label, id_column) if name is not None}

    def take(self, lines: list[bytes]) -> None:
        """Predict the rows of some lines, and learn when a batch is complete."""
        rows = [row for row in map(self._read, lines) if row is not None]
        while rows:  # each row is predicted before its batch is learnt, however lines arrive
            n_room = self.every - self._n_waiting
            self._together_or_each(self._print_predictions, rows[:n_room])
            rows = rows[n_room:]
            if self._n_waiting >= self.every:
                self._learn_if_free()

    def end(self) -> None:
        """Raise a ValueError if the input ended before the first row."""
        self._reader.end()

    def learn(self) -> None:
        """Learn the rows predicted since the last call and save the model; on failure, write them to `rejects`."""
        try:
            self._learn_and_save()
        except (OSError, ValueError):
            self._reject_unsaved()
            raise

    def _learn_if_free(self) -> None:
        """Learn and save; if another command is writing the model, postpone it and continue to predict."""
        try:
            self._learn_and_save(SECONDS_BEYOND if len(self._to_learn) > MAX_POSTPONED else 0.0)
            self._is_postponed = False
        except InUseError:
            if not self._is_postponed:
                note(f"{self._file.owner()} is writing {self.model_file}: rows are predicted now and learnt later.")
            self._is_postponed = True

    def _learn_and_save(self, wait: float | None = None) -> None:
        self._n_waiting = 0
        if self._to_learn or self._unsaved:
            with self._file.owned(wait):
                self._learn_on_present_file()
            self._n_learnt += len(self._unsaved)
            self._unsaved = []
            self._predict = RowPredictor(self.model, self.abstain_below, false_alarms=self.false_alarms)
        if self.learning != LearningPolicy.none:
            self.saved_through = self._last

    def _learn_on_present_file(self) -> None:
        """Learn pending rows with the current model file, which other programs may have changed, and save it."""
        for turns_left in reversed(range(MAX_TRIES)):
            if self._file.has_changed():
                self._reload()
            rows, self._to_learn = self._to_learn, []
            if rows:
                self._together_or_each(self._learn, rows)
            try:
                self._file.replace(self.model, self._rows)
                break
            except InUseError:
                if not turns_left:
                    raise

    def _reload(self) -> None:
        """Reload a model written by another program, and queue unsaved rows to be learnt again."""
        note(f"another program has changed {self.model_file}: it was reloaded, and learning continues from it.")
        self.model, self._rows = self._file.read()
        if self._reader.names is not None:
            check_learnt_columns(self.model, self._reader.names, SOURCE)
        self._known_names = self._useful_names()
        self._to_learn, self._unsaved = self._unsaved + self._to_learn, []

    def _useful_names(self) -> frozenset[str]:
        """Return the columns that are used; empty if the features of the model have no names."""
        names = learnt_columns(self.model)
        others = (self.label, self.id_column, self._rows.group_column)
        return frozenset([*names, *(name for name in others if name is not None)] if names else ())

    def _reject_unsaved(self) -> None:
        """Write the rows that could not be learnt to `rejects`."""
        rows = self._unsaved + self._to_learn
        self._to_learn, self._unsaved, self._n_not_learnt = [], [], len(rows)
        for row in rows:
            self._keep(row, "This row was predicted but not learnt, because the model could not be saved.")

    def summary(self) -> str:
        """Return a one-line summary of the run."""
        parts = [f"{self._n_predicted} rows predicted, {self._n_novel} of them novel ({self._predict.promise})"]
        if self._n_drifts:
            parts.append(plural(self._n_drifts, "drift"))
        if self.learning != LearningPolicy.none:
            parts.append(f"{self._n_learnt} learnt, {self.model_file} saved through row {self.saved_through}")
        where = f"in {self.rejects}" if self.rejects is not None else "printed above"
        if self._n_rejected:
            parts.append(f"{self._n_rejected} bad rows {where}")
        if self._n_not_learnt:
            parts.append(f"{plural(self._n_not_learnt, 'row')} not learnt {where}")
        never = [name for name in (self.label, self.id_column) if name in self._never_seen]
        if never and self._n_rows:
            parts.append(f"no row had the column {' or '.join(map(repr, never))}")
        return "; ".join(parts) + "."

    def _read(self, line: bytes) -> StreamRow | None:
        is_first = self._reader.is_json is None
        try:
            cells = self._reader.read(line)
        except NotARowError as error:
            self._n_rows += 1
            self._reject(StreamRow(self._n_rows, line, {}), error)
            return None
        if is_first and self._reader.names is not None:
            wanted = [name for name in (self.label, self.id_column) if name is not None]
            check_learnt_columns(self.model, self._reader.names, SOURCE)
            check_columns(self._reader.names, wanted, SOURCE)
        if cells is None:
            return None
        self._n_rows += 1
        self._never_seen.difference_update(cells)
        row = StreamRow(self._n_rows, line, cells)
        if self._reader.is_json:
            try:
                row = row._replace(cells=self._useful_cells(cells))
            except ValueError as error:
                self._reject(row, error)
                return None
        return row

    def _useful_cells(self, cells: dict[str, Any]) -> dict[str, Any]:
        """Return the used values of a JSON object; it may have extra keys, or lack some, but not both."""
        names = self._known_names
        if not names:
            return cells if len(cells) <= self.model.n_features_in_ + 1 else {}
        useful = {name: value for name, value in cells.items() if name in names}
        others = [name for name in cells if name not in names]
        lacking = [name for name in learnt_columns(self.model) if name not in useful] if others else []
        if lacking:
            raise ValueError(
                f"This row lacks features of the model ({listed(lacking)}) and has unknown columns ({listed(others)}): "
                "correct the names, or give null where a value is unknown."
            )
        return useful

    def _together_or_each(self, do: Callable[[list[StreamRow]], None], rows: list[StreamRow]) -> None:
        """Process rows together; if one is bad, process them one by one and reject the bad ones."""
        try:
            do(rows)
        except ValueError as error:
            if len(rows) == 1:
                self._reject(rows[0], error)
                return
            for row in rows:
                self._together_or_each(do, [row])

    def _as_samples(self, rows: list[StreamRow]) -> tuple[Any, Any]:
        """Return rows as a frame and as model input."""
        index = [row.number - 1 for row in rows]
        frame = pandas().DataFrame([row.cells for row in rows], index=index, dtype=object)
        if self._reader.is_json:  # keys that an object lacks are missing values
            frame = frame.reindex(columns=list(dict.fromkeys([*frame.columns, *learnt_columns(self.model)])))
        samples = frame.drop(columns=[name for name in (self.label,) if name in frame.columns])
        return frame, samples_for(self.model, samples, SOURCE)

    def _labels(self, frame: Any) -> list[Any] | None:
        if self.label is None or self.label not in frame.columns:
            return None
        return labels_of(frame, self.label, SOURCE, self.model.classes_)

    def _print_predictions(self, rows: list[StreamRow]) -> None:
        frame, samples = self._as_samples(rows)
        labels = self._labels(frame) or [None] * len(rows)
        table = self._predict.read(samples)
        predictions = records(self._predict.of_table(table))
        lines = []
        for row, prediction in zip(rows, predictions, strict=True):
            name = {} if self.id_column is None else {"id": row.cells.get(self.id_column)}
            lines.append({"row": row.number, **name, **prediction, "saved_through": self.saved_through})
        text = "".join(json_text(line) + "\n" for line in lines)
        text.encode(sys.stdout.encoding or "utf-8")  # reject rows that cannot be written before any is written
        sys.stdout.write(text)
        sys.stdout.flush()
        self._n_predicted += len(rows)
        self._n_novel += sum(prediction["novel"] for prediction in predictions)
        self._n_waiting += len(rows)
        self._last = rows[-1].number
        for row, label, prediction in zip(rows, labels, predictions, strict=True):
            if self.learning.takes(is_novel=prediction["novel"], is_labelled=label is not None):
                self._to_learn.append(row)
        self._print_drifts(rows, table, predictions, labels)

    def _print_drifts(
        self, rows: list[StreamRow], table: Table, predictions: list[dict[str, Any]], labels: list[Any]
    ) -> None:
        events = self._drift.after(
            table,
            np.array([one["novel"] for one in predictions], dtype=np.float64),
            [one["class"] for one in predictions],
            labels,
            [row.number for row in rows],
            self._predict.feature_names,
        )
        for event in events:
            show(json_text({"drift": event.to_dict("row")}))
        self._n_drifts += len(events)

    def _learn(self, rows: list[StreamRow]) -> None:
        frame, samples = self._as_samples(rows)
        group, labels, groups = self._rows.group_column, self._labels(frame), {}
        if group is not None and group in frame.columns:
            groups["groups"] = groups_of(frame, group, SOURCE, labels)
        self.model.partial_fit(samples, labels, **groups)
        self._unsaved += rows

    def _reject(self, row: StreamRow, reason: Exception) -> None:
        self._n_rejected += 1
        self._keep(row, str(reason))

    def _keep(self, row: StreamRow, reason: str) -> None:
        """Append a row to the file of bad rows, with the reason."""
        kept = {"row": row.number, "reason": reason, "line": row.line.decode("utf-8", "backslashreplace")}
        if self.rejects is None:
            show(json_text(kept), to=sys.stderr)
            return
        with Path(self.rejects).open("a", encoding="utf-8") as file:
            file.write(json_text(kept) + "\n")


def watch(
    model_file: option.Model,
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="rows as CSV or JSON lines; - for standard input")
    ] = STANDARD,
    follow: Annotated[
        bool, typer.Option("--follow", help="at the end of the file, wait for more rows (like tail -f)")
    ] = False,
    label: option.Label = None,
    id_column: Annotated[str | None, option.column("column of row IDs, repeated in the output", "--id")] = None,
    learn: Annotated[
        LearningPolicy, typer.Option(help="rows to learn: familiar (not novel) and labelled ones, all, or none")
    ] = LearningPolicy.familiar,
    every: Annotated[int, option.count("learn and save after every N rows")] = 100,
    rejects: Annotated[str | None, option.file("file for bad rows; default: MODEL.rejects.jsonl")] = None,
    abstain_below: Annotated[
        float | None, option.parameter("abstain_below", "abstain (class null) where its probability is lower", "P")
    ] = None,
    false_alarms: option.FalseAlarms = FALSE_ALARMS,
    encoding: option.Encoding = None,
    wait: Annotated[
        float, typer.Option(min=0, help=f"at the end: {option.WAIT_HELP}", metavar="SECONDS")
    ] = option.SECONDS_TO_WAIT,
    quiet: Annotated[bool, typer.Option("--quiet", help="do not print a summary at the end")] = False,
) -> None:
    """Read a stream of rows, print a prediction for each as a line of JSON, flag novel rows, and learn.

    The model learns the predicted rows in batches of --every N. It is saved after each batch, at the end, and when a
    signal stops the command; saved_through is the last row that the saved model has learnt. Novel rows are learnt only
    if they are labelled, so that a fault is flagged again when it recurs. Rows that cannot be read are written to the
    file --rejects with the reason. Other commands may write the model meanwhile: watch reloads it and continues.

    A row is novel (an outlier) if its novelty is so high that at most the share --false-alarms of rows like the
    training data reach it.

    Drift is reported as a line with the key "drift" when rows become novel more often, are predicted wrongly more
    often, or the class frequencies change: the kind of drift, the row, the levels before and after, and the features
    that shifted.
    """
    bad_rows = rejects or f"{model_file}.rejects.jsonl"
    for file in (model_file, bad_rows):
        check_not_read(file, data)
    can_write = os.access(Path(bad_rows).resolve().parent, os.W_OK)
    kept = None if learn == LearningPolicy.none and rejects is None and not can_write else bad_rows
    worker = StreamWorker(model_file, label, id_column, kept, learn, every, abstain_below, false_alarms, wait)
    lines = Lines(data, follow=follow, encoding=encoding)
    try:
        with lines.until_signal():
            try:
                for batch in lines.batches(most=every):
                    worker.take(batch)
                worker.end()
            finally:
                worker.learn()
    finally:
        if not quiet:
            stopped = "" if lines.stopped_by is None else f"stopped by {lines.stopped_by}; "
            note(stopped + worker.summary())
