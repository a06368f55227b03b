"""`sslart predict`: the class of each row, its probability, and whether the row is like the learnt samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from sslart._art.novelty import FALSE_ALARMS
from sslart._mapping.model_view import view_of
from sslart.cli._costs import COST_HELP, COST_METAVAR, read_costs
from sslart.cli._model_file import read_model
from sslart.cli._output import (
    ALARMS_HELP,
    DATA_HELP,
    FORMULAS_HELP,
    JSON_HELP,
    MODEL_HELP,
    QUIET_HELP,
    STANDARD,
    check_target,
    note,
    write_pieces,
)
from sslart.cli._predictions import RowPredictor, with_blank_rows
from sslart.cli.input import cells
from sslart.cli.input.columns import blank_rows, check_columns, check_learnt_columns, learnt_columns, samples_for
from sslart.cli.input.encodings import EncodingOption
from sslart.cli.input.files import Piece, read_originals
from sslart.cli.output.appended import appended, appended_types, free_names, has_decimal_commas
from sslart.cli.output.tables import TEXTS, Style, check_kind, prediction_types, written


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    out: Annotated[
        str,
        typer.Option(help="CSV, TSV, Parquet, Excel, JSON or JSONL by its name; - for standard output", metavar="FILE"),
    ] = STANDARD,
    append: Annotated[
        bool, typer.Option("--append", help="write all columns of the table first, as they are, then the predictions")
    ] = False,
    id_column: Annotated[str | None, typer.Option("--id", help="column to repeat first", metavar="COLUMN")] = None,
    abstain_below: Annotated[
        float | None, typer.Option(min=0, max=1, help="leave the class blank where it is less probable", metavar="P")
    ] = None,
    max_error: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="leave the class blank so that at most this share of the others are wrong",
            metavar="SHARE",
        ),
    ] = None,
    search_depth: Annotated[
        int | None,
        typer.Option(min=1, help="leave the class blank where none of the T best boxes has a label", metavar="T"),
    ] = None,
    quorum: Annotated[
        int | None,
        typer.Option(min=1, help="of an ensemble: leave it blank where fewer members vote", metavar="MEMBERS"),
    ] = None,
    cost: Annotated[list[str] | None, typer.Option(help=COST_HELP, metavar=COST_METAVAR)] = None,
    false_alarms: Annotated[float, typer.Option(min=0, max=1, help=ALARMS_HELP, metavar="SHARE")] = FALSE_ALARMS,
    encoding: EncodingOption = None,
    keep_formulas: Annotated[bool, typer.Option("--keep-formulas", help=FORMULAS_HELP)] = False,
    as_json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help=QUIET_HELP)] = False,
) -> None:
    """Predict each row: class, probability, whether the model abstained, box, novelty (0 to 1), whether it is novel.

    The box is a number in the list of sslart rules --kind boxes: the box that the class comes from or, where many boxes
    contribute, the nearest box of that class. A row is novel if it fits the model so badly that at most the
    share --false-alarms of rows like the learnt ones fit as badly. The file is read piece by piece and may be larger
    than memory.

    --abstain-below, --max-error, --search-depth, --quorum and --cost take the place of the model's own settings. With
    costs, the class is that of the lowest expected cost; the probability is that of this class. --max-error holds on
    average, for rows like the labelled ones, and needs enough of these.

    With --append a column of predictions whose name the table has already is named after it, such as "predicted class".
    """
    if append and id_column is not None:
        raise ValueError("--append writes all columns of the table, also that of --id: leave --id out.")
    check_target(out, model_file, data)
    check_kind(out)
    model = read_model(model_file)
    if quorum is not None:
        _check_quorum(model, model_file, quorum)
    costs = read_costs(cost, model.classes_.tolist())
    predict = RowPredictor(model, abstain_below, search_depth, quorum, costs, max_error, false_alarms)
    total = Counter[str]()
    kind = ".json" if as_json else Path(out).suffix.lower()
    rows = read_originals(data, encoding, progress=out != STANDARD and not quiet)
    pieces = _predicted(model, predict, rows, data, total)
    style = Style(keep_formulas=keep_formulas, visible=out == STANDARD)
    if append:
        write_pieces(out, _appended(pieces, kind, style, model.classes_))
    else:
        write_pieces(out, _alone(pieces, kind, style, model.classes_, id_column, data))
    if out != STANDARD and not quiet:
        note(
            f"{total['rows']} rows written to {out}: {total['abstained']} without a class (the model abstained), "
            f"{total['novel']} novel ({predict.promise})."
        )


def _check_quorum(model: Any, model_file: str, quorum: int) -> None:
    view = view_of(model)
    if not view.is_ensemble:
        raise ValueError(
            f"--quorum is for an ensemble, and {model_file} holds one model: leave --quorum out, or make an ensemble "
            "with sslart fit --members."
        )
    if quorum > len(view.members):
        raise ValueError(
            f"--quorum {quorum} is more than the {len(view.members)} members of {model_file}, so that it would never "
            f"predict: give at most {len(view.members)}."
        )


def _predicted(
    model: Any, predict: RowPredictor, pieces: Iterator[Piece], data: str, total: Counter[str]
) -> Iterator[tuple[Piece, Any]]:
    """Yield the pieces of a file with the predictions for them, and count these."""
    for piece in pieces:
        check_learnt_columns(model, piece.frame.columns, data)
        blank = blank_rows(piece.frame, learnt_columns(model) or piece.frame.columns, data)
        predictions = predict(samples_for(model, piece.frame[~blank], data))
        if blank.any():
            predictions = with_blank_rows(predictions, ~blank)
        total.update(
            rows=len(predictions), abstained=int(predictions["abstained"].sum()), novel=int(predictions["novel"].sum())
        )
        yield piece, predictions


def _alone(
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


def _appended(pieces: Iterator[tuple[Piece, Any]], kind: str, style: Style, classes: Any) -> Iterator[bytes]:
    """Yield a file with the rows of the table as they are, and their predictions after them."""
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
