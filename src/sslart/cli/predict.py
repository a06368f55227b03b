"""The command `sslart predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sslart._art.novelty import FALSE_ALARMS
from sslart._mapping.conformal import CERTAINTY
from sslart._mapping.model_view import view_of
from sslart._utils.files import STANDARD
from sslart._utils.notes import note
from sslart.cli import _options as option
from sslart.cli._cluster import FilesPredictor, predict_on_cluster
from sslart.cli._model_file import read_model
from sslart.cli._output import check_target
from sslart.cli._predictions import PredictionFile, RowPredictor
from sslart.cli._remote import ServedModel, connected, refuse
from sslart.cli._table_writer import CellStyle, check_kind


def predict(
    model_file: option.ModelOrName,
    data: option.Data,
    out: Annotated[
        str,
        option.file("output file: CSV, TSV, Parquet, Excel, JSON or JSONL, by its extension; - for standard output"),
    ] = STANDARD,
    append: Annotated[
        bool, typer.Option("--append", help="write all columns of the table, unchanged, followed by the predictions")
    ] = False,
    id_column: Annotated[str | None, option.column("column of row IDs, written before the predictions", "--id")] = None,
    abstain_below: Annotated[
        float | None,
        option.parameter("abstain_below", "abstain (leave the class blank) where its probability is lower", "P"),
    ] = None,
    max_error: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="abstain where needed, so that at most this share of the predictions made is wrong",
            metavar="SHARE",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="of --max-error: the certainty with which it holds, else 0.9", metavar="P"),
    ] = None,
    on_average: Annotated[
        bool, typer.Option("--on-average", help="of --max-error: it holds on average over models, not for this one")
    ] = False,
    search_depth: Annotated[
        int | None,
        option.parameter("search_depth", "abstain where none of the T best boxes has a label", "T"),
    ] = None,
    quorum: Annotated[
        int | None, option.parameter("quorum", "for ensembles: abstain where fewer members vote", "MEMBERS")
    ] = None,
    cost: option.Cost = None,
    false_alarms: option.FalseAlarms = FALSE_ALARMS,
    encoding: option.Encoding = None,
    use_dask: option.UseDask = False,
    scheduler: option.Scheduler = None,
    server: option.Server = None,
    token: option.Token = None,
    keep_formulas: option.KeepFormulas = False,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Predict each row: class, probability, abstained, box, novelty (from 0 to 1) and whether the row is novel.

    The column box is the index of a box in the output of sslart rules --kind boxes: the box that determines the class
    or, if many boxes contribute, the nearest box of that class. Novel rows are outliers: a row is flagged if its
    novelty is so high that at most the share --false-alarms of rows like the training data reach it. The file is read
    in pieces and may be larger than memory.

    --abstain-below, --max-error, --search-depth, --quorum and --cost override the settings of the model. With costs,
    the class is the one with the lowest expected cost, and the probability is that of this class. --max-error holds for
    this model with the certainty --confidence, for rows like the labelled ones, and needs enough of these.

    With --append, a new column whose name is already taken gets a prefix, such as "predicted class".

    With --dask, DATA is a set of files, such as 'part-*.parquet'. For each, a worker writes a Parquet file of the same
    name into the folder --out. Every worker must find the files and the folder under the same path.

    With --server, the rows are sent to a service, 1,000 at a time, and MODEL is the name of a model there. Of the
    options above only --abstain-below applies, and the output has no column box.
    """
    option.check_scheduler(scheduler, use_dask)
    if max_error is None and (on_average or confidence is not None):
        raise ValueError("--confidence and --on-average are of a limit of error: add --max-error, or leave them out.")
    if on_average and confidence is not None:
        raise ValueError("A limit of error holds with a certainty or on average: give --confidence or --on-average.")
    if append and id_column is not None:
        raise ValueError("--append writes all columns of the table, including --id: leave --id out.")
    if not use_dask:
        check_target(out, data, *([] if server is not None else [model_file]))
        check_kind(out)
    kind, progress = ".json" if as_json else Path(out).suffix.lower(), out != STANDARD and not quiet
    file = PredictionFile(kind, CellStyle(keep_formulas, visible=out == STANDARD), id_column, append, encoding)
    promise = ""
    if server is not None:
        refuse(dask=use_dask, max_error=max_error, search_depth=search_depth, quorum=quorum, cost=cost)
        refuse(false_alarms=None if false_alarms == FALSE_ALARMS else false_alarms)
        with connected(server, token) as client:
            served = ServedModel(client, model_file, data)
            total = file.write(
                lambda frame: served.predict(frame, abstain_below), data, out, served.classes, progress=progress
            )
    else:
        model = read_model(model_file)
        members = view_of(model).members
        if quorum is not None and not view_of(model).is_ensemble:
            raise ValueError(
                f"--quorum is for ensembles, and {model_file} is a single model: leave --quorum out, or fit an "
                "ensemble with sslart fit --members."
            )
        if quorum is not None and quorum > len(members):
            raise ValueError(
                f"--quorum {quorum} is greater than the {len(members)} members of {model_file}, so it would always "
                f"abstain: give at most {len(members)}."
            )
        options: dict[str, Any] = {
            "abstain_below": abstain_below,
            "search_depth": search_depth,
            "quorum": quorum,
            "decision_costs": option.read_costs(cost, model.classes_.tolist()),
            "max_error": max_error,
            "confidence": None if on_average else confidence or CERTAINTY,
            "false_alarms": false_alarms,
        }
        predictor = RowPredictor(model, **options)
        promise = f" ({predictor.promise})"
        if use_dask:
            on_worker = FilesPredictor(model, options, file._replace(kind=".parquet", style=CellStyle()))
            total = predict_on_cluster(on_worker, data, out, scheduler, quiet=quiet)
        else:
            total = file.write(
                lambda frame: predictor.of_frame(frame, data), data, out, model.classes_, progress=progress
            )
    if progress:
        note(
            f"{total['rows']} rows written to {out}: {total['abstained']} without a class (the model abstained), "
            f"{total['novel']} novel{promise}."
        )
