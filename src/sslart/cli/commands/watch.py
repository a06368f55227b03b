"""`sslart watch`: a prediction for each row of a stream, with learning in the background."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sslart._art.novelty import FALSE_ALARMS
from sslart._utils.files import STANDARD
from sslart._utils.notes import note
from sslart.cli._model_file import SECONDS_TO_WAIT, WAIT_HELP
from sslart.cli._output import ALARMS_HELP, MODEL_HELP, check_not_read
from sslart.cli._stream_worker import Learning, StreamWorker
from sslart.cli.input.encoding_option import EncodingOption
from sslart.cli.input.lines import Lines


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    data: Annotated[str, typer.Argument(help="rows as CSV or JSON lines; - for standard input")] = STANDARD,
    follow: Annotated[bool, typer.Option("--follow", help="at the end of a file, wait for more rows")] = False,
    label: Annotated[
        str | None, typer.Option(help="column with the classes, blank where not known", metavar="COLUMN")
    ] = None,
    id_column: Annotated[str | None, typer.Option("--id", help="column to repeat", metavar="COLUMN")] = None,
    learn: Annotated[
        Learning, typer.Option(help="which rows the model learns: familiar ones and labelled ones, all, or none")
    ] = Learning.familiar,
    every: Annotated[int, typer.Option(min=1, help="learn and save after so many rows", metavar="N")] = 100,
    rejects: Annotated[
        str | None, typer.Option(help="file for bad rows; MODEL.rejects.jsonl if not given", metavar="FILE")
    ] = None,
    abstain_below: Annotated[
        float | None, typer.Option(min=0, max=1, help="predict no class where it is less probable", metavar="P")
    ] = None,
    false_alarms: Annotated[float, typer.Option(min=0, max=1, help=ALARMS_HELP, metavar="SHARE")] = FALSE_ALARMS,
    encoding: EncodingOption = None,
    wait: Annotated[float, typer.Option(min=0, help=f"at the end: {WAIT_HELP}", metavar="SECONDS")] = SECONDS_TO_WAIT,
    quiet: Annotated[bool, typer.Option("--quiet", help="print no summary at the end")] = False,
) -> None:
    """Read rows as they come and print a prediction for each as a line of JSON; flag novel rows.

    The model learns the rows it has predicted, N at a time, and is saved each time, at the end, and when a signal
    stops it: saved_through is the last row that the saved model has learnt. A novel row is learnt only with a label, so
    that a fault is flagged again when it comes back. A bad row is not lost: it goes to the file for bad rows, with the
    reason. Other commands may write the model meanwhile: watch learns on what they have written.

    A row is novel if it fits the model so badly that at most the share --false-alarms of rows like the learnt ones fit
    as badly.

    Where rows become novel more often, are predicted wrongly more often, or are of other classes than before, a line
    with the key "drift" is printed between the predictions: which of the three it is, the row, from which level to
    which, and the features that moved.
    """
    bad_rows = rejects or f"{model_file}.rejects.jsonl"
    for file in (model_file, bad_rows):
        check_not_read(file, data)
    can_write = os.access(Path(bad_rows).resolve().parent, os.W_OK)
    kept = None if learn == Learning.none and rejects is None and not can_write else bad_rows
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
