"""`sslart explain`: why a class is predicted for one row, and what would change it."""

from __future__ import annotations

from typing import Annotated

import typer

from sslart.cli._model_file import read_model
from sslart.cli._output import DATA_HELP, JSON_HELP, MODEL_HELP, print_json
from sslart.cli.input.columns import samples_for
from sslart.cli.input.files import read_pieces


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    row: Annotated[int, typer.Option(min=1, help="which row; 1 is the first below the header", metavar="N")],
    as_json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
) -> None:
    """Explain the prediction for a row: what counts for it, what counts against it, and what would change it."""
    model = read_model(model_file)
    n_rows = 0
    for frame in read_pieces(data):
        n_rows += len(frame)
        if row <= n_rows:
            break
    else:
        raise ValueError(f"{data} has {n_rows} rows, so there is no row {row}: give --row from 1 to {n_rows}.")
    wanted = frame.loc[row - 1 : row - 1]
    (explanation,) = model.explain(samples_for(model, wanted, data))
    if as_json:
        print_json(explanation.to_dict())
    else:
        print(explanation)
