"""The predictions for a file as bytes of another: alone, or after the columns of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from sslart._tables import cells
from sslart._tables.columns import blank_rows, check_columns, check_learnt_columns, learnt_columns, samples_for
from sslart._tables.files import Piece
from sslart._tables.predictions import RowPredictor, with_blank_rows
from sslart.cli.output.appended import appended, appended_types, free_names, has_decimal_commas
from sslart.cli.output.tables import TEXTS, Style, prediction_types, written


def frame_predictor(model: Any, predict: RowPredictor, data: str) -> Callable[[Any], Any]:
    """Return a function from a frame to its predictions; the model abstains on blank rows."""

    def predicted(frame: Any) -> Any:
        check_learnt_columns(model, frame.columns, data)
        blank = blank_rows(frame, learnt_columns(model) or frame.columns, data)
        predictions = predict(samples_for(model, frame[~blank], data))
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
