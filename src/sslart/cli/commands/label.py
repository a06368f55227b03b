"""`sslart label`: asks a person for the labels that help most, and learns them."""

from __future__ import annotations

import csv
import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer

from sslart import save
from sslart.active import Query, QueryPool
from sslart.cli import _evaluate as _quality
from sslart.cli import _model_file as _models
from sslart.cli import _output as _show
from sslart.cli import _prompt as _asking
from sslart.cli.input import cells as _cells
from sslart.cli.input import columns as _tables
from sslart.cli.input import files as _files
from sslart.metrics._quality import Estimate


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help="a file that sslart fit wrote")],
    data: Annotated[str, typer.Argument(help="CSV, TSV, Parquet, Arrow or Excel, with the rows to choose from")],
    questions: Annotated[int, typer.Option(min=1, help="how many to ask at most", metavar="N")] = 20,
    label: Annotated[
        str | None, typer.Option(help="column with classes: rows that have one are not asked about", metavar="COLUMN")
    ] = None,
    id_column: Annotated[str | None, typer.Option("--id", help="column that names rows", metavar="COLUMN")] = None,
    record: Annotated[
        str | None, typer.Option(help="add each answer to this CSV: row, id and class", metavar="FILE")
    ] = None,
    out: Annotated[str | None, typer.Option(help="another file, to keep the old model", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="say at the end what was learnt, for programs")] = False,
) -> None:
    """Ask for the labels that would help most, learn each at once, and show how the quality moves.

    Boxes without a label come first, those with many rows that the model is unsure of before others: one answer labels
    a whole box. The model is saved after every answer. The file is read piece by piece and may be larger than memory.
    """
    target = out or model_file
    if data == _show.STANDARD:
        raise ValueError("Your answers come from standard input: give the rows as a file.")
    _show.check_target(target, data)
    if record is not None:
        _show.check_target(record, model_file, data, target)
    model = _models.read_model(model_file)
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        states = _ask_on(model, data, questions, label, id_column, record, target)
    if as_json:
        _show.print_json({"model": target, "answers": len(states) - 1, "states": states})


def _ask_on(
    model: Any, data: str, questions: int, label: str | None, id_column: str | None, record: str | None, target: str
) -> list[dict[str, Any]]:
    """Ask, learn and show until there is an end to it; return how the model stood before and after each answer."""
    shortlist, names = _shortlist(model, data, label, id_column)
    states = [_state(model, shortlist)]
    print(_in_words(states[0]))
    for number in range(1, questions + 1):
        if not (best := shortlist.best(1)):
            print("There is nothing more to ask.")
            break
        question = best[0]
        sample, row = shortlist.sample(question), question.row + 1
        _show_question(model, question, sample, number, row, names.get(row))
        answer = _asking.ask(model.classes_.tolist())
        if answer is _asking.STOP:
            break
        shortlist.done(question)
        if answer is _asking.SKIP:
            continue
        model.partial_fit(sample, [answer])
        save(model, target)
        if record is not None:
            _add_to(record, row, names.get(row), answer)
        states.append(_state(model, shortlist))
        print(_in_words(states[-1]))
    return states


def _shortlist(model: Any, data: str, label: str | None, id_column: str | None) -> tuple[QueryPool, dict[int, str]]:
    """Return the rows that may be asked about, and what they are called."""
    shortlist = QueryPool(model)
    names: dict[int, str] = {}
    for frame in _files.read_pieces(data, progress=True):
        _tables.check_columns(frame.columns, [label, id_column], data)
        samples = _tables.samples_for(model, frame.drop(columns=label or []), data)
        known = None if label is None else [one is not None for one in _cells.labels(frame[label])]
        shortlist.add(samples, known)
        if id_column is not None:
            called = _cells.names(frame[id_column])
            start = int(frame.index[0])
            names.update({row + 1: called[row - start] or "" for row in shortlist.rows() if row >= start})
    return shortlist, names


def _state(model: Any, shortlist: QueryPool) -> dict[str, Any]:
    quality = _quality.leave_one_out(model)
    return {
        "labels": int(model.counts_.sum() / len(getattr(model, "estimators_", [model]))),
        "boxes": int(model.n_nodes_),
        "boxes_with_label": int(model.n_labelled_nodes_),
        "rows_in_them": round(shortlist.share_labelled(), 4),
        "leave_one_out": None if quality is None else vars(quality),
    }


def _in_words(state: dict[str, Any]) -> str:
    quality = state["leave_one_out"]
    told = "" if quality is None else f"; leave-one-out {_show.percent(Estimate(**quality))}"
    return (
        f"{state['labels']} labels; {state['boxes_with_label']} of {state['boxes']} boxes have one, with "
        f"{100 * state['rows_in_them']:.0f} % of the rows{told}"
    )


def _show_question(model: Any, question: Query, sample: Any, number: int, row: int, name: str | None) -> None:
    called = f"row {row}" if name is None else f"row {row}, {name}"
    where = f"one of {question.n_samples} rows in a box without a label" if question.new else "the model is unsure here"
    print(f"\nQuestion {number}: {called}; {where}")
    _asking.show_sample(model, sample)
    if model._class_table.seen:
        shares = model.predict_proba(sample)[0]
        print(f"The model would say {model.classes_[shares.argmax()]} ({shares.max():.2f}).")


def _add_to(record: str, row: int, name: str | None, answer: Any) -> None:
    path = Path(record)
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(["row", "id", "class"])
        writer.writerow([row, "" if name is None else name, answer])
