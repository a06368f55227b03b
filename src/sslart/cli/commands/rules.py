"""`sslart rules`: what a model has learnt, as If-Then rules."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sslart.cli._model_file import read_model
from sslart.cli._output import MODEL_HELP, STANDARD, check_target, write


class Format(StrEnum):
    """How rules are written."""

    text = "text"
    csv = "csv"
    json = "json"
    md = "md"
    html = "html"


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    form: Annotated[
        Format | None, typer.Option("--format", help="how the rules are written; by the name of the file, or text")
    ] = None,
    out: Annotated[str, typer.Option(help="- for standard output", metavar="FILE")] = STANDARD,
    min_confidence: Annotated[float, typer.Option(min=0, max=1, help="leave out rules of lower confidence")] = 0,
    min_support: Annotated[float, typer.Option(min=0, help="leave out rules of fewer samples")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="the same as --format json")] = False,
) -> None:
    """Print the rules of a model."""
    check_target(out, model_file)
    model = read_model(model_file)
    rules = model.rules(min_confidence=min_confidence, min_support=min_support)
    if not rules:
        raise ValueError("No rule is left: lower --min-confidence or --min-support.")
    by_name = Path(out).suffix.lower().removeprefix(".")
    write(out, _written(rules, Format.json if as_json else form or Format.__members__.get(by_name, Format.text)))


def _written(rules: Any, form: Format) -> str:
    match form:
        case Format.csv:
            return str(rules.to_frame().to_csv(lineterminator="\n"))
        case Format.json:
            return str(rules.to_json(indent=2)) + "\n"
        case Format.md:
            return str(rules.to_markdown())
        case Format.html:
            title = "<!doctype html>\n<meta charset='utf-8'>\n<title>Rules</title>\n"
            return f"{title}{rules._repr_html_()}\n"
    return str(rules.to_text()) + "\n"
