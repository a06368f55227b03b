"""Predictions for the rows of a table, as a frame or a file, alone or appended to the table."""

from __future__ import annotations

import codecs
import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sslart._art.novelty import FALSE_ALARMS
from sslart._data.samples import Table
from sslart._mapping.conformal import CERTAINTY
from sslart._mapping.decision_rules import Costs, cost_matrix, error_levels
from sslart._mapping.model_view import PredictionBatch, view_of
from sslart._tables import arrow, cells, pandas
from sslart._tables.columns import blank_rows, check_columns, check_learnt_columns, learnt_columns, samples_for
from sslart._tables.files import Piece, read_originals
from sslart._utils.files import STANDARD
from sslart._utils.validation import check_certainty, check_number
from sslart.cli._output import write_pieces
from sslart.cli._table_writer import TABS, TEXTS, CellStyle, prediction_types, written
from sslart.rules._box_extraction import NO_RULE, RuleNumbers

PREFIX = "predicted"


class RowPredictor:
    """Predict rows with the current state of a model; values derived from its boxes are cached.

    Settings that are not None override those of the model; `confidence` is that of `max_error`. At most the share
    `false_alarms` of rows like the learnt ones is flagged as novel.
    """

    def __init__(
        self,
        model: Any,
        abstain_below: float | None = None,
        search_depth: int | None = None,
        quorum: int | None = None,
        decision_costs: Costs | None = None,
        max_error: float | None = None,
        confidence: float | None = CERTAINTY,
        false_alarms: float = FALSE_ALARMS,
    ) -> None:
        view = view_of(model)
        certainty = check_certainty(view.name, "confidence", confidence)
        given: dict[str, Any] = {
            "abstain_below": abstain_below,
            "search_depth": search_depth,
            "quorum": quorum,
            "decision_costs": cost_matrix(view.name, decision_costs, view.classes, lambda: model.counts_.sum(axis=0)),
            "max_error": error_levels(view.name, max_error, certainty, view.classes),
        }
        self._model = model
        self._view = dataclasses.replace(view, **{name: value for name, value in given.items() if value is not None})
        self._rule_numbers = RuleNumbers(view)
        share = check_number(view.name, "false_alarms", false_alarms, 0, 1, open_low=True)
        self._threshold, self.promise = view.novelty.threshold(share), view.novelty.promise(share)

    def read(self, samples: Any) -> Table:
        """Return samples as the model reads them."""
        return self._view.read(samples)

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        return self._view.reader.feature_names

    def of_table(self, table: Table) -> Any:
        """Return class, probability, abstained, box, novelty and novel for each row."""
        pd, batch = pandas(), PredictionBatch(self._view, table)
        found = batch.decisions(self._threshold)
        rules = self._rule_numbers(batch, found.indices)
        return pd.DataFrame(
            {
                "class": pd.Series(self._view.labels_or_none(found.indices), dtype=object),
                "probability": found.probability.round(6),
                "abstained": found.abstained,
                "box": pd.Series(rules, dtype="Int64").mask(rules == NO_RULE),
                "novelty": found.novelty.round(6),
                "novel": found.is_novel,
            }
        )

    def of_frame(self, frame: Any, source: str) -> Any:
        """Return the predictions for the rows of a frame; the model abstains on blank rows."""
        check_learnt_columns(self._model, frame.columns, source)
        blank = blank_rows(frame, learnt_columns(self._model) or frame.columns, source)
        if not blank.any():
            return self.of_table(self.read(samples_for(self._model, frame, source)))
        return with_blank_rows(self.of_table(self.read(samples_for(self._model, frame[~blank], source))), ~blank)


def with_blank_rows(predictions: Any, predicted: Any) -> Any:
    """Extend predictions to all rows; the model abstains on those that were not predicted."""
    spread = predictions.set_index(np.flatnonzero(predicted)).reindex(range(len(predicted)))
    return spread.assign(
        abstained=~spread["abstained"].eq(False).to_numpy(),
        novel=spread["novel"].eq(True).to_numpy(),
        **{"class": [None if pandas().isna(one) else one for one in spread["class"]]},
    )


class PredictionFile(NamedTuple):
    """Format of a file of predictions: alone, after the ID of each row, or after all columns of the table."""

    kind: str  # file extension
    style: CellStyle
    id_column: str | None
    append: bool
    encoding: str | None  # of the table

    def write(
        self, predict: Callable[[Any], Any], data: str, out: str, classes: Any, *, progress: bool = False
    ) -> Counter[str]:
        """Write the predictions for each frame of a table; return the numbers of rows, abstentions and novel rows."""
        total = Counter[str]()

        def predicted() -> Iterator[tuple[Piece, Any]]:
            for piece in read_originals(data, self.encoding, progress=progress and "predicting"):
                found = predict(piece.frame)
                total.update(rows=len(found), abstained=int(found["abstained"].sum()), novel=int(found["novel"].sum()))
                yield piece, found

        types = prediction_types(classes)
        content = (
            self._appended(predicted(), types, data, out) if self.append else self._alone(predicted(), types, data)
        )
        write_pieces(out, content)
        return total

    def _alone(self, pieces: Iterator[tuple[Piece, Any]], types: dict[str, Any], data: str) -> Iterator[bytes]:
        def frames() -> Iterator[Any]:
            for piece, predictions in pieces:
                if self.id_column is not None:
                    check_columns(piece.frame.columns, [self.id_column], data)
                    name = self.id_column if self.id_column not in predictions else f"id {self.id_column}"
                    predictions.insert(0, name, cells.names(piece.frame[self.id_column]))
                yield predictions

        yield from written(frames(), self.kind, types, self.style)

    def _appended(
        self, pieces: Iterator[tuple[Piece, Any]], types: dict[str, Any], data: str, out: str
    ) -> Iterator[bytes]:
        first, predictions = next(pieces)
        names = free_names(predictions.columns, [*first.frame.columns, *map(str, first.as_written.columns)])
        style = self.style
        if first.separator == ";":
            commas = not first.frame.reset_index(drop=True).equals(_named_as_read(first))
            style = style._replace(separator=";", decimal="," if commas else ".")
        elif first.separator and Path(data).suffix.lower() not in TABS:  # a TSV is known by its extension
            style = style._replace(separator=first.separator)

        def frames() -> Iterator[Any]:
            for piece, found in chain([(first, predictions)], pieces):
                own = piece.as_written if self.kind in TEXTS else _named_as_read(piece)
                new = found.rename(columns=names).reset_index(drop=True)
                yield pandas().concat([own.reset_index(drop=True), new], axis=1)

        all_types = own_types(first) | {names[name]: kind for name, kind in types.items() if name in names}
        content = written(frames(), self.kind, all_types, style)
        if self.kind in TEXTS and first.text is not None and out != STANDARD:
            content = _encoded(content, first, data)
        yield from content


def _encoded(content: Iterable[bytes], first: Piece, data: str) -> Iterator[bytes]:
    """Re-encode UTF-8 text to the encoding of the table, with a byte order mark if the table has one."""
    assert first.text is not None
    mark = codecs.BOM_UTF8 if first.has_mark else b""
    for part in content:
        try:
            yield first.text.encoded(mark + part)
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{error.object[error.start : error.end]!r} of the predictions cannot be written in the encoding of "
                f"{data} ({error.encoding}): save the table as CSV (UTF-8) first, or write Parquet."
            ) from error
        mark = b""


def free_names(wanted: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Return unique names for new columns, with a prefix and a number where the plain name is taken.

    Examples
    --------
    >>> from sslart.cli._predictions import free_names
    >>> free_names(["class", "box"], ["size", "class", "predicted class"])
    {'class': 'predicted class 2', 'box': 'box'}
    """
    used, names = set(taken), {}
    for name in wanted:
        free, number = name, 1
        while free in used:
            free = f"{PREFIX} {name}" if number == 1 else f"{PREFIX} {name} {number}"
            number += 1
        names[name] = free
        used.add(free)
    return names


def _named_as_read(piece: Piece) -> Any:
    """Return the rows as they are in the file, with unique column names."""
    return piece.as_written.set_axis(piece.frame.columns, axis=1)


def own_types(piece: Piece) -> dict[str, Any]:
    """Return the Parquet types of the columns of a piece; columns of mixed types are left out and become text."""
    known = piece.schema.types if piece.schema is not None else map(_type_of, dict(piece.as_written).values())
    return {str(name): kind for name, kind in zip(piece.frame.columns, known, strict=True) if kind is not None}


def _type_of(column: Any) -> Any:
    """Return the Parquet type of a column; None if its values have several types."""
    pyarrow = arrow()
    try:
        return pyarrow.array(column, from_pandas=True).type
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        return None
