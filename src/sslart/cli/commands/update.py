"""`sslart update`: a model goes on learning from new rows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sslart import save
from sslart.cli import _model_file as _models
from sslart.cli import _output as _show
from sslart.cli.input import columns as _tables
from sslart.cli.input import files as _files


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help="a file that sslart fit wrote")],
    data: Annotated[str, typer.Argument(help=_show.DATA_HELP)],
    label: Annotated[
        str | None, typer.Option(help="column with the classes, blank where not known", metavar="COLUMN")
    ] = None,
    out: Annotated[str | None, typer.Option(help="another file, to keep the old model", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="for programs")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="print nothing")] = False,
) -> None:
    """Learn on from new rows and replace the model, whole or not at all. Without --label they are unlabelled.

    The file is read piece by piece and may be larger than memory.
    """
    target = out or model_file
    _show.check_target(target, data)
    model = _models.read_model(model_file)
    boxes, known = int(model.n_nodes_), set(model.classes_.tolist())
    n_samples = n_labelled = 0
    for frame in _files.read_pieces(data, progress=not quiet):
        _tables.check_columns(frame.columns, [label], data)
        _tables.check_learnt_columns(model, frame.columns.drop(label or []), data)
        frame = frame[~_tables.blank_rows(frame, _tables.learnt_columns(model) or frame.columns, data)]
        labels = None if label is None else _tables.labels_of(frame, label, data, model.classes_)
        model.partial_fit(_tables.samples_for(model, frame.drop(columns=label or []), data), labels)
        n_samples += len(frame)
        n_labelled += sum(one is not None for one in labels or ())
    save(model, target)
    told: dict[str, Any] = {
        "model": target,
        "samples": n_samples,
        "labelled": n_labelled,
        "new_classes": [one for one in model.classes_.tolist() if one not in known],
        "boxes_before": boxes,
        "boxes": int(model.n_nodes_),
    }
    if as_json:
        _show.print_json(told)
    elif not quiet:
        told["new_classes"] = ", ".join(map(str, told["new_classes"])) or "none"
        _show.print_table(("learnt", ""), [(name.replace("_", " "), str(value)) for name, value in told.items()])
