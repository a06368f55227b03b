"""`sslart rules`: the predictions of a model as few if-then rules, or one rule per labelled box."""

from __future__ import annotations

import csv
import io
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sslart._tables.columns import (
    blank_rows,
    check_columns,
    check_learnt_columns,
    labels_of,
    learnt_columns,
    samples_for,
)
from sslart._tables.files import read_table
from sslart._utils.files import STANDARD
from sslart._utils.notes import note
from sslart._utils.text import plural, printable, printable_lines
from sslart.cli._output import A_BOX, DATA_HELP, ESCAPED, FORMULAS_HELP, check_target, write
from sslart.cli.input.encoding_option import EncodingOption
from sslart.cli.service.connection import MODEL_OR_NAME_HELP, ServerOption, TokenOption, model_of


class Format(StrEnum):
    """Output format of rules."""

    text = "text"
    csv = "csv"
    json = "json"
    md = "md"
    html = "html"
    sql = "sql"
    py = "py"


class Kind(StrEnum):
    """Kind of rules to write."""

    model = "model"
    boxes = "boxes"


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_OR_NAME_HELP)],
    data: Annotated[
        str | None,
        typer.Argument(help=f"{DATA_HELP}; the rules shall agree with the model there. None: what the boxes hold"),
    ] = None,
    kind: Annotated[
        Kind, typer.Option(help="few rules that agree with the model, or one for each labelled box")
    ] = Kind.model,
    label: Annotated[
        str | None, typer.Option(help="column with the classes, blank where not known: how often rules are right")
    ] = None,
    max_rules: Annotated[int | None, typer.Option(min=1, help="of kind model: how many rules at most (12)")] = None,
    max_conditions: Annotated[
        int | None, typer.Option(min=1, help="of kind model: how many conditions a rule may have (4)")
    ] = None,
    min_confidence: Annotated[
        float | None, typer.Option(min=0, max=1, help="of kind boxes: leave out rules of lower confidence")
    ] = None,
    min_support: Annotated[
        float | None, typer.Option(min=0, help="of kind boxes: leave out rules of fewer samples")
    ] = None,
    form: Annotated[
        Format | None, typer.Option("--format", help="how the rules are written; by the name of the file, or text")
    ] = None,
    out: Annotated[str, typer.Option(help="- for standard output", metavar="FILE")] = STANDARD,
    encoding: EncodingOption = None,
    server: ServerOption = None,
    token: TokenOption = None,
    keep_formulas: Annotated[bool, typer.Option("--keep-formulas", help=FORMULAS_HELP)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="the same as --format json")] = False,
) -> None:
    """Print the rules of a model.

    With --server they are those of a model of a service, of which a copy is fetched, and MODEL is its name.
    """
    files = (model_file if server is None else None, data)
    check_target(out, *(one for one in files if one is not None))
    by_name = Path(out).suffix.lower().removeprefix(".")
    chosen = Format.json if as_json else form or Format.__members__.get(by_name, Format.text)
    _check_options(kind, chosen, data, label, max_rules or max_conditions, min_confidence, min_support)
    model = model_of(model_file, server, token)
    if kind is Kind.boxes:
        rules = model.rules(kind="boxes", min_confidence=min_confidence, min_support=min_support)
        if not rules:
            raise ValueError("No rule is left: lower --min-confidence or --min-support.")
    else:
        X, y = (None, None) if data is None else _read(model, data, label, encoding)
        rules = model.rules(X, y, max_rules=max_rules, max_conditions=max_conditions)
    content = _written(rules, chosen, keep_formulas=keep_formulas)
    if kind is Kind.boxes and chosen is Format.text:
        content = f"{plural(len(rules), 'rule')}, one for each box with a label; {A_BOX}.\n\n{content}"
    write(out, _visible(content, chosen) if out == STANDARD else content)


def _check_options(
    kind: Kind, form: Format, data: str | None, label: str | None, of_model: Any, *of_boxes: float | None
) -> None:
    """Raise a ValueError where options do not belong together."""
    if kind is Kind.boxes and (data is not None or label is not None or of_model):
        raise ValueError("DATA, --label, --max-rules and --max-conditions belong to --kind model: leave them out.")
    if kind is Kind.model and any(one is not None for one in of_boxes):
        raise ValueError("--min-confidence and --min-support belong to --kind boxes: add it, or leave them out.")
    if kind is Kind.boxes and form in (Format.sql, Format.py):
        raise ValueError("Rules of boxes overlap, so that they are no code: leave out --kind boxes for SQL and Python.")
    if label is not None and data is None:
        raise ValueError("--label names a column of a file: give the file after the model.")


def _read(model: Any, data: str, label: str | None, encoding: str | None) -> tuple[Any, Any]:
    """Return the samples of a file, and their labels."""
    frame = read_table(data, encoding)
    check_columns(frame.columns, [label], data)
    check_learnt_columns(model, frame.columns, data)
    frame = frame[~blank_rows(frame, learnt_columns(model) or frame.columns, data)]
    truth = None if label is None else labels_of(frame, label, data, model.classes_)
    rest = frame if label is None else frame.drop(columns=[label])
    return samples_for(model, rest, data), truth


def _visible(content: str, form: Format) -> str:
    """Return rules for standard output, or raise a ValueError where visible text would not be the same rules."""
    if form is Format.csv:
        cells = [[printable(cell) for cell in row] for row in csv.reader(io.StringIO(content, newline=""))]
        shown = io.StringIO()
        csv.writer(shown, lineterminator="\n").writerows(cells)
        if shown.getvalue() != content:
            note(ESCAPED)
        return shown.getvalue()
    if form is Format.sql and printable_lines(content) != content:
        raise ValueError(
            "A name or category in these rules holds control characters, which SQL can only write as they are: give "
            "a file with --out."
        )
    return content


def _written(rules: Any, form: Format, *, keep_formulas: bool) -> str:
    match form:
        case Format.csv:
            return str(rules.to_csv(keep_formulas=keep_formulas))
        case Format.json:
            return f"{rules.to_json(indent=2)}\n"
        case Format.md:
            return str(rules.to_markdown())
        case Format.html:
            title = "<!doctype html>\n<meta charset='utf-8'>\n<title>Rules</title>\n"
            return f"{title}{rules.to_html()}\n"
        case Format.sql:
            return f"{rules.to_sql()}\n"
        case Format.py:
            return str(rules.to_python())
    return f"{rules.to_text()}\n"
