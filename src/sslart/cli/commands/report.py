"""`sslart report`: one HTML page about a model and its predictions."""

from __future__ import annotations

from typing import Annotated

import typer

import sslart
from sslart._tables import cells
from sslart._tables.columns import (
    blank_rows,
    check_columns,
    check_learnt_columns,
    labels_of,
    learnt_columns,
    samples_for,
)
from sslart._tables.files import read_table
from sslart._utils.files import STANDARD
from sslart._utils.notes import note
from sslart.cli._model_file import read_model
from sslart.cli._output import DATA_HELP, MODEL_HELP, QUIET_HELP, check_target
from sslart.cli.input.encoding_option import EncodingOption
from sslart.reporting._page import check_page_path


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    label: Annotated[str | None, typer.Option(help="column with the true classes, blank where not known")] = None,
    out: Annotated[str, typer.Option(help="the page", metavar="FILE")] = "report.html",
    id_column: Annotated[str | None, typer.Option("--id", help="column that names samples", metavar="COLUMN")] = None,
    held_out: Annotated[
        bool | None, typer.Option("--held-out/--learnt", help="whether the model has not learnt these rows, or has")
    ] = None,
    encoding: EncodingOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", help=QUIET_HELP)] = False,
) -> None:
    """Write a page about a model: its rules, the quality of its predictions, and an explanation of each of them."""
    if out == STANDARD:
        raise ValueError("The page goes to a file: give its name with --out.")
    check_target(out, model_file, data)
    check_page_path(out)
    model = read_model(model_file)
    frame = read_table(data, encoding)
    check_columns(frame.columns, [label, id_column], data)
    check_learnt_columns(model, frame.columns, data)
    frame = frame[~blank_rows(frame, learnt_columns(model) or frame.columns, data)]
    truth = None if label is None else labels_of(frame, label, data, model.classes_)
    rest = frame.drop(columns=[name for name in (label, id_column) if name is not None])
    written = sslart.report(
        model,
        samples_for(model, rest, data),
        truth,
        out,
        held_out=held_out,
        sample_names=None if id_column is None else [text or "" for text in cells.names(frame[id_column])],
        sample_numbers=(frame.index + 1).tolist(),  # as explain --row counts
    )
    if not quiet:
        note(f"{written} written.")
