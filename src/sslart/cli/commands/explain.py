"""`sslart explain`: reasons for the prediction of one row, with a counterfactual; or feature importances."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from sslart._mapping.model_view import view_of
from sslart._tables.columns import blank_rows, check_learnt_columns, learnt_columns, samples_for
from sslart._tables.files import read_table
from sslart._tables.rows import sample_of_row
from sslart._utils.notes import note
from sslart.cli._output import DATA_HELP, JSON_HELP, print_json, show
from sslart.cli.input.encoding_option import EncodingOption
from sslart.cli.service.connection import MODEL_OR_NAME_HELP, ServerOption, TokenOption, connected, model_of
from sslart.cli.service.served import ServedModel

MAX_ROWS = 5000  # of a longer table, importances are measured on so many rows


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_OR_NAME_HELP)],
    data: Annotated[str | None, typer.Argument(help=f"{DATA_HELP}; with --global it may be left out")] = None,
    row: Annotated[
        int | None, typer.Option(min=1, help="which row; 1 is the first below the header", metavar="N")
    ] = None,
    of_model: Annotated[
        bool, typer.Option("--global", help="print how much each feature matters, over all rows or all boxes")
    ] = False,
    encoding: EncodingOption = None,
    server: ServerOption = None,
    token: TokenOption = None,
    as_json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
) -> None:
    """Explain the prediction for a row: what counts for it, what counts against it, and what would change it.

    With --global, print the importance of each feature instead: its mean absolute contribution to the scores of the
    classes, over the rows of DATA or, without DATA, over samples drawn from the boxes of the model.

    With --server a service explains the row, and MODEL is the name of a model there.
    """
    if of_model and row is not None:
        raise ValueError("--global is about all rows and --row about one: give one of the two.")
    if not of_model and (data is None or row is None):
        raise ValueError("Give a table and --row N to explain one row, or --global for the importance of each feature.")
    if server is not None and row is not None:
        _explain_on_server(server, token, model_file, str(data), row, encoding, as_json=as_json)
        return
    model = model_of(model_file, server, token)
    if row is None:
        _check_evidence(model, model_file)
        found = model.feature_importances(None if data is None else _samples(model, data, encoding))
    else:
        (found,) = model.explain(sample_of_row(model, str(data), row, encoding))
    if as_json:
        print_json(found.to_dict())
    else:
        show(str(found))


def _explain_on_server(
    server: str, token: str | None, name: str, data: str, row: int, encoding: str | None, *, as_json: bool
) -> None:
    with connected(server, token) as client:
        (found,) = client.explain(name, [ServedModel(client, name, data).row(row, encoding)])
    text = found.pop("text")
    if as_json:
        print_json(found)
    else:
        show(text)


def _check_evidence(model: Any, model_file: str) -> None:
    if not view_of(model).uses_evidence:
        raise ValueError(
            f"The model in {model_file} predicts by single boxes, so that features have no importance by themselves. "
            "Fit one with evidence mapping: sslart fit without --mapping or with --mapping evidence. For this one, "
            "sslart rules prints its boxes."
        )


def _samples(model: Any, data: str, encoding: str | None) -> Any:
    """Return the rows of a table as the model takes them, of very many an even spread."""
    frame = read_table(data, encoding)
    check_learnt_columns(model, frame.columns, data)
    frame = frame[~blank_rows(frame, learnt_columns(model) or frame.columns, data)]
    if len(frame) > MAX_ROWS:
        note(f"{data} has {len(frame)} rows: importances are measured on {MAX_ROWS} of them, spread evenly.")
        frame = frame.iloc[np.linspace(0, len(frame) - 1, MAX_ROWS).astype(np.int64)]
    return samples_for(model, frame, data)
