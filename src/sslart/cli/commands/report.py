"""`sslart report`: one HTML page on a model and its answers."""

from __future__ import annotations

from typing import Annotated

import typer

from sslart.cli import _model_file as _models
from sslart.cli import _output as _show
from sslart.cli.input import cells as _cells
from sslart.cli.input import columns as _tables
from sslart.cli.input import files as _files


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help="a file that sslart fit wrote")],
    data: Annotated[str, typer.Argument(help=_show.DATA_HELP)],
    label: Annotated[str | None, typer.Option(help="column with the true classes, blank where not known")] = None,
    out: Annotated[str, typer.Option(help="where the page goes", metavar="FILE")] = "report.html",
    id_column: Annotated[str | None, typer.Option("--id", help="column that names samples", metavar="COLUMN")] = None,
    held_out: Annotated[
        bool | None, typer.Option("--held-out/--learnt", help="whether the model had not met these rows before")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="do not say what was written")] = False,
) -> None:
    """Write a page that shows a model, its rules, the quality of its answers, and the reason for each."""
    from sslart.reporting import report

    if out == _show.STANDARD:
        raise ValueError("The page goes to a file: give its name with --out.")
    _show.check_target(out, model_file, data)
    model = _models.read_model(model_file)
    frame = _files.read_table(data)
    _tables.check_columns(frame.columns, [label, id_column], data)
    truth = None if label is None else _tables.labels_of(frame, label, data, model.classes_)
    rows = [f"row {number}" for number in range(1, len(frame) + 1)]  # as explain --row counts
    names = rows if id_column is None else [text or "" for text in _cells.names(frame[id_column])]
    rest = frame.drop(columns=[name for name in (label, id_column) if name is not None])
    samples = _tables.samples_for(model, rest, data)
    written = report(model, samples, truth, out, held_out=held_out, sample_names=names)
    if not quiet:
        _show.note(f"{written} written.")
