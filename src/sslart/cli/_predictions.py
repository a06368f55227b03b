"""Predictions for the rows of a table: as a frame, and as a file, alone or after the columns of the table."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from sslart._art.novelty import FALSE_ALARMS
from sslart._data.samples import Table
from sslart._mapping.decision_rules import Costs, cost_matrix, error_levels
from sslart._mapping.model_view import PredictionBatch, view_of
from sslart._tables import arrow, cells, pandas
from sslart._tables.columns import blank_rows, check_columns, check_learnt_columns, learnt_columns, samples_for
from sslart._tables.files import Piece
from sslart._utils.validation import check_number
from sslart.cli._table_writer import TEXTS, Style, prediction_types, written
from sslart.rules._box_extraction import NO_RULE, RuleNumbers

PREFIX = "predicted"


class RowPredictor:
    """Predicts rows by the present state of a model, with values derived from its boxes cached.

    Parameters
    ----------
    model : fitted FuzzyARTMAP, SSLART or WESSLART
    abstain_below, search_depth, quorum, max_error : numbers or None
        Take the place of the model's parameters where they are not None.
    decision_costs : dict, "balanced" or None
        The same.
    false_alarms : float
        Of rows like the learnt ones, at most this share is flagged as novel.
    """

    def __init__(
        self,
        model: Any,
        abstain_below: float | None = None,
        search_depth: int | None = None,
        quorum: int | None = None,
        decision_costs: Costs | None = None,
        max_error: float | None = None,
        false_alarms: float = FALSE_ALARMS,
    ) -> None:
        given: dict[str, Any] = {"abstain_below": abstain_below, "search_depth": search_depth, "quorum": quorum}
        view = view_of(model)
        given["decision_costs"] = cost_matrix(
            view.name, decision_costs, view.classes, lambda: model.counts_.sum(axis=0)
        )
        given["max_error"] = error_levels(view.name, max_error, view.classes)
        self._view = dataclasses.replace(view, **{name: value for name, value in given.items() if value is not None})
        self._rule_numbers = RuleNumbers(view)
        share = check_number(view.name, "false_alarms", false_alarms, 0, 1, open_low=True)
        self._threshold, self.promise = view.novelty.threshold(share), view.novelty.promise(share)

    def __call__(self, samples: Any) -> Any:
        """Return class, probability, whether the model abstained, box, novelty, and whether a row is novel."""
        return self.of_table(self.read(samples))

    def read(self, samples: Any) -> Table:
        """Return samples as the model reads them."""
        return self._view.read(samples)

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns of such a table."""
        return self._view.reader.feature_names

    def of_table(self, table: Table) -> Any:
        """Return the predictions of samples that have been read."""
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


def with_blank_rows(predictions: Any, predicted: Any) -> Any:
    """Return predictions for some rows as predictions for all: for the others the model abstains."""
    spread = predictions.set_index(np.flatnonzero(predicted)).reindex(range(len(predicted)))
    return spread.assign(
        abstained=~spread["abstained"].eq(False).to_numpy(),
        novel=spread["novel"].eq(True).to_numpy(),
        **{"class": [None if pandas().isna(one) else one for one in spread["class"]]},
    )


def free_names(wanted: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Return a name for each new column that no other column has: with a word before it, and a number after it.

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


def appended(piece: Piece, predictions: Any, names: dict[str, str], *, named_as_read: bool) -> Any:
    """Return the rows of a piece as they stand in their file, with predictions after them.

    Parameters
    ----------
    piece : Piece
    predictions : DataFrame
    names : dict
        The name of each column of predictions.
    named_as_read : bool
        Whether columns have the names that commands use, which are unique, or those that stand in the file.
    """
    own = piece.as_written.set_axis(piece.frame.columns, axis=1) if named_as_read else piece.as_written
    new = predictions.rename(columns=names)
    return pandas().concat([own.reset_index(drop=True), new.reset_index(drop=True)], axis=1)


def appended_types(piece: Piece, types: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return the Parquet types of a table with predictions: the user's columns keep their types."""
    return own_types(piece) | {names[name]: kind for name, kind in types.items() if name in names}


def own_types(piece: Piece) -> dict[str, Any]:
    """Return the types of the columns of a piece for Parquet; none for those of several kinds, which become text."""
    known = piece.schema.types if piece.schema is not None else map(_type_of, dict(piece.as_written).values())
    return {str(name): kind for name, kind in zip(piece.frame.columns, known, strict=True) if kind is not None}


def _type_of(column: Any) -> Any:
    """Return the type of a column; None where its values are of several kinds."""
    pyarrow = arrow("")
    try:
        return pyarrow.array(column, from_pandas=True).type
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        return None


def has_decimal_commas(piece: Piece) -> bool:
    """Return True if a table separated by semicolons has decimal commas."""
    as_written = piece.as_written.set_axis(piece.frame.columns, axis=1)
    return piece.separator == ";" and not piece.frame.reset_index(drop=True).equals(as_written)


def frame_predictor(model: Any, predict: RowPredictor, data: str) -> Callable[[Any], Any]:
    """Return a function from a frame to its predictions; the model abstains on blank rows."""

    def predicted(frame: Any) -> Any:
        check_learnt_columns(model, frame.columns, data)
        blank = blank_rows(frame, learnt_columns(model) or frame.columns, data)
        predictions = predict(samples_for(model, frame[~blank] if blank.any() else frame, data))
        return with_blank_rows(predictions, ~blank) if blank.any() else predictions

    return predicted


def with_predictions(
    predict: Callable[[Any], Any], pieces: Iterator[Piece], total: Counter[str]
) -> Iterator[tuple[Piece, Any]]:
    """Yield the pieces of a file with the predictions for them, and count these."""
    for piece in pieces:
        predictions = predict(piece.frame)
        total.update(
            rows=len(predictions), abstained=int(predictions["abstained"].sum()), novel=int(predictions["novel"].sum())
        )
        yield piece, predictions


def alone(
    pieces: Iterator[tuple[Piece, Any]], kind: str, style: Style, classes: Any, id_column: str | None, data: str
) -> Iterator[bytes]:
    """Yield a file with the predictions, and the names of the rows before them."""

    def frames() -> Iterator[Any]:
        for piece, predictions in pieces:
            check_columns(piece.frame.columns, [id_column], data)
            if id_column is not None:
                name = id_column if id_column not in predictions else f"id {id_column}"
                predictions.insert(0, name, cells.names(piece.frame[id_column]))
            yield predictions

    yield from written(frames(), kind, prediction_types(classes), style)


def all_columns(pieces: Iterator[tuple[Piece, Any]], kind: str, style: Style, classes: Any) -> Iterator[bytes]:
    """Yield a file with the original rows followed by their predictions."""
    first, predictions = next(pieces)
    names = free_names(predictions.columns, [*first.frame.columns, *map(str, first.as_written.columns)])
    if first.separator == ";":
        style = style._replace(separator=";", decimal="," if has_decimal_commas(first) else ".")
    types = appended_types(first, prediction_types(classes), names)
    frames = (
        appended(piece, found, names, named_as_read=kind not in TEXTS)
        for piece, found in chain([(first, predictions)], pieces)
    )
    yield from written(frames, kind, types, style)
