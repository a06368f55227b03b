"""`sslart update`: a model goes on learning from new rows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sslart import save
from sslart.cli._model_file import read_model
from sslart.cli._output import DATA_HELP, JSON_HELP, MODEL_HELP, QUIET_HELP, check_target, print_json, print_table
from sslart.cli.input.columns import (
    blank_rows,
    check_columns,
    check_learnt_columns,
    labels_of,
    learnt_columns,
    samples_for,
)
from sslart.cli.input.files import read_pieces


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    label: Annotated[
        str | None, typer.Option(help="column with the classes, blank where not known", metavar="COLUMN")
    ] = None,
    out: Annotated[str | None, typer.Option(help="another file, to keep the old model", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help=QUIET_HELP)] = False,
) -> None:
    """Learn from new rows too and replace the model, whole or not at all. Without --label they are unlabelled.

    The file is read piece by piece and may be larger than memory.
    """
    target = out or model_file
    check_target(target, data)
    model = read_model(model_file)
    n_boxes, known = int(model.n_nodes_), set(model.classes_.tolist())
    n_samples = n_labelled = 0
    for frame in read_pieces(data, progress=not quiet):
        check_columns(frame.columns, [label], data)
        check_learnt_columns(model, frame.columns.drop(label or []), data)
        frame = frame[~blank_rows(frame, learnt_columns(model) or frame.columns, data)]
        labels = None if label is None else labels_of(frame, label, data, model.classes_)
        model.partial_fit(samples_for(model, frame.drop(columns=label or []), data), labels)
        n_samples += len(frame)
        n_labelled += sum(one is not None for one in labels or ())
    save(model, target)
    summary: dict[str, Any] = {
        "model": target,
        "samples": n_samples,
        "labelled": n_labelled,
        "new_classes": [one for one in model.classes_.tolist() if one not in known],
        "boxes_before": n_boxes,
        "boxes": int(model.n_nodes_),
    }
    if as_json:
        print_json(summary)
    elif not quiet:
        summary["new_classes"] = ", ".join(map(str, summary["new_classes"])) or "none"
        print_table(("learnt", ""), [(name.replace("_", " "), str(value)) for name, value in summary.items()])
