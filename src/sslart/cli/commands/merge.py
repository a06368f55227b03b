"""`sslart merge`: models that were fitted to parts of a table, as one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import sslart
from sslart._mapping.model_view import view_of
from sslart._mapping.summary import summarise
from sslart._utils.files import STANDARD
from sslart._utils.notes import note
from sslart._utils.text import plural
from sslart.cli._learnt_rows import LearntRows
from sslart.cli._model_file import SECONDS_TO_WAIT, WAIT_HELP, ModelFile, read_model_and_rows, save_model
from sslart.cli._output import JSON_HELP, MODEL_HELP, QUIET_HELP, check_target, print_json, print_table

IN_WORDS = {"models": "models merged", "samples": "rows learnt", "boxes_before": "boxes of all models"}


def run(
    model_files: Annotated[list[str], typer.Argument(metavar="MODEL...", help=MODEL_HELP)],
    out: Annotated[str, typer.Option(help="where the merged model goes", metavar="FILE")],
    vigilance: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="ρ: how alike boxes that are joined must be; as in fit if not given"),
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help=WAIT_HELP, metavar="SECONDS")] = SECONDS_TO_WAIT,
    as_json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help=QUIET_HELP)] = False,
) -> None:
    """Merge models that were fitted with the same options to parts of a table, or at several sites.

    The merged model knows the ranges, categories, classes and labels of all. The order of models does not matter. A row
    that several models have learnt counts as often.
    """
    if out == STANDARD:
        raise ValueError("A model goes to a file: give its name with --out.")
    check_target(out, *model_files)
    file = ModelFile("merge", out, wait=wait)
    with file.owned():
        file.replace_present()
        models, rows = zip(*(read_model_and_rows(path) for path in model_files), strict=True)
        try:
            merged = sslart.merge(models, vigilance)
        except (TypeError, ValueError) as error:
            raise ValueError(_with_names(str(error), model_files)) from error
        learnt = LearntRows.joined(rows)
        save_model(merged, file, learnt)
    if quiet:
        return
    n_again = sum(len(one.keys.rows) for one in rows) - len(learnt.keys.rows)
    if n_again and learnt.identifies and not learnt.is_part:
        note(f"{plural(n_again, 'row')} learnt by several models: such a row counts as often.")
    summary = summarise(view_of(merged))
    found: dict[str, Any] = {
        "model": out,
        "models": len(models),
        "samples": summary.n_samples,
        "classes": merged.classes_.tolist(),
        "boxes_before": int(sum(model.n_nodes_ for model in models)),
        "boxes": int(merged.n_nodes_),
    }
    if as_json:
        print_json({**found, "accuracy": None if summary.accuracy is None else vars(summary.accuracy)})
        return
    found |= {"classes": ", ".join(map(str, found["classes"])), "accuracy": summary.accuracy_text()}
    print_table(("merged", ""), [(IN_WORDS.get(name, name), str(value)) for name, value in found.items()])


def _with_names(message: str, paths: list[str]) -> str:
    """Return a message in which models have the names of their files."""
    for place, path in reversed(list(enumerate(paths))):
        message = message.replace(f"models[{place}]", path)
    return message
