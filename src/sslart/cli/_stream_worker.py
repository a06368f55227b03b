"""Predicts the rows of a stream, learns them, and sets bad rows aside."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from sslart._art.novelty import FALSE_ALARMS
from sslart.cli._model_file import read_model_and_rows, save_model
from sslart.cli._output import check_target
from sslart.cli._predictions import RowPredictor, records
from sslart.cli.input.columns import (
    check_columns,
    check_learnt_columns,
    groups_of,
    labels_of,
    learnt_columns,
    samples_for,
)
from sslart.cli.input.files import pandas
from sslart.cli.input.records import LineReader, NotARowError

SOURCE = "the stream"


class Learning(StrEnum):
    """Which rows of a stream are learnt."""

    familiar = "familiar"
    every = "all"
    none = "none"

    def takes(self, *, is_novel: bool, is_labelled: bool) -> bool:
        """Tell whether a row is learnt: a novel one only with a label."""
        return self == Learning.every or (self == Learning.familiar and (is_labelled or not is_novel))


class Row(NamedTuple):
    """One row: its number in the stream, the line it came as, and its cells."""

    number: int
    line: bytes
    cells: dict[str, Any]


class StreamWorker:
    """A model that predicts the rows of a stream and learns them.

    Parameters
    ----------
    model_file : str
    label, id_column : str or None
        Columns with the class, and with a name for each row.
    rejects : str
        File to which bad rows are added.
    learning : Learning
        Which rows the model learns: those that are novel may be faults, which should be flagged again next time.
    every : int
        After how many rows it learns them and is saved.
    abstain_below : float or None
        Takes the place of the model's parameter where it is not None; the saved model keeps its own.
    false_alarms : float
        Of rows like the learnt ones, at most this share is flagged as novel.

    Attributes
    ----------
    saved_through : int
        The last row that the saved model has learnt.
    """

    def __init__(
        self,
        model_file: str,
        label: str | None,
        id_column: str | None,
        rejects: str,
        learning: Learning,
        every: int,
        abstain_below: float | None = None,
        false_alarms: float = FALSE_ALARMS,
    ) -> None:
        check_target(model_file)
        check_target(rejects, model_file)
        self.model_file, self.rejects, self.learning, self.every = model_file, rejects, learning, every
        self.label, self.id_column, self.abstain_below = label, id_column, abstain_below
        self.model, self._rows = read_model_and_rows(model_file)
        self.saved_through = 0
        self.false_alarms = false_alarms
        self._predict = self._new_predictor()
        self._reader = LineReader()
        self._to_learn: list[Row] = []
        self._n_rows = self._n_predicted = self._n_novel = self._n_rejected = self._n_learnt = 0
        self._n_waiting = self._last = 0
        self._columns: set[str] = set()
        self._is_unsaved = False

    def take(self, lines: list[bytes]) -> None:
        """Predict the rows of some lines, and learn where there are enough."""
        rows = [row for row in map(self._read, lines) if row is not None]
        while rows:  # a row is predicted by what was learnt before its own N rows, however lines come together
            n_room = self.every - self._n_waiting
            self._each_if_not_all(self._print_predictions, rows[:n_room])
            rows = rows[n_room:]
            if self._n_waiting >= self.every:
                self.learn()

    def learn(self) -> None:
        """Learn the rows predicted since the last time, and save the model."""
        self._n_waiting = 0
        if self._to_learn:
            rows, self._to_learn = self._to_learn, []
            self._each_if_not_all(self._learn, rows)
            self._is_unsaved = True
        if self._is_unsaved:
            save_model(self.model, self.model_file, self._rows)
            self._is_unsaved = False
            self._predict = self._new_predictor()
        if self.learning != Learning.none:
            self.saved_through = self._last

    def _new_predictor(self) -> RowPredictor:
        return RowPredictor(self.model, self.abstain_below, false_alarms=self.false_alarms)

    def summary(self) -> str:
        """Return what was done, in one line."""
        parts = [f"{self._n_predicted} rows predicted, {self._n_novel} of them novel ({self._predict.promise})"]
        if self.learning != Learning.none:
            parts.append(f"{self._n_learnt} learnt, {self.model_file} saved through row {self.saved_through}")
        if self._n_rejected:
            parts.append(f"{self._n_rejected} bad rows in {self.rejects}")
        never = [name for name in (self.label, self.id_column) if name is not None and name not in self._columns]
        if never and self._n_rows:
            parts.append(f"no row had a column {' or '.join(map(repr, never))}")
        return "; ".join(parts) + "."

    def _read(self, line: bytes) -> Row | None:
        is_first = self._reader.is_json is None
        try:
            cells = self._reader.read(line)
        except NotARowError as error:
            self._n_rows += 1
            self._reject(Row(self._n_rows, line, {}), error)
            return None
        if is_first and self._reader.names is not None:
            wanted = [name for name in (self.label, self.id_column) if name is not None]
            check_learnt_columns(self.model, self._reader.names, SOURCE)
            check_columns(self._reader.names, wanted, SOURCE)
        if cells is None:
            return None
        self._n_rows += 1
        self._columns.update(cells)
        return Row(self._n_rows, line, cells)

    def _each_if_not_all(self, do: Callable[[list[Row]], None], rows: list[Row]) -> None:
        """Do something with rows together; where one of them is bad, with each by itself, and reject that one."""
        try:
            do(rows)
        except ValueError as error:
            if len(rows) == 1:
                self._reject(rows[0], error)
                return
            for row in rows:
                self._each_if_not_all(do, [row])

    def _as_samples(self, rows: list[Row]) -> tuple[Any, Any]:
        """Return rows as a frame, and the samples in it."""
        index = [row.number - 1 for row in rows]
        frame = pandas().DataFrame([row.cells for row in rows], index=index, dtype=object)
        if self._reader.is_json:  # what an object does not name is missing
            frame = frame.reindex(columns=list(dict.fromkeys([*frame.columns, *learnt_columns(self.model)])))
        samples = frame.drop(columns=[name for name in (self.label,) if name in frame.columns])
        return frame, samples_for(self.model, samples, SOURCE)

    def _labels(self, frame: Any) -> list[Any] | None:
        if self.label is None or self.label not in frame.columns:
            return None
        return labels_of(frame, self.label, SOURCE, self.model.classes_)

    def _print_predictions(self, rows: list[Row]) -> None:
        frame, samples = self._as_samples(rows)
        labels = self._labels(frame) or [None] * len(rows)
        predictions = records(self._predict(samples))
        lines = []
        for row, prediction in zip(rows, predictions, strict=True):
            name = {} if self.id_column is None else {"id": row.cells.get(self.id_column)}
            lines.append({"row": row.number, **name, **prediction, "saved_through": self.saved_through})
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        text.encode(sys.stdout.encoding or "utf-8")  # a row that cannot be written is bad, before any is
        sys.stdout.write(text)
        sys.stdout.flush()
        self._n_predicted += len(rows)
        self._n_novel += sum(prediction["novel"] for prediction in predictions)
        self._n_waiting += len(rows)
        self._last = rows[-1].number
        for row, label, prediction in zip(rows, labels, predictions, strict=True):
            if self.learning.takes(is_novel=prediction["novel"], is_labelled=label is not None):
                self._to_learn.append(row)

    def _learn(self, rows: list[Row]) -> None:
        frame, samples = self._as_samples(rows)
        group, labels, groups = self._rows.group_column, self._labels(frame), {}
        if group is not None and group in frame.columns:
            groups["groups"] = groups_of(frame, group, SOURCE, labels)
        self.model.partial_fit(samples, labels, **groups)
        self._n_learnt += len(rows)

    def _reject(self, row: Row, reason: Exception) -> None:
        self._n_rejected += 1
        kept = {"row": row.number, "reason": str(reason), "line": row.line.decode("utf-8", "backslashreplace")}
        with Path(self.rejects).open("a", encoding="utf-8") as file:
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")
