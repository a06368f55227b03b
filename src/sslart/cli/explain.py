"""`sslart explain`: why one row gets its answer, and what would change it."""

from __future__ import annotations

from typing import Annotated

import typer

from sslart.cli import _models, _show, _tables


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help="a file that sslart fit wrote")],
    data: Annotated[str, typer.Argument(help="CSV, TSV or Parquet; - for standard input")],
    row: Annotated[int, typer.Option(min=1, help="which row; 1 is the first below the header", metavar="N")],
    as_json: Annotated[bool, typer.Option("--json", help="for programs")] = False,
) -> None:
    """Say why a row gets its answer, what speaks against it, and what would change it."""
    model = _models.read_model(model_file)
    frame = _tables.read_table(data)
    if row > len(frame):
        raise ValueError(
            f"{data} has {len(frame)} rows, and row {row} was asked for: give --row from 1 to {len(frame)}."
        )
    samples = _tables.samples_for(model, frame, data)
    (explanation,) = model.explain(samples[row - 1 : row])
    if as_json:
        _show.print_json(explanation.to_dict())
    else:
        print(explanation)
