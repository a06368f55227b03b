"""`sslart update`: a model goes on learning from new rows."""

from __future__ import annotations

from typing import Annotated

import typer

from sslart import save
from sslart.cli import _models, _show, _tables


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help="a file that sslart fit wrote")],
    data: Annotated[str, typer.Argument(help="CSV, TSV or Parquet; - for standard input")],
    label: Annotated[
        str | None, typer.Option(help="column with the classes, blank where not known", metavar="COLUMN")
    ] = None,
    out: Annotated[str | None, typer.Option(help="another file, to keep the old model", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="for programs")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="print nothing")] = False,
) -> None:
    """Learn on from new rows and replace the model, whole or not at all. Without --label they are unlabelled."""
    target = out or model_file
    _show.check_target(target)
    model = _models.read_model(model_file)
    frame = _tables.read_table(data)
    labels = None if label is None else _tables.labels_of(frame, label, data, model.classes_)
    samples = _tables.samples_for(model, frame if label is None else frame.drop(columns=label), data)
    boxes, known = int(model.n_nodes_), set(model.classes_.tolist())
    model.partial_fit(samples, labels)
    save(model, target)
    told = {
        "model": target,
        "samples": len(samples),
        "labelled": sum(one is not None for one in labels or ()),
        "new_classes": [one for one in model.classes_.tolist() if one not in known],
        "boxes_before": boxes,
        "boxes": int(model.n_nodes_),
    }
    if as_json:
        _show.print_json(told)
    elif not quiet:
        _show.print_table(("learnt", ""), [(name.replace("_", " "), str(value)) for name, value in told.items()])
