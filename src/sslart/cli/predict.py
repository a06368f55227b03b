"""`sslart predict`: the class of each row, its probability, and whether the row is like the learnt samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from sslart._art.novelty import FALSE_ALARMS
from sslart._mapping.model_view import view_of
from sslart._tables.files import read_originals
from sslart._utils.files import STANDARD
from sslart._utils.notes import note
from sslart.cli._cluster import DASK_HELP, SCHEDULER_HELP, FilePredictor, check_scheduler, predict_on_cluster
from sslart.cli._model_file import read_model
from sslart.cli._options import (
    ALARMS_HELP,
    COST_HELP,
    COST_METAVAR,
    DATA_HELP,
    FORMULAS_HELP,
    JSON_HELP,
    QUIET_HELP,
    EncodingOption,
    read_costs,
)
from sslart.cli._output import check_target, write_pieces
from sslart.cli._predictions import RowPredictor, all_columns, alone, frame_predictor, with_predictions
from sslart.cli._remote import MODEL_OR_NAME_HELP, ServedModel, ServerOption, TokenOption, connected, refuse
from sslart.cli._table_writer import Style, check_kind


def predict(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_OR_NAME_HELP)],
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
    use_dask: Annotated[bool, typer.Option("--dask", help=DASK_HELP)] = False,
    scheduler: Annotated[str | None, typer.Option(help=SCHEDULER_HELP, metavar="ADDRESS")] = None,
    server: ServerOption = None,
    token: TokenOption = None,
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

    With --dask the table is many files, such as 'part-*.parquet'. Each is predicted by a worker, which writes a Parquet
    file of the same name into the folder --out: workers must have the files and the folder at the same place.

    With --server the rows are sent to a service, 1,000 at a time, and MODEL is the name of a model there. It predicts
    by its own settings, but for --abstain-below, and gives no box.
    """
    check_scheduler(scheduler, use_dask)
    if append and id_column is not None:
        raise ValueError("--append writes all columns of the table, also that of --id: leave --id out.")
    if not use_dask:
        check_target(out, data, *([] if server is not None else [model_file]))
        check_kind(out)
    total = Counter[str]()
    writing = Writing(data, out, append, id_column, as_json, keep_formulas, encoding, quiet)
    if server is not None:
        refuse(dask=use_dask, max_error=max_error, search_depth=search_depth, quorum=quorum, cost=cost)
        refuse(false_alarms=None if false_alarms == FALSE_ALARMS else false_alarms)
        with connected(server, token) as client:
            served = ServedModel(client, model_file, data)
            writing.write(lambda frame: served.predict(frame, abstain_below), served.classes, total)
        _note_on(total, out, quiet=quiet)
        return
    model = read_model(model_file)
    if quorum is not None:
        _check_quorum(model, model_file, quorum)
    costs = read_costs(cost, model.classes_.tolist())
    options: dict[str, Any] = {
        "abstain_below": abstain_below,
        "search_depth": search_depth,
        "quorum": quorum,
        "decision_costs": costs,
        "max_error": max_error,
        "false_alarms": false_alarms,
    }
    predict = RowPredictor(model, **options)
    if use_dask:
        total = predict_on_cluster(
            FilePredictor(model, options, id_column, append, encoding),
            data,
            out,
            scheduler,
            quiet=quiet,
        )
        _note_on(total, out, predict.promise, quiet=quiet)
        return
    writing.write(frame_predictor(model, predict, data), model.classes_, total)
    _note_on(total, out, predict.promise, quiet=quiet)


class Writing(NamedTuple):
    """Settings for writing the predictions of a table: the options of the command of the same names."""

    data: str
    out: str
    append: bool
    id_column: str | None
    as_json: bool
    keep_formulas: bool
    encoding: str | None
    quiet: bool

    def write(self, predict: Callable[[Any], Any], classes: Any, total: Counter[str]) -> None:
        """Write the predictions for each frame of the table, and count them."""
        kind = ".json" if self.as_json else Path(self.out).suffix.lower()
        rows = read_originals(self.data, self.encoding, progress=self.out != STANDARD and not self.quiet)
        pieces = with_predictions(predict, rows, total)
        style = Style(keep_formulas=self.keep_formulas, visible=self.out == STANDARD)
        if self.append:
            write_pieces(self.out, all_columns(pieces, kind, style, classes))
        else:
            write_pieces(self.out, alone(pieces, kind, style, classes, self.id_column, self.data))


def _note_on(total: Counter[str], out: str, promise: str | None = None, *, quiet: bool) -> None:
    if out != STANDARD and not quiet:
        what = "" if promise is None else f" ({promise})"
        note(
            f"{total['rows']} rows written to {out}: {total['abstained']} without a class (the model abstained), "
            f"{total['novel']} novel{what}."
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
