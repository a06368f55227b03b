"""`sslart explain`: why one row gets its answer, and what would change it."""

from __future__ import annotations

from typing import Annotated

import typer

from sslart.cli import _model_file as _models
from sslart.cli import _output as _show
from sslart.cli.input import columns as _tables
from sslart.cli.input import files as _files


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help="a file that sslart fit wrote")],
    data: Annotated[str, typer.Argument(help=_show.DATA_HELP)],
    row: Annotated[int, typer.Option(min=1, help="which row; 1 is the first below the header", metavar="N")],
    as_json: Annotated[bool, typer.Option("--json", help="for programs")] = False,
) -> None:
    """Say why a row gets its answer, what speaks against it, and what would change it."""
    model = _models.read_model(model_file)
    n_rows = 0
    for frame in _files.read_pieces(data):
        n_rows += len(frame)
        if row <= n_rows:
            break
    else:
        raise ValueError(f"{data} has {n_rows} rows, and row {row} was asked for: give --row from 1 to {n_rows}.")
    wanted = frame.loc[row - 1 : row - 1]
    (explanation,) = model.explain(_tables.samples_for(model, wanted, data))
    if as_json:
        _show.print_json(explanation.to_dict())
    else:
        print(explanation)
